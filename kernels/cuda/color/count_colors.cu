/* Counts distinct colours. If a colour has up to 24 bits, a table of counts is indexed by the
 * colour, and stream compaction (the primitive compact) extracts the entries that are not 0, in
 * order. If it has more bits, the colours of all pixels are sorted, and compact extracts the first
 * of equal colours. SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/common/radix_sort.h"
#include "kernels/cuda/common/sample.cuh"
#include "kernels/color.h"
#include "kernels/kernels.h"

enum { TABLE_BITS = 24, SIDE_BITS = 12 /* maximum log2 of the table's width */, THREADS = 256 };

static int bits_of(const struct gi_image *src)
{
    return 8 * (int)gi_type_nbytes(src->type) * src->channels;
}

static __device__ __forceinline__ uint64_t color_at(const struct gi_image &src, int x, int y)
{
    const char *row = (const char *)src.data + (size_t)y * src.stride;
    uint64_t color = 0;
    for (int c = 0; c < src.channels; c++)
        color = src.type == GI_U8
                    ? color << 8 | ((const uint8_t *)row)[(size_t)x * src.channels + c]
                    : color << 16 | ((const uint16_t *)row)[(size_t)x * src.channels + c];
    return color;
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
        unsigned color = x < src.width ? (unsigned)color_at(src, x, y) : ~0u;
        unsigned before = __shfl_up_sync(ALL_LANES, color, 1);
        bool first = threadIdx.x % WARP == 0 || before != color;
        unsigned firsts = __ballot_sync(ALL_LANES, first), lane = threadIdx.x % WARP;
        unsigned after = lane == WARP - 1 ? 0 : firsts >> (lane + 1);
        unsigned run = after ? (unsigned)__ffs((int)after) : WARP - lane;
        if (first && x < src.width)
            atomicAdd(&counts[color], run);
    }
}

static bool fits_table(const struct gi_queue *, const struct gi_image *src, const void *none)
{
    return bits_of(src) <= TABLE_BITS;
}

/* The table of counts is passed to compact as an image of floats with the same bits. As floats,
 * all counts from 1 to 2^31 - 2^23 (the bits of infinity) are > 0. */
static enum gi_status by_table(struct gi_queue *queue, struct gi_colors *found,
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
    found->each = (struct gi_color_count *)malloc((points.n + 1) * sizeof *found->each);
    if (!found->each)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", (size_t)points.n);
    for (; found->each && found->n < points.n; found->n++) {
        uint32_t n;
        memcpy(&n, &points.value[found->n], sizeof n);
        uint64_t color = (uint64_t)points.y[found->n] << width_bits | points.x[found->n];
        found->each[found->n] = {color, n};
    }
    gi_pixel_list_free(&points);
    return status;
}

/* ---- by sorting ---- */

enum { FLAGS_WIDTH = 4096 };

template <typename K>
static __global__ void __launch_bounds__(THREADS) list(K *colors, const struct gi_image src)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x);
    for (int y = (int)blockIdx.y; y < src.height && x < src.width; y += (int)gridDim.y)
        colors[(size_t)y * src.width + x] = (K)color_at(src, x, y);
}

/* Flags the first of equal colours. There are `all` flags for n colours. */
template <typename K>
static __global__ void __launch_bounds__(THREADS)
    flag_firsts(uint8_t *flags, const K *colors, size_t n, size_t all)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < all)
        flags[i] = i < n && (i == 0 || colors[i] != colors[i - 1]);
}

/* Counts the distinct colours `first` to `end` - 1 of nfirsts. firsts[j] is the index of the first
 * of n sorted colours that equals distinct colour j. */
template <typename K>
static __global__ void __launch_bounds__(THREADS)
    pair(struct gi_color_count *pairs, const K *colors, const uint32_t *firsts, size_t first,
         size_t end, size_t nfirsts, size_t n)
{
    size_t j = first + (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (j < end)
        pairs[j - first] = {colors[firsts[j]], (j + 1 < nfirsts ? firsts[j + 1] : n) - firsts[j]};
}

/* Device memory for n colours. */
template <typename K> struct sort_memory {
    K *colors, *other; /* `other` is also the memory of pairs, of which it holds `room` */
    uint32_t *firsts;
    device_u64 *nfirsts;
    uint8_t *values; /* of stream compaction, not used */
    struct gi_image flags;
    void *scratch; /* of sorting, then of stream compaction */
    size_t room;
};

/* Returns the size of the memory in bytes. If `block` is not NULL, divides it. */
template <typename K> static size_t lay_out(struct sort_memory<K> *memory, char *block, size_t n)
{
    size_t at = 0, scratch = gi_cuda_sort_scratch(n, sizeof(K));
    auto take = [&](size_t nbytes) {
        char *p = block + at;
        at += (nbytes + GI_CUDA_ALIGN - 1) / GI_CUDA_ALIGN * GI_CUDA_ALIGN;
        return (void *)p;
    };
    memory->flags = {};
    memory->flags.width = FLAGS_WIDTH;
    memory->flags.height = ceil_div((long long)n, FLAGS_WIDTH);
    memory->flags.channels = 1;
    memory->flags.type = GI_U8;
    memory->flags.stride = FLAGS_WIDTH;
    size_t compact = gi_cuda_compact_scratch(&memory->flags);
    memory->colors = (K *)take(n * sizeof(K));
    memory->room = n * sizeof(K) / sizeof(struct gi_color_count) + 1;
    memory->other = (K *)take(memory->room * sizeof(struct gi_color_count));
    memory->firsts = (uint32_t *)take(n * sizeof(uint32_t));
    memory->nfirsts = (device_u64 *)take(sizeof(device_u64));
    memory->values = (uint8_t *)take(n);
    memory->flags.data = take((size_t)FLAGS_WIDTH * (size_t)memory->flags.height);
    memory->scratch = take(scratch > compact ? scratch : compact);
    return at;
}

template <typename K>
static enum gi_status sort_launch(struct gi_cuda_queue *cu, const struct sort_memory<K> *memory,
                                  const struct gi_image *src, size_t n, struct gi_err *err)
{
    size_t all = (size_t)FLAGS_WIDTH * (size_t)memory->flags.height;
    struct gi_predicate is_first = {&memory->flags, 0, false};
    list<K><<<grid_of(src), THREADS, 0, cu->stream>>>(memory->colors, *src);
    GI_CUDA_LAUNCHED();
    enum gi_status status =
        gi_cuda_sort_launch(cu, memory->colors, memory->other, memory->colors, memory->scratch, n,
                            sizeof(K), (bits_of(src) + 15) / 16 * 2, err);
    if (status)
        return status;
    flag_firsts<K><<<(unsigned)ceil_div((long long)all, THREADS), THREADS, 0, cu->stream>>>(
        (uint8_t *)memory->flags.data, memory->colors, n, all);
    GI_CUDA_LAUNCHED();
    return gi_cuda_compact_launch(cu, memory->firsts, memory->values, memory->nfirsts,
                                  memory->scratch, &memory->flags, &is_first, err);
}

template <typename K>
static enum gi_status pairs_to_host(struct gi_cuda_queue *cu, struct gi_colors *found,
                                    const struct sort_memory<K> *memory, size_t n,
                                    struct gi_err *err)
{
    device_u64 nfirsts;
    enum gi_status status = gi_cuda_copy_to_host(cu, &nfirsts, sizeof nfirsts, memory->nfirsts,
                                                 sizeof nfirsts, sizeof nfirsts, 1, err);
    if (status)
        return status;
    found->each = (struct gi_color_count *)malloc(nfirsts * sizeof *found->each);
    if (!found->each)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", (size_t)nfirsts);
    while (found->n < nfirsts && !status) {
        size_t end = found->n + memory->room < nfirsts ? found->n + memory->room : nfirsts;
        size_t count = end - found->n, nbytes = count * sizeof *found->each;
        pair<K><<<(unsigned)ceil_div((long long)count, THREADS), THREADS, 0, cu->stream>>>(
            (struct gi_color_count *)memory->other, memory->colors, memory->firsts, found->n, end,
            nfirsts, n);
        GI_CUDA_LAUNCHED();
        status = gi_cuda_copy_to_host(cu, found->each + found->n, nbytes, memory->other, nbytes,
                                      nbytes, 1, err);
        found->n = end;
    }
    return status;
}

template <typename K>
static enum gi_status sort(struct gi_cuda_queue *cu, struct gi_colors *found,
                           const struct gi_image *src, struct gi_err *err)
{
    size_t n = (size_t)src->width * (size_t)src->height;
    struct sort_memory<K> memory;
    void *block;
    *found = {};
    enum gi_status status = gi_cuda_scratch(cu, &block, lay_out(&memory, (char *)NULL, n), err);
    if (status)
        return status;
    lay_out(&memory, (char *)block, n);
    status = sort_launch(cu, &memory, src, n, err);
    if (!status)
        status = pairs_to_host(cu, found, &memory, n, err);
    if (status) {
        free(found->each);
        *found = {};
    }
    return status;
}

static enum gi_status by_sort(struct gi_queue *queue, struct gi_colors *found,
                              const struct gi_image *src, const void *none, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    return bits_of(src) <= 32 ? sort<uint32_t>(cu, found, src, err)
                              : sort<uint64_t>(cu, found, src, err);
}

const struct gi_count_colors_way gi_cuda_count_colors_ways[GI_WAYS_MAX] = {
    {{"table", "colours of 24 bits at most"}, fits_table, by_table},
    {{"sort", "everything"}, NULL, by_sort},
};
