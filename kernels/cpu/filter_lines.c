/* The two inner loops of separable filters: along a row and down the rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rows.h"
#include "kernels/cpu/simd.h"

/* Sums are independent chains of fmaf: so many at once hide its latency. */
enum { CHAINS = 8, BLOCK = CHAINS * GI_LANES };

void GI_CPU(row_filter)(float *out, const float *in, size_t n, const float *taps, int ntaps,
                        int step)
{
    size_t x = 0;
    for (; x + BLOCK <= n; x += BLOCK) {
        GI_VEC sum[CHAINS];
        for (int c = 0; c < CHAINS; c++)
            sum[c] = vec_set(0);
        const float *p = in + x;
        for (int i = 0; i < ntaps; i++, p += step) {
            GI_VEC tap = vec_set(taps[i]);
            for (int c = 0; c < CHAINS; c++)
                sum[c] = vec_fma(tap, vec_load(p + c * GI_LANES), sum[c]);
        }
        for (int c = 0; c < CHAINS; c++)
            vec_store(out + x + c * GI_LANES, sum[c]);
    }
    for (; x < n; x += GI_LANES) {
        GI_VEC sum = vec_set(0);
        const float *p = in + x;
        for (int i = 0; i < ntaps; i++, p += step)
            sum = vec_fma(vec_set(taps[i]), vec_load(p), sum);
        vec_store(out + x, sum);
    }
}

void GI_CPU(column_filter)(float *out, const float *const *rows, size_t n, const float *taps,
                           int ntaps)
{
    size_t x = 0;
    for (; x + BLOCK <= n; x += BLOCK) {
        GI_VEC sum[CHAINS];
        for (int c = 0; c < CHAINS; c++)
            sum[c] = vec_set(0);
        for (int j = 0; j < ntaps; j++) {
            GI_VEC tap = vec_set(taps[j]);
            for (int c = 0; c < CHAINS; c++)
                sum[c] = vec_fma(tap, vec_load(rows[j] + x + c * GI_LANES), sum[c]);
        }
        for (int c = 0; c < CHAINS; c++)
            vec_store(out + x + c * GI_LANES, sum[c]);
    }
    for (; x < n; x += GI_LANES) {
        GI_VEC sum = vec_set(0);
        for (int j = 0; j < ntaps; j++)
            sum = vec_fma(vec_set(taps[j]), vec_load(rows[j] + x), sum);
        vec_store(out + x, sum);
    }
}
