/* Implementations of geometric transforms (remap, affine, perspective, polar, lens) on CUDA.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_H
#define GI_KERNELS_CUDA_REMAP_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

struct remap_args; /* remap.cuh */

/* Launches the kernel; everything that `args` refers to is on the device. Errors: GI_E_DEVICE. */
enum gi_status gi_cuda_remap_plain(struct gi_cuda_queue *cu, const struct remap_args *args,
                                   enum gi_interpolation how, struct gi_err *err);

/* NEAREST and LINEAR of a one-channel image in a texture object, made by gi_cuda_array_texture()
 * for the border of `args`, with one repeated row if rows wrap; the whole source. */
enum gi_status gi_cuda_remap_texture(struct gi_cuda_queue *cu, const struct remap_args *args,
                                     cudaTextureObject_t texture, enum gi_interpolation how,
                                     struct gi_err *err);

/* LINEAR and CUBIC with AFFINE and PROJECTIVE maps, one function per sample type. Conditions: under
 * GI_BORDER_VALUE a pixel whose taps are all border values must come out as the border value;
 * `cubic` is 0 or between -1 and -1/16. */
enum gi_status gi_cuda_remap_tiles_u8(struct gi_cuda_queue *cu, const struct remap_args *args,
                                      enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_remap_tiles_u16(struct gi_cuda_queue *cu, const struct remap_args *args,
                                       enum gi_interpolation how, struct gi_err *err);
enum gi_status gi_cuda_remap_tiles_f32(struct gi_cuda_queue *cu, const struct remap_args *args,
                                       enum gi_interpolation how, struct gi_err *err);

#endif
