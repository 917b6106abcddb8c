/* Aligns the images of a stack with its first one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/run/imaging.h"

struct gi_stack_align {
    bool rotate, scale;        /* find these besides the shift; set by the caller */
    struct gi_image reference; /* a copy of the first image; width 0: none yet */
};

/* Keeps a copy of the first image. Replaces each further one, in host memory, by the image moved
 * over the first as the operation align finds it, with bicubic interpolation; outer
 * pixels are repeated. A score below 0.5 is a warning, and with --strict an error. Errors:
 * GI_E_MEMORY, GI_E_UNSUPPORTED, and those of the operations. */
enum gi_status gi_stack_align(struct gi_stack_align *align, struct gi_image *image,
                              struct gi_imaging *imaging, struct gi_item *item, struct gi_err *err);
void gi_stack_align_free(struct gi_stack_align *align);
