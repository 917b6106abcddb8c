/* What kernels on single pixels share. A thread makes 16 bytes of a row at a time, a piece; where a
 * row ends inside one, the padding of the images is read and written too.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_POINT_CUH
#define GI_KERNELS_CUDA_POINT_CUH

#include "kernels/cuda/common/sample.cuh"

enum { POINT_THREADS = 256, PIECE = 16 /* bytes */, WORDS = PIECE / 4 };

static inline int pieces_of(const struct gi_image *image)
{
    return ceil_div((long long)gi_row_nbytes(image), PIECE);
}

/* A thread for each piece of a row, and as many rows as there are blocks for. */
static inline dim3 point_grid(int pieces, int height)
{
    return dim3((unsigned)ceil_div(pieces, POINT_THREADS),
                (unsigned)(height < 65535 ? height : 65535));
}

static __device__ __forceinline__ uint4 *piece_at(const struct gi_image &image, int x, int y)
{
    return (uint4 *)((char *)image.data + (size_t)y * image.stride) + x;
}

/* The bits of a piece that are alpha which stays as it is: none where `keeps` is not. */
static inline void keep_bits(unsigned keep[WORDS], const struct gi_image *image, bool keeps)
{
    size_t nbytes = gi_type_nbytes(image->type);
    for (size_t i = 0; i < PIECE; i++) {
        bool is_alpha = gi_has_alpha(image) && (i / nbytes + 1) % (size_t)image->channels == 0;
        ((uint8_t *)keep)[i] = is_alpha && keeps ? 255 : 0;
    }
}

/* As pointwise with GI_POINT_TABLE. */
gi_pointwise_fn gi_cuda_point_table;

#endif
