/* Shared by the kernels that resample strips by any ratio, first columns, then rows
 * (resample_fused.cu, resample_slide.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_STRIPS_CUH
#define GI_KERNELS_CUDA_RESAMPLE_STRIPS_CUH

#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/geometry/resample.h"

enum { PIECE = 8 }; /* neighbouring source samples per thread; strips begin at a multiple of it */

/* Loads the words of a piece. */
template <int WORDS>
static __device__ __forceinline__ void piece_load(unsigned (&words)[WORDS], const char *p)
{
#pragma unroll
    for (int i = 0; i < WORDS; i += 2) {
        uint2 two = *(const uint2 *)(p + 4 * i);
        words[i] = two.x;
        words[i + 1] = two.y;
    }
}

/* Unpacks the samples of a piece and multiplies colour by alpha if `weigh`. */
template <typename T, int C, int WORDS>
static __device__ __forceinline__ void piece_unpack(float (&v)[PIECE],
                                                    const unsigned (&words)[WORDS], bool weigh)
{
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        v[i] = sample_unpack<T>(words, i);
    if (C % 2 == 0 && weigh)
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            if (i % C != C - 1)
                v[i] = __fmul_rn(v[i], v[i / C * C + C - 1]);
}

/* Stores pixel (x, y), whose sums are f. */
template <typename T, int C>
static __device__ __forceinline__ void
pixel_store(const struct gi_image &dst, const struct device_side &row,
            const struct device_side &col, bool weigh, float *f, int x, int y)
{
    if (row.sums) {
        float divisor = __fmul_rn(col.sums[col.phase[y]], row.sums[row.phase[x]]);
#pragma unroll
        for (int c = 0; c < C; c++)
            f[c] = __fdiv_rn(f[c], divisor);
    }
    if (C % 2 == 0 && weigh) {
        float a = f[C - 1] > 0 ? f[C - 1] : 0.0f;
#pragma unroll
        for (int c = 0; c < C - 1; c++)
            f[c] = a > 0 ? __fdiv_rn(f[c], a) : 0.0f;
        f[C - 1] = a;
    }
    T *out = (T *)((char *)dst.data + (size_t)y * dst.stride) + (size_t)x * C;
    if constexpr (C * sizeof(T) == 4)
        *(unsigned *)out = sample_pack<T>(f);
    else
#pragma unroll
        for (int c = 0; c < C; c++)
            sample_store(out + c, f[c]);
}

/* Fills in the members dst, src, weigh, row and col of a kernel's argument. The tables are uploaded
 * in stream order. Errors: those of gi_cuda_resample_tables(). */
template <typename ARGS>
static enum gi_status strips_prepare(struct gi_cuda_queue *cu, ARGS *args,
                                     const struct gi_image *dst, const struct gi_image *src,
                                     const struct gi_resample *spec, struct gi_err *err)
{
    void *nothing;
    args->dst = *dst;
    args->src = *src;
    args->weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    return gi_cuda_resample_tables(cu, &args->row, &args->col, &nothing, 0, spec, err);
}

/* Returns the maximum number of source samples under a strip of `wide` pixels. */
static inline int samples_of(const struct gi_resample_side *row, int wide, int channels)
{
    int most = 0;
    for (int x = 0; x < row->n; x += wide) {
        int last = x + wide < row->n ? x + wide - 1 : row->n - 1;
        long long left = (long long)(row->first[x] - row->origin) * channels / PIECE * PIECE;
        long long n = (long long)(row->first[last] - row->origin + row->taps) * channels - left;
        most = n > most ? (int)(n < INT32_MAX ? n : INT32_MAX) : most;
    }
    return most;
}

#endif
