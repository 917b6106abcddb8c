/* Luma (Rec. ITU-R BT.709). A thread computes 16 bytes of gray from the pixels at the same
 * position.
 * SPDX-License-Identifier: MIT */
#include "kernels/color.h"
#include "kernels/cuda/common/pointwise.cuh"

struct luma_args {
    struct gi_image dst, src;
    int in, out; /* pieces per row */
};

template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(POINTWISE_THREADS) luma(struct luma_args args)
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
                v[s] = sample_unpack<T>(words, at);
                if (CHANNELS >= 3) {
                    float g = sample_unpack<T>(words, at + 1);
                    float b = sample_unpack<T>(words, at + 2);
                    v[s] = gi_pixel_luma(v[s], g, b);
                }
            }
            ((unsigned *)&out)[i] = CHANNELS == 2 && S == 1
                                        ? words[i * CHANNELS] /* copies NaN unchanged */
                                        : sample_pack<T>(v);
        }
        *piece_at(args.dst, x, y) = out;
    }
}

typedef void luma_kernel(struct luma_args args);

/* Kernels by type and by channels - 2. */
static luma_kernel *const kernels[GI_F32 + 1][3] = {
    {luma<uint8_t, 2>, luma<uint8_t, 3>, luma<uint8_t, 4>},
    {luma<uint16_t, 2>, luma<uint16_t, 3>, luma<uint16_t, 4>},
    {luma<float, 2>, luma<float, 3>, luma<float, 4>},
};

static enum gi_status luma_by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const void *none,
                                     struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    if (src->channels == 1) {
        GI_CUDA_TRY(cudaMemcpy2DAsync(dst->data, dst->stride, src->data, src->stride,
                                      gi_row_nbytes(src), (size_t)src->height,
                                      cudaMemcpyDeviceToDevice, cu->stream));
        return GI_OK;
    }
    struct luma_args args = {*dst, *src, pieces_of(src), pieces_of(dst)};
    kernels[src->type]
           [src->channels -
            2]<<<pointwise_grid(args.out, src->height), POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_luma_way gi_cuda_luma_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, luma_by_pieces},
};
