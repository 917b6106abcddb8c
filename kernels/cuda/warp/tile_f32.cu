/* Geometric transforms through shared memory (tile.cuh), float samples.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/warp/tile.cuh"

enum gi_status gi_cuda_warp_tiles_f32(struct gi_cuda_queue *cu, const struct warp_args *args,
                                      enum gi_interpolation how, struct gi_err *err)
{
    GI_CUDA_CHANNELS(args->src.channels, launch_how<float, CHANNELS>(cu, args, how, err));
}
