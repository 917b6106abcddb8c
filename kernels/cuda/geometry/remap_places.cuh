/* Geometric transforms: computes the source coordinates of REMAP_ACROSS neighbouring pixels of the
 * result, for every kind of map.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_PLACES_CUH
#define GI_KERNELS_CUDA_REMAP_PLACES_CUH

#include "kernels/cuda/geometry/remap.cuh"

/* The position of a result pixel in the source. */
struct remap_spot {
    int x, y;                /* NEAREST: the nearest pixel; else the pixel to the upper left */
    unsigned part_x, part_y; /* distance from that pixel, in units of 2^-GI_PLACE_BITS */
};

enum { REMAP_FRACTION = (1 << GI_PLACE_BITS) - 1, REMAP_HALF = 1 << (GI_PLACE_BITS - 1) };

template <int HOW> static __device__ __forceinline__ struct remap_spot remap_spot(gi_place place)
{
    int64_t half = HOW == GI_NEAREST ? REMAP_HALF : 0;
    return {remap_whole(place.x + half), remap_whole(place.y + half),
            (unsigned)place.x & REMAP_FRACTION, (unsigned)place.y & REMAP_FRACTION};
}

/* Returns the fraction as a float. `part` placed in the mantissa of 1.0 gives 1 plus the fraction;
 * then 1 is subtracted. */
static __device__ __forceinline__ float remap_part(unsigned part)
{
    return __uint_as_float(0x3f800000u | part) - 1.0f;
}

/* AFFINE maps. The coordinates of neighbouring pixels differ by a constant. */
template <int HOW>
static __device__ __forceinline__ void remap_spots_affine(struct remap_spot *at,
                                                          const struct gi_map *map, int x, int y)
{
    int64_t to_x = map->affine[0] * x + (map->affine[1] * y + map->affine[2]);
    int64_t to_y = map->affine[3] * x + (map->affine[4] * y + map->affine[5]);
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++) {
        struct gi_place place = {to_x >> (GI_AFFINE_BITS - GI_PLACE_BITS),
                                 to_y >> (GI_AFFINE_BITS - GI_PLACE_BITS)};
        at[i] = remap_spot<HOW>(place);
        to_x += map->affine[0];
        to_y += map->affine[3];
    }
}

/* AFFINE and PROJECTIVE maps. */
template <int HOW>
static __device__ __forceinline__ void
remap_spots_lines(struct remap_spot *at, const struct remap_args *args, int x, int y)
{
    const struct gi_map *map = &args->map;
    if (map->kind == GI_MAP_AFFINE)
        remap_spots_affine<HOW>(at, map, x, y);
    else
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            at[i] = remap_spot<HOW>(gi_map_projective(map->m, x + i, y));
}

/* FIELD maps: computes the whole part and the fraction of the coordinate a + base in float. The
 * result equals that of gi_map_samples() if |a| < 2^21 and, unless base is 0, a is 0 or |a| >=
 * 2^-12: base is below 2 * REMAP_FOURS_MAX, so the double sum in that function is exact, too.
 * Adding 1.5 * 2^23 to a rounds a to an integer. Adding 1.5 to the rest, which is from -1/2 to 1/2,
 * rounds the rest to GI_PLACE_BITS fraction bits. The bits of both sums are read as integers. */
template <int HOW>
static __device__ __forceinline__ void remap_axis(int *whole, unsigned *part, float a, int base)
{
    const float shift = 12582912.0f;
    float sum = __fadd_rn(a, shift), rest = __fadd_rn(a, -__fadd_rn(sum, -shift));
    int fraction = __float_as_int(__fadd_rn(rest, 1.5f)) - __float_as_int(1.5f);
    int carry = HOW == GI_NEAREST ? fraction + REMAP_HALF : fraction;
    *whole = __float_as_int(sum) - __float_as_int(shift) + base + (carry >> GI_PLACE_BITS);
    *part = (unsigned)fraction & REMAP_FRACTION;
}

/* Returns whether remap_axis() is not exact for this a. */
static __device__ __forceinline__ bool remap_is_rare(float a, bool moved)
{
    float size = fabsf(a);
    return !(size < 2097152.0f) || (moved && size < 0x1p-12f && size > 0);
}

/* FIELD maps with args->fours. The field is two one-channel images or one two-channel image, so
 * that two loads fetch the samples of four pixels. With AHEAD the samples of the pixels args->ahead
 * rows below, which another block will load soon, are fetched into the L2 cache. */
template <int HOW, bool AHEAD>
static __device__ __forceinline__ void
remap_spots_fours(struct remap_spot *at, const struct remap_args *args, int x, int y)
{
    const struct gi_image *a = &args->field[0], *b = &args->field[1];
    size_t first = (size_t)x * a->channels * sizeof(float);
    float4 u = *(const float4 *)((const char *)a->data + (size_t)y * a->stride + first);
    float4 v = *(const float4 *)((const char *)b->data + (size_t)y * b->stride + first +
                                 (a->channels > 1 ? sizeof(float4) : 0));
    if (AHEAD && args->ahead && y + args->ahead < a->height) {
        const char *p = (const char *)a->data + (size_t)(y + args->ahead) * a->stride + first;
        asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
        if (a->channels == 1)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(
                (const char *)b->data + (size_t)(y + args->ahead) * b->stride + first));
    }
    bool both = a->channels > 1, relative = args->map.relative, rare = false;
    int margin = args->map.margin, base_x[REMAP_ACROSS], base_y = gi_map_base(relative, margin, y);
    const float to_x[] = {u.x, both ? u.z : u.y, both ? v.x : u.z, both ? v.z : u.w};
    const float to_y[] = {both ? u.y : v.x, both ? u.w : v.y, both ? v.y : v.z, v.w};
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++) {
        base_x[i] = gi_map_base(relative, margin, x + i);
        rare |= remap_is_rare(to_x[i], base_x[i] > 0) | remap_is_rare(to_y[i], base_y > 0);
        remap_axis<HOW>(&at[i].x, &at[i].part_x, to_x[i], base_x[i]);
        remap_axis<HOW>(&at[i].y, &at[i].part_y, to_y[i], base_y);
    }
    if (!rare)
        return;
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++)
        at[i] = remap_spot<HOW>(gi_map_samples(to_x[i], to_y[i], base_x[i], base_y));
}

/* Computes the coordinates of pixels x to x + REMAP_ACROSS - 1 of row y of the whole result. Pixels
 * to the right of the result, where tables and fields end, get the coordinates of the last pixel of
 * the row. FOURS: args->fours is set, and other maps are not compiled, which needs fewer
 * registers. AHEAD: see remap_spots_fours(). */
template <int HOW, bool FOURS, bool AHEAD>
static __device__ __forceinline__ void remap_spots(struct remap_spot *at,
                                                   const struct remap_args *args, int x, int y)
{
    const struct gi_map *map = &args->map;
    int last = args->dst_width - 1;
    if ((FOURS || args->fours) && x + REMAP_ACROSS <= args->dst_width) {
        remap_spots_fours<HOW, AHEAD>(at, args, x, y);
        return;
    }
    switch (FOURS ? (int)GI_MAP_FIELD : (int)map->kind) {
    case GI_MAP_RAYS:
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            at[i] = remap_spot<HOW>(gi_map_rays(&map->rays, min(x + i, last), y));
        break;
    case GI_MAP_RINGS:
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            at[i] = remap_spot<HOW>(gi_map_rings(&map->rings, x + i, y));
        break;
    case GI_MAP_LENS:
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            at[i] = remap_spot<HOW>(gi_map_lens(&map->lens, x + i, y));
        break;
    case GI_MAP_FIELD:
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            at[i] = remap_spot<HOW>(
                gi_map_field(map, &args->field[0], &args->field[1], min(x + i, last), y));
        break;
    default:
        remap_spots_lines<HOW>(at, args, x, y);
    }
}

#endif
