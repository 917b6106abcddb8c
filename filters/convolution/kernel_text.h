/* Convolution kernels as text, such as "0 -1 0; -1 5 -1; 0 -1 0".
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_KERNEL_TEXT_H
#define GI_FILTERS_KERNEL_TEXT_H

#include "imgio/status.h"

struct gi_kernel {
    double *weights;   /* height rows of width weights, from the top left */
    int width, height; /* each 1 or more */
};

/* Reads rows of numbers: rows separated by ';' or line ends, numbers by blanks or commas, fractions
 * such as 1/16; '#' starts a comment up to the end of its line; empty rows are skipped. With the
 * prefix "3x3:" for the shape, rows need no separators. A single row of 9, 25, 49... weights
 * without a shape is refused, because it may mean a row or a square. All weights are finite as
 * floats. The caller frees `kernel` with gi_kernel_free() unless this fails. Errors: GI_E_USAGE
 * (the text names the row), GI_E_MEMORY. */
enum gi_status gi_kernel_read(struct gi_kernel *kernel, const char *text, struct gi_err *err);

void gi_kernel_free(struct gi_kernel *kernel);

#endif
