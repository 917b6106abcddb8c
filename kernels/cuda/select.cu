/* select: the foreground's coordinates and values in raster order: predicate, scan, gather.
 * A warp takes 1024 pixels of a row as words of foreground bits.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/scan.h"

#include <stdlib.h>

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    SEGMENT = 1024,         /* pixels of a row that a warp takes */
    BAND_PIXELS = 1 << 26,  /* per launch: bounds the memory for results (8 bytes a pixel) */
    SLICE_POINTS = 1 << 16, /* points that a worker widens at a time */
};

/* The foreground as words, 32 a segment, and how much of it each block has. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    select_words(uint32_t *words, uint32_t *counts, struct foreground f, unsigned segments)
{
    __shared__ uint32_t parts[WARPS][WARP];
    unsigned warp = threadIdx.x / WARP, segment = blockIdx.x * WARPS + warp, count;
    uint32_t mine = foreground_words<T, SEGMENT>(parts[warp], f, segment % segments * SEGMENT,
                                                 segment / segments);
    words[(size_t)blockIdx.x * THREADS + threadIdx.x] = mine;
    block_before<WARPS>((unsigned)__popc(mine), &count);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

/* counts: of all blocks before each. A warp lines up its points in shared memory, so that it writes
 * whole sectors. */
template <typename V>
static __global__ void __launch_bounds__(THREADS)
    select_points(uint32_t *index, V *value, const uint32_t *words, const uint32_t *counts,
                  struct gi_image values, unsigned segments)
{
    __shared__ uint16_t lines[WARPS][SEGMENT];
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, all;
    unsigned segment = blockIdx.x * WARPS + warp;
    unsigned y = segment / segments, x = segment % segments * SEGMENT;
    uint16_t *line = lines[warp];
    uint32_t mine = words[(size_t)blockIdx.x * THREADS + threadIdx.x];
    unsigned before = block_before<WARPS>((unsigned)__popc(mine), &all);
    unsigned start = __shfl_sync(ALL_LANES, before, 0);
    unsigned count = __shfl_sync(ALL_LANES, before + __popc(mine), WARP - 1) - start;
    if (count == 0)
        return;

    before -= start;
#pragma unroll 8
    for (unsigned i = 0; i < WARP; i++) {
        uint32_t bits = __shfl_sync(ALL_LANES, mine, i);
        unsigned at = __shfl_sync(ALL_LANES, before, i) + __popc(bits & ((1u << lane) - 1));
        if (bits >> lane & 1)
            line[at] = (uint16_t)(i * WARP + lane);
    }
    __syncwarp();

    unsigned out = counts[blockIdx.x] + start, first = y * (unsigned)values.width + x;
    const V *from = (const V *)((const char *)values.data + (size_t)y * values.stride) + x;
#pragma unroll 4
    for (unsigned to = out / WARP * WARP + lane; to < out + count; to += WARP)
        if (to >= out) {
            unsigned pixel = line[to - out];
            index[to] = first + pixel;
            value[to] = from[pixel];
        }
}

static unsigned segments_of(const struct gi_image *on)
{
    return ((unsigned)on->width + SEGMENT - 1) / SEGMENT;
}

static unsigned blocks_of(const struct gi_image *on)
{
    return (unsigned)(((size_t)segments_of(on) * (size_t)on->height + WARPS - 1) / WARPS);
}

size_t gi_cuda_select_scratch(const struct gi_image *on)
{
    return (size_t)blocks_of(on) * (THREADS + 1) * sizeof(uint32_t);
}

enum gi_status gi_cuda_select_launch(struct gi_cuda_context *cu, uint32_t *index, void *value,
                                     device_u64 *n, void *scratch, const struct gi_image *values,
                                     const struct gi_predicate *predicate, struct gi_err *err)
{
    struct foreground f = foreground_of(predicate);
    unsigned blocks = blocks_of(values), segments = segments_of(values);
    uint32_t *words = (uint32_t *)scratch, *counts = words + (size_t)blocks * THREADS;
    if (f.on.type == GI_U8)
        select_words<uint8_t><<<blocks, THREADS, 0, cu->stream>>>(words, counts, f, segments);
    else if (f.on.type == GI_U16)
        select_words<uint16_t><<<blocks, THREADS, 0, cu->stream>>>(words, counts, f, segments);
    else
        select_words<float><<<blocks, THREADS, 0, cu->stream>>>(words, counts, f, segments);
    scan_counts<<<1, SCAN_THREADS, 0, cu->stream>>>(counts, blocks, n);
    if (values->type == GI_U8)
        select_points<<<blocks, THREADS, 0, cu->stream>>>(index, (uint8_t *)value, words, counts,
                                                          *values, segments);
    else if (values->type == GI_U16)
        select_points<<<blocks, THREADS, 0, cu->stream>>>(index, (uint16_t *)value, words, counts,
                                                          *values, segments);
    else
        select_points<<<blocks, THREADS, 0, cu->stream>>>(index, (float *)value, words, counts,
                                                          *values, segments);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- results to the host ---- */

/* The points of one band: indices in place of x, raw samples. */
struct widening {
    uint32_t *x, *y;
    float *value;
    const void *raw;
    uint64_t n;
    uint32_t width, first_y;
    enum gi_type type;
};

static void widen_slice(void *arg, int slice, void *)
{
    const struct widening *w = (const struct widening *)arg;
    uint64_t i = (uint64_t)slice * SLICE_POINTS;
    uint64_t end = w->n - i < SLICE_POINTS ? w->n : i + SLICE_POINTS;
    uint32_t y = w->x[i] / w->width, row = y * w->width;
    for (uint64_t j = i; j < end; j++) {
        for (; w->x[j] - row >= w->width; row += w->width)
            y++;
        w->x[j] -= row;
        w->y[j] = w->first_y + y;
    }
    if (w->type == GI_U8)
        for (; i < end; i++)
            w->value[i] = (float)((const uint8_t *)w->raw)[i];
    else if (w->type == GI_U16)
        for (; i < end; i++)
            w->value[i] = (float)((const uint16_t *)w->raw)[i];
    else
        for (; i < end; i++)
            w->value[i] = ((const float *)w->raw)[i];
}

static bool grow(void *array, uint64_t n)
{
    void **p = (void **)array;
    void *larger = realloc(*p, n * sizeof(uint32_t));
    if (larger)
        *p = larger;
    return larger != NULL;
}

/* Appends the `n` points of a band, on the device in index and value. */
static enum gi_status points_append(struct gi_cuda_context *cu, struct gi_points *points,
                                    const uint32_t *index, const void *value, uint64_t n,
                                    const struct gi_image *values, int first_y, struct gi_err *err)
{
    uint64_t all = points->n + n, at = points->n;
    size_t raw_nbytes = n * gi_type_nbytes(values->type);
    void *raw = malloc(raw_nbytes);
    if (!raw || !grow(&points->x, all) || !grow(&points->y, all) || !grow(&points->value, all)) {
        free(raw);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %llu points", (unsigned long long)all);
    }
    points->n = all;
    enum gi_status status = gi_cuda_copy_to_host(cu, points->x + at, n * sizeof *index, index,
                                                 n * sizeof *index, n * sizeof *index, 1, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, raw, raw_nbytes, value, raw_nbytes, raw_nbytes, 1, err);
    if (!status) {
        struct widening w = {points->x + at,          points->y + at,    points->value + at, raw, n,
                             (uint32_t)values->width, (uint32_t)first_y, values->type};
        status = gi_pool_run(cu->workers, (int)((n + SLICE_POINTS - 1) / SLICE_POINTS), widen_slice,
                             &w, 0, err);
    }
    free(raw);
    return status;
}

/* One band of rows: kernels, then what they found. */
static enum gi_status select_band(struct gi_cuda_context *cu, struct gi_points *points,
                                  const struct gi_image *values,
                                  const struct gi_predicate *predicate, int first_y,
                                  struct gi_err *err)
{
    size_t most = (size_t)values->width * (size_t)values->height;
    size_t index_nbytes = (most * sizeof(uint32_t) + 15) / 16 * 16;
    size_t value_nbytes = (most * gi_type_nbytes(values->type) + 15) / 16 * 16;
    char *scratch;
    enum gi_status status = gi_cuda_scratch(
        cu, (void **)&scratch,
        16 + index_nbytes + value_nbytes + gi_cuda_select_scratch(predicate->on), err);
    if (status)
        return status;
    device_u64 *n = (device_u64 *)scratch, found;
    uint32_t *index = (uint32_t *)(scratch + 16);
    void *value = scratch + 16 + index_nbytes;
    status = gi_cuda_select_launch(cu, index, value, n, scratch + 16 + index_nbytes + value_nbytes,
                                   values, predicate, err);
    if (!status)
        status =
            gi_cuda_copy_to_host(cu, &found, sizeof found, n, sizeof found, sizeof found, 1, err);
    if (!status && found)
        status = points_append(cu, points, index, value, found, values, first_y, err);
    return status;
}

enum gi_status gi_cuda_select(struct gi_context *cx, struct gi_points *points,
                              const struct gi_image *values, const struct gi_predicate *predicate,
                              struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    int rows = BAND_PIXELS / values->width < 1 ? 1 : BAND_PIXELS / values->width;
    enum gi_status status = GI_OK;
    *points = {};
    for (int y = 0; y < values->height && !status; y += rows) {
        int end = values->height - y < rows ? values->height : y + rows;
        struct gi_image on_band = gi_image_rows(predicate->on, y, end);
        struct gi_image values_band = gi_image_rows(values, y, end);
        struct gi_predicate band = {&on_band, predicate->above, predicate->invert};
        status = select_band(cu, points, &values_band, &band, y, err);
    }
    if (status)
        gi_points_free(points);
    return status;
}
