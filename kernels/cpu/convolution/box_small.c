/* Box filter of 3 x 3 or 5 x 5 samples. For so few rows, adding all samples is faster than running
 * sums, where each step waits for the previous one. SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/sliding_window.h"
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/small_kernels.h"
#include "kernels/convolution.h"

enum { BLOCK = GI_SLIDING_BLOCK, ROWS = GI_ROWS_AT_ONCE, K_MAX = 5 };

/* Computes a block of a row. `above` holds the sums along the k - 1 rows above; `kept` becomes the
 * sums along this row.
 *
 * The mean (2 * S + N) / (2 * N), rounded down, with N = k * k odd, is t / N rounded down, where t
 * = S + (N - 1) / 2. With M = 2^p / N rounded up, this is t * M / 2^p rounded down, as long as
 * t * (M * N - 2^p) < 2^p. For k = 3 and 5, p is 19 and 20: M fits in 16 bits, M * N - 2^p is 7 and
 * 24, and t is below 6400. */
static inline __attribute__((always_inline)) void
mean_block(uint8_t *restrict out, uint16_t *restrict kept, const uint8_t *restrict in,
           const uint16_t *const *above, int k, size_t step)
{
    const int n = k * k, p = 18 + k / 2;
    const uint32_t m = ((1u << p) + (uint32_t)n - 1) / (uint32_t)n;
    for (size_t x = 0; x < BLOCK; x++) {
        uint16_t along = 0, sum = (uint16_t)(n / 2);
        for (int i = 0; i < k; i++)
            along = (uint16_t)(along + in[x + (size_t)i * step]);
        for (int j = 0; j < k - 1; j++)
            sum = (uint16_t)(sum + above[j][x]);
        sum = (uint16_t)(sum + along);
        kept[x] = along;
        out[x] = (uint8_t)((uint16_t)(sum * m >> 16) >> (p - 16));
    }
}

/* Like mean_block(), for 16 bits, with a quotient in float. The distance of the exact quotient
 * from a tie is at least 1 / (2 * N) >= 1/50, and two roundings of a float below 2^16 move it by
 * less than 2^-7. */
static inline __attribute__((always_inline)) void
mean_block_u16(uint16_t *restrict out, uint32_t *restrict kept, const uint16_t *restrict in,
               const uint32_t *const *above, int k, size_t step)
{
    const float inverse = (float)(1.0 / (k * k));
    float mean[BLOCK];
    for (size_t x = 0; x < BLOCK; x++) {
        uint32_t along = 0, sum = 0;
        for (int i = 0; i < k; i++)
            along += in[x + (size_t)i * step];
        for (int j = 0; j < k - 1; j++)
            sum += above[j][x];
        kept[x] = along;
        mean[x] = (float)(int32_t)(sum + along) * inverse;
    }
    for (size_t x = 0; x < BLOCK; x += GI_LANES)
        vec_store_u16(out + x, vec_load(mean + x));
}

#define MEANS(k, block, type, sum)                                                                 \
    static void means_##type##_##k(const struct gi_sliding_window *sliding_window,                 \
                                   const struct gi_sliding_rows *rows, size_t n)                   \
    {                                                                                              \
        const sum *above[K_MAX - 1 + ROWS];                                                        \
        for (size_t x = 0; x < n; x += BLOCK) {                                                    \
            for (int j = 0; j < (k)-1; j++)                                                        \
                above[j] = (const sum *)rows->above[j] + x;                                        \
            for (size_t at = 0; at < BLOCK * sizeof(type); at += 64)                               \
                gi_sliding_window_prefetch(rows, x * sizeof(type) + at);                           \
            for (int r = 0; r < ROWS; r++) {                                                       \
                sum *kept = (sum *)rows->kept[r] + x;                                              \
                block((type *)rows->out[r] + x, kept, (const type *)rows->in[r] + x, above + r, k, \
                      (size_t)sliding_window->src->channels);                                      \
                above[(k)-1 + r] = kept;                                                           \
            }                                                                                      \
        }                                                                                          \
    }

MEANS(3, mean_block, uint8_t, uint16_t)
MEANS(5, mean_block, uint8_t, uint16_t)
MEANS(3, mean_block_u16, uint16_t, uint32_t)
MEANS(5, mean_block_u16, uint16_t, uint32_t)

bool GI_CPU(box_small_takes)(const struct gi_queue *queue, const struct gi_image *src,
                             const struct gi_box *spec)
{
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    return !weigh && spec->k >= 3 && spec->k <= K_MAX;
}

enum gi_status GI_CPU(box_small)(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_box *spec,
                                 struct gi_err *err)
{
    static void (*const means[2][2])(const struct gi_sliding_window *,
                                     const struct gi_sliding_rows *, size_t) = {
        {means_uint8_t_3, means_uint8_t_5}, {means_uint16_t_3, means_uint16_t_5}};
    int k = spec->k, wide = src->type == GI_U16;
    struct gi_sliding_window sliding_window = {.dst = dst,
                                               .src = src,
                                               .border = &spec->border,
                                               .left = k / 2,
                                               .right = k / 2,
                                               .above = k / 2,
                                               .nrows = k,
                                               .kept_nbytes =
                                                   wide ? sizeof(uint32_t) : sizeof(uint16_t),
                                               .step = means[wide][k / 2 - 1]};
    return GI_CPU(sliding_window)(queue, &sliding_window, err);
}
