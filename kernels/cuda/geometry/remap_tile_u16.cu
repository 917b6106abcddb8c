/* Geometric transforms through shared memory (remap_tile.cuh): instances for 16-bit samples.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/remap_tile.cuh"

enum gi_status gi_cuda_remap_tiles_u16(struct gi_cuda_queue *cu, const struct remap_args *args,
                                       enum gi_interpolation how, struct gi_err *err)
{
    GI_CUDA_CHANNELS(args->src.channels, launch_how<uint16_t, CHANNELS>(cu, args, how, err));
}
