/* Geometric transforms by plain loads from global memory: any image, map and border. A block owns a
 * tile of 32 x 32 result pixels, because its taps are in a compact area of the source that the L1
 * cache holds; a thread owns REMAP_ACROSS neighbouring pixels. Pixels with all taps inside the
 * source load them directly; others apply the border mode to every tap.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/remap.h"
#include "kernels/cuda/geometry/remap.cuh"

template <typename T, int CHANNELS, int HOW>
static __global__ void __launch_bounds__(REMAP_WIDE *REMAP_TALL)
    plain(const __grid_constant__ struct remap_args args)
{
    int x = (int)(blockIdx.x * REMAP_WIDE + threadIdx.x) * REMAP_ACROSS;
    int y = (int)(blockIdx.y * REMAP_TALL + threadIdx.y);
    if (x >= args.dst_width || y >= args.dst_height)
        return;
    struct gi_place at[REMAP_ACROSS];
    remap_places(at, &args, x, args.dst_y + y);
    float f[REMAP_ACROSS * CHANNELS];
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++)
        if (x + i < args.dst_width) /* the taps of other pixels need not be in the band */
            remap_pixel<T, CHANNELS, HOW>(f + i * CHANNELS, &args, at[i]);
    remap_store<T, CHANNELS>(&args, x, y, f);
}

template <typename T, int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct remap_args *args,
                             enum gi_interpolation how, struct gi_err *err)
{
    dim3 block(REMAP_WIDE, REMAP_TALL);
    dim3 grid(ceil_div(args->dst_width, REMAP_WIDE * REMAP_ACROSS),
              ceil_div(args->dst_height, REMAP_TALL));
    if (how == GI_NEAREST)
        plain<T, CHANNELS, GI_NEAREST><<<grid, block, 0, cu->stream>>>(*args);
    else if (how == GI_LINEAR)
        plain<T, CHANNELS, GI_LINEAR><<<grid, block, 0, cu->stream>>>(*args);
    else
        plain<T, CHANNELS, GI_CUBIC><<<grid, block, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T>
static enum gi_status launch_type(struct gi_cuda_queue *cu, const struct remap_args *args,
                                  enum gi_interpolation how, struct gi_err *err)
{
    GI_CUDA_CHANNELS(args->src.channels, launch<T, CHANNELS>(cu, args, how, err));
}

enum gi_status gi_cuda_remap_plain(struct gi_cuda_queue *cu, const struct remap_args *args,
                                   enum gi_interpolation how, struct gi_err *err)
{
    GI_CUDA_TYPES(args->src.type, launch_type<T>(cu, args, how, err));
}
