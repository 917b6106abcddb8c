/* Declares the implementations of geometric transforms (remap, affine, perspective, polar, lens) on
 * CUDA.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_H
#define GI_KERNELS_CUDA_REMAP_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

struct remap_args; /* remap.cuh */

/* Launches the kernel; all that `args` points to is in device memory. Errors: GI_E_DEVICE. */
enum gi_status gi_cuda_remap_plain(struct gi_cuda_queue *cu, const struct remap_args *args,
                                   enum gi_interpolation how, struct gi_err *err);

/* NEAREST and LINEAR of a whole image with one channel, through a texture object that
 * gi_cuda_array_texture() made for the border of `args`, with one repeated row if rows wrap. */
enum gi_status gi_cuda_remap_texture(struct gi_cuda_queue *cu, const struct remap_args *args,
                                     cudaTextureObject_t texture, enum gi_interpolation how,
                                     struct gi_err *err);

/* LINEAR and CUBIC with AFFINE and PROJECTIVE maps, one function per sample type. Requires, under
 * GI_BORDER_VALUE, that a pixel whose taps are all border values becomes the border value, and a
 * `cubic` that is 0 or from -1 to -1/16. */
enum gi_status gi_cuda_remap_tiles_u8(struct gi_cuda_queue *cu, const struct remap_args *args,
                                      enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_remap_tiles_u16(struct gi_cuda_queue *cu, const struct remap_args *args,
                                       enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_remap_tiles_f32(struct gi_cuda_queue *cu, const struct remap_args *args,
                                       enum gi_interpolation how, struct gi_err *err);

#endif
