/* Converts rows of RGB pixels to gray (luma).
 * SPDX-License-Identifier: MIT */
#include "kernels/color.h"
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/cpu/tone/pointwise.h"

enum { CHUNK = 256 /* pixels */ };

/* Copies gray and drops alpha. */
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

static inline GI_VEC luma_of(GI_VEC r, GI_VEC g, GI_VEC b)
{
    GI_VEC luma =
        vec_fma(vec_set((float)GI_LUMA_GREEN), g, vec_mul(vec_set((float)GI_LUMA_RED), r));
    return vec_fma(vec_set((float)GI_LUMA_BLUE), b, luma);
}

/* Converts pixels of 3 bytes, four vectors at a time, except some at the end. Returns the number of
 * pixels that are done. */
static inline size_t luma_bytes(uint8_t *out, const uint8_t *in, size_t pixels)
{
    enum {
        STEP = 4 * GI_LANES,
        AFTER = 64 / 3 /* pixels that the last load may read in addition */
    };
    size_t x = 0;
    for (; x + STEP + AFTER <= pixels; x += STEP) {
        GI_VEC luma[4], v[3];
        uint8_t *to[4];
        for (int i = 0; i < 4; i++) {
            size_t at = x + (size_t)(i * GI_LANES);
            vec_load_u8_thirds(v, in + 3 * at);
            luma[i] = luma_of(v[0], v[1], v[2]);
            to[i] = out + at;
        }
        vec_store_u8_rows(to, luma);
    }
    return x;
}

/* Converts as many pixels of 3 channels as fill whole vectors, and returns the number of these
 * pixels. */
static inline size_t luma_vectors(void *out, const void *in, size_t pixels, enum gi_type type)
{
    size_t x = type == GI_U8 ? luma_bytes(out, in, pixels) : 0;
    for (; x + GI_LANES <= pixels; x += GI_LANES) {
        GI_VEC p = vec_load_samples(in, 3 * x, type);
        GI_VEC q = vec_load_samples(in, 3 * x + GI_LANES, type);
        GI_VEC s = vec_load_samples(in, 3 * x + 2 * GI_LANES, type);
        GI_VEC luma = luma_of(vec_third(p, q, s, 0), vec_third(p, q, s, 1), vec_third(p, q, s, 2));
        vec_store_samples(out, x, luma, type);
    }
    return x;
}

static inline void luma_chunk(float *out, const float *in, size_t pixels, size_t channels)
{
    for (size_t x = 0; x < pixels; x++) {
        const float *p = in + x * channels;
        out[x] = gi_pixel_luma(p[0], p[1], p[2]);
    }
}

static inline __attribute__((always_inline)) void luma_row(char *out, const char *in, size_t pixels,
                                                           size_t channels, enum gi_type type)
{
    float color[CHUNK * GI_MAX_CHANNELS], luma[CHUNK];
    size_t nbytes = gi_type_nbytes(type), x = 0;
    if (channels < 3) {
        gray_row(out, in, pixels, channels, nbytes);
        return;
    }
    if (channels == 3)
        x = luma_vectors(out, in, pixels, type);
    for (; x < pixels; x += CHUNK) {
        size_t n = pixels - x < CHUNK ? pixels - x : CHUNK;
        GI_CPU(samples_load)(color, in + x * channels * nbytes, n * channels, type);
        if (channels == 3)
            luma_chunk(luma, color, n, 3);
        else
            luma_chunk(luma, color, n, 4);
        GI_CPU(samples_store)(out + x * nbytes, luma, n, type);
    }
}

#define LUMA(name, type)                                                                           \
    void GI_CPU(name)(const struct pointwise *op, void *out, const void *in, size_t pixels)        \
    {                                                                                              \
        luma_row(out, in, pixels, (size_t)op->src->channels, type);                                \
    }

LUMA(luma_u8, GI_U8)
LUMA(luma_u16, GI_U16)
LUMA(luma_f32, GI_F32)

GI_CPU_ONE_WAY(luma, "groups", GI_CPU(luma_by_groups));
