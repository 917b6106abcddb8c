/* Means of 2 x 2 pixels.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/halve.h"

/* The rows of one call. */
struct rows {
    void *dst;
    const void *above, *below;
    size_t width, channels;
};

static size_t right_of(const struct rows *r, size_t x)
{
    return 2 * x + 1 < r->width ? r->channels : 0;
}

/* Means of samples on their own. `MEAN` takes the four samples of the type. */
#define PLAIN(name, type, MEAN)                                                                    \
    static void name(const struct rows *r)                                                         \
    {                                                                                              \
        type *dst = r->dst;                                                                        \
        for (size_t x = 0; x < (r->width + 1) / 2; x++) {                                          \
            const type *a = (const type *)r->above + 2 * x * r->channels,                          \
                       *b = (const type *)r->below + 2 * x * r->channels;                          \
            size_t right = right_of(r, x);                                                         \
            for (size_t c = 0; c < r->channels; c++, dst++)                                        \
                *dst = MEAN(a[c], a[c + right], b[c], b[c + right]);                               \
        }                                                                                          \
    }

#define MEAN_U8(a, b, c, d)  (uint8_t)(((unsigned)(a) + (b) + (c) + (d) + 2) / 4)
#define MEAN_U16(a, b, c, d) (uint16_t)(((unsigned)(a) + (b) + (c) + (d) + 2) / 4)
#define MEAN_F32(a, b, c, d) (((a) + (b) + ((c) + (d))) * 0.25f)
PLAIN(plain_u8, uint8_t, MEAN_U8)
PLAIN(plain_u16, uint16_t, MEAN_U16)
PLAIN(plain_f32, float, MEAN_F32)

/* Means weighted by alpha, which is the last channel. `DIVIDE` divides a weighted sum by the sum of
 * the weights, and `MEAN` is as above. */
#define WEIGHTED(name, type, sum, DIVIDE, MEAN)                                                    \
    static void name(const struct rows *r)                                                         \
    {                                                                                              \
        type *dst = r->dst;                                                                        \
        size_t n = r->channels - 1;                                                                \
        for (size_t x = 0; x < (r->width + 1) / 2; x++, dst += r->channels) {                      \
            const type *a = (const type *)r->above + 2 * x * r->channels,                          \
                       *b = (const type *)r->below + 2 * x * r->channels;                          \
            const type *ar = a + right_of(r, x), *br = b + right_of(r, x);                         \
            sum total = (sum)a[n] + ar[n] + ((sum)b[n] + br[n]);                                   \
            for (size_t c = 0; c < n; c++) {                                                       \
                sum weighted = (sum)a[c] * a[n] + (sum)ar[c] * ar[n] +                             \
                               ((sum)b[c] * b[n] + (sum)br[c] * br[n]);                            \
                dst[c] = (type)(total == 0 ? 0 : DIVIDE(weighted, total));                         \
            }                                                                                      \
            dst[n] = MEAN(a[n], ar[n], b[n], br[n]);                                               \
        }                                                                                          \
    }

#define ROUNDED(a, b)  ((2 * (a) + (b)) / (2 * (b)))
#define QUOTIENT(a, b) ((a) / (b))
WEIGHTED(weighted_u8, uint8_t, uint32_t, ROUNDED, MEAN_U8)
WEIGHTED(weighted_u16, uint16_t, uint64_t, ROUNDED, MEAN_U16)
WEIGHTED(weighted_f32, float, double, QUOTIENT, MEAN_F32)

void gi_halve_row(void *dst, const void *above, const void *below, int width, int channels,
                  enum gi_type type)
{
    const struct rows rows = {dst, above, below, (size_t)width, (size_t)channels};
    bool alpha = channels % 2 == 0;
    if (type == GI_U8)
        (alpha ? weighted_u8 : plain_u8)(&rows);
    else if (type == GI_U16)
        (alpha ? weighted_u16 : plain_u16)(&rows);
    else
        (alpha ? weighted_f32 : plain_f32)(&rows);
}
