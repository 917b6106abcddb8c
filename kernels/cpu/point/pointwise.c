/* Primitives that look at one pixel at a time.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolve/rows.h"
#include "kernels/cpu/common/simd.h"

#include <math.h>
#include <string.h>

enum { STRIP_MAX = 1 << 16, LUMA_CHUNK = 256 /* pixels */ };

struct pointwise {
    struct gi_image *dst;
    const struct gi_image *src;
    struct gi_tiling tiling;
    float above;
    bool invert;
};

static enum gi_status run_rows(struct gi_queue *queue, struct pointwise *op, gi_job_fn *fn,
                               struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    op->tiling = GI_CPU(tiling)(op->src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, op->tiling.nstrips * op->tiling.nbands, fn, op, 0, err);
}

/* An integer sample is > above where it is > above rounded down, so integers are compared as such:
 * `low` is that whole number, at most full scale; `yes` and `no` are what foreground and the rest
 * become (the same where no sample can make a difference). */
#define THRESHOLD_ROW(name, sample)                                                                \
    static void name(sample *out, const sample *in, size_t n, sample low, sample yes, sample no)   \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = in[i] > low ? yes : no;                                                       \
    }

THRESHOLD_ROW(threshold_u8, uint8_t)
THRESHOLD_ROW(threshold_u16, uint16_t)
THRESHOLD_ROW(threshold_f32, float)

#define COPY_ALPHA(name, sample)                                                                   \
    static void name(sample *out, const sample *in, size_t n, size_t channels)                     \
    {                                                                                              \
        for (size_t i = channels - 1; i < n; i += channels)                                        \
            out[i] = in[i];                                                                        \
    }

COPY_ALPHA(alpha_u8, uint8_t)
COPY_ALPHA(alpha_u16, uint16_t)
COPY_ALPHA(alpha_f32, float)

static void threshold_row(const struct pointwise *op, void *out, const void *in, size_t n)
{
    enum gi_type type = op->src->type;
    size_t channels = (size_t)op->src->channels;
    float full = gi_type_full_scale(type);
    float yes = op->invert ? 0 : full, no = full - yes;
    float low = op->above;
    if (type != GI_F32) {
        if (low < 0)
            no = yes;
        low = low >= 0 && low < full ? floorf(low) : full; /* NaN: nothing is above */
        low = op->above < 0 ? 0 : low;
    }
    if (type == GI_U8)
        threshold_u8(out, in, n, (uint8_t)low, (uint8_t)yes, (uint8_t)no);
    else if (type == GI_U16)
        threshold_u16(out, in, n, (uint16_t)low, (uint16_t)yes, (uint16_t)no);
    else
        threshold_f32(out, in, n, low, yes, no);
    if (!gi_has_alpha(op->src))
        return;
    if (type == GI_U8)
        alpha_u8(out, in, n, channels);
    else if (type == GI_U16)
        alpha_u16(out, in, n, channels);
    else
        alpha_f32(out, in, n, channels);
}

static void threshold_tile(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct pointwise *op = arg;
    struct gi_tile tile = GI_CPU(tile)(&op->tiling, op->src, index);
    size_t channels = (size_t)op->src->channels, n = (size_t)(tile.x1 - tile.x0) * channels;
    size_t first = (size_t)tile.x0 * channels * gi_type_nbytes(op->src->type);
    for (int y = tile.y0; y < tile.y1; y++)
        threshold_row(op, (char *)gi_row(op->dst, y) + first, (char *)gi_row(op->src, y) + first,
                      n);
}

enum gi_status GI_CPU(threshold)(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, float above, bool invert,
                                 struct gi_err *err)
{
    struct pointwise op = {.dst = dst, .src = src, .above = above, .invert = invert};
    return run_rows(queue, &op, threshold_tile, err);
}

/* Gray as it is, without its alpha. */
static void gray_row(void *out, const void *in, size_t pixels, size_t channels, size_t nbytes)
{
    if (channels == 1) {
        memcpy(out, in, pixels * nbytes);
        return;
    }
    char *to = out;
    const char *from = in;
    for (size_t x = 0; x < pixels; x++)
        memcpy(to + x * nbytes, from + x * channels * nbytes, nbytes);
}

/* As many pixels of 3 channels as whole vectors hold; returns how many. */
static inline size_t luma_vectors(void *out, const void *in, size_t pixels, enum gi_type type)
{
    size_t x = 0;
    for (; x + GI_LANES <= pixels; x += GI_LANES) {
        GI_VEC p = vec_load_samples(in, 3 * x, type);
        GI_VEC q = vec_load_samples(in, 3 * x + GI_LANES, type);
        GI_VEC s = vec_load_samples(in, 3 * x + 2 * GI_LANES, type);
        GI_VEC luma = vec_mul(vec_set(0.2126f), vec_third(p, q, s, 0));
        luma = vec_fma(vec_set(0.7152f), vec_third(p, q, s, 1), luma);
        luma = vec_fma(vec_set(0.0722f), vec_third(p, q, s, 2), luma);
        vec_store_samples(out, x, luma, type);
    }
    return x;
}

static inline void luma_chunk(float *out, const float *in, size_t pixels, size_t channels)
{
    for (size_t x = 0; x < pixels; x++) {
        const float *p = in + x * channels;
        out[x] = fmaf(0.0722f, p[2], fmaf(0.7152f, p[1], 0.2126f * p[0]));
    }
}

static void luma_row(char *out, const char *in, size_t pixels, size_t channels, enum gi_type type)
{
    float colour[LUMA_CHUNK * GI_MAX_CHANNELS], luma[LUMA_CHUNK];
    size_t nbytes = gi_type_nbytes(type), x = 0;
    if (channels == 3 && type == GI_U8)
        x = luma_vectors(out, in, pixels, GI_U8);
    else if (channels == 3 && type == GI_U16)
        x = luma_vectors(out, in, pixels, GI_U16);
    else if (channels == 3)
        x = luma_vectors(out, in, pixels, GI_F32);
    for (; x < pixels; x += LUMA_CHUNK) {
        size_t n = pixels - x < LUMA_CHUNK ? pixels - x : LUMA_CHUNK;
        GI_CPU(samples_load)(colour, in + x * channels * nbytes, n * channels, type);
        if (channels == 3)
            luma_chunk(luma, colour, n, 3);
        else
            luma_chunk(luma, colour, n, 4);
        GI_CPU(samples_store)(out + x * nbytes, luma, n, type);
    }
}

static void luma_tile(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct pointwise *op = arg;
    struct gi_tile tile = GI_CPU(tile)(&op->tiling, op->src, index);
    size_t channels = (size_t)op->src->channels, pixels = (size_t)(tile.x1 - tile.x0);
    size_t nbytes = gi_type_nbytes(op->src->type), x0 = (size_t)tile.x0;
    for (int y = tile.y0; y < tile.y1; y++) {
        char *out = (char *)gi_row(op->dst, y) + x0 * nbytes;
        const char *in = (const char *)gi_row(op->src, y) + x0 * channels * nbytes;
        if (channels < 3)
            gray_row(out, in, pixels, channels, nbytes);
        else
            luma_row(out, in, pixels, channels, op->src->type);
    }
}

enum gi_status GI_CPU(luma)(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, struct gi_err *err)
{
    struct pointwise op = {.dst = dst, .src = src};
    return run_rows(queue, &op, luma_tile, err);
}
