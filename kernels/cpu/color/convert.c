/* Converts samples to another type, in which full scale remains full scale.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* Returns v * full rounded half to even, or 0 if v is NaN. The product is exact in double. */
static inline double scaled(float v, double full)
{
    double product = (double)v * full;
    product = product > 0 ? product : 0; /* NaN fails the test */
    return rint(product < full ? product : full);
}

static void from_bytes(void *to, enum gi_type type, const uint8_t *in, size_t n)
{
    uint16_t *wide = to;
    float *real = to;
    if (type == GI_U16)
        for (size_t i = 0; i < n; i++)
            wide[i] = (uint16_t)(in[i] * 257);
    else
        for (size_t i = 0; i < n; i++)
            real[i] = (float)in[i] / 255.0f;
}

/* 65535 = 255 * 257: v / 257 has no ties. */
static void from_words(void *to, enum gi_type type, const uint16_t *in, size_t n)
{
    uint8_t *narrow = to;
    float *real = to;
    if (type == GI_U8)
        for (size_t i = 0; i < n; i++)
            narrow[i] = (uint8_t)(((uint32_t)in[i] + 128) / 257);
    else
        for (size_t i = 0; i < n; i++)
            real[i] = (float)in[i] / 65535.0f;
}

static void from_floats(void *to, enum gi_type type, const float *in, size_t n)
{
    uint8_t *narrow = to;
    uint16_t *wide = to;
    if (type == GI_U8)
        for (size_t i = 0; i < n; i++)
            narrow[i] = (uint8_t)scaled(in[i], 255);
    else
        for (size_t i = 0; i < n; i++)
            wide[i] = (uint16_t)scaled(in[i], 65535);
}

static void convert_row(void *arg, int y, void *scratch)
{
    const struct gi_cpu_rows *work = arg;
    const struct gi_image *src = work->src;
    enum gi_type type = work->dst->type;
    size_t n = gi_row_samples(src);
    void *to = gi_row(work->dst, y);
    const void *from = gi_row(src, y);
    if (type == src->type)
        memcpy(to, from, gi_row_nbytes(src));
    else if (src->type == GI_U8)
        from_bytes(to, type, from, n);
    else if (src->type == GI_U16)
        from_words(to, type, from, n);
    else
        from_floats(to, type, from, n);
}

GI_CPU_BY_ROWS(convert, void, convert_row);
