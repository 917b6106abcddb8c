/* Sums of a square window by running sums, for box filters and local thresholds. Column sums over k
 * rows are updated from row to row, and sums over k columns from pixel to pixel, so that the cost
 * per pixel does not depend on k.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/ints.h"
#include "kernels/cpu/convolution/padded_rows.h"

#include <string.h>

/* Runs the code in __VA_ARGS__ with the constant STEP, the number of channels. */
#define RUNNING_STEPS(channels, ...)                                                               \
    switch (channels) {                                                                            \
        RUNNING_STEP(1, __VA_ARGS__)                                                               \
        RUNNING_STEP(2, __VA_ARGS__)                                                               \
        RUNNING_STEP(3, __VA_ARGS__)                                                               \
        RUNNING_STEP(4, __VA_ARGS__)                                                               \
    }
#define RUNNING_STEP(constant, ...)                                                                \
    case constant: {                                                                               \
        enum { STEP = constant };                                                                  \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }

/* Returns the size of a buffer that is read and written in whole vectors. */
static inline size_t running_room(size_t nbytes)
{
    return (nbytes + 127) / 64 * 64;
}

/* Makes the rows of a tile. `enter` adds the row at position `fresh` to the column sums, and
 * removes the row at `old`, if there is one yet. `make` computes result row y from the column sums.
 * Both are inlined. */
static inline __attribute__((always_inline)) void
running_rows(const struct gi_image *src, const struct gi_tile *tile, int k, void *worker,
             void (*enter)(void *worker, long long fresh, bool leaves, long long old),
             void (*make)(void *worker, int y))
{
    int half = k / 2;
    for (int i = 0; i < k - 1; i++)
        enter(worker, (long long)tile->y0 - half + i, false, 0);
    for (int y = tile->y0; y < tile->y1; y++) {
        GI_CPU(row_prefetch)(src, tile, (long long)y + half + 2, false);
        enter(worker, (long long)y + half, y > tile->y0, (long long)y - half - 1);
        make(worker, y);
    }
}

/* Loads the column sums of GI_LANES samples from sample x on. Column sums have 16 bits if
 * `narrow`. */
static inline __attribute__((always_inline)) GI_INTS running_columns(const void *columns, size_t x,
                                                                     bool narrow)
{
    return narrow ? ints_load_u16((const uint16_t *)columns + x)
                  : ints_load((const uint32_t *)columns + x);
}

/* Returns, in each lane, the sum of the lane's channel in the first `reach` columns. `step` is the
 * number of channels. */
static inline __attribute__((always_inline)) GI_INTS
running_first(const void *columns, size_t reach, int step, bool narrow)
{
    uint32_t first[GI_LANES] = {0};
    for (size_t i = 0; i < reach; i++)
        first[i % (size_t)step] +=
            narrow ? ((const uint16_t *)columns)[i] : ((const uint32_t *)columns)[i];
    for (int i = step; i < GI_LANES; i++)
        first[i] = first[i - step];
    return ints_load(first);
}

/* Returns sums of `reach` / `step` columns that are `step` apart, for the samples from x on. A lane
 * of `carry` holds the sum at the first sample of its channel in the block; later sums are `carry`
 * plus all samples that have entered since, minus all samples that have left since. */
static inline __attribute__((always_inline)) GI_INTS
running_next(GI_INTS *carry, const void *columns, size_t x, size_t reach, int step, bool narrow)
{
    GI_INTS change =
        ints_sub(running_columns(columns, x + reach, narrow), running_columns(columns, x, narrow));
    GI_INTS next = ints_add(*carry, ints_prefix(change, step));
    *carry = ints_spread(next, step);
    return ints_sub(next, change);
}

/* Computes the sums of running_next() for all n samples of a row, one at a time, in 64 bits. */
#define RUNNING_ROW(name, column)                                                                  \
    static inline void name(uint64_t *sums, const column *columns, size_t n, size_t reach,         \
                            size_t step)                                                           \
    {                                                                                              \
        for (size_t c = 0; c < step; c++) {                                                        \
            uint64_t s = 0;                                                                        \
            for (size_t i = c; i < reach; i += step)                                               \
                s += columns[i];                                                                   \
            for (size_t x = c; x < n; x += step) {                                                 \
                sums[x] = s;                                                                       \
                s += (uint64_t)columns[x + reach] - (uint64_t)columns[x];                          \
            }                                                                                      \
        }                                                                                          \
    }
RUNNING_ROW(running_row_u32, uint32_t)
RUNNING_ROW(running_row_u64, uint64_t)

static inline __attribute__((always_inline)) void running_store(void *out, size_t x, GI_INTS v,
                                                                enum gi_type type)
{
    if (type == GI_U8)
        ints_store_u8((uint8_t *)out + x, v);
    else
        ints_store_u16((uint16_t *)out + x, v);
}

/* Returns whether float is precise enough for the means, S * (1 / N) rounded. N is odd, so a mean
 * is at least 1 / (2 N) away from a tie. Two roundings move a mean of at most `full` by less than
 * full * (2^-23 + 2^-48), which is less than 1 / (2 N) if N * full < 2^22. S is then exact, too. */
static inline bool running_float_does(size_t k, enum gi_type type)
{
    return (float)(k * k) * gi_type_full_scale(type) < 0x1p22f;
}

/* Computes sums along a row of n samples and their means, GI_LANES at a time. `weigh` requires 8
 * bits and a `step` of 2 or 4. */
static inline __attribute__((always_inline)) void running_means(void *out, const void *columns,
                                                                size_t n, int k, int step,
                                                                enum gi_type type, bool weigh,
                                                                bool narrow)
{
    size_t reach = (size_t)k * (size_t)step;
    double inverse = 1.0 / ((double)k * k);
    bool in_float = running_float_does((size_t)k, type);
    GI_INTS carry = running_first(columns, reach, step, narrow);
    for (size_t x = 0; x < n; x += GI_LANES) {
        GI_INTS sum = running_next(&carry, columns, x, reach, step, narrow);
        GI_INTS mean = in_float ? ints_scale_float(sum, (float)inverse) : ints_scale(sum, inverse);
        if (weigh)
            mean = ints_weighed_mean(sum, mean, step);
        if (x + GI_LANES <= n) {
            running_store(out, x, mean, type);
        } else { /* copies the last samples, so that no byte past the row is written */
            uint16_t last[GI_LANES];
            size_t nbytes = gi_type_nbytes(type);
            running_store(last, 0, mean, type);
            memcpy((char *)out + x * nbytes, last, (n - x) * nbytes);
        }
    }
}
