/* Rows by table look-up.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/point/point.h"

/* `step` samples at a time, each by a table of its own; the last one stays
 * where op->keeps. Returns how many are done: nothing but the rest of a
 * division by `step` is left. */
#define PIXELS(name, sample)                                                                       \
    static inline __attribute__((always_inline)) size_t name(                                      \
        const struct point *op, sample *out, const sample *in, size_t n, size_t step)              \
    {                                                                                              \
        const sample *table[GI_MAX_CHANNELS];                                                      \
        size_t i = 0;                                                                              \
        bool keeps = op->keeps;                                                                    \
        memcpy(table, op->table, sizeof table);                                                    \
        for (; i + step <= n; i += step) {                                                         \
            sample made[GI_MAX_CHANNELS]; /* all read before any is written: quicker               \
                                             by half */                                            \
            for (size_t c = 0; c < step; c++)                                                      \
                made[c] = table[c][in[i + c]];                                                     \
            made[step - 1] = keeps ? in[i + step - 1] : made[step - 1];                            \
            for (size_t c = 0; c < step; c++)                                                      \
                out[i + c] = made[c];                                                              \
        }                                                                                          \
        return i;                                                                                  \
    }

#define ROW(name, sample, pixels_of)                                                               \
    void GI_CPU(name)(const struct point *op, void *out, const void *src, const void *other,       \
                      size_t pixels)                                                               \
    {                                                                                              \
        size_t channels = (size_t)op->src->channels, n = pixels * channels;                        \
        const sample *from = src;                                                                  \
        sample *to = out;                                                                          \
        (void)other;                                                                               \
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
ROW(table_u8, uint8_t, pixels_u8)
ROW(table_u16, uint16_t, pixels_u16)
