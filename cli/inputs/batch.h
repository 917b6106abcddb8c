/* Batches. A batch is one source of items, one target of results, and the work between them. A
 * single image is a batch of one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"
#include "cli/run/imaging.h"

/* A kind of target, where the results go. Functions may be NULL. */
struct gi_target_kind {
    /* Items are delivered in the order of the source, because their results become one. */
    bool ordered;
    /* Checks the outputs, before any work. Errors: GI_E_USAGE. */
    enum gi_status (*check)(void *self, struct gi_err *err);
    /* Opens the outputs, once the devices are open. `imaging` is that of the batch, or NULL. */
    enum gi_status (*open)(void *self, struct gi_imaging *imaging, struct gi_err *err);
    /* Takes the result of an item, item->made. Called for one item at a time, also for an item that
     * failed or is passed on, and may make the item fail. An error ends the batch. */
    enum gi_status (*put)(void *self, struct gi_item *item, struct gi_err *err);
    /* Completes the outputs of a batch that ended with `status` and `err`, or abandons them. Always
     * called, also if nothing was opened. Returns the status of the batch. */
    enum gi_status (*end)(void *self, enum gi_status status, struct gi_err *err);
};

struct gi_target {
    const struct gi_target_kind *kind;
    void *self;
};

/* The work on items. */
struct gi_item_work {
    /* The devices for it; NULL: none are opened, and `threads` threads of the CPU do it. check() of
     * the target may change them. */
    const struct gi_imaging_options *imaging;
    int threads;
    /* If this is not NULL, *kept becomes the devices, which the caller closes, because images in
     * their memory outlive the batch. */
    struct gi_imaging **kept;
    void *self;
    /* Many threads may call this at once. An error makes only this item fail. */
    enum gi_status (*run)(void *self, struct gi_imaging *imaging, struct gi_item *item,
                          struct gi_err *err);
};

/* Returns whether the stages of the work are timed, for the report or the progress line. */
bool gi_batch_times(const struct gi_batch_params *params);

/* For gi_source_kind.conclude. Returns the status of a batch in which items have failed, and sets
 * the error. */
enum gi_status gi_batch_failed(const struct gi_tally *tally, struct gi_err *err);

/* Sets the names that the item's row of a table contains; *tar becomes NULL for files. Returns
 * false if the item has no row, because it failed or is not an image. */
bool gi_batch_row(const struct gi_source *source, const struct gi_item *item, const char **tar,
                  const char **file);

/* Runs the work on all items of the source, with the options of the set "Many images" of the job.
 * Errors: GI_E_USAGE before any work, those of source and target. If items failed, the status is
 * GI_E_AGAIN if the machine failed, otherwise GI_E_IO. The error then has no text, because each
 * item has already been reported. */
enum gi_status gi_batch(struct gi_source *source, const struct gi_target *target,
                        const struct gi_item_work *work, const struct gi_batch_job *job,
                        struct gi_err *err);
