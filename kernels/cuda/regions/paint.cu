/* Fills marked regions with a value: one thread per pixel column visits every gridDim.y-th row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/regions.h"

enum { PAINT_THREADS = 256, PAINT_ROWS = 16384 /* of a grid */ };

template <typename T>
static __device__ __forceinline__ void
rows_paint(const struct gi_image &dst, const struct gi_image &src, const struct gi_image &labels,
           const uint8_t *marked, float value)
{
    int x = (int)(blockIdx.x * PAINT_THREADS + threadIdx.x);
    int channels = src.channels, colors = channels - (channels % 2 == 0);
    if (x >= src.width)
        return;
    for (int y = (int)blockIdx.y; y < src.height; y += (int)gridDim.y) {
        unsigned label = ((const unsigned *)((const char *)labels.data + y * labels.stride))[x];
        const T *in = (const T *)((const char *)src.data + y * src.stride) + (size_t)x * channels;
        T *out = (T *)((char *)dst.data + y * dst.stride) + (size_t)x * channels;
        bool painted = label && marked[label - 1];
        for (int c = 0; c < channels; c++)
            out[c] = painted && c < colors ? (T)value : in[c];
    }
}

static __global__ void __launch_bounds__(PAINT_THREADS)
    paint_pixels(const __grid_constant__ struct gi_image dst,
                 const __grid_constant__ struct gi_image src,
                 const __grid_constant__ struct gi_image labels, const uint8_t *marked, float value)
{
    SAMPLE_TYPES(src.type, rows_paint<T>(dst, src, labels, marked, value));
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_paint *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    void *marked;
    enum gi_status status = gi_cuda_scratch(cu, &marked, (size_t)spec->n + 1, err);
    if (!status && spec->n)
        status =
            gi_cuda_copy_to_device(cu, marked, spec->n, spec->marked, spec->n, spec->n, 1, err);
    if (status)
        return status;
    dim3 grid(ceil_div(src->width, PAINT_THREADS),
              (unsigned)(src->height < PAINT_ROWS ? src->height : PAINT_ROWS));
    paint_pixels<<<grid, PAINT_THREADS, 0, cu->stream>>>(*dst, *src, *spec->labels,
                                                         (const uint8_t *)marked, spec->value);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_paint_way gi_cuda_paint_ways[GI_WAYS_MAX] = {
    {{"pixels", "everything"}, NULL, by_pixels},
};
