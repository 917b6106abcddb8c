/* Separable convolution. Each source row is filtered horizontally only once, into the ring buffer.
 * Each result row is a vertical sum over rows of the ring buffer.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/cpu/convolution/small_kernels.h"
#include "kernels/convolution.h"

static void make(const struct gi_sweep *sweep, float *slot, const float *padded, size_t n)
{
    const struct gi_separable *spec = sweep->spec;
    GI_CPU(row_filter)(slot, padded, n, spec->row, spec->nrow, sweep->src->channels);
}

static void filter_rows(const struct gi_sweep *sweep, float *f, size_t stride, int nout,
                        const float *const *rows, size_t n)
{
    const struct gi_separable *spec = sweep->spec;
    GI_CPU(column_filter)(f, stride, nout, rows, n, spec->col, spec->ncol);
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_separable *spec,
                              struct gi_err *err)
{
    struct gi_sweep sweep = {.dst = dst,
                             .src = src,
                             .border = &spec->border,
                             .epilogue = spec->epilogue,
                             .alpha = gi_has_alpha(src) ? spec->alpha : GI_ALPHA_PLAIN,
                             .inverse_sum = 1.0f / spec->sum,
                             .spec = spec,
                             .left = spec->row_anchor,
                             .right = spec->nrow - 1 - spec->row_anchor,
                             .above = spec->col_anchor,
                             .nrows = spec->ncol,
                             .planes = 1,
                             .make = make,
                             .filter_rows = filter_rows};
    return GI_CPU(sweep)(queue, &sweep, err);
}

/* Time of each way in us with AVX-512, one thread, 2048 x 2048, 8-bit gray. Sobel along x: whole
 * 1272, small 2411, rows 2897. 7 taps of floats: small 2925, rows 9598. */
const struct gi_convolve_separable_way GI_CPU(convolve_separable_ways)[GI_WAYS_MAX] = {
    {{"whole", "3 x 3 with whole weights of 8 bits: Sobel, Scharr, Prewitt"},
     GI_CPU(separable_whole_takes),
     GI_CPU(separable_whole)},
    {{"small", "3, 5 and 7 taps each way"}, GI_CPU(separable_small_takes), GI_CPU(separable_small)},
    {{"rows", "everything"}, NULL, by_rows},
};
