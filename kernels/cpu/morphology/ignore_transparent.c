/* Makes min, max and median filters ignore fully transparent pixels, one row at a time.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/morphology.h"

#include <string.h>

enum { BLOCK = 512 /* pixels */ };

/* Processes rows of `n` pixels in a local block, which cannot alias the rows. So the loops are
 * vectorised even if the result replaces the filtered row. */
#define ROWS(name, sample, channels)                                                               \
    static void on_##name(void *out, const void *src, size_t n,                                    \
                          const struct gi_ignore_transparent *spec)                                \
    {                                                                                              \
        const sample hidden = (sample)spec->hidden, shown = (sample)spec->shown, *in = src;        \
        sample *restrict to = out;                                                                 \
        for (size_t i = 0; i < n * (channels); i += (channels)) {                                  \
            bool counts = in[i + (channels)-1] > 0;                                                \
            for (size_t c = 0; c < (channels)-1; c++)                                              \
                to[i + c] = counts ? in[i + c] : hidden;                                           \
            to[i + (channels)-1] = counts ? shown : hidden;                                        \
        }                                                                                          \
    }                                                                                              \
    static void off_##name(void *out, const void *src, const void *picked, size_t n, float value)  \
    {                                                                                              \
        const sample hidden = (sample)value;                                                       \
        sample made[BLOCK * (channels)];                                                           \
        for (size_t x = 0, m; x < n; x += m) {                                                     \
            const sample *in = (const sample *)src + x * (channels);                               \
            const sample *from = (const sample *)picked + x * (channels);                          \
            m = n - x < BLOCK ? n - x : BLOCK;                                                     \
            for (size_t i = 0; i < m * (channels); i += (channels)) {                              \
                bool counts = from[i + (channels)-1] != hidden;                                    \
                for (size_t c = 0; c < (channels)-1; c++)                                          \
                    made[i + c] = counts ? from[i + c] : in[i + c];                                \
                made[i + (channels)-1] = in[i + (channels)-1];                                     \
            }                                                                                      \
            memcpy((sample *)out + x * (channels), made, m * (channels) * sizeof *made);           \
        }                                                                                          \
    }

ROWS(u8_2, uint8_t, 2)
ROWS(u8_4, uint8_t, 4)
ROWS(u16_2, uint16_t, 2)
ROWS(u16_4, uint16_t, 4)
ROWS(f32_2, float, 2)
ROWS(f32_4, float, 4)

typedef void on_fn(void *out, const void *src, size_t n, const struct gi_ignore_transparent *spec);
typedef void off_fn(void *out, const void *src, const void *picked, size_t n, float value);

static on_fn *const on[GI_F32 + 1][2] = {
    {on_u8_2, on_u8_4}, {on_u16_2, on_u16_4}, {on_f32_2, on_f32_4}};
static off_fn *const off[GI_F32 + 1][2] = {
    {off_u8_2, off_u8_4}, {off_u16_2, off_u16_4}, {off_f32_2, off_f32_4}};

static void transparent_row(void *arg, int y, void *scratch)
{
    const struct gi_cpu_rows *work = arg;
    const struct gi_ignore_transparent *spec = work->spec;
    const struct gi_image *src = work->src, *picked = spec->picked;
    size_t n = (size_t)src->width;
    void *out = gi_row(work->dst, y);
    bool four = src->channels == 4;
    if (picked)
        off[src->type][four](out, gi_row(src, y), gi_row(picked, y), n, spec->hidden);
    else
        on[src->type][four](out, gi_row(src, y), n, spec);
}

GI_CPU_BY_ROWS(ignore_transparent, struct gi_ignore_transparent, transparent_row);
