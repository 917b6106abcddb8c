/* Geometric transforms: interpolates runs of pixels by plain loads from global memory, with any
 * border. Shared by remap_plain.cu and remap_tile.cuh.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_PIXEL_CUH
#define GI_KERNELS_CUDA_REMAP_PIXEL_CUH

#include "kernels/cuda/geometry/remap_places.cuh"

/* Fetches the samples of the pixel at (x, y), which may be outside the image. If weighted, colour
 * is multiplied by alpha. Returns whether the pixel is inside the image. */
template <typename T, int CHANNELS>
static __device__ bool remap_fetch(float *v, const struct remap_args *args, int x, int y)
{
    int xi = gi_border_index(x, args->src.width, args->src.border);
    int yi = gi_border_index(y, args->height, args->of_rows);
    bool inside = xi >= 0 && yi >= 0;
    if (inside) {
        yi = gi_band_row(yi, args->src_y, args->height);
        const T *pixel =
            (const T *)(args->src.data + (size_t)yi * args->src.stride) + (size_t)xi * CHANNELS;
        for (int c = 0; c < CHANNELS; c++)
            v[c] = remap_float(pixel[c]);
    } else {
        for (int c = 0; c < CHANNELS; c++)
            v[c] = args->src.value[c];
    }
    if (CHANNELS % 2 == 0 && args->weigh)
        for (int c = 0; c < CHANNELS - 1; c++)
            v[c] = __fmul_rn(v[c], v[CHANNELS - 1]);
    return inside;
}

/* Divides the colours of a pixel by its alpha. f consists of the channels of the pixel. */
template <int CHANNELS>
static __device__ __forceinline__ void remap_unweigh(float *f, const struct remap_args *args)
{
    if (CHANNELS % 2 || !args->weigh)
        return;
    float alpha = f[CHANNELS - 1];
    for (int c = 0; c < CHANNELS - 1; c++)
        f[c] = alpha > 0 ? __fdiv_rn(f[c], alpha) : 0.0f;
    f[CHANNELS - 1] = alpha > 0 ? alpha : 0.0f;
}

/* Interpolates a pixel whose taps may be outside the source. f becomes the value before the last
 * step (rounding). */
template <typename T, int CHANNELS, int HOW>
static __device__ __noinline__ void remap_anywhere(float *f, const struct remap_args *args, int x,
                                                   int y, float t, float u)
{
    constexpr int TAPS = HOW == GI_NEAREST ? 1 : HOW == GI_LINEAR ? 2 : 4;
    constexpr int BEFORE = HOW == GI_CUBIC;
    constexpr int BEHIND = HOW == GI_NEAREST ? 0 : 1 + BEFORE;
    float wx[4], wy[4];
    bool inside = false;
    bool beside = x < -BEHIND || x - BEFORE >= args->src.width;
    bool above_or_below = y < -BEHIND || y - BEFORE >= args->height;
    if (x == GI_PLACE_NONE || (beside && args->src.border == GI_BORDER_VALUE) ||
        (above_or_below && args->of_rows == GI_BORDER_VALUE)) {
        for (int c = 0; c < CHANNELS; c++)
            f[c] = args->background[c];
        return;
    }
    if (HOW == GI_CUBIC) {
        gi_cubic_weights(wx, &args->cubic, t);
        gi_cubic_weights(wy, &args->cubic, u);
    }
    float above[CHANNELS] = {}; /* LINEAR: of the first row */
    for (int c = 0; c < CHANNELS; c++)
        f[c] = 0;
#pragma unroll 1
    for (int j = 0; j < TAPS; j++) {
        float r[CHANNELS] = {};
#pragma unroll 1
        for (int i = 0; i < TAPS; i++) {
            float v[CHANNELS];
            inside |= remap_fetch<T, CHANNELS>(v, args, x + i - BEFORE, y + j - BEFORE);
            for (int c = 0; c < CHANNELS; c++)
                r[c] = HOW == GI_CUBIC             ? remap_tap<T>(wx[i], v[c], r[c])
                       : HOW == GI_LINEAR && i > 0 ? remap_lerp<T>(r[c], v[c], t)
                                                   : v[c];
        }
        for (int c = 0; c < CHANNELS; c++) {
            f[c] = HOW == GI_CUBIC             ? remap_tap<T>(wy[j], r[c], f[c])
                   : HOW == GI_LINEAR && j > 0 ? remap_lerp<T>(above[c], r[c], u)
                                               : r[c];
            above[c] = r[c];
        }
    }
    if (HOW != GI_NEAREST)
        remap_unweigh<CHANNELS>(f, args);
    for (int c = 0; c < CHANNELS && !inside; c++)
        f[c] = args->background[c];
}

/* Loads the samples of N neighbouring pixels of a row. */
template <typename T, int CHANNELS, int N>
static __device__ __forceinline__ void remap_load(float (*v)[CHANNELS], const uint8_t *at)
{
    constexpr int NBYTES = CHANNELS * (int)sizeof(T), WORDS = (NBYTES + 3) / 4;
    constexpr int ALL = (N * NBYTES + 3) / 4;
    if constexpr (NBYTES % 4 && CHANNELS == 3) {
        /* Loads aligned words and shifts them. The last word contains the end of the pixels, and
         * may be loaded twice. */
        unsigned offset = (unsigned)(size_t)at % 4, words[ALL + 1];
        const unsigned *from = (const unsigned *)(at - offset);
#pragma unroll
        for (int i = 0; i < ALL; i++)
            words[i] = from[i];
        words[ALL] = from[(offset + N * NBYTES - 1) / 4];
#pragma unroll
        for (int i = 0; i < ALL; i++)
            words[i] = __funnelshift_r(words[i], words[i + 1], 8 * offset);
#pragma unroll
        for (int i = 0; i < N * CHANNELS; i++)
            v[i / CHANNELS][i % CHANNELS] = sample_unpack<T>(words, i);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) {
            unsigned words[WORDS];
            if constexpr (WORDS == 3)
#pragma unroll
                for (int k = 0; k < WORDS; k++)
                    words[k] = ((const unsigned *)at)[i * WORDS + k];
            else
                texel_words<WORDS>(words, at + i * NBYTES, NBYTES);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                v[i][c] = sample_unpack<T>(words, c);
        }
    }
}

/* Interpolates a pixel whose taps are all inside the source. */
template <typename T, int CHANNELS, int HOW>
static __device__ __forceinline__ void remap_inside(float *f, const struct remap_args *args, int x,
                                                    int row, float t, float u)
{
    constexpr int TAPS = HOW == GI_NEAREST ? 1 : HOW == GI_LINEAR ? 2 : 4;
    constexpr int BEFORE = HOW == GI_CUBIC;
    const uint8_t *at = (const uint8_t *)args->src.data +
                        (size_t)(row - BEFORE) * args->src.stride +
                        (size_t)(x - BEFORE) * CHANNELS * sizeof(T);
    float wx[4], wy[4], r[TAPS][CHANNELS];
    if (HOW == GI_CUBIC) {
        gi_cubic_weights(wx, &args->cubic, t);
        gi_cubic_weights(wy, &args->cubic, u);
    }
#pragma unroll
    for (int j = 0; j < TAPS; j++) {
        float v[TAPS][CHANNELS];
        remap_load<T, CHANNELS, TAPS>(v, at);
        if (CHANNELS % 2 == 0 && HOW != GI_NEAREST && args->weigh)
#pragma unroll
            for (int i = 0; i < TAPS; i++)
#pragma unroll
                for (int c = 0; c < CHANNELS - 1; c++)
                    v[i][c] = __fmul_rn(v[i][c], v[i][CHANNELS - 1]);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            r[j][c] = HOW == GI_CUBIC ? 0 : v[0][c];
            if (HOW == GI_LINEAR)
                r[j][c] = remap_lerp<T>(v[0][c], v[TAPS - 1][c], t);
            for (int i = 0; HOW == GI_CUBIC && i < TAPS; i++)
                r[j][c] = remap_tap<T>(wx[i], v[i][c], r[j][c]);
        }
        at += args->src.stride;
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        f[c] = HOW == GI_CUBIC ? 0 : r[0][c];
        if (HOW == GI_LINEAR)
            f[c] = remap_lerp<T>(r[0][c], r[TAPS - 1][c], u);
        for (int j = 0; HOW == GI_CUBIC && j < TAPS; j++)
            f[c] = remap_tap<T>(wy[j], r[j][c], f[c]);
    }
    if (HOW != GI_NEAREST)
        remap_unweigh<CHANNELS>(f, args);
}

/* Interpolates pixels x to x + REMAP_ACROSS - 1 of a row of the result at the given positions. Only
 * the first n of these pixels exist. f becomes the values before the last step (rounding). If all
 * taps are inside the source, as usual, the loads of all pixels are independent and in flight at
 * once. */
template <typename T, int CHANNELS, int HOW>
static __device__ __forceinline__ void remap_run(float *f, const struct remap_args *args,
                                                 const struct remap_spot *at, int n)
{
    constexpr int BEFORE = HOW == GI_CUBIC, BEHIND = HOW == GI_NEAREST ? 0 : 1 + BEFORE;
    unsigned columns = (unsigned)(args->src.width - BEFORE - BEHIND);
    unsigned rows = (unsigned)(args->src.height - BEFORE - BEHIND);
    bool inside = args->src.width > BEFORE + BEHIND && args->src.height > BEFORE + BEHIND;
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++)
        inside = inside && (unsigned)(at[i].x - BEFORE) < columns &&
                 (unsigned)(at[i].y - args->src_y - BEFORE) < rows;
    if (inside) {
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            remap_inside<T, CHANNELS, HOW>(f + i * CHANNELS, args, at[i].x, at[i].y - args->src_y,
                                           remap_part(at[i].part_x), remap_part(at[i].part_y));
        return;
    }
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++) {
        float g[CHANNELS] = {}; /* a separate array, in local memory for the function call */
        if (i < n)              /* taps of pixels that do not exist may be outside the band */
            remap_anywhere<T, CHANNELS, HOW>(g, args, at[i].x, at[i].y, remap_part(at[i].part_x),
                                             remap_part(at[i].part_y));
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            f[i * CHANNELS + c] = g[c];
    }
}

#endif
