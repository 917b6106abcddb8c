/* Contracts of the family convolution: separable and dense kernels, the box filter, the gradient
 * magnitude. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CONVOLUTION_H
#define GI_KERNELS_CONVOLUTION_H

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows first: r(y, x) = sum over i of row[i] * src(y, x + i - row_anchor), then f(y, x) = sum over
 * j of col[j] * r(y + j - col_anchor, x): both as fmaf(weight, sample, sum) with the index
 * ascending. This is correlation: the taps are not reversed. Under GI_BORDER_VALUE a row outside
 * the image is a row of border values, and is filtered like any other row.
 *
 * More than GI_TAPS_BLOCK taps are summed in blocks of that many consecutive taps (the last one may
 * be shorter), each a chain of fmaf from +0. The blocks' sums p are added in order, in float32,
 * with a carry: s = the first p, c = 0; then for each further one y = p - c;  t = s + y;  e = (t -
 * s) - y;  c = e, or 0 where e is infinite or NaN;  s = t (so an infinite sum stays infinite). W.
 * Kahan, "Further remarks on reducing truncation errors", CACM 8(1), 1965. */
struct gi_separable {
    const float *row, *col;     /* host memory, read before the primitive returns */
    int nrow, ncol;             /* 1 to GI_TAPS_MAX */
    int row_anchor, col_anchor; /* 0 <= anchor < n */
    float sum;                  /* of all weights (row sum times column sum), for GI_ALPHA_WEIGH */
    enum gi_alpha_rule alpha;
    struct gi_border_spec border;
    struct gi_epilogue epilogue;
};

/* f(y, x) = sum of weights[j * width + i] * src(y + j - anchor_y, x + i - anchor_x), as
 * fmaf(weight, sample, sum) in the order j ascending, within it i ascending. Correlation too. */
struct gi_dense {
    const float *weights; /* host memory, read before the primitive returns */
    int width, height;    /* each 1 or more, the product at most GI_WEIGHTS_MAX */
    int anchor_x, anchor_y;
    float sum;
    enum gi_alpha_rule alpha;
    struct gi_border_spec border;
    struct gi_epilogue epilogue;
};

/* The mean of k x k pixels, k odd, 1 to GI_TAPS_MAX; GI_U8 and GI_U16 only. Exact in integers:
 * (2 * S + N) / (2 * N) rounded down, S the sum of the samples, N = k * k. Border values are
 * rounded to integers (half to even, saturated) first. With alpha under WEIGH: colour is (2 * S +
 * A) / (2 * A) rounded down, S the sum of c * a, A the sum of a (0 where A is 0); alpha is its own
 * mean. */
struct gi_box {
    int k;
    enum gi_alpha_rule alpha; /* PLAIN or WEIGH */
    struct gi_border_spec border;
};

/* Gradient magnitude of a 3 x 3 operator. With D = (-1, 0, 1) and S = smooth, each as in
 * gi_separable: gx = rows by D then columns by S, gy = rows by S then columns by D; f =
 * sqrtf(fmaf(gx, gx, gy * gy)), correctly rounded. The epilogue is STORE. */
struct gi_gradient_magnitude {
    float smooth[3];
    enum gi_alpha_rule alpha; /* PLAIN or KEEP */
    struct gi_border_spec border;
};

#ifdef __cplusplus
}
#endif

#endif
