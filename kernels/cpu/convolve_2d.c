/* Dense kernels: the ring holds the padded rows themselves, each result is one sum over all
 * weights. SPDX-License-Identifier: MIT */
#include "kernels/cpu/rows.h"
#include "kernels/cpu/simd.h"

enum { CHAINS = 8, BLOCK = CHAINS * GI_LANES };

static void combine(const struct gi_sweep *sweep, float *f, const float *const *rows, size_t n)
{
    const struct gi_dense *spec = sweep->spec;
    int step = sweep->src->channels;
    size_t x = 0;
    for (; x + BLOCK <= n; x += BLOCK) {
        GI_VEC sum[CHAINS];
        for (int c = 0; c < CHAINS; c++)
            sum[c] = vec_set(0);
        const float *weight = spec->weights;
        for (int j = 0; j < spec->height; j++) {
            const float *p = rows[j] + x;
            for (int i = 0; i < spec->width; i++, p += step) {
                GI_VEC w = vec_set(*weight++);
                for (int c = 0; c < CHAINS; c++)
                    sum[c] = vec_fma(w, vec_load(p + c * GI_LANES), sum[c]);
            }
        }
        for (int c = 0; c < CHAINS; c++)
            vec_store(f + x + c * GI_LANES, sum[c]);
    }
    for (; x < n; x += GI_LANES) {
        GI_VEC sum = vec_set(0);
        const float *weight = spec->weights;
        for (int j = 0; j < spec->height; j++) {
            const float *p = rows[j] + x;
            for (int i = 0; i < spec->width; i++, p += step)
                sum = vec_fma(vec_set(*weight++), vec_load(p), sum);
        }
        vec_store(f + x, sum);
    }
}

enum gi_status GI_CPU(convolve_2d)(struct gi_context *cx, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_dense *spec,
                                   struct gi_err *err)
{
    struct gi_sweep sweep = {.dst = dst,
                             .src = src,
                             .edge = &spec->edge,
                             .finish = spec->finish,
                             .alpha = gi_has_alpha(src) ? spec->alpha : GI_ALPHA_PLAIN,
                             .inverse_sum = 1.0f / spec->sum,
                             .spec = spec,
                             .left = spec->anchor_x,
                             .right = spec->width - 1 - spec->anchor_x,
                             .above = spec->anchor_y,
                             .nrows = spec->height,
                             .combine = combine};
    return GI_CPU(sweep)(cx, &sweep, err);
}
