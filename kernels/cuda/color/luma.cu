/* Luma (Rec. ITU-R BT.709). A thread computes 16 bytes of gray from the pixels at the same
 * position.
 * SPDX-License-Identifier: MIT */
#include "kernels/color.h"
#include "kernels/cuda/common/gather_samples.h"
#include "kernels/cuda/common/pointwise.cuh"

struct luma_args {
    struct gi_image dst, src;
    int in, out; /* pieces per row */
};

template <typename T, int CHANNELS>
static __device__ __forceinline__ void rows_make(const struct luma_args &args)
{
    enum { S = 4 / (int)sizeof(T) /* samples per word */ };
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.out)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 in[CHANNELS], out;
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            in[i] = x * CHANNELS + i < args.in ? *piece_at(args.src, x * CHANNELS + i, y)
                                               : make_uint4(0, 0, 0, 0);
        const unsigned *words = (const unsigned *)in;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            float v[S];
#pragma unroll
            for (int s = 0; s < S; s++) {
                int at = (i * S + s) * CHANNELS;
                v[s] = gi_pixel_luma(sample_unpack<T>(words, at), sample_unpack<T>(words, at + 1),
                                     sample_unpack<T>(words, at + 2));
            }
            ((unsigned *)&out)[i] = sample_pack<T>(v);
        }
        *piece_at(args.dst, x, y) = out;
    }
}

template <int CHANNELS>
static __global__ void __launch_bounds__(POINTWISE_THREADS)
    luma(const __grid_constant__ struct luma_args args)
{
    SAMPLE_TYPES(args.src.type, rows_make<T, CHANNELS>(args));
}

static enum gi_status luma_by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const void *none,
                                     struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    if (src->channels < 3) { /* the first channel, unchanged */
        int nbytes = (int)gi_type_nbytes(src->type);
        struct sample_gather gather = {};
        gather.dst = *dst;
        gather.nbytes = nbytes;
        gather.channels = 1;
        gather.width = src->width;
        gather.from[0] = (const char *)src->data;
        gather.step[0] = src->channels * nbytes;
        gather.stride[0] = (ptrdiff_t)src->stride;
        return gi_cuda_gather_samples(cu, &gather, err);
    }
    struct luma_args args = {*dst, *src, pieces_of(src), pieces_of(dst)};
    dim3 grid = pointwise_grid(args.out, src->height);
    if (src->channels == 3)
        luma<3><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    else
        luma<4><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_luma_way gi_cuda_luma_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, luma_by_pieces},
};
