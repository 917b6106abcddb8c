/* Kernels as people write them.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_KERNEL_TEXT_H
#define GI_FILTERS_KERNEL_TEXT_H

#include "imgio/status.h"

struct gi_kernel {
    double *weights;   /* height rows of width, from the top left */
    int width, height; /* each 1 or more */
};

/* Reads rows of numbers: rows parted by ';' or line ends, numbers by blanks or commas, fractions as
 * 1/16, '#' to the end of its line left out, empty rows too. "3x3:" in front says the shape, and
 * rows need no ends then. One row of 9, 25, 49... weights without a shape is refused: it may be a
 * row or a square. All weights are finite as floats. The caller frees `kernel` with
 * gi_kernel_free() unless this fails. Errors: GI_E_USAGE (the text names the row), GI_E_MEMORY. */
enum gi_status gi_kernel_read(struct gi_kernel *kernel, const char *text, struct gi_err *err);

void gi_kernel_free(struct gi_kernel *kernel);

#endif
