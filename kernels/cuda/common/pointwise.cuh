/* Shared by point operations. A thread processes pieces of 16 bytes of a row. If a row ends inside
 * a piece, the thread reads and writes the padding of the row, too.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_POINTWISE_CUH
#define GI_KERNELS_CUDA_POINTWISE_CUH

#include "kernels/cuda/common/sample.cuh"

enum { POINTWISE_THREADS = 256, PIECE = 16 /* bytes */, WORDS = PIECE / 4 };

static inline int pieces_of(const struct gi_image *image)
{
    return ceil_div((long long)gi_row_nbytes(image), PIECE);
}

/* Returns a grid with one thread per piece of a row. A block processes every gridDim.y-th row. */
static inline dim3 pointwise_grid(int pieces, int height)
{
    return dim3((unsigned)ceil_div(pieces, POINTWISE_THREADS),
                (unsigned)(height < 65535 ? height : 65535));
}

static __device__ __forceinline__ uint4 *piece_at(const struct gi_image &image, int x, int y)
{
    return (uint4 *)((char *)image.data + (size_t)y * image.stride) + x;
}

/* Packs the results v of the samples of a word. Where a bit of `keep` is set, the bit of the result
 * is that of the source word `a`. */
template <typename T>
static __device__ __forceinline__ unsigned pack_keeping(float *v, unsigned a, unsigned keep)
{
    if (sizeof(T) == 4 && keep)
        v[0] = __uint_as_float(a);
    unsigned word = sample_pack<T>(v);
    return sizeof(T) == 4 ? word : (word & ~keep) | (a & keep);
}

/* Sets `keep` to a mask of the alpha samples in a piece if `keeps`, else to 0. */
static inline void keep_bits(unsigned keep[WORDS], const struct gi_image *image, bool keeps)
{
    size_t nbytes = gi_type_nbytes(image->type);
    for (size_t i = 0; i < PIECE; i++) {
        bool is_alpha = gi_has_alpha(image) && (i / nbytes + 1) % (size_t)image->channels == 0;
        ((uint8_t *)keep)[i] = is_alpha && keeps ? 255 : 0;
    }
}

/* pointwise with GI_POINTWISE_TABLE. */
gi_pointwise_fn gi_cuda_pointwise_table;

#endif
