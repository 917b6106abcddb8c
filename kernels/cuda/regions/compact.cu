/* Stream compaction: coordinates and values of the foreground in raster order, in one pass with
 * decoupled look-back. A block counts the foreground of its tile, adds up the counts of all tiles
 * before it, and writes. D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled
 * Look-back", NVIDIA, 2016.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/look_back.cuh"
#include "kernels/cuda/common/measure.h"

#include <stdlib.h>

enum {
    WARPS = 4, /* warps of a block that process pixels; one more warp looks back */
    THREADS = (WARPS + 1) * WARP,
    BLOCKS_LEAST = 6,           /* minimum resident blocks per multiprocessor (launch bounds) */
    SEGMENT = 1024,             /* pixels of a row that a warp compacts at a time */
    SHARE_NBYTES = 4 * SEGMENT, /* of samples, that a warp owns of a tile */
    AHEAD = 4,                  /* loads that a lane has in flight */
    BAND_PIXELS = 1 << 26,      /* pixels per launch, to limit results of 8 bytes per pixel */
    SLICE_PIXELS = 1 << 16,     /* points that a worker thread converts at a time */
};

/* A segment of a row: its position, its number of pixels, and the index of its first pixel. */
struct segment {
    unsigned y, x, room, first;
};

/* A warp's part of a tile, for values of type V. */
template <typename V> struct share {
    enum { SEGMENTS = SHARE_NBYTES > SEGMENT * sizeof(V) ? SHARE_NBYTES / SEGMENT / sizeof(V) : 1 };
    __align__(16) V samples[SEGMENTS][SEGMENT];
    __align__(16) uint16_t line[SEGMENT];
    __align__(16) uint32_t words[SEGMENTS][WARP]; /* foreground bits */
    __align__(16) uint32_t places[WARP];
    __align__(16) struct segment segments[SEGMENTS];
};

/* ---- a warp's share of a tile ---- */

/* Sets the positions of the segments from `first` on, one segment per lane. */
template <typename V>
static __device__ inline void share_place(struct share<V> *share, const struct gi_image &image,
                                          unsigned first)
{
    const unsigned across = ((unsigned)image.width - 1) / SEGMENT + 1, lane = threadIdx.x % WARP;
    const unsigned y = (first + lane) / across, x = (first + lane) % across * SEGMENT;
    const unsigned width = (unsigned)image.width;
    if (lane < share->SEGMENTS)
        share->segments[lane] = {y, x, y < (unsigned)image.height ? width - x : 0, y * width + x};
    __syncwarp();
}

/* Loads 16 bytes of samples of a segment, from pixel `at` on. Samples past the end of the row are
 * 0. */
template <typename T>
static __device__ inline uint4 samples_load(const struct gi_image &image, const struct segment &s,
                                            unsigned at)
{
    const char *row = (const char *)image.data + (size_t)s.y * image.stride;
    if (at < s.room)
        return *(const uint4 *)((const T *)row + (s.x + at));
    return make_uint4(0, 0, 0, 0);
}

template <typename V>
static __device__ inline void share_samples(struct share<V> *share, const struct gi_image &values)
{
    constexpr unsigned N = 16 / sizeof(V), LOADS = SEGMENT / N / WARP;
#pragma unroll 4
    for (unsigned i = 0; i < share->SEGMENTS * LOADS; i++) {
        unsigned at = (i % LOADS * WARP + threadIdx.x % WARP) * N;
        *(uint4 *)&share->samples[i / LOADS][at] =
            samples_load<V>(values, share->segments[i / LOADS], at);
    }
}

/* Stores the foreground bits and, if the values are from the same image, also the samples. Returns
 * how many foreground pixels this lane has found. */
template <typename T, typename V>
static __device__ inline unsigned share_words(struct share<V> *share, const struct foreground &f,
                                              bool same)
{
    constexpr unsigned N = 16 / sizeof(T), LOADS = SEGMENT / N / WARP;
    constexpr unsigned ALL = share->SEGMENTS * LOADS, STEP = ALL < AHEAD ? ALL : AHEAD;
    const unsigned lane = threadIdx.x % WARP;
#pragma unroll 1
    for (unsigned i = 0; i < ALL; i += STEP) {
        uint4 wide[STEP];
#pragma unroll
        for (unsigned k = 0; k < STEP; k++)
            wide[k] = samples_load<T>(f.on, share->segments[(i + k) / LOADS],
                                      ((i + k) % LOADS * WARP + lane) * N);
#pragma unroll
        for (unsigned k = 0; k < STEP; k++) {
            const unsigned segment = (i + k) / LOADS, piece = (i + k) % LOADS * WARP + lane;
            const unsigned at = piece * N, room = share->segments[segment].room;
            uint32_t *words = share->words[segment];
            unsigned bits = above_bits<T>(f, wide[k]);
            bits = f.invert ? ~bits : bits;
            if (room < SEGMENT)
                bits &= at >= room ? 0 : room - at < N ? (1u << (room - at)) - 1 : ~0u;
            if (same)
                *(uint4 *)((T *)share->samples[segment] + at) = wide[k];
            if (N == 16)
                ((uint16_t *)words)[piece] = (uint16_t)bits;
            if (N == 4)
                bits = (bits & 15) | __shfl_down_sync(ALL_LANES, bits, 1) << 4;
            if (N == 8 || (N == 4 && lane % 2 == 0))
                ((uint8_t *)words)[piece * N / 8] = (uint8_t)bits;
        }
    }
    __syncwarp();
    unsigned count = 0;
    for (unsigned i = 0; i < share->SEGMENTS; i++)
        count += (unsigned)__popc(share->words[i][lane]);
    return count;
}

/* Loads positions, samples and bits. Returns the number of foreground pixels. */
template <typename V>
static __device__ inline unsigned share_load(struct share<V> *share, const struct foreground &f,
                                             const struct gi_image &values, unsigned first)
{
    const bool same = f.on.data == values.data && f.on.type == values.type;
    unsigned count;
    share_place(share, values, first);
    if (f.on.type == GI_U8)
        count = share_words<uint8_t>(share, f, sizeof(V) == 1 && same);
    else if (f.on.type == GI_U16)
        count = share_words<uint16_t>(share, f, sizeof(V) == 2 && same);
    else
        count = share_words<float>(share, f, sizeof(V) == 4 && same);
    if (!same)
        share_samples(share, values);
    warp_before(count, &count);
    return count;
}

/* Writes the indices of the set bits of a segment to `line`; returns their number. */
static __device__ inline unsigned line_up(uint16_t *line, const uint32_t *words, uint32_t *places)
{
    const unsigned lane = threadIdx.x % WARP, bit = 1u << lane;
    unsigned count, before = warp_before((unsigned)__popc(words[lane]), &count);
    __syncwarp();
    places[lane] = (unsigned)__cvta_generic_to_shared(line + before);
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < WARP; i += 4) {
        const uint4 word = *(const uint4 *)(words + i), place = *(const uint4 *)(places + i);
        const uint32_t w[4] = {word.x, word.y, word.z, word.w};
        const uint32_t to[4] = {place.x, place.y, place.z, place.w};
#pragma unroll
        for (unsigned k = 0; k < 4; k++) /* predicated, to avoid a branch each */
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p st.shared.u16 [%1], %2; }" ::"r"(
                             w[k] & bit),
                         "r"(to[k] + __popc(w[k] & (bit - 1)) * (unsigned)sizeof *line),
                         "h"((uint16_t)((i + k) * WARP + lane))
                         : "memory");
    }
    __syncwarp();
    return count;
}

/* Output of a warp. Points are written in aligned groups of 32, because writing a part of a memory
 * sector costs more than writing all of it. The current group begins at point out / 32 * 32; lane i
 * keeps its point i until the group is complete. Lanes below `own` have points of the previous
 * warp. */
template <typename V> struct outlet {
    uint32_t *index;
    V *value;
    unsigned out, own;
    uint32_t kept_index;
    V kept_value;
};

template <typename V>
static __device__ inline void list_write(struct outlet<V> *o, const uint16_t *line,
                                         const V *samples, unsigned count, unsigned first)
{
    const int lane = (int)(threadIdx.x % WARP), ahead = (int)(o->out % WARP);
    const int end = ahead + (int)count, whole = end / WARP * WARP;
    uint32_t *index = o->index + (o->out - (unsigned)ahead);
    V *value = o->value + (o->out - (unsigned)ahead);
    o->out += count;
    if (lane >= ahead && lane < end) {
        o->kept_index = first + line[lane - ahead];
        o->kept_value = samples[line[lane - ahead]];
    }
    if (!whole)
        return;
    if (lane >= (int)o->own) {
        index[lane] = o->kept_index;
        value[lane] = o->kept_value;
    }
    o->own = 0;
#pragma unroll 4
    for (int i = WARP + lane; i < whole; i += WARP) {
        index[i] = first + line[i - ahead];
        value[i] = samples[line[i - ahead]];
    }
    if (whole + lane < end) {
        o->kept_index = first + line[whole + lane - ahead];
        o->kept_value = samples[line[whole + lane - ahead]];
    }
}

template <typename V> static __device__ inline void list_end(const struct outlet<V> &o)
{
    unsigned lane = threadIdx.x % WARP, at = o.out / WARP * WARP + lane;
    if (lane >= o.own && at < o.out) {
        o.index[at] = o.kept_index;
        o.value[at] = o.kept_value;
    }
}

/* ---- tiles ---- */

template <typename V>
static __global__ void __launch_bounds__(THREADS, BLOCKS_LEAST)
    compact_tiles(uint32_t *index, V *value, device_u64 *n, device_u64 *tiles, struct foreground f,
                  struct gi_image values)
{
    constexpr unsigned N = share<V>::SEGMENTS;
    __shared__ struct share<V> shares[WARPS];
    __shared__ unsigned counts[WARPS], tile, before_tile;
    /* Load: take the next tile and count its foreground. */
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (threadIdx.x == 0)
        tile = (unsigned)atomicAdd(&tiles[gridDim.x], 1);
    __syncthreads();
    struct share<V> *mine = &shares[warp];
    unsigned count;
    if (warp < WARPS) {
        count = share_load(mine, f, values, (tile * WARPS + warp) * N);
        if (lane == 0)
            counts[warp] = count;
    }
    __syncthreads();
    /* Exchange: one warp does the decoupled look-back while the other warps compact. */
    const unsigned start = warp_before(lane < WARPS ? counts[lane] : 0, &count);
    if (warp == WARPS) {
        unsigned before = look_back(tiles, tile, count);
        if (lane == 0)
            before_tile = before;
        if (lane == 0 && tile == gridDim.x - 1)
            *n = before + count;
    }
    struct outlet<V> outlet;
#pragma unroll 1
    for (unsigned i = 0; i < N; i++) {
        if (warp < WARPS)
            count = line_up(mine->line, mine->words[i], mine->places);
        if (i == 0) {
            __syncthreads();
            if (warp == WARPS)
                return;
            const unsigned begin = before_tile + __shfl_sync(ALL_LANES, start, warp);
            outlet = {index, value, begin, begin % WARP};
        }
        list_write(&outlet, mine->line, mine->samples[i], count, mine->segments[i].first);
        __syncwarp();
    }
    list_end(outlet);
}

/* Returns the number of tiles of `segments` segments each. */
static unsigned tiles_of(const struct gi_image *on, unsigned segments)
{
    size_t across = ((size_t)on->width - 1) / SEGMENT + 1;
    return (unsigned)((across * (size_t)on->height - 1) / segments + 1);
}

size_t gi_cuda_compact_scratch(const struct gi_image *on)
{
    return ((size_t)tiles_of(on, WARPS) + 1) * sizeof(device_u64);
}

template <typename V>
static enum gi_status launch(struct gi_cuda_queue *cu, uint32_t *index, void *value, device_u64 *n,
                             void *scratch, const struct gi_image *values,
                             const struct gi_predicate *predicate, struct gi_err *err)
{
    unsigned tiles = tiles_of(values, WARPS * share<V>::SEGMENTS);
    device_u64 *said = (device_u64 *)scratch; /* and the counter of assigned tiles */
    GI_CUDA_TRY(cudaMemsetAsync(said, 0, (tiles + 1) * sizeof *said, cu->stream));
    compact_tiles<<<tiles, THREADS, 0, cu->stream>>>(index, (V *)value, n, said,
                                                     foreground_of(predicate), *values);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_compact_launch(struct gi_cuda_queue *cu, uint32_t *index, void *value,
                                      device_u64 *n, void *scratch, const struct gi_image *values,
                                      const struct gi_predicate *predicate, struct gi_err *err)
{
    GI_CUDA_TYPES(values->type, launch<T>(cu, index, value, n, scratch, values, predicate, err));
}

/* ---- results to the host ---- */

/* The points of one band, with indices instead of coordinates, and with values as samples. */
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
    uint64_t i = (uint64_t)slice * SLICE_PIXELS;
    uint64_t end = w->n - i < SLICE_PIXELS ? w->n : i + SLICE_PIXELS;
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

/* Appends the `n` points of a band, which are in device memory (index and value). */
static enum gi_status list_append(struct gi_cuda_queue *cu, struct gi_pixel_list *list,
                                  const uint32_t *index, const void *value, uint64_t n,
                                  const struct gi_image *values, int first_y, struct gi_err *err)
{
    uint64_t all = list->n + n, at = list->n;
    size_t raw_nbytes = n * gi_type_nbytes(values->type);
    void *raw = malloc(raw_nbytes);
    if (!raw || !grow(&list->x, all) || !grow(&list->y, all) || !grow(&list->value, all)) {
        free(raw);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %llu points", (unsigned long long)all);
    }
    list->n = all;
    enum gi_status status = gi_cuda_copy_to_host(cu, list->x + at, n * sizeof *index, index,
                                                 n * sizeof *index, n * sizeof *index, 1, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, raw, raw_nbytes, value, raw_nbytes, raw_nbytes, 1, err);
    if (!status) {
        struct widening w = {
            list->x + at,      list->y + at, list->value + at, raw, n, (uint32_t)values->width,
            (uint32_t)first_y, values->type};
        status = gi_pool_run(cu->workers, (int)((n + SLICE_PIXELS - 1) / SLICE_PIXELS), widen_slice,
                             &w, 0, err);
    }
    free(raw);
    return status;
}

/* Processes one band of rows: launches the kernels and appends their results. */
static enum gi_status select_band(struct gi_cuda_queue *cu, struct gi_pixel_list *list,
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
        16 + index_nbytes + value_nbytes + gi_cuda_compact_scratch(predicate->on), err);
    if (status)
        return status;
    device_u64 *n = (device_u64 *)scratch, found;
    uint32_t *index = (uint32_t *)(scratch + 16);
    void *value = scratch + 16 + index_nbytes;
    status = gi_cuda_compact_launch(cu, index, value, n, scratch + 16 + index_nbytes + value_nbytes,
                                    values, predicate, err);
    if (!status)
        status =
            gi_cuda_copy_to_host(cu, &found, sizeof found, n, sizeof found, sizeof found, 1, err);
    if (!status && found)
        status = list_append(cu, list, index, value, found, values, first_y, err);
    return status;
}

static enum gi_status by_look_back(struct gi_queue *queue, struct gi_pixel_list *list,
                                   const struct gi_image *values,
                                   const struct gi_predicate *predicate, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    int rows = BAND_PIXELS / values->width < 1 ? 1 : BAND_PIXELS / values->width;
    enum gi_status status = gi_samples_check("compact", GI_SAMPLE_TYPES, predicate->on, err);
    *list = {};
    for (int y = 0; y < values->height && !status; y += rows) {
        int end = values->height - y < rows ? values->height : y + rows;
        struct gi_image on_band = gi_image_rows(predicate->on, y, end);
        struct gi_image values_band = gi_image_rows(values, y, end);
        struct gi_predicate band = {&on_band, predicate->above, predicate->invert};
        status = select_band(cu, list, &values_band, &band, y, err);
    }
    if (status)
        gi_pixel_list_free(list);
    return status;
}

const struct gi_compact_way gi_cuda_compact_ways[GI_WAYS_MAX] = {
    {{"look_back", "everything"}, NULL, by_look_back},
};
