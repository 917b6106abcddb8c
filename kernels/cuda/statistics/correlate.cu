/* Template matching by direct sums, and the list of ways. A thread computes a score and reads the
 * samples below the pattern from global memory. Neighbouring threads of a warp read neighbouring
 * pixels, so that loads are coalesced, and the rows that the threads of a block share stay in the
 * L1 cache:
 *
 *      block of 32 x 8 scores, pattern of 3 x 2 pixels
 *      row y      | thread 0: x 0, 1, 2 | thread 1: x 1, 2, 3 | ...
 *      row y + 1  | x 0, 1, 2           | x 1, 2, 3           | ...
 *
 * All threads read one sample of the pattern at a time, which is a broadcast. Its own sums are
 * computed by every thread, because they cost two of five multiply-adds, and no further kernel.
 * SPDX-License-Identifier: MIT */
#include "kernels/correlate.h"
#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/statistics/correlate_tensor.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, BLOCK_ROWS_MAX = 65535 };

struct correlate_args {
    struct gi_image dst, src, pattern;
    enum gi_correlate_method method;
    int colors;
    bool alpha; /* of the pattern */
};

/* Returns row y of an image from column x on. */
template <typename T>
static __device__ __forceinline__ const T *row_at(const struct gi_image &image, int x, int y)
{
    return (const T *)((const char *)image.data + (size_t)y * image.stride) +
           (size_t)x * image.channels;
}

/* The sums of integers are 64-bit integers, and those of floats are double. */
static __device__ __forceinline__ void sums_add(struct gi_correlate_integers *s, unsigned p,
                                                unsigned v)
{
    s->n++;
    s->p += p;
    s->pp += (uint64_t)p * p;
    s->v += v;
    s->vv += (uint64_t)v * v;
    s->pv += (uint64_t)p * v;
}

static __device__ __forceinline__ void sums_add(struct gi_correlate_reals *s, float p, float v)
{
    double a = (double)p, b = (double)v;
    s->n = __dadd_rn(s->n, 1.0);
    s->p = __dadd_rn(s->p, a);
    s->pp = __dadd_rn(s->pp, __dmul_rn(a, a));
    s->v = __dadd_rn(s->v, b);
    s->vv = __dadd_rn(s->vv, __dmul_rn(b, b));
    s->pv = __dadd_rn(s->pv, __dmul_rn(a, b));
}

static __device__ __forceinline__ void total_add(struct gi_correlate_total *total,
                                                 enum gi_correlate_method method,
                                                 const struct gi_correlate_integers *s)
{
    gi_correlate_add_integers(total, method, s);
}

static __device__ __forceinline__ void total_add(struct gi_correlate_total *total,
                                                 enum gi_correlate_method method,
                                                 const struct gi_correlate_reals *s)
{
    gi_correlate_add_reals(total, method, s);
}

/* Makes the score of the pattern at (x, y). SUMS is the struct of sums for samples of type T. */
template <typename T, typename SUMS>
static __device__ __forceinline__ float score_make(const struct correlate_args &args, int x, int y)
{
    const struct gi_image &pattern = args.pattern;
    struct gi_correlate_total total = {};
    for (int c = 0; c < args.colors; c++) {
        SUMS sums = {};
        for (int r = 0; r < pattern.height; r++) {
            const T *p = row_at<T>(pattern, 0, r), *v = row_at<T>(args.src, x, y + r) + c;
            for (int i = 0; i < pattern.width; i++) {
                if (!args.alpha || p[args.colors] > 0)
                    sums_add(&sums, p[c], *v);
                p += pattern.channels;
                v += args.src.channels;
            }
        }
        total_add(&total, args.method, &sums);
    }
    return gi_correlate_score(&total, args.method);
}

template <typename T, typename SUMS>
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    correlate_direct(const __grid_constant__ struct correlate_args args)
{
    int x = (int)(blockIdx.x * BLOCK_X + threadIdx.x);
    for (int y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y); y < args.dst.height;
         y += (int)(gridDim.y * BLOCK_Y))
        if (x < args.dst.width)
            ((float *)((char *)args.dst.data + (size_t)y * args.dst.stride))[x] =
                score_make<T, SUMS>(args, x, y);
}

static enum gi_status direct(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_correlate *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct correlate_args args = {*dst,
                                        *src,
                                        *spec->pattern,
                                        spec->method,
                                        gi_color_channels(spec->pattern),
                                        gi_has_alpha(spec->pattern)};
    int rows = ceil_div(dst->height, BLOCK_Y);
    dim3 grid((unsigned)ceil_div(dst->width, BLOCK_X),
              (unsigned)(rows < BLOCK_ROWS_MAX ? rows : BLOCK_ROWS_MAX)),
        block(BLOCK_X, BLOCK_Y);
    if (src->type == GI_U8)
        correlate_direct<uint8_t, struct gi_correlate_integers>
            <<<grid, block, 0, cu->stream>>>(args);
    else if (src->type == GI_U16)
        correlate_direct<uint16_t, struct gi_correlate_integers>
            <<<grid, block, 0, cu->stream>>>(args);
    else
        correlate_direct<float, struct gi_correlate_reals><<<grid, block, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* tensor: 400 lines and 3 kernels. */
const struct gi_correlate_way gi_cuda_correlate_ways[GI_WAYS_MAX] = {
    {{"tensor", "gray, 8 bits, patterns of up to 66051 pixels without alpha, GPUs from 8.0 on"},
     gi_cuda_correlate_tensor_takes,
     gi_cuda_correlate_tensor},
    {{"direct", "everything"}, NULL, direct},
};
