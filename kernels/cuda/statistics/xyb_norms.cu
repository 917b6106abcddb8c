/* Compares two images in XYB. A block of threads adds up the maps of a channel of a tile of 32 x 32
 * pixels. Shared memory holds the tile of both images with its halo of 4 pixels, and one of the
 * four blurred values at a time:
 *
 *   40 x 40 samples of a and b --thread: 4 rows of a column--> 40 x 32 values, blurred along
 * columns
 *                              --thread: 4 pixels in a column--> blurred along rows, in registers
 *
 * The first step has 40 x 8 threads, one per column and group of 4 rows; the second step uses 32 x
 * 8 of them. After four values each of these adds up the maps of its 4 pixels; a warp per norm then
 * adds 8 groups and 32 columns.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/cuda.h"
#include "kernels/xyb.h"

#include <stdlib.h>

enum {
    WIDE = GI_XYB_TILE + 2 * GI_XYB_REACH,
    GROUPS = GI_XYB_TILE / GI_XYB_ROWS,
    THREADS = WIDE * GROUPS,
    VALUES = 4,
    SPAN = GI_XYB_ROWS + 2 * GI_XYB_REACH, /* rows that a group reads */
};

struct norms_args {
    struct gi_image a, b;
    struct gi_xyb_layout layout;
    double *tiles;
};

/* Samples, or the sums of the threads of the second step. */
union tile_memory {
    float samples[2][WIDE][WIDE];
    double sums[GI_XYB_NORMS][GROUPS][GI_XYB_TILE];
};

static __device__ inline const struct gi_xyb_scale &scale_of(const struct gi_xyb_layout &layout,
                                                             int tile)
{
    int s = 0;
    while (s + 1 < layout.n && layout.scales[s + 1].first_tile <= tile)
        s++;
    return layout.scales[s];
}

/* Loads the samples of both images; left and top are those of the tile. */
static __device__ inline void load_tile(union tile_memory *tile, const struct norms_args &args,
                                        const struct gi_xyb_scale &scale, int c, int left, int top)
{
    for (int i = (int)threadIdx.x; i < WIDE * WIDE; i += THREADS) {
        const int column = i % WIDE, row = i / WIDE;
        const int x = left + column - GI_XYB_REACH, y = top + row - GI_XYB_REACH;
        const bool inside = x >= 0 && x < scale.width && y >= 0 && y < scale.height;
        const size_t line = (size_t)(scale.y + c * scale.height + y);
        const size_t at = (size_t)scale.x + (size_t)x;
        tile->samples[0][row][column] =
            inside ? ((const float *)((const char *)args.a.data + line * args.a.stride))[at] : 0;
        tile->samples[1][row][column] =
            inside ? ((const float *)((const char *)args.b.data + line * args.b.stride))[at] : 0;
    }
}

/* Returns value v of a pixel: a, b, a^2 + b^2 or a b. */
static __device__ inline double value_of(int v, float sample_a, float sample_b)
{
    const double a = (double)sample_a, b = (double)sample_b;
    return v == 0 ? a : v == 1 ? b : v == 2 ? a * a + b * b : a * b;
}

/* Blurs value v along a column, at the rows of a group. */
static __device__ inline void blur_columns(double (*blurred)[WIDE], const union tile_memory &tile,
                                           int v, int column, int group)
{
    double values[SPAN];
#pragma unroll
    for (int i = 0; i < SPAN; i++) {
        const int row = group * GI_XYB_ROWS + i;
        values[i] = value_of(v, tile.samples[0][row][column], tile.samples[1][row][column]);
    }
#pragma unroll
    for (int i = 0; i < GI_XYB_ROWS; i++)
        blurred[group * GI_XYB_ROWS + i][column] = gi_xyb_blur(values + GI_XYB_REACH + i, 1);
}

static __global__ void __launch_bounds__(THREADS)
    add_tile(const __grid_constant__ struct norms_args args)
{
    __shared__ union tile_memory tile;
    __shared__ double blurred[GI_XYB_TILE][WIDE];
    const int number = (int)blockIdx.x, c = (int)blockIdx.y, thread = (int)threadIdx.x;
    const struct gi_xyb_scale &scale = scale_of(args.layout, number);
    const int left = (number - scale.first_tile) % scale.across * GI_XYB_TILE;
    const int top = (number - scale.first_tile) / scale.across * GI_XYB_TILE;
    /* Load. */
    load_tile(&tile, args, scale, c, left, top);
    __syncthreads();
    /* Blur: x and group are those of the second step. */
    const int x = thread % GI_XYB_TILE, group = thread / GI_XYB_TILE;
    const bool second = group < GROUPS;
    double m[VALUES][GI_XYB_ROWS];
#pragma unroll
    for (int v = 0; v < VALUES; v++) {
        blur_columns(blurred, tile, v, thread % WIDE, thread / WIDE);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < GI_XYB_ROWS; i++)
            m[v][i] =
                second ? gi_xyb_blur(&blurred[group * GI_XYB_ROWS + i][x + GI_XYB_REACH], 1) : 0;
        __syncthreads();
    }
    /* Compute the maps. */
    double sums[GI_XYB_NORMS] = {};
#pragma unroll
    for (int i = 0; i < GI_XYB_ROWS; i++) {
        const int row = group * GI_XYB_ROWS + i;
        if (!second || left + x >= scale.width || top + row >= scale.height)
            continue;
        double maps[3];
        gi_xyb_maps(maps, (double)tile.samples[0][row + GI_XYB_REACH][x + GI_XYB_REACH],
                    (double)tile.samples[1][row + GI_XYB_REACH][x + GI_XYB_REACH], m[0][i], m[1][i],
                    m[2][i], m[3][i]);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const double square = maps[k] * maps[k];
            sums[2 * k] += maps[k];
            sums[2 * k + 1] += square * square;
        }
    }
    __syncthreads(); /* the sums replace the samples */
    for (int k = 0; k < GI_XYB_NORMS && second; k++)
        tile.sums[k][group][x] = sums[k];
    __syncthreads();
    /* Add up: a warp per norm. */
    const int k = thread / WARP, lane = thread % WARP;
    if (k >= GI_XYB_NORMS)
        return;
    double sum = 0;
    for (int i = 0; i < GROUPS; i++)
        sum += tile.sums[k][i][lane];
#pragma unroll
    for (int half = WARP / 2; half; half /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, half);
    if (lane == 0)
        args.tiles[(size_t)number * GI_XYB_TILE_SUMS + (size_t)(c * GI_XYB_NORMS + k)] = sum;
}

static enum gi_status by_tiles(struct gi_queue *queue, struct gi_xyb_norms *norms,
                               const struct gi_image *src, const struct gi_xyb_compare *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct norms_args args = {*src, *spec->other, gi_xyb_layout_of(spec->width, spec->height),
                              NULL};
    const size_t nbytes = (size_t)args.layout.ntiles * GI_XYB_TILE_SUMS * sizeof(double);
    *norms = {};
    if (!nbytes)
        return GI_OK;
    double *tiles = (double *)malloc(nbytes);
    if (!tiles)
        return gi_fail(err, GI_E_MEMORY, "out of memory: sums of %d tiles", args.layout.ntiles);
    enum gi_status status = gi_cuda_scratch(cu, (void **)&args.tiles, nbytes, err);
    if (!status) {
        add_tile<<<dim3((unsigned)args.layout.ntiles, 3), THREADS, 0, cu->stream>>>(args);
        cudaError_t error = cudaGetLastError();
        status = error
                     ? gi_cuda_fail(err, error, "add_tile")
                     : gi_cuda_copy_to_host(cu, tiles, nbytes, args.tiles, nbytes, nbytes, 1, err);
    }
    if (!status)
        gi_xyb_add_tiles(norms, &args.layout, tiles);
    free(tiles);
    return status;
}

const struct gi_xyb_norms_way gi_cuda_xyb_norms_ways[GI_WAYS_MAX] = {
    {{"tiles", "everything"}, NULL, by_tiles},
};
