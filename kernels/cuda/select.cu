/* select: the foreground's coordinates and values in raster order, in one pass over the image.
 * A block takes 8192 pixels as words of foreground bits, learns from the blocks before it where its
 * first point goes, and writes.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/measure.h"

#include <stdlib.h>

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    SEGMENT = 1024,         /* pixels of a row that a warp takes */
    BAND_PIXELS = 1 << 26,  /* per launch: bounds the memory for results (8 bytes a pixel) */
    SLICE_POINTS = 1 << 16, /* points that a worker widens at a time */
};

template <typename T, typename V>
static __global__ void __launch_bounds__(THREADS)
    select_points(uint32_t *index, V *value, device_u64 *n, device_u64 *scan, struct foreground f,
                  struct gi_image values, unsigned segments)
{
    __shared__ uint32_t words[WARPS][WARP];
    __shared__ unsigned counts[WARPS];
    __shared__ device_u64 block_before;
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, count;
    unsigned tile = scan_tile(scan), segment = tile * WARPS + warp;
    unsigned y = segment / segments, x = segment % segments * SEGMENT;
    uint32_t mine = foreground_words<T, SEGMENT>(words[warp], f, x, y);
    unsigned before = warp_before((unsigned)__popc(mine), &count);
    if (lane == 0)
        counts[warp] = count;
    __syncthreads();
    if (warp == 0) {
        unsigned all, at = warp_before(lane < WARPS ? counts[lane] : 0, &all);
        device_u64 start = scan_before(scan, tile, all);
        if (lane < WARPS)
            counts[lane] = at;
        if (lane == 0) {
            block_before = start;
            if (tile == gridDim.x - 1)
                *n = start + all;
        }
    }
    __syncthreads();

    if (count == 0)
        return;
    device_u64 out = block_before + counts[warp];
    index += out;
    value += out;
    uint32_t first = y * (unsigned)f.on.width + x + lane, ahead = (1u << lane) - 1;
    const V *from = (const V *)((const char *)values.data + (size_t)y * values.stride) + x + lane;
#pragma unroll 8
    for (int i = 0; i < WARP; i++) {
        uint32_t bits = __shfl_sync(ALL_LANES, mine, i);
        unsigned at = __shfl_sync(ALL_LANES, before, i) + __popc(bits & ahead);
        if (bits >> lane & 1) {
            index[at] = first + i * WARP;
            value[at] = from[i * WARP];
        }
    }
}

static unsigned segments_of(const struct gi_image *on)
{
    return ((unsigned)on->width + SEGMENT - 1) / SEGMENT;
}

static unsigned tiles_of(const struct gi_image *on)
{
    return (unsigned)(((size_t)segments_of(on) * (size_t)on->height + WARPS - 1) / WARPS);
}

size_t gi_cuda_select_scratch(const struct gi_image *on)
{
    return scan_nbytes(tiles_of(on));
}

template <typename T, typename V>
static void launch(struct gi_cuda_context *cu, uint32_t *index, void *value, device_u64 *n,
                   void *scratch, const struct gi_image *values, const struct foreground *f)
{
    select_points<T, V><<<tiles_of(values), THREADS, 0, cu->stream>>>(
        index, (V *)value, n, (device_u64 *)scratch, *f, *values, segments_of(values));
}

template <typename T>
static void launch_values(struct gi_cuda_context *cu, uint32_t *index, void *value, device_u64 *n,
                          void *scratch, const struct gi_image *values, const struct foreground *f)
{
    if (values->type == GI_U8)
        launch<T, uint8_t>(cu, index, value, n, scratch, values, f);
    else if (values->type == GI_U16)
        launch<T, uint16_t>(cu, index, value, n, scratch, values, f);
    else
        launch<T, float>(cu, index, value, n, scratch, values, f);
}

enum gi_status gi_cuda_select_launch(struct gi_cuda_context *cu, uint32_t *index, void *value,
                                     device_u64 *n, void *scratch, const struct gi_image *values,
                                     const struct gi_predicate *predicate, struct gi_err *err)
{
    struct foreground f = foreground_of(predicate);
    GI_CUDA_TRY(cudaMemsetAsync(scratch, 0, gi_cuda_select_scratch(&f.on), cu->stream));
    if (f.on.type == GI_U8)
        launch_values<uint8_t>(cu, index, value, n, scratch, values, &f);
    else if (f.on.type == GI_U16)
        launch_values<uint16_t>(cu, index, value, n, scratch, values, &f);
    else
        launch_values<float>(cu, index, value, n, scratch, values, &f);
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
