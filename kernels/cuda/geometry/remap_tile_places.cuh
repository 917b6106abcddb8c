/* Coordinates of a tile's pixels relative to the corner of its patch, as fixed-point numbers with
 * GI_PLACE_BITS fraction bits.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_TILE_PLACES_CUH
#define GI_KERNELS_CUDA_REMAP_TILE_PLACES_CUH

#include "kernels/cuda/geometry/remap_tile_patch.cuh"

enum {
    CUT = GI_AFFINE_BITS - GI_PLACE_BITS,
    UP = 32 - CUT,
};

/* Returns 1 / c with an error of 2^-52, for normal c. */
static __device__ __forceinline__ double inverse(double c)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(c));
    double e = fma(-c, y, 1.0);
    e = fma(e, e, e);
    return fma(y, e, y);
}

/* The coordinates of a thread's next run of pixels. AFFINE: x and y relative to the patch, shifted
 * left so that their upper 32 bits are the fixed-point coordinates. PROJECTIVE: u is the first
 * column, and v is the row, so that no integer has to be converted. add_x and add_y are added to
 * quotients. `doubt` selects the bits of a sum that are all 0 if the sum may be rounded wrongly. */
struct steps {
    uint64_t x, y;
    double u, v, add_x, add_y;
    unsigned doubt;
};

static __device__ __forceinline__ uint64_t first_place(const int64_t *m, int corner, int left,
                                                       int top, unsigned x, unsigned y)
{
    int64_t place = m[0] * left + m[1] * top + m[2];
    place += m[0] * x + m[1] * y;
    return ((uint64_t)place << UP) - ((uint64_t)corner << (32 + GI_PLACE_BITS));
}

/* Sums of PROJECTIVE maps have GI_AFFINE_BITS fraction bits. If the quotient is below 2^n, the
 * error of a sum is less than 2^(n - 51), for n of 13 or 14, because it consists of 2^-52 of the
 * quotient for the reciprocal, 2^-53 of the quotient for the exact division, and 2^-41. Because
 * 2^-24 and 2^(n - 51) are added, truncation rounds correctly unless less than 2^(n - 50) is cut
 * off. */
static __device__ __forceinline__ void first_projective(struct steps *s, const struct patch *patch,
                                                        int x, int y)
{
    const int margin = 256, most = max(abs(patch->x), abs(patch->y)) + margin;
    bool low = most < 1 << 13;
    double shift = 6144.0 + 0x1p-24 + (low ? 0x1p-38 : 0x1p-37);
    s->u = x;
    s->v = y;
    s->add_x = shift - patch->x;
    s->add_y = shift - patch->y;
    s->doubt = low ? (1 << CUT) - 8 : most < 1 << 14 ? (1 << CUT) - 16 : 0;
}

static __device__ __noinline__ uint2 projective_exactly(const struct remap_args *args, int x, int y)
{
    struct gi_place at = gi_map_projective(args->map.m, x, y);
    return make_uint2((unsigned)at.x, (unsigned)at.y);
}

/* Computes the coordinates of a run of pixels relative to the patch, and advances to the next
 * run. */
static __device__ __forceinline__ void run_affine(uint2 *at, const struct tile_map *map,
                                                  struct steps *steps)
{
    at[0] = make_uint2((unsigned)(steps->x >> 32), (unsigned)(steps->y >> 32));
#pragma unroll
    for (int i = 1; i < REMAP_ACROSS; i++)
        at[i] = make_uint2((unsigned)((steps->x + map->across_x[i - 1]) >> 32),
                           (unsigned)((steps->y + map->across_y[i - 1]) >> 32));
    steps->x += map->down_x;
    steps->y += map->down_y;
}

static __device__ __forceinline__ void run_projective(uint2 *at, const struct remap_args *args,
                                                      const struct patch *patch,
                                                      struct steps *steps, int down)
{
    const double *m = args->map.m;
    double v = steps->v, a = fma(m[1], v, m[2]), b = fma(m[4], v, m[5]), c = fma(m[7], v, m[8]);
    bool doubt[REMAP_ACROSS], any = false;
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++) {
        double u = steps->u + APART * i, over = inverse(fma(m[6], u, c));
        int64_t to_x = __double_as_longlong(fma(fma(m[0], u, a), over, steps->add_x));
        int64_t to_y = __double_as_longlong(fma(fma(m[3], u, b), over, steps->add_y));
        at[i] = make_uint2((unsigned)(to_x >> CUT), (unsigned)(to_y >> CUT));
        doubt[i] = !((unsigned)to_x & steps->doubt) | !((unsigned)to_y & steps->doubt);
        any |= doubt[i];
    }
    steps->v = v + down;
    if (!any)
        return;
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++)
        if (doubt[i]) {
            uint2 to = projective_exactly(args, (int)steps->u + APART * i, (int)v);
            at[i] = make_uint2(to.x - ((unsigned)patch->x << GI_PLACE_BITS),
                               to.y - ((unsigned)patch->y << GI_PLACE_BITS));
        }
}

#endif
