/* The ways of warping on CUDA.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_WARP_H
#define GI_KERNELS_CUDA_WARP_H

#include "kernels/cuda/cuda.h"

struct warp_args; /* warp.cuh */

/* Launches: `args` are the work, all of it on the device. Errors: GI_E_DEVICE. */
enum gi_status gi_cuda_warp_plain(struct gi_cuda_queue *cu, const struct warp_args *args,
                                  enum gi_interpolation how, struct gi_err *err);

/* LINEAR and CUBIC of GI_U8, one channel, by AFFINE and PROJECTIVE maps; the edge's value a
 * sample, `cubic` 0 or -1 to -1/16. */
enum gi_status gi_cuda_warp_tiles(struct gi_cuda_queue *cu, const struct warp_args *args,
                                  enum gi_interpolation how, struct gi_err *err);

#endif
