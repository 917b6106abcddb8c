/* Colour look-up tables with interpolation. There is one thread per pixel, in a grid-stride loop.
 * The table is read from global memory through the caches: 431 kB for 33 entries a side.
 * SPDX-License-Identifier: MIT */
#include "kernels/color.h"
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/common/pointwise.cuh"

struct lut_args {
    struct gi_image dst, src, table;
    struct walk walk;         /* over pixels by threads */
    struct gi_color_lut spec; /* its `table` is not used */
};

template <typename T>
static __device__ __forceinline__ void pixel_look_up(const struct lut_args &args, unsigned x,
                                                     unsigned y)
{
    const int channels = args.src.channels, colors = channels < 3 ? 1 : 3;
    const T *in = (const T *)((const char *)args.src.data + y * args.src.stride) + x * channels;
    T *out = (T *)((char *)args.dst.data + y * args.dst.stride) + x * channels;
    const float *table = (const float *)args.table.data;
    const size_t blue = args.table.stride / sizeof *table;
    float v[3] = {(float)in[0], colors == 3 ? (float)in[1] : 0, colors == 3 ? (float)in[2] : 0};
    if (args.spec.kind == GI_COLOR_LUT_CURVES) {
#pragma unroll
        for (int c = 0; c < 3; c++)
            v[c] = gi_color_lut_curve(&args.spec, table, args.table.channels, c, v[c]);
    } else if (args.spec.kind == GI_COLOR_LUT_TRILINEAR) {
        gi_color_lut_trilinear(&args.spec, table, blue, v);
    } else {
        gi_color_lut_tetrahedral(&args.spec, table, blue, v);
    }
#pragma unroll
    for (int c = 0; c < 3; c++)
        if (c < colors)
            sample_store(&out[c], v[c]);
    if (channels % 2 == 0)
        out[channels - 1] = in[channels - 1];
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    color_lut(const __grid_constant__ struct lut_args args)
{
    unsigned x, y;
    walk_start(args.walk, &y, &x, blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    for (; y < (unsigned)args.src.height; walk_next(args.walk, &y, &x))
        SAMPLE_TYPES(args.src.type, pixel_look_up<T>(args, x, y));
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_color_lut *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct lut_args args = {*dst, *src, *spec->table, {}, *spec};
    int fit = 0;
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, color_lut, POINTWISE_THREADS, 0));
    long long wanted =
        ((long long)src->width * src->height + POINTWISE_THREADS - 1) / POINTWISE_THREADS;
    long long most = (long long)fit * cu->units;
    int blocks = (int)(wanted < most ? wanted : most);
    size_t pixel = (size_t)src->channels * gi_type_nbytes(src->type);
    args.walk = walk_of(src, pixel, (size_t)blocks * POINTWISE_THREADS);
    color_lut<<<blocks, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_color_lut_way gi_cuda_color_lut_ways[GI_WAYS_MAX] = {
    {{"pixels", "everything"}, NULL, by_pixels},
};
