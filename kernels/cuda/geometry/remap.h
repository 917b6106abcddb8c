/* Declares the implementations of geometric transforms (remap, affine, perspective, polar, lens) on
 * CUDA.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_H
#define GI_KERNELS_CUDA_REMAP_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

struct remap_args; /* remap.cuh */

/* Launches the kernel. All pointers in `args` point to device memory. Errors: GI_E_DEVICE. */
enum gi_status gi_cuda_remap_plain(struct gi_cuda_queue *cu, const struct remap_args *args,
                                   enum gi_interpolation how, struct gi_err *err);

/* Computes LINEAR of a whole image of integers with one channel, through a texture object that
 * gi_cuda_array_texture() made for the border of `args`. If rows wrap, the texture must have one
 * repeated row. */
enum gi_status gi_cuda_remap_texture(struct gi_cuda_queue *cu, const struct remap_args *args,
                                     cudaTextureObject_t texture, struct gi_err *err);

/* Compute LINEAR and CUBIC with AFFINE and PROJECTIVE maps; there is one function per sample type.
 * For integers the weights of CUBIC must be Keys', with an a of 0 or from -1 to -1/16. Under
 * GI_BORDER_VALUE, a pixel whose taps are all border values must become the border value. */
enum gi_status gi_cuda_remap_tiles_u8(struct gi_cuda_queue *cu, const struct remap_args *args,
                                      enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_remap_tiles_u16(struct gi_cuda_queue *cu, const struct remap_args *args,
                                       enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_remap_tiles_f32(struct gi_cuda_queue *cu, const struct remap_args *args,
                                       enum gi_interpolation how, struct gi_err *err);

#endif
