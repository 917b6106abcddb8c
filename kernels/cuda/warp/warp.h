/* The ways of warping on CUDA.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_WARP_H
#define GI_KERNELS_CUDA_WARP_H

#include "kernels/cuda/cuda.h"

struct warp_args; /* warp.cuh */

/* Launches: `args` are the work, all of it on the device. Errors: GI_E_DEVICE. */
enum gi_status gi_cuda_warp_plain(struct gi_cuda_queue *cu, const struct warp_args *args,
                                  enum gi_interpolation how, struct gi_err *err);

/* LINEAR and CUBIC by AFFINE and PROJECTIVE maps, of one type each. Under GI_BORDER_VALUE a pixel
 * all of whose taps have the edge's value has to become it; `cubic` 0 or -1 to -1/16. */
enum gi_status gi_cuda_warp_tiles_u8(struct gi_cuda_queue *cu, const struct warp_args *args,
                                     enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_warp_tiles_u16(struct gi_cuda_queue *cu, const struct warp_args *args,
                                      enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_warp_tiles_f32(struct gi_cuda_queue *cu, const struct warp_args *args,
                                      enum gi_interpolation how, struct gi_err *err);

#endif
