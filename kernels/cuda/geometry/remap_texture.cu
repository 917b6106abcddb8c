/* Geometric transforms of one-channel images through a texture object, bilinear, of 8
 * and 16 bits.
 *
 * The source is copied into a CUDA array (device/texture.cu), whose memory layout keeps neighbours
 * in both directions close together. So maps that read along columns or at scattered positions hit
 * the texture cache as often as maps that read along rows. The address mode of the texture object
 * supplies the border. The texture unit only fetches: tex2Dgather() returns the 2 x 2 neighbours of
 * a bilinear sample with one instruction, and the weights are applied here, exactly.
 *
 *     result: block of 32 x 32 pixels         source: a thread fetches 4 times 2 x 2 texels
 *     +--------+--------+-- ... --+                      w | z        w: (x, y)
 *     | 4 pix. | 4 pix. |         |  8 threads           --+--        z: (x + 1, y)
 *     +--------+--------+-- ... --+                      x | y        x: (x, y + 1)
 *         ...                        32 rows                          y: (x + 1, y + 1)
 *
 * Example: the source coordinates of a pixel are (10.25, 4.5). tex2Dgather() at (11, 5), the corner
 * that texels 10 and 11 of rows 4 and 5 share, returns these four texels. They are weighted by 0.75
 * and 0.25 along x, then by 0.5 along y.
 *
 * Phases: load (coordinates, then texels of all four pixels), compute, store.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/remap.h"
#include "kernels/cuda/geometry/remap_places.cuh"

/* 2 x 2 texels of a sample type. */
template <typename T> struct texels;
template <> struct texels<uint8_t> {
    typedef uchar4 four;
};
template <> struct texels<uint16_t> {
    typedef ushort4 four;
};

/* Limits the coordinates of a position to -2 to width, and likewise for rows. This does not change
 * the result, because all texels from -2 down and from `width` up are outside. If rows wrap, the
 * row is taken modulo the height; the array has a copy of its first row below the last row. */
static __device__ __forceinline__ void limit(struct remap_spot *at, const struct remap_args *args)
{
    at->x = max(-2, min(at->x, args->src.width));
    if (args->of_rows != GI_BORDER_WRAP)
        at->y = max(-2, min(at->y, args->height));
    else if ((unsigned)at->y >= (unsigned)args->height)
        at->y = gi_border_index(at->y, args->height, GI_BORDER_WRAP);
}

/* Computes the pixels at these spots. */
template <typename T>
static __device__ __forceinline__ void
run(const struct remap_args &args, cudaTextureObject_t texture, struct remap_spot *at, int x, int y)
{
    /* Load. */
    typename texels<T>::four v[REMAP_ACROSS];
    bool none[REMAP_ACROSS];
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++) {
        none[i] = at[i].x == GI_PLACE_NONE;
        limit(&at[i], &args);
        v[i] = tex2Dgather<typename texels<T>::four>(texture, (float)(at[i].x + 1),
                                                     (float)(at[i].y + 1));
    }
    /* Compute. */
    float f[REMAP_ACROSS];
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++) {
        float t = remap_part(at[i].part_x), u = remap_part(at[i].part_y);
        float above = remap_lerp<T>(remap_float(v[i].w), remap_float(v[i].z), t);
        float below = remap_lerp<T>(remap_float(v[i].x), remap_float(v[i].y), t);
        f[i] = remap_lerp<T>(above, below, u);
        f[i] = none[i] ? args.background[0] : f[i];
    }
    /* Store. */
    remap_store<T, 1>(&args, x, y, f);
}

/* FOURS is args.fours. Threads outside the result return before the first fetch. */
template <bool FOURS>
static __global__ void __launch_bounds__(REMAP_WIDE *REMAP_TALL)
    gather(const __grid_constant__ struct remap_args args, cudaTextureObject_t texture)
{
    int x = (int)(blockIdx.x * REMAP_WIDE + threadIdx.x) * REMAP_ACROSS;
    int y = (int)(blockIdx.y * REMAP_TALL + threadIdx.y);
    if (x >= args.dst_width || y >= args.dst_height)
        return;
    struct remap_spot at[REMAP_ACROSS];
    remap_spots<GI_LINEAR, FOURS, true>(at, &args, x, args.dst_y + y);
    if (args.src.type == GI_U8)
        run<uint8_t>(args, texture, at, x, y);
    else
        run<uint16_t>(args, texture, at, x, y);
}

enum gi_status gi_cuda_remap_texture(struct gi_cuda_queue *cu, const struct remap_args *args,
                                     cudaTextureObject_t texture, struct gi_err *err)
{
    dim3 block(REMAP_WIDE, REMAP_TALL);
    dim3 grid(ceil_div(args->dst_width, REMAP_WIDE * REMAP_ACROSS),
              ceil_div(args->dst_height, REMAP_TALL));
    if (args->fours)
        gather<true><<<grid, block, 0, cu->stream>>>(*args, texture);
    else
        gather<false><<<grid, block, 0, cu->stream>>>(*args, texture);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
