/* Makes min/max and rank filters ignore transparent pixels. Before the filter, these pixels are
 * replaced by a value that is never picked. After the filter, they are restored. A thread owns 16
 * bytes of every gridDim.y-th row, which it loads and stores with one access.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/morphology.h"

enum { TRANSPARENT_THREADS = 128, TRANSPARENT_ROWS = 16384 /* of a grid */ };

template <typename T, int CHANNELS> struct alignas(sizeof(T) * CHANNELS) pixel {
    T c[CHANNELS];
};

template <typename T, int CHANNELS> struct alignas(16) pixels {
    enum { N = 16 / (int)(sizeof(T) * CHANNELS) };
    struct pixel<T, CHANNELS> p[N];
};

template <typename T, int CHANNELS>
static __device__ __forceinline__ pixel<T, CHANNELS> *pixel_at(const struct gi_image &image, int x,
                                                               int y)
{
    return (pixel<T, CHANNELS> *)((char *)image.data + (size_t)y * image.stride) + x;
}

/* Returns a pixel before the filter. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ pixel<T, CHANNELS> hide(pixel<T, CHANNELS> in, T hidden, T shown)
{
    bool counts = in.c[CHANNELS - 1] > 0;
    in.c[CHANNELS - 1] = shown;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        in.c[c] = counts ? in.c[c] : hidden;
    return in;
}

/* Returns a pixel after the filter, which has picked `out`. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ pixel<T, CHANNELS> restore(pixel<T, CHANNELS> in,
                                                             pixel<T, CHANNELS> out, T hidden)
{
    bool picked = out.c[CHANNELS - 1] != hidden;
#pragma unroll
    for (int c = 0; c < CHANNELS - 1; c++)
        in.c[c] = picked ? out.c[c] : in.c[c];
    return in;
}

/* If `picked` has no data, this is the step before the filter. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void rows_make(const struct gi_image &dst,
                                                 const struct gi_image &src,
                                                 const struct gi_image &picked, T hidden, T shown)
{
    typedef pixels<T, CHANNELS> chunk;
    int x = (int)(blockIdx.x * TRANSPARENT_THREADS + threadIdx.x) * chunk::N;
    for (int y = (int)blockIdx.y; x < src.width && y < src.height; y += (int)gridDim.y) {
        pixel<T, CHANNELS> *in = pixel_at<T, CHANNELS>(src, x, y);
        pixel<T, CHANNELS> *out = pixel_at<T, CHANNELS>(dst, x, y);
        pixel<T, CHANNELS> *found =
            picked.data ? pixel_at<T, CHANNELS>(picked, x, y) : (pixel<T, CHANNELS> *)NULL;
        if (x + chunk::N > src.width) { /* the end of a row */
            for (int i = 0; i < src.width - x; i++)
                out[i] = found ? restore<T, CHANNELS>(in[i], found[i], hidden)
                               : hide<T, CHANNELS>(in[i], hidden, shown);
            continue;
        }
        chunk v = *(const chunk *)in, w = v;
        if (found)
            w = *(const chunk *)found;
#pragma unroll
        for (int i = 0; i < chunk::N; i++)
            v.p[i] = found ? restore<T, CHANNELS>(v.p[i], w.p[i], hidden)
                           : hide<T, CHANNELS>(v.p[i], hidden, shown);
        *(chunk *)out = v;
    }
}

template <int CHANNELS>
static __global__ void __launch_bounds__(TRANSPARENT_THREADS)
    transparent_pixels(struct gi_image dst, struct gi_image src, struct gi_image picked,
                       float hidden, float shown)
{
    SAMPLE_TYPES(src.type, rows_make<T, CHANNELS>(dst, src, picked, (T)hidden, (T)shown));
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src,
                                const struct gi_ignore_transparent *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_image none = {}, picked = spec->picked ? *spec->picked : none;
    dim3 grid(ceil_div((long long)gi_row_nbytes(src), TRANSPARENT_THREADS * 16),
              (unsigned)(src->height < TRANSPARENT_ROWS ? src->height : TRANSPARENT_ROWS));
    if (src->channels == 2)
        transparent_pixels<2><<<grid, TRANSPARENT_THREADS, 0, cu->stream>>>(
            *dst, *src, picked, spec->hidden, spec->shown);
    else
        transparent_pixels<4><<<grid, TRANSPARENT_THREADS, 0, cu->stream>>>(
            *dst, *src, picked, spec->hidden, spec->shown);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_ignore_transparent_way gi_cuda_ignore_transparent_ways[GI_WAYS_MAX] = {
    {{"pixels", "everything"}, NULL, by_pixels},
};
