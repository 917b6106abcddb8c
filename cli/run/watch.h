/* A progress line for one image. It is shown on a terminal, or if --progress asks for it, and only
 * once the work has taken more than two seconds.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Initialised as {0}. The thread of the progress line reads the struct while other threads change
 * it. */
struct gi_watch {
    struct gi_progress *progress; /* NULL: progress is not shown */
    const char *now;              /* name of the current stage, static */
    uint64_t npixels;             /* pixels of the image; 0: not known yet */
};

/* Starts to show progress, until gi_watch_end(). */
void gi_watch_start(struct gi_watch *watch, bool forced);
void gi_watch_end(struct gi_watch *watch);

/* gi_watch_stage() sets the stage that begins. The other function sets the size of the image. */
void gi_watch_stage(struct gi_watch *watch, const char *stage);
void gi_watch_size(struct gi_watch *watch, const struct gi_image *image);
