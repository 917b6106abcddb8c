/* Batches. A batch is one source of items, one target of results, and the work between them. A
 * single image is a batch of one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"
#include "cli/run/imaging.h"

struct gi_batch {
    const struct gi_batch_job *job; /* what the user asked for */
    const struct gi_io_params *io;  /* NULL: those of the job */
    struct gi_source *source;       /* source->n is known or 0 */
    const struct gi_target_kind *target;
    void *self; /* of the target and of run() */
    /* The work on an item. Many threads may call this at once. An error makes only this item
     * fail. */
    enum gi_status (*run)(void *self, struct gi_imaging *imaging, struct gi_item *item,
                          struct gi_err *err);
    /* If this is not NULL, *kept becomes the devices, which the caller closes, because images in
     * their memory outlive the batch. */
    struct gi_imaging **kept;
};

/* For gi_source_kind.conclude. Returns the status of a batch in which items have failed, and sets
 * the error. */
enum gi_status gi_batch_failed(const struct gi_tally *tally, struct gi_err *err);

/* Sets the names that the item's row of a table contains; *tar becomes NULL for files. Returns
 * false if the item has no row, because it failed or is not an image. */
bool gi_batch_row(const struct gi_source *source, const struct gi_item *item, const char **tar,
                  const char **file);

/* Runs the work on all items of the source, with the options of the set "Many images" of the job,
 * on its devices. If the command has no options for devices, all threads of the CPU do it. Errors:
 * GI_E_USAGE before any work, those of source and target. If items failed, the status is GI_E_AGAIN
 * if the machine failed, otherwise GI_E_IO. The error then has no text, because each item has
 * already been reported. */
enum gi_status gi_batch_run(const struct gi_batch *batch, struct gi_err *err);
