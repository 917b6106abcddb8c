/* Look-up tables. With AVX-512 and NEON, a table of bytes for all channels fits in vector registers
 * and serves a vector of samples at once. Other tables are read sample by sample.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/tone/pointwise.h"
#include "kernels/statistics.h"

#if GI_LEVEL_avx512 || GI_LEVEL_neon
#include "kernels/cpu/common/bytes.h"

/* Looks up as many samples as fill whole vectors, and returns the number of these samples. */
static size_t bytes_by_vectors(const struct pointwise *op, uint8_t *out, const uint8_t *in,
                               size_t n)
{
    enum { VECTOR = sizeof(GI_INTS) };
    GI_INTS tables[16], keep = load_bytes((const uint8_t *)op->keep), change = opposite(keep);
    size_t i = 0;
    for (int t = 0; t < 16; t++)
        tables[t] = bytes_table((const uint8_t *)op->table[0] + 16 * t);
    for (; i + VECTOR <= n; i += VECTOR) {
        GI_INTS v = load_bytes(in + i);
        store_bytes(out + i, either(both(v, keep), both(look_up(tables, v), change)));
    }
    return i;
}
#else

static size_t bytes_by_vectors(const struct pointwise *op, uint8_t *out, const uint8_t *in,
                               size_t n)
{
    return 0;
}
#endif

/* Looks up `step` samples at a time, each in its own table; if op->keeps, the last of them is
 * copied instead. All `step` samples are read before any is written, which is faster by half.
 * Returns the number of samples done; fewer than `step` remain. */
#define PIXELS(name, sample)                                                                       \
    static inline __attribute__((always_inline)) size_t name(                                      \
        const struct pointwise *op, sample *out, const sample *in, size_t n, size_t step)          \
    {                                                                                              \
        const sample *table[GI_MAX_CHANNELS];                                                      \
        size_t i = 0;                                                                              \
        bool keeps = op->keeps;                                                                    \
        memcpy(table, op->table, sizeof table);                                                    \
        for (; i + step <= n; i += step) {                                                         \
            sample made[GI_MAX_CHANNELS];                                                          \
            for (size_t c = 0; c < step; c++)                                                      \
                made[c] = table[c][in[i + c]];                                                     \
            made[step - 1] = keeps ? in[i + step - 1] : made[step - 1];                            \
            for (size_t c = 0; c < step; c++)                                                      \
                out[i + c] = made[c];                                                              \
        }                                                                                          \
        return i;                                                                                  \
    }

#define ROW(name, sample, pixels_of, vectors)                                                      \
    void GI_CPU(name)(const struct pointwise *op, void *out, const void *src, size_t pixels)       \
    {                                                                                              \
        size_t channels = (size_t)op->src->channels, n = pixels * channels, done = vectors;        \
        sample *to = (sample *)out + done;                                                         \
        const sample *from = (const sample *)src + done;                                           \
        n -= done;                                                                                 \
        if (op->one_table && !op->keeps) {                                                         \
            size_t fours = pixels_of(op, to, from, n, 4);                                          \
            pixels_of(op, to + fours, from + fours, n - fours, 1);                                 \
        } else if (channels == 2)                                                                  \
            pixels_of(op, to, from, n, 2);                                                         \
        else if (channels == 3)                                                                    \
            pixels_of(op, to, from, n, 3);                                                         \
        else if (channels == 4)                                                                    \
            pixels_of(op, to, from, n, 4);                                                         \
    }

PIXELS(pixels_u8, uint8_t)
PIXELS(pixels_u16, uint16_t)
ROW(table_u8, uint8_t, pixels_u8, op->one_table ? bytes_by_vectors(op, out, src, n) : 0)
ROW(table_u16, uint16_t, pixels_u16, 0)

enum { BLOCK = 240 }; /* samples: a multiple of all numbers of channels */

/* Computes all bins of a block, as gi_unit_bin() does but without its branches, before the first
 * look-up, so that they are computed by vectors. NaN gets some bin, which is not used. */
static void block_f32(const struct pointwise *op, float *out, const float *in, size_t n)
{
    int bins[BLOCK];
    float v[BLOCK]; /* `out` may be `in` */
    size_t channels = (size_t)op->src->channels;
    for (size_t i = 0; i < n; i++) {
        float limited = in[i] > 0 ? in[i] : 0;
        limited = limited < 1 ? limited : 1;
        int bin = (int)(limited * 65536.0f);
        bins[i] = bin < 65535 ? bin : 65535;
    }
    for (size_t c = 0; c < channels; c++) {
        const float *table = op->table[c];
        for (size_t i = c; i < n; i += channels)
            v[i] = table ? table[bins[i]] : in[i];
    }
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] == in[i] ? v[i] : NAN;
}

void GI_CPU(table_f32)(const struct pointwise *op, void *out, const void *src, size_t pixels)
{
    size_t n = pixels * (size_t)op->src->channels;
    for (size_t at = 0; at < n; at += BLOCK)
        block_f32(op, (float *)out + at, (const float *)src + at, n - at < BLOCK ? n - at : BLOCK);
}
