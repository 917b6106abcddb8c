/* Convolution kernels as text, such as "0 -1 0; -1 5 -1; 0 -1 0".
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/status.h"

struct gi_kernel {
    double *weights;   /* `height` rows of `width` weights, from the top left */
    int width, height; /* each 1 or more */
};

/* Reads rows of numbers. Rows are separated by ';' or line ends, and numbers by blanks or commas.
 * Fractions such as 1/16 are allowed. '#' starts a comment, which extends to the end of the line.
 * Empty rows are skipped. After a prefix for the shape, such as "3x3:", rows need no separators. A
 * single row of 9, 25, 49... weights without a shape is refused, because it may be meant as a row
 * or as a square. Weights must be finite as floats. The caller frees `kernel` with gi_kernel_free()
 * unless this function fails. Errors: GI_E_USAGE (the message names the row), GI_E_MEMORY. */
enum gi_status gi_kernel_read(struct gi_kernel *kernel, const char *text, struct gi_err *err);

void gi_kernel_free(struct gi_kernel *kernel);
