/* Dense convolution of any size in tiles: see dense_tiles.cu. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_DENSE_TILES_H
#define GI_KERNELS_CUDA_DENSE_TILES_H

#include "kernels/cuda/cuda.h"

enum gi_status gi_cuda_dense_tiles(struct gi_cuda_queue *cu, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_dense *spec,
                                   struct gi_err *err);

#endif
