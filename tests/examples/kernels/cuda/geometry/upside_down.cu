/* The image upside down: each thread copies 16 bytes of some rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pointwise.cuh"

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    upside_down(struct gi_image dst, struct gi_image src, int pieces)
{
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= pieces)
        return;
    for (int y = (int)blockIdx.y; y < src.height; y += (int)gridDim.y)
        *piece_at(dst, x, src.height - 1 - y) = *piece_at(src, x, y);
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const void *none, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    int n = pieces_of(src);
    upside_down<<<pointwise_grid(n, src->height), POINTWISE_THREADS, 0, cu->stream>>>(*dst, *src,
                                                                                      n);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_upside_down_way gi_cuda_upside_down_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};
