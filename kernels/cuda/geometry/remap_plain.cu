/* Geometric transforms by plain loads from global memory: any image, map and border. A block owns a
 * tile of 32 x 32 result pixels, whose taps are close together in the source, so that the L1 cache
 * holds them. A thread owns REMAP_ACROSS neighbouring pixels. If all taps of these pixels are
 * inside the source, the thread loads the taps directly. Otherwise it applies the border mode to
 * every tap.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/remap.h"
#include "kernels/cuda/geometry/remap_pixel.cuh"

template <typename T, int CHANNELS, int HOW>
static __global__ void __launch_bounds__(REMAP_WIDE *REMAP_TALL)
    plain(const __grid_constant__ struct remap_args args)
{
    int x = (int)(blockIdx.x * REMAP_WIDE + threadIdx.x) * REMAP_ACROSS;
    int y = (int)(blockIdx.y * REMAP_TALL + threadIdx.y);
    if (x >= args.dst_width || y >= args.dst_height)
        return;
    struct remap_spot at[REMAP_ACROSS];
    float f[REMAP_ACROSS * CHANNELS];
    remap_spots<HOW, false>(at, &args, x, args.dst_y + y);
    remap_run<T, CHANNELS, HOW>(f, &args, at, args.dst_width - x);
    remap_store<T, CHANNELS>(&args, x, y, f);
}

template <typename T, int CHANNELS, int HOW>
static void launch_how(struct gi_cuda_queue *cu, const struct remap_args *args)
{
    dim3 block(REMAP_WIDE, REMAP_TALL);
    dim3 grid(ceil_div(args->dst_width, REMAP_WIDE * REMAP_ACROSS),
              ceil_div(args->dst_height, REMAP_TALL));
    plain<T, CHANNELS, HOW><<<grid, block, 0, cu->stream>>>(*args);
}

template <typename T, int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct remap_args *args,
                             enum gi_interpolation how, struct gi_err *err)
{
    if (how == GI_NEAREST)
        launch_how<T, CHANNELS, GI_NEAREST>(cu, args);
    else if (how == GI_LINEAR)
        launch_how<T, CHANNELS, GI_LINEAR>(cu, args);
    else
        launch_how<T, CHANNELS, GI_CUBIC>(cu, args);
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
