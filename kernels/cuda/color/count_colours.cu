/* Counts distinct colours. If a colour has up to 24 bits, a table of counts is indexed by the
 * colour, and stream compaction (the primitive compact) extracts the entries that are not 0, in
 * order. If it has more bits, the host sorts a list of all colours.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/common/sample.cuh"
#include "kernels/color.h"

enum { TABLE_BITS = 24, SIDE_BITS = 12 /* maximum log2 of the table's width */, THREADS = 256 };

static int bits_of(const struct gi_image *src)
{
    return 8 * (int)gi_type_nbytes(src->type) * src->channels;
}

static __device__ __forceinline__ uint64_t colour_at(const struct gi_image &src, int x, int y)
{
    const char *row = (const char *)src.data + (size_t)y * src.stride;
    uint64_t colour = 0;
    for (int c = 0; c < src.channels; c++)
        colour = src.type == GI_U8
                     ? colour << 8 | ((const uint8_t *)row)[(size_t)x * src.channels + c]
                     : colour << 16 | ((const uint16_t *)row)[(size_t)x * src.channels + c];
    return colour;
}

static dim3 grid_of(const struct gi_image *src)
{
    return dim3((unsigned)ceil_div(src->width, THREADS),
                (unsigned)(src->height < 65535 ? src->height : 65535));
}

/* ---- by table ---- */

/* Neighbouring lanes with the same colour share one atomic, because one atomic per pixel would
 * serialise uniform areas. */
static __global__ void __launch_bounds__(THREADS) count(unsigned *counts, const struct gi_image src)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x);
    for (int y = (int)blockIdx.y; y < src.height; y += (int)gridDim.y) {
        unsigned colour = x < src.width ? (unsigned)colour_at(src, x, y) : ~0u;
        unsigned before = __shfl_up_sync(ALL_LANES, colour, 1);
        bool first = threadIdx.x % WARP == 0 || before != colour;
        unsigned firsts = __ballot_sync(ALL_LANES, first), lane = threadIdx.x % WARP;
        unsigned after = lane == WARP - 1 ? 0 : firsts >> (lane + 1);
        unsigned run = after ? (unsigned)__ffs((int)after) : WARP - lane;
        if (first && x < src.width)
            atomicAdd(&counts[colour], run);
    }
}

static bool fits_table(const struct gi_queue *, const struct gi_image *src, const void *none)
{
    return bits_of(src) <= TABLE_BITS;
}

/* The table of counts is passed to compact as an image of floats with the same bits. As floats,
 * all counts from 1 to 2^31 - 2^23 (the bits of infinity) are > 0. */
static enum gi_status by_table(struct gi_queue *queue, struct gi_colours *found,
                               const struct gi_image *src, const void *none, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    int bits = bits_of(src), width_bits = bits < SIDE_BITS ? bits : SIDE_BITS;
    struct gi_image table;
    struct gi_pixel_list points;
    *found = {};
    enum gi_status status =
        queue->k->alloc(queue, &table, 1 << width_bits, 1 << (bits - width_bits), 1, GI_F32, err);
    if (status)
        return status;
    struct gi_predicate some = {&table, 0, false};
    cudaError_t error = table.stride == gi_row_nbytes(&table)
                            ? cudaMemsetAsync(table.data, 0, sizeof(float) << bits, cu->stream)
                            : cudaErrorInvalidPitchValue;
    if (error == cudaSuccess) {
        count<<<grid_of(src), THREADS, 0, cu->stream>>>((unsigned *)table.data, *src);
        error = cudaGetLastError();
    }
    status = error == cudaSuccess ? queue->k->compact(queue, &points, &table, &some, err)
                                  : gi_fail(err, GI_E_DEVICE, "%s", cudaGetErrorString(error));
    queue->k->release(queue, &table);
    if (status)
        return status;
    found->each = (struct gi_colour_count *)malloc((points.n + 1) * sizeof *found->each);
    if (!found->each)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", (size_t)points.n);
    for (; found->each && found->n < points.n; found->n++) {
        uint32_t n;
        memcpy(&n, &points.value[found->n], sizeof n);
        uint64_t colour = (uint64_t)points.y[found->n] << width_bits | points.x[found->n];
        found->each[found->n] = {colour, n};
    }
    gi_pixel_list_free(&points);
    return status;
}

/* ---- by sorting ---- */

static __global__ void __launch_bounds__(THREADS) list(uint64_t *colours, const struct gi_image src)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x);
    for (int y = (int)blockIdx.y; y < src.height && x < src.width; y += (int)gridDim.y)
        colours[(size_t)y * src.width + x] = colour_at(src, x, y);
}

static enum gi_status by_sort(struct gi_queue *queue, struct gi_colours *found,
                              const struct gi_image *src, const void *none, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    size_t n = (size_t)src->width * (size_t)src->height, nbytes = n * sizeof(uint64_t);
    uint64_t *colours = (uint64_t *)malloc(nbytes);
    void *scratch;
    if (!colours)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", n);
    enum gi_status status = gi_cuda_scratch(cu, &scratch, nbytes, err);
    if (!status) {
        list<<<grid_of(src), THREADS, 0, cu->stream>>>((uint64_t *)scratch, *src);
        cudaError_t error = cudaGetLastError();
        status = error == cudaSuccess
                     ? gi_cuda_copy_to_host(cu, colours, nbytes, scratch, nbytes, nbytes, 1, err)
                     : gi_fail(err, GI_E_DEVICE, "%s", cudaGetErrorString(error));
    }
    if (!status)
        return gi_colours_sort(found, colours, n, (unsigned)bits_of(src), err);
    free(colours);
    return status;
}

const struct gi_count_colours_way gi_cuda_count_colours_ways[GI_WAYS_MAX] = {
    {{"table", "colours of 24 bits at most"}, fits_table, by_table},
    {{"sort", "everything"}, NULL, by_sort},
};
