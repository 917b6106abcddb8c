/* Replaces colours by those of a palette. A table that is indexed by the 24-bit colour contains the
 * palette index. A thread processes four pixels: 12 bytes of RGB or 16 bytes of RGBA.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/color.h"

struct recolor_args {
    struct gi_image dst, src, table;
    struct walk walk;                 /* grid-stride loop over groups of four pixels */
    unsigned colors[GI_RECOLOR_MOST]; /* red in the lowest byte */
};

template <int CHANNELS>
static __global__ void __launch_bounds__(POINTWISE_THREADS) recolor(const struct recolor_args args)
{
    __shared__ unsigned colors[GI_RECOLOR_MOST];
    for (unsigned i = threadIdx.x; i < GI_RECOLOR_MOST; i += POINTWISE_THREADS)
        colors[i] = args.colors[i];
    __syncthreads();
    const uint8_t *table = (const uint8_t *)args.table.data;
    unsigned x, y;
    walk_start(args.walk, &y, &x, blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    for (; y < (unsigned)args.src.height; walk_next(args.walk, &y, &x)) {
        const unsigned *in =
            (const unsigned *)((const char *)args.src.data + y * args.src.stride) + x * CHANNELS;
        unsigned *out = (unsigned *)((char *)args.dst.data + y * args.dst.stride) + x * CHANNELS;
        unsigned words[CHANNELS], made[CHANNELS] = {};
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            words[i] = in[i];
        const uint8_t *bytes = (const uint8_t *)words;
        uint8_t *to = (uint8_t *)made;
#pragma unroll
        for (int p = 0; p < 4 * CHANNELS; p += CHANNELS) {
            unsigned row = bytes[p] << 4 | bytes[p + 1] >> 4;
            unsigned column = (bytes[p + 1] & 15) << 8 | bytes[p + 2];
            unsigned color = colors[__ldg(&table[row * args.table.stride + column])];
            to[p] = (uint8_t)color;
            to[p + 1] = (uint8_t)(color >> 8);
            to[p + 2] = (uint8_t)(color >> 16);
            if (CHANNELS == 4)
                to[p + 3] = bytes[p + 3];
        }
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            out[i] = made[i];
    }
}

static enum gi_status by_groups(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_recolor *spec,
                                struct gi_err *err)
{
    void (*kernel)(const struct recolor_args) = src->channels == 3 ? recolor<3> : recolor<4>;
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct recolor_args args = {*dst, *src, *spec->table, {}, {}};
    int fit = 0;
    memcpy(args.colors, spec->colors, sizeof args.colors);
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, POINTWISE_THREADS, 0));
    long long groups = (long long)ceil_div(src->width, 4) * src->height;
    int blocks = ceil_div(groups, POINTWISE_THREADS), most = fit * cu->units;
    blocks = blocks < most ? blocks : most;
    args.walk = walk_of(src, 4 * (size_t)src->channels, (size_t)blocks * POINTWISE_THREADS);
    kernel<<<blocks, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_recolor_way gi_cuda_recolor_ways[GI_WAYS_MAX] = {
    {{"groups", "everything"}, NULL, by_groups},
};
