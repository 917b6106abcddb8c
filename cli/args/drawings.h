/* The drawings of steps `draw`. A drawing is made for each image, when its size at the step is
 * known.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"
#include "cli/command.h"

/* What a drawing follows from, besides the size of the image. */
struct gi_drawn_item {
    const char *name; /* path of the input; in a tar that of the member */
    uint64_t number;  /* position among the inputs or the images of a tar or stream, from 0 */
    const struct gi_metadata *metadata; /* of the file; NULL: not loaded */
    bool only;                          /* no other image is processed */
};

/* The functions of a command that draws. */
struct gi_drawings {
    /* Reads the options and the tables of a step, once for all images. *self belongs to the caller,
     * who frees it by close(), also after an error. Errors: GI_E_USAGE, GI_E_IO, GI_E_FORMAT,
     * GI_E_MEMORY, GI_E_UNSUPPORTED without cairo. */
    enum gi_status (*open)(void **self, const void *params, const struct gi_io_params *io,
                           struct gi_err *err);
    /* Makes the drawing for an image of this size, as gi_drawing_make() does. Many threads may call
     * this at once. */
    enum gi_status (*make)(void *self, struct gi_image *made, int *x, int *y,
                           const struct gi_drawn_item *item, int width, int height,
                           struct gi_err *err);
    /* Called after all images. Warns of a table none of whose rows was for an image, which is an
     * error, GI_E_FORMAT, with --strict. `input` is the only image, or NULL. */
    enum gi_status (*conclude)(const void *self, const char *input, struct gi_err *err);
    void (*close)(void **self);
};
