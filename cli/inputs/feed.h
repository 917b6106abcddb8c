/* Kinds of feeds, which are the sources of the inputs of a batch, and the function that runs a
 * batch over a feed of any kind.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"
#include "cli/run/engine.h"

extern const struct gi_feed_kind gi_feed_files; /* self: struct gi_batch_files */
/* `self` is a struct gi_stream, also for gi_feed_frames and gi_feed_pages. */
extern const struct gi_feed_kind gi_feed_pnm;
extern const struct gi_feed_kind gi_feed_video;
extern const struct gi_feed_kind gi_feed_frames;
extern const struct gi_feed_kind gi_feed_pages;
extern const struct gi_feed_kind gi_feed_tars;       /* to tars (cli/inputs/tars.c) */
extern const struct gi_feed_kind gi_feed_tar_images; /* to tables; self: struct gi_tar_inputs */
extern const struct gi_feed_kind gi_feed_tar_pairs;  /* self: struct gi_tar_pairs */

/* Runs the engine over the feed, with the options of the set "Many images" and a progress line.
 * Errors: as gi_engine_run(), and those of feed->kind->conclude(). */
enum gi_status gi_feed_run(const struct gi_feed *feed, const struct gi_work_on *work,
                           const struct gi_batch_params *params, int threads, struct gi_err *err);
