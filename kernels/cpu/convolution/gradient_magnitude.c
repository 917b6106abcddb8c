/* Gradient magnitude. A slot of the ring buffer holds the horizontal differences of a row and the
 * horizontally smoothed row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/small_kernels.h"
#include "kernels/convolution.h"

static const float difference[3] = {-1, 0, 1};

static void make(const struct gi_sweep *sweep, float *slot, const float *padded, size_t n)
{
    const struct gi_gradient_magnitude *spec = sweep->spec;
    int step = sweep->src->channels;
    GI_CPU(row_filter)(slot, padded, n, difference, 3, step);
    GI_CPU(row_filter)(slot + GI_CPU(sweep_plane)(sweep), padded, n, spec->smooth, 3, step);
}

static inline GI_VEC column3(const float *const *rows, size_t x, const float *taps)
{
    GI_VEC sum = vec_set(0);
    for (int j = 0; j < 3; j++)
        sum = vec_fma(vec_set(taps[j]), vec_load(rows[j] + x), sum);
    return sum;
}

static void filter_rows(const struct gi_sweep *sweep, float *f, size_t stride, int nout,
                        const float *const *rows, size_t n)
{
    const struct gi_gradient_magnitude *spec = sweep->spec;
    size_t smoothed = GI_CPU(sweep_plane)(sweep);
    for (int r = 0; r < nout; r++, rows++, f += stride)
        for (size_t x = 0; x < n; x += GI_LANES) {
            GI_VEC gx = column3(rows, x, spec->smooth);
            GI_VEC gy = column3(rows, x + smoothed, difference);
            vec_store(f + x, vec_sqrt(vec_fma(gx, gx, vec_mul(gy, gy))));
        }
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_gradient_magnitude *spec,
                              struct gi_err *err)
{
    struct gi_sweep sweep = {.dst = dst,
                             .src = src,
                             .border = &spec->border,
                             .epilogue = {.kind = GI_EPILOGUE_STORE},
                             .alpha = gi_has_alpha(src) ? spec->alpha : GI_ALPHA_PLAIN,
                             .spec = spec,
                             .left = 1,
                             .right = 1,
                             .above = 1,
                             .nrows = 3,
                             .planes = 2,
                             .make = make,
                             .filter_rows = filter_rows};
    return GI_CPU(sweep)(queue, &sweep, err);
}

/* Time of each way in us with AVX-512, one thread, 2048 x 2048, 8-bit gray, Sobel: whole 2957,
 * rows 8690. */
const struct gi_gradient_magnitude_way GI_CPU(gradient_magnitude_ways)[GI_WAYS_MAX] = {
    {{"whole", "whole weights on 8 bits: Sobel, Scharr, Prewitt"},
     GI_CPU(gradient_magnitude_whole_takes),
     GI_CPU(gradient_magnitude_whole)},
    {{"rows", "everything"}, NULL, by_rows},
};
