/* Makes min/max and rank filters ignore transparent pixels. Before the filter, these pixels are
 * replaced by a value that is never picked. After the filter, they are restored. One thread per
 * pixel column visits every gridDim.y-th row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/morphology.h"

enum { TRANSPARENT_THREADS = 256, TRANSPARENT_ROWS = 16384 /* of a grid */ };

/* A pixel that is loaded and stored with one access. */
template <typename T, int CHANNELS> struct alignas(sizeof(T) * CHANNELS) pixel {
    T c[CHANNELS];
};

template <typename T, int CHANNELS>
static __device__ __forceinline__ pixel<T, CHANNELS> *pixel_at(const struct gi_image &image, int x,
                                                               int y)
{
    return (pixel<T, CHANNELS> *)((char *)image.data + (size_t)y * image.stride) + x;
}

/* If `picked` has no data, this is the step before the filter. */
template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(TRANSPARENT_THREADS)
    transparent_pixels(struct gi_image dst, struct gi_image src, struct gi_image picked, T hidden,
                       T shown)
{
    int x = (int)(blockIdx.x * TRANSPARENT_THREADS + threadIdx.x), last = CHANNELS - 1;
    if (x >= src.width)
        return;
    for (int y = (int)blockIdx.y; y < src.height; y += (int)gridDim.y) {
        pixel<T, CHANNELS> in = *pixel_at<T, CHANNELS>(src, x, y), out = in;
        if (picked.data) {
            out = *pixel_at<T, CHANNELS>(picked, x, y);
            out = out.c[last] != hidden ? out : in;
            out.c[last] = in.c[last];
        } else {
            bool counts = in.c[last] > 0;
            out.c[last] = shown;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                out.c[c] = counts ? out.c[c] : hidden;
        }
        *pixel_at<T, CHANNELS>(dst, x, y) = out;
    }
}

template <typename T, int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_ignore_transparent *spec,
                             struct gi_err *err)
{
    struct gi_image none = {};
    dim3 grid(ceil_div(src->width, TRANSPARENT_THREADS),
              (unsigned)(src->height < TRANSPARENT_ROWS ? src->height : TRANSPARENT_ROWS));
    transparent_pixels<T, CHANNELS><<<grid, TRANSPARENT_THREADS, 0, cu->stream>>>(
        *dst, *src, spec->picked ? *spec->picked : none, (T)spec->hidden, (T)spec->shown);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src,
                                const struct gi_ignore_transparent *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_TYPES(src->type, src->channels == 2 ? launch<T, 2>(cu, dst, src, spec, err)
                                                : launch<T, 4>(cu, dst, src, spec, err));
}

const struct gi_ignore_transparent_way gi_cuda_ignore_transparent_ways[GI_WAYS_MAX] = {
    {{"pixels", "everything"}, NULL, by_pixels},
};
