/* Replaces colours by those of a palette, with dithering.
 *
 * Ordered dithering: a thread processes pixels of one column, every gridDim.y-th row.
 *
 * Error diffusion: one block. Thread t processes row t of a group of ROWS rows, two pixels behind
 * the thread of the row above, so that what that row passes on to a pixel is complete one step
 * before it is needed:
 *
 *   step s:  row 0 at pixel s, row 1 at pixel s - 2, row 2 at pixel s - 4, ...
 *
 * When row t processes pixel x, the error that pixel x - 1 below receives is complete. In the next
 * step row t + 1 processes pixel x - 1. The value goes to the next lane by a shuffle, to the next
 * warp through two buffers in shared memory (step s writes buffer s % 2 and reads the other one),
 * and from the last row of a group to the first row of the next group through a row in global
 * memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/color.h"

enum { ROWS = 512, WARPS = ROWS / 32, LAST_LANE = 31 };

struct dither_args {
    struct gi_image dst, src, cells;
    int spread;
    int *below;                       /* 3 ints per pixel of a row, for error diffusion */
    uint32_t colors[GI_RECOLOR_MOST]; /* red in the lowest byte */
};

static __device__ __forceinline__ int entry_of(const struct dither_args &args,
                                               const uint32_t *colors, const int v[3])
{
    const uint8_t *cell = (const uint8_t *)args.cells.data +
                          (size_t)gi_dither_cell(v[0], v[1], v[2]) * args.cells.stride;
    return gi_dither_entry(cell, colors, v[0], v[1], v[2]);
}

/* Copies the palette into shared memory. */
static __device__ __forceinline__ void load_colors(uint32_t *colors, const struct dither_args &args)
{
    for (unsigned i = threadIdx.x; i < GI_RECOLOR_MOST; i += blockDim.x)
        colors[i] = args.colors[i];
    __syncthreads();
}

template <int CHANNELS>
static __global__ void __launch_bounds__(POINTWISE_THREADS)
    dither_ordered(const __grid_constant__ struct dither_args args)
{
    enum { COLORS = CHANNELS < 3 ? 1 : 3 };
    __shared__ uint32_t colors[GI_RECOLOR_MOST];
    load_colors(colors, args);
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.src.width)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        const uint8_t *in =
            (const uint8_t *)args.src.data + (size_t)y * args.src.stride + (size_t)x * CHANNELS;
        uint8_t *out =
            (uint8_t *)args.dst.data + (size_t)y * args.dst.stride + (size_t)x * CHANNELS;
        int offset = gi_dither_offset(x, y, args.spread), v[3] = {0, 0, 0};
        uint8_t alpha = in[CHANNELS - 1];
#pragma unroll
        for (int c = 0; c < COLORS; c++)
            v[c] = gi_dither_limit(in[c] + offset);
        uint32_t color = colors[entry_of(args, colors, v)];
#pragma unroll
        for (int c = 0; c < COLORS; c++)
            out[c] = (uint8_t)(color >> 8 * c);
        if (CHANNELS > COLORS)
            out[CHANNELS - 1] = alpha;
    }
}

/* What the pixels of a row pass on, in sixteenths. */
template <int COLORS> struct errors {
    int right[COLORS]; /* to the next pixel */
    int left[COLORS];  /* to the left below of the next pixel, without that of the next pixel */
    int down[COLORS];  /* the same for the pixel below the next one */
    int ready[COLORS]; /* to the pixel below, one to the left of this step's pixel: complete */
};

/* Processes pixel x of row y. `above` is what the row above passes on to it. */
template <int CHANNELS, int COLORS>
static __device__ __forceinline__ void
diffuse_pixel(const struct dither_args &args, const uint32_t *colors, int x, int y,
              const int above[COLORS], struct errors<COLORS> &e)
{
    const uint8_t *in =
        (const uint8_t *)args.src.data + (size_t)y * args.src.stride + (size_t)x * CHANNELS;
    uint8_t *out = (uint8_t *)args.dst.data + (size_t)y * args.dst.stride + (size_t)x * CHANNELS;
    int v[3] = {0, 0, 0};
    uint8_t alpha = in[CHANNELS - 1];
#pragma unroll
    for (int c = 0; c < COLORS; c++)
        v[c] = gi_dither_limit(in[c] + (e.right[c] + above[c]) / 16);
    uint32_t color = colors[entry_of(args, colors, v)];
#pragma unroll
    for (int c = 0; c < COLORS; c++) {
        int to = (int)(color >> 8 * c & 255), d = v[c] - to;
        e.ready[c] = 3 * d + e.left[c];
        e.left[c] = 5 * d + e.down[c];
        e.down[c] = d;
        e.right[c] = 7 * d;
        out[c] = (uint8_t)to;
    }
    if (CHANNELS > COLORS)
        out[CHANNELS - 1] = alpha;
}

template <int CHANNELS>
static __global__ void __launch_bounds__(ROWS)
    dither_diffused(const __grid_constant__ struct dither_args args)
{
    enum { COLORS = CHANNELS < 3 ? 1 : 3 };
    __shared__ uint32_t colors[GI_RECOLOR_MOST];
    __shared__ int edges[2][WARPS][COLORS];
    load_colors(colors, args);
    const int t = (int)threadIdx.x, lane = t % 32, warp = t / 32;
    const int width = args.src.width, height = args.src.height;
    for (int base = 0; base < height; base += ROWS) {
        const int rows = height - base < ROWS ? height - base : ROWS, y = base + t;
        struct errors<COLORS> e = {};
        for (int s = 0; s <= width + 2 * (rows - 1); s++) { /* the same steps in all threads */
            const int x = s - 2 * t;
            const bool here = t < rows && x >= 0 && x <= width; /* x == width: the row has ended */
            int above[COLORS];
#pragma unroll
            for (int c = 0; c < COLORS; c++) {
                above[c] = __shfl_up_sync(ALL_LANES, e.ready[c], 1);
                if (lane == 0 && warp)
                    above[c] = s ? edges[(s - 1) % 2][warp - 1][c] : 0;
                if (t == 0)
                    above[c] = base && x < width ? args.below[3 * x + c] : 0;
            }
            if (here && x < width) {
                diffuse_pixel<CHANNELS, COLORS>(args, colors, x, y, above, e);
            } else if (here) {
#pragma unroll
                for (int c = 0; c < COLORS; c++)
                    e.ready[c] = e.left[c];
            }
#pragma unroll
            for (int c = 0; c < COLORS; c++) {
                if (lane == LAST_LANE)
                    edges[s % 2][warp][c] = e.ready[c];
                if (here && t == ROWS - 1 && x)
                    args.below[3 * (x - 1) + c] = e.ready[c];
            }
            __syncthreads();
        }
    }
}

static enum gi_status launch_ordered(struct gi_cuda_queue *cu, const struct dither_args *args,
                                     struct gi_err *err)
{
    static void (*const kernels[])(const struct dither_args) = {
        dither_ordered<1>, dither_ordered<2>, dither_ordered<3>, dither_ordered<4>};
    dim3 grid = pointwise_grid(args->src.width, args->src.height);
    kernels[args->src.channels - 1]<<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status launch_diffused(struct gi_cuda_queue *cu, const struct dither_args *args,
                                      struct gi_err *err)
{
    static void (*const kernels[])(const struct dither_args) = {
        dither_diffused<1>, dither_diffused<2>, dither_diffused<3>, dither_diffused<4>};
    kernels[args->src.channels - 1]<<<1, ROWS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status plain(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_dither *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct dither_args args = {*dst, *src, *spec->cells, spec->spread, NULL, {}};
    for (int i = 0; i < GI_RECOLOR_MOST; i++)
        args.colors[i] = spec->colors[i][0] | (uint32_t)spec->colors[i][1] << 8 |
                         (uint32_t)spec->colors[i][2] << 16;
    if (spec->kind == GI_DITHER_ORDERED)
        return launch_ordered(cu, &args, err);
    void *below;
    enum gi_status status = gi_cuda_scratch(cu, &below, 3 * sizeof(int) * (size_t)src->width, err);
    if (status)
        return status;
    args.below = (int *)below;
    return launch_diffused(cu, &args, err);
}

const struct gi_dither_way gi_cuda_dither_ways[GI_WAYS_MAX] = {
    {{"plain", "everything"}, NULL, plain},
};
