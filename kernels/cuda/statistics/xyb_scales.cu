/* XYB on several scales, by a kernel per scale. A thread converts 2 x 2 pixels, and makes of them a
 * pixel of the next scale in linear light, which is stored as three planes in scratch memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/cuda.h"
#include "kernels/xyb.h"

enum { ACROSS = 32, DOWN = 8 }; /* threads of a block */

/* Pointers are to device memory. */
struct scale_args {
    struct gi_image src, dst;
    const float *table; /* linear light of the samples of `src` */
    const float *light; /* three planes of this scale; NULL: of `src` */
    float *half;        /* three planes of the next scale; NULL: none */
    struct gi_xyb_scale scale;
};

static __device__ inline float light_of(const struct scale_args &args, float sample)
{
    return sample;
}

template <typename T>
static __device__ inline float light_of(const struct scale_args &args, T sample)
{
    return args.table[sample];
}

template <typename T>
static __device__ inline void load_sample(float rgb[3], const struct scale_args &args, int x, int y)
{
    const T *row = (const T *)((const char *)args.src.data + (size_t)y * args.src.stride);
    const int channels = args.src.channels;
#pragma unroll
    for (int c = 0; c < 3; c++)
        rgb[c] = light_of(args, row[(size_t)x * channels + (channels == 3 ? c : 0)]);
}

/* Loads a pixel in linear light. */
static __device__ inline void load_light(float rgb[3], const struct scale_args &args, int x, int y)
{
    if (!args.light) {
        SAMPLE_TYPES(args.src.type, load_sample<T>(rgb, args, x, y));
        return;
    }
    const size_t plane = (size_t)args.scale.width * (size_t)args.scale.height;
    const float *at = args.light + (size_t)y * (size_t)args.scale.width + x;
#pragma unroll
    for (int c = 0; c < 3; c++)
        rgb[c] = at[c * plane];
}

static __device__ inline double cube_root(double x)
{
    return gi_xyb_cube_root(
        x, (double)__uint_as_float(gi_xyb_guess(__float_as_uint(__double2float_rn(x)))));
}

static __device__ inline void store_pixel(const struct scale_args &args, int x, int y,
                                          const float rgb[3])
{
    double lms[3];
    float xyb[3];
    gi_xyb_mix(lms, rgb[0], rgb[1], rgb[2]);
    gi_xyb_of_roots(xyb, cube_root(lms[0]), cube_root(lms[1]), cube_root(lms[2]));
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const size_t row = (size_t)(args.scale.y + c * args.scale.height + y);
        ((float *)((char *)args.dst.data + row * args.dst.stride))[args.scale.x + x] = xyb[c];
    }
}

static __global__ void __launch_bounds__(ACROSS *DOWN)
    make_scale(const __grid_constant__ struct scale_args args)
{
    const int width = args.scale.width, height = args.scale.height;
    const int x = 2 * (int)(blockIdx.x * ACROSS + threadIdx.x);
    for (int y = 2 * (int)(blockIdx.y * DOWN + threadIdx.y); y < height;
         y += 2 * DOWN * (int)gridDim.y) {
        if (x >= width)
            return;
        float rgb[4][3];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            load_light(rgb[i], args, min(x + i % 2, width - 1), min(y + i / 2, height - 1));
            if (x + i % 2 < width && y + i / 2 < height)
                store_pixel(args, x + i % 2, y + i / 2, rgb[i]);
        }
        if (!args.half)
            continue;
        const size_t across = (size_t)(width + 1) / 2, plane = across * (size_t)((height + 1) / 2);
#pragma unroll
        for (int c = 0; c < 3; c++)
            args.half[c * plane + (size_t)y / 2 * across + (size_t)x / 2] =
                gi_xyb_mean(rgb[0][c], rgb[1][c], rgb[2][c], rgb[3][c]);
    }
}

static size_t samples_of(const struct gi_xyb_scale *scale)
{
    return 3 * (size_t)scale->width * (size_t)scale->height;
}

static enum gi_status by_scales(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_xyb *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct gi_xyb_layout layout = gi_xyb_layout_of(src->width, src->height);
    const size_t entries = spec->light ? (size_t)gi_type_full_scale(src->type) + 1 : 0;
    size_t samples = entries;
    float *table;
    for (int s = 1; s < layout.n; s++)
        samples += samples_of(&layout.scales[s]);
    enum gi_status status = gi_cuda_scratch(cu, (void **)&table, samples * sizeof(float), err);
    if (status)
        return status;
    if (entries)
        GI_CUDA_TRY(cudaMemcpyAsync(table, spec->light, entries * sizeof(float),
                                    cudaMemcpyHostToDevice, cu->stream));
    float *half = table + entries;
    struct scale_args args = {};
    args.src = *src;
    args.dst = *dst;
    args.table = table;
    for (int s = 0; s < layout.n; s++) {
        args.scale = layout.scales[s];
        args.half = s + 1 < layout.n ? half : NULL;
        const int across = (args.scale.width + 2 * ACROSS - 1) / (2 * ACROSS);
        const int down = (args.scale.height + 2 * DOWN - 1) / (2 * DOWN);
        const dim3 grid((unsigned)across, (unsigned)(down < 65535 ? down : 65535));
        make_scale<<<grid, dim3(ACROSS, DOWN), 0, cu->stream>>>(args);
        GI_CUDA_LAUNCHED();
        args.light = half;
        half += args.half ? samples_of(&layout.scales[s + 1]) : 0;
    }
    return GI_OK;
}

const struct gi_xyb_scales_way gi_cuda_xyb_scales_ways[GI_WAYS_MAX] = {
    {{"scales", "everything"}, NULL, by_scales},
};
