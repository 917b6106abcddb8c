/* Contracts of the family convolution: separable and dense kernels, the box filter, the gradient
 * magnitude. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CONVOLUTION_H
#define GI_KERNELS_CONVOLUTION_H

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A separable kernel. First the rows: r(y, x) = sum over i of row[i] * src(y, x + i - row_anchor).
 * Then the columns: f(y, x) = sum over j of col[j] * r(y + j - col_anchor, x). Each sum is a chain
 * of fmaf(weight, sample, sum) with the index ascending. This is correlation: the taps are not
 * reversed. Under GI_BORDER_VALUE a row outside the image consists of border values and is filtered
 * like any other row.
 *
 * More than GI_TAPS_BLOCK taps are summed in blocks of that many consecutive taps (the last block
 * may be shorter). Each block is a chain of fmaf from +0. The sums p of the blocks are added in
 * order, in float32, with Kahan's carry. At first s is the first p and c = 0; for each further p
 *   y = p - c;  t = s + y;  e = (t - s) - y;  c = e, or 0 if e is infinite or NaN;  s = t
 * so that an infinite sum remains infinite. W. Kahan, "Further remarks on reducing truncation
 * errors", CACM 8(1), 1965. */
struct gi_separable {
    const float *row, *col;     /* host memory, read before the primitive returns */
    int nrow, ncol;             /* 1 to GI_TAPS_MAX */
    int row_anchor, col_anchor; /* 0 <= anchor < n */
    float sum;                  /* sum of `row` times sum of `col`, for GI_ALPHA_WEIGH */
    enum gi_alpha_rule alpha;
    struct gi_border_spec border;
    struct gi_epilogue epilogue;
};

/* A dense kernel: f(y, x) = sum of weights[j * width + i] * src(y + j - anchor_y, x + i -
 * anchor_x), as a chain of fmaf(weight, sample, sum) in which j ascends, and i ascends within each
 * j. This is correlation, too. */
struct gi_dense {
    const float *weights; /* host memory, read before the primitive returns */
    int width, height;    /* each 1 or more, the product at most GI_WEIGHTS_MAX */
    int anchor_x, anchor_y;
    float sum;
    enum gi_alpha_rule alpha;
    struct gi_border_spec border;
    struct gi_epilogue epilogue;
};

/* The box filter: the mean of k x k pixels, for GI_U8 and GI_U16. k is odd and from 1 to
 * GI_TAPS_MAX. The mean is exact: (2 * S + N) / (2 * N) rounded down, with S the sum of the samples
 * and N = k * k. Border values are first rounded to integers (half to even, saturated). Under
 * GI_ALPHA_WEIGH, S is the sum of c * a, and A is the sum of a. Colour is (2 * S + A) / (2 * A)
 * rounded down, or 0 if A is 0. Alpha is the mean of a. */
struct gi_box {
    int k;
    enum gi_alpha_rule alpha; /* PLAIN or WEIGH */
    struct gi_border_spec border;
};

/* Gradient magnitude of a 3 x 3 operator. D = (-1, 0, 1) and S = `smooth` are kernels as in
 * gi_separable. gx is the result of D along rows, then S along columns. gy is the result of S along
 * rows, then D along columns. f is sqrtf(fmaf(gx, gx, gy * gy)), correctly rounded. The epilogue is
 * STORE. */
struct gi_gradient_magnitude {
    float smooth[3];
    enum gi_alpha_rule alpha; /* PLAIN or KEEP */
    struct gi_border_spec border;
};

#ifdef __cplusplus
}
#endif

#endif
