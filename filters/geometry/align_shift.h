/* Search for a translation between two images by normalised cross-correlation of what overlaps.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

enum {
    GI_ALIGN_SHIFTS = 6,
    GI_ALIGN_SHIFTS_NBYTES = 4 << 20, /* memory that gi_align_shifts() takes */
};

/* Stores the GI_ALIGN_SHIFTS best whole shifts (x, y) of the content of a gray float image against
 * a reference of the same size, the best first. The middle 128 x 128 pixels of both are compared,
 * of long images 256 x 64, 512 x 32 and so on, and at least a fifth of them has to overlap. Samples
 * that are not finite count as the mean. Errors: GI_E_MEMORY. */
enum gi_status gi_align_shifts(double found[GI_ALIGN_SHIFTS][2], const struct gi_image *image,
                               const struct gi_image *reference, struct gi_err *err);
