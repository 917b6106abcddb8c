/* Geometric transforms by plain loads from global memory: any image, map and border. A block owns a
 * tile of 32 x 32 result pixels, whose taps are close together in the source, so that the L1 cache
 * holds them. A thread owns REMAP_ACROSS neighbouring pixels. If all taps of these pixels are
 * inside the source, the thread loads the taps directly. Otherwise it applies the border mode to
 * every tap.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/remap.h"
#include "kernels/cuda/geometry/remap_pixel.cuh"

template <typename T, int CHANNELS, int HOW>
static __device__ __forceinline__ void run(const struct remap_args *args,
                                           const struct remap_spot *at, int x, int y)
{
    float f[REMAP_ACROSS * CHANNELS];
    remap_run<T, CHANNELS, HOW>(f, args, at, args->dst_width - x);
    remap_store<T, CHANNELS>(args, x, y, f);
}

template <int CHANNELS, int HOW>
static __global__ void __launch_bounds__(REMAP_WIDE *REMAP_TALL)
    plain(const __grid_constant__ struct remap_args args)
{
    int x = (int)(blockIdx.x * REMAP_WIDE + threadIdx.x) * REMAP_ACROSS;
    int y = (int)(blockIdx.y * REMAP_TALL + threadIdx.y);
    if (x >= args.dst_width || y >= args.dst_height)
        return;
    struct remap_spot at[REMAP_ACROSS];
    remap_spots<HOW, false, CHANNELS == 1>(at, &args, x, args.dst_y + y);
    if (args.src.type == GI_U8)
        run<uint8_t, CHANNELS, HOW>(&args, at, x, y);
    else if (args.src.type == GI_U16)
        run<uint16_t, CHANNELS, HOW>(&args, at, x, y);
    else
        run<float, CHANNELS, HOW>(&args, at, x, y);
}

template <int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct remap_args *args,
                             enum gi_interpolation how, struct gi_err *err)
{
    dim3 block(REMAP_WIDE, REMAP_TALL);
    dim3 grid(ceil_div(args->dst_width, REMAP_WIDE * REMAP_ACROSS),
              ceil_div(args->dst_height, REMAP_TALL));
    if (how == GI_NEAREST)
        plain<CHANNELS, GI_NEAREST><<<grid, block, 0, cu->stream>>>(*args);
    else if (how == GI_LINEAR)
        plain<CHANNELS, GI_LINEAR><<<grid, block, 0, cu->stream>>>(*args);
    else
        plain<CHANNELS, GI_CUBIC><<<grid, block, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_remap_plain(struct gi_cuda_queue *cu, const struct remap_args *args,
                                   enum gi_interpolation how, struct gi_err *err)
{
    GI_CUDA_CHANNELS(args->src.channels, launch<CHANNELS>(cu, args, how, err));
}
