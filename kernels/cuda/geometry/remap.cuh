/* Geometric transforms: kernel arguments, coordinates from maps, and one interpolated pixel with
 * any border. Shared by remap_plain.cu and remap_tile.cuh.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_CUH
#define GI_KERNELS_CUDA_REMAP_CUH

#include "kernels/cuda/common/sample.cuh"

enum {
    REMAP_ACROSS = 4, /* neighbouring pixels per thread */
    REMAP_WIDE = 8,   /* threads per block: a tile of 32 x 32 pixels */
    REMAP_TALL = 32,
};

struct remap_args {
    struct source src; /* rows of the band */
    int height, src_y; /* rows of the whole source; its row at the start of the band */
    struct target dst;
    int dst_width, dst_height, dst_y;
    enum gi_border of_rows;
    bool weigh;
    float cubic;
    float background[GI_MAX_CHANNELS];
    struct gi_map map; /* tables are on the device, `field` is below */
    struct gi_image field[2];
    bool fours; /* FIELD maps: remap_places_field() applies */
};

/* Maps whose computation costs more than a function call. */
static __device__ __noinline__ struct gi_place remap_place_other(const struct remap_args *args,
                                                                 int x, int y)
{
    switch (args->map.kind) {
    case GI_MAP_RAYS:
        return gi_map_rays(&args->map.rays, x, y);
    case GI_MAP_RINGS:
        return gi_map_rings(&args->map.rings, x, y);
    case GI_MAP_LENS:
        return gi_map_lens(&args->map.lens, x, y);
    default:
        return gi_map_field(&args->field[0], &args->field[1], args->map.relative, x, y);
    }
}

/* Source coordinates of pixels x to x + REMAP_ACROSS - 1 of row y of the whole result, for AFFINE
 * and PROJECTIVE maps. */
static __device__ __forceinline__ void
remap_places_lines(struct gi_place *at, const struct remap_args *args, int x, int y)
{
    const struct gi_map *map = &args->map;
    if (map->kind == GI_MAP_AFFINE) {
        int64_t to_x = map->affine[0] * x + (map->affine[1] * y + map->affine[2]);
        int64_t to_y = map->affine[3] * x + (map->affine[4] * y + map->affine[5]);
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++) {
            at[i].x = to_x >> (GI_AFFINE_BITS - GI_PLACE_BITS);
            at[i].y = to_y >> (GI_AFFINE_BITS - GI_PLACE_BITS);
            to_x += map->affine[0];
            to_y += map->affine[3];
        }
    } else {
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            at[i] = gi_map_projective(map->m, x + i, y);
    }
}

/* The same for a FIELD map of two one-channel images or one two-channel image, whose rows are
 * aligned to 16 bytes: four pixels per load. */
static __device__ __forceinline__ void
remap_places_field(struct gi_place *at, const struct remap_args *args, int x, int y)
{
    const struct gi_image *a = &args->field[0], *b = &args->field[1];
    size_t first = (size_t)x * a->channels * sizeof(float);
    float4 u = *(const float4 *)((const char *)a->data + (size_t)y * a->stride + first);
    float4 v = *(const float4 *)((const char *)b->data + (size_t)y * b->stride + first +
                                 (a->channels > 1 ? sizeof(float4) : 0));
    if (a->channels > 1) {
        float4 t = u;
        u = make_float4(t.x, t.z, v.x, v.z);
        v = make_float4(t.y, t.w, v.y, v.w);
    }
    bool relative = args->map.relative;
    at[0] = gi_map_samples(u.x, v.x, relative, x, y);
    at[1] = gi_map_samples(u.y, v.y, relative, x + 1, y);
    at[2] = gi_map_samples(u.z, v.z, relative, x + 2, y);
    at[3] = gi_map_samples(u.w, v.w, relative, x + 3, y);
}

/* The same for any map. Right of the result, where tables end, the coordinates of its last
 * pixel. */
static __device__ __forceinline__ void remap_places(struct gi_place *at,
                                                    const struct remap_args *args, int x, int y)
{
    if (args->map.kind == GI_MAP_AFFINE || args->map.kind == GI_MAP_PROJECTIVE)
        remap_places_lines(at, args, x, y);
    else if (args->fours && x + REMAP_ACROSS <= args->dst_width)
        remap_places_field(at, args, x, y);
    else
        for (int i = 0; i < REMAP_ACROSS; i++)
            at[i] = remap_place_other(args, min(x + i, args->dst_width - 1), y);
}

static __device__ __forceinline__ int remap_whole(int64_t place)
{
    return (int)(place >> GI_PLACE_BITS);
}

/* The fraction, placed in the mantissa of a float between 1 and 2. */
static __device__ __forceinline__ float remap_part(int64_t place)
{
    return __uint_as_float(0x3f800000u | ((unsigned)place & 0x7fffffu)) - 1.0f;
}

/* An integer below 2^23 in the mantissa of the float 2^23 is 2^23 plus that integer. */
template <typename T> static __device__ __forceinline__ float remap_float(T v)
{
    if constexpr (sizeof(T) == 4)
        return v;
    else
        return __uint_as_float(0x4b000000u | v) - SAMPLE_2_23;
}

/* Floats may be infinite, so a tap of weight 0 must be left out; for integers it makes no
 * difference. */
template <typename T> static __device__ __forceinline__ float remap_lerp(float a, float b, float t)
{
    float f = __fmaf_rn(t, __fsub_rn(b, a), a);
    return sizeof(T) == 4 && t == 0 ? a : f;
}

template <typename T> static __device__ __forceinline__ float remap_tap(float w, float v, float sum)
{
    float f = __fmaf_rn(w, v, sum);
    return sizeof(T) == 4 && w == 0 ? sum : f;
}

/* Fetches the samples of the pixel at (x, y), which may be outside, with colour multiplied by alpha
 * if weighted. Returns whether the pixel is inside the source. */
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

/* Divides the colours of f, all channels of a pixel, by alpha. */
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

/* A pixel with taps anywhere; f: the value before the last step (rounding). */
template <typename T, int CHANNELS, int HOW>
static __device__ __noinline__ void remap_anywhere(float *f, const struct remap_args *args, int x,
                                                   int y, float t, float u)
{
    constexpr int TAPS = HOW == GI_NEAREST ? 1 : HOW == GI_LINEAR ? 2 : 4;
    constexpr int BEFORE = HOW == GI_CUBIC;
    float wx[4], wy[4];
    bool inside = false;
    if (HOW == GI_CUBIC) {
        gi_cubic_weights(wx, args->cubic, t);
        gi_cubic_weights(wy, args->cubic, u);
    }
    float above[CHANNELS] = {}; /* LINEAR: of the first row */
    for (int c = 0; c < CHANNELS; c++)
        f[c] = 0;
    for (int j = 0; j < TAPS; j++) {
        float r[CHANNELS] = {};
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

/* A pixel with all taps inside the source. */
template <typename T, int CHANNELS, int HOW>
static __device__ __forceinline__ void remap_inside(float *f, const struct remap_args *args, int x,
                                                    int row, float t, float u)
{
    constexpr int TAPS = HOW == GI_NEAREST ? 1 : HOW == GI_LINEAR ? 2 : 4;
    constexpr int BEFORE = HOW == GI_CUBIC;
    const char *at = args->src.data + (size_t)(row - BEFORE) * args->src.stride +
                     (size_t)(x - BEFORE) * CHANNELS * sizeof(T);
    float wx[4], wy[4], r[TAPS][CHANNELS];
    if (HOW == GI_CUBIC) {
        gi_cubic_weights(wx, args->cubic, t);
        gi_cubic_weights(wy, args->cubic, u);
    }
#pragma unroll
    for (int j = 0; j < TAPS; j++) {
        float v[TAPS][CHANNELS];
#pragma unroll
        for (int i = 0; i < TAPS; i++)
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                v[i][c] = remap_float(((const T *)at)[i * CHANNELS + c]);
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

/* The pixel at source coordinates `place`; f: the value before the last step (rounding). */
template <typename T, int CHANNELS, int HOW>
static __device__ __forceinline__ void remap_pixel(float *f, const struct remap_args *args,
                                                   struct gi_place place)
{
    constexpr int BEFORE = HOW == GI_CUBIC, BEHIND = HOW == GI_NEAREST ? 0 : 1 + BEFORE;
    int64_t half = HOW == GI_NEAREST ? 1 << (GI_PLACE_BITS - 1) : 0;
    int x = remap_whole(place.x + half), y = remap_whole(place.y + half), row = y - args->src_y;
    float t = remap_part(place.x), u = remap_part(place.y);
    bool inside = x >= BEFORE && x < args->src.width - BEHIND && row >= BEFORE &&
                  row < args->src.height - BEHIND;
    if (inside) {
        remap_inside<T, CHANNELS, HOW>(f, args, x, row, t, u);
    } else {
        float g[CHANNELS]; /* in local memory, because a function call fills it */
        remap_anywhere<T, CHANNELS, HOW>(g, args, x, y, t, u);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            f[c] = g[c];
    }
}

/* Stores pixels x to x + REMAP_ACROSS - 1 of row y of the result, as far as they exist. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void remap_store(const struct remap_args *args, int x, int y,
                                                   const float *f)
{
    T *out = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * CHANNELS;
    constexpr int PER = 4 / (int)sizeof(T); /* samples per word */
    if (x + REMAP_ACROSS <= args->dst_width) {
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS * CHANNELS / PER; i++)
            ((unsigned *)out)[i] = sample_pack<T>(f + i * PER);
        return;
    }
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++)
        for (int c = 0; c < CHANNELS && x + i < args->dst_width; c++)
            sample_store(out + i * CHANNELS + c, f[i * CHANNELS + c]);
}

#endif
