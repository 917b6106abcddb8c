/* Statistics of labelled regions: integer sums of every region, in one pass over labels and values.
 *
 * A block owns a tile of 240 x 32 pixels; a warp owns 16 rows of half of that width and processes
 * them in squares of 4 x 4 pixels. Squares with foreground are queued (stream compaction), so that
 * every lane has a square. A region inside a square is stored at once. Parts of other regions are
 * added to a hash table in shared memory; regions inside the tile are stored from there. Only
 * regions that cross seams between tiles are added by atomics in global memory, after
 * region_seams() has cleared them. Perimeter classes are computed on words of 32 pixels.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/regions/region_squares.h"

enum {
    WARP_WIDTH = SIDE * (WARP - 2), /* columns of a warp; its outer lanes only supply labels */
    WARPS_ACROSS = TILE_WIDTH / WARP_WIDTH,
    WARP_ROWS = TILE_ROWS * WARPS_ACROSS / WARPS,
    SEAM_THREADS = 256,
    SEAM_EACH = 4, /* pixels per thread of region_seams() */
    SEAM_SLOTS = 2048,
    SEAM_PROBES = 4,
};

/* ---- values ---- */

/* Neighbouring samples, loaded at once. */
template <typename V> struct __align__(SIDE * sizeof(V)) samples
{
    V v[SIDE];
};

/* ---- the tile ---- */

/* Kernel argument: the images that a block works on. */
struct task {
    struct gi_image labels, values;
    struct quantiser z;
};

/* A square that a lane processes. */
template <typename V> struct work {
    struct square square;
    uint32_t label; /* of the first pixel of square.rest */
    uint4 labels[SIDE];
    struct samples<V> values[SIDE];
};

template <typename V>
static __device__ inline void work_label(struct work<V> *work, const struct place &place,
                                         const struct task &task)
{
    const uint32_t first = first_bit(square_rest(work->square));
    work->label =
        *pixel_at<uint32_t>(task.labels, (int)(place.x + square_x(work->square) + first % SIDE),
                            (int)(place.y + square_y(work->square) + first / SIDE));
}

/* Gives each lane without work one of the `n` squares of the queue; returns how many remain. */
template <typename V>
static __device__ inline unsigned work_get(struct work<V> *work, const struct queue *queue,
                                           unsigned n, const struct place &place,
                                           const struct task &task)
{
    const unsigned idle = __ballot_sync(ALL_LANES, square_rest(work->square) == 0);
    const unsigned taken = min((unsigned)__popc(idle), n);
    const unsigned rank = (unsigned)__popc(idle & ((1u << threadIdx.x % WARP) - 1));
    if (square_rest(work->square) == 0 && rank < taken) {
        work->square = queue->squares[n - taken + rank];
        const int x = (int)(place.x + square_x(work->square));
        const int y = (int)(place.y + square_y(work->square));
        const uint32_t *label = pixel_at<uint32_t>(task.labels, x, y);
        const V *value = pixel_at<V>(task.values, x, y);
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            work->labels[i] = make_uint4(0, 0, 0, 0);
            if (y + i < task.labels.height) {
                work->labels[i] = *(const uint4 *)label;
                work->values[i] = *(const struct samples<V> *)value;
            }
            label = below(label, task.labels.stride);
            value = below(value, task.values.stride);
        }
        work_label(work, place, task);
    }
    __syncwarp();
    return n - taken;
}

/* Sums those pixels of a square that have its next label, and sets *pixels to their bits. */
template <typename V>
static __device__ inline void part_take(struct part<V> *part, uint32_t *pixels,
                                        const struct work<V> &work, const struct quantiser &z)
{
    const struct square &square = work.square;
    const uint32_t x = square_x(square), y = square_y(square);
    uint32_t bits = 0;
    part->label = work.label;
    part->min_key = UINT32_MAX;
    part->max_key = 0;
    part->value = {};
#pragma unroll
    for (int i = 0; i < SIDE * SIDE; i++) {
        const uint4 &four = work.labels[i / SIDE];
        const int c = i % SIDE;
        V v = work.values[i / SIDE].v[c];
        if ((c == 0 ? four.x : c == 1 ? four.y : c == 2 ? four.z : four.w) != work.label)
            continue;
        bits |= 1u << i;
        if (v != v)
            continue;
        part->min_key = min(part->min_key, sample_key(v));
        part->max_key = max(part->max_key, sample_key(v));
        some_add(&part->value, v, z);
    }
    uint32_t area = (uint32_t)__popc(bits), columns = bits | bits >> 8;
    columns = (columns | columns >> 4) & 15;
    part->area_straight = area | (uint32_t)__popc(bits & square.straight_mixed) << 16;
    part->mixed_diagonal = (uint32_t)__popc(bits & square.straight_mixed >> 16) |
                           (uint32_t)__popc(bits & square.diagonal_leaves) << 16;
    part->sum_x = area * x + (uint32_t)(__popc(bits & 0xaaaa) + 2 * __popc(bits & 0xcccc));
    part->sum_y = area * y + (uint32_t)(__popc(bits & 0xf0f0) + 2 * __popc(bits & 0xff00));
    part->min_x = x + first_bit(columns);
    part->max_x = x + last_bit(columns);
    part->rows = 1u << (y + first_bit(bits) / SIDE) | 1u << (y + last_bit(bits) / SIDE);
    *pixels = bits;
}

/* The regions of a tile that one pass processes. Their hashes are in part `turn` of `turns`
 * parts. */
struct share {
    uint32_t turn, turns;
};

static __device__ inline bool share_has(const struct share &share, uint32_t label)
{
    return __umulhi(hash_of(label) << 9, share.turns) == share.turn;
}

/* Adds one part of each lane's square to the table, or stages the part if it is a whole region. `n`
 * regions are already staged; returns their new number. */
template <typename V>
static __device__ inline unsigned work_add(struct work<V> *work, struct memory<V> *t, unsigned n,
                                           const struct place &place, const struct share &share,
                                           const struct task &task)
{
    struct part<V> part;
    uint32_t pixels;
    part_take<V>(&part, &pixels, *work, task.z);
    bool in = square_rest(work->square) && share_has(share, work->label);
    const bool whole = in && !(pixels & work->square.diagonal_leaves >> 16);
    const bool open = pixels & work->square.leaves_tile;
    work->square.place_rest &= ~(pixels << 16);
    if (square_rest(work->square))
        work_label(work, place, task);
    if (__any_sync(ALL_LANES, whole))
        n = stage_add<false>(&t->stages[threadIdx.x / WARP], n, place.regions,
                             sums_of<V>(part, place), part.label, whole);
    in &= !whole;
    if (__any_sync(ALL_LANES, in))
        table_add<V>(t, part, in, open);
    return n;
}

/* Processes a warp's rows. */
template <typename V>
static __device__ inline void warp_add(struct memory<V> *t, const struct place &place,
                                       const struct share &share, const struct task &task)
{
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const bool owned = lane > 0 && lane < WARP - 1;
    const uint32_t x = warp % WARPS_ACROSS * WARP_WIDTH + SIDE * lane - SIDE;
    const int first = (int)(warp / WARPS_ACROSS * WARP_ROWS), end = first + WARP_ROWS;
    struct queue *queue = &t->queues[warp];
    unsigned nqueued = 0, nstaged = 0;
    struct window w = {};
    struct row above = {};
    struct work<V> work;
    work.square = {};
    for (int y = first - SIDE;;) {
        nqueued = work_get(&work, queue, nqueued, place, task);
        for (; nqueued < WARP && y < end; y += SIDE) {
            window_next(&w, &above, task.labels, (int)(place.x + x), (int)place.y + y + 2);
            struct square square = square_of(w, x, (uint32_t)y);
            nqueued = queue_put(queue, nqueued, square, owned && square_rest(square) && y >= first);
        }
        if (__any_sync(ALL_LANES, square_rest(work.square) != 0))
            nstaged = work_add(&work, t, nstaged, place, share, task);
        else if (nqueued == 0)
            break;
    }
    stage_flush<false>(&t->stages[warp], nstaged, place.regions);
}

/* Programmatic dependent launch, on devices that support it: region_tiles() starts while
 * region_seams() still clears regions, and waits before it adds to them. */
static __device__ inline void seams_begun(void)
{
#if GI_CUDA_ARCH >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __device__ inline void seams_wait(void)
{
#if GI_CUDA_ARCH >= 900
    cudaGridDependencySynchronize();
#endif
}

/* If a tile has more regions than its table can hold, it processes them in several passes. */
template <typename V>
static __global__ void __launch_bounds__(THREADS, 5)
    region_tiles(struct gi_region_sums *regions, struct task task, unsigned tiles_across)
{
    __shared__ struct memory<V> t;
    const struct place place = {regions, blockIdx.x % tiles_across * TILE_WIDTH,
                                blockIdx.x / tiles_across * TILE_ROWS};
    for (struct share share = {0, 1}; share.turn < share.turns;) {
        table_clear(&t);
        __syncthreads();
        warp_add<V>(&t, place, share, task);
        __syncthreads();
        if (t.full) {
            share = {2 * share.turn, 2 * share.turns};
        } else {
            seams_wait();
            table_move<V>(&t, place);
            share.turn++;
        }
        __syncthreads();
    }
}

/* ---- seams ---- */

static __device__ inline uint32_t seam_label(const struct gi_image &labels, int x, int y)
{
    return x >= 0 && x < labels.width && y >= 0 && y < labels.height
               ? sample_at<uint32_t>(labels, x, y)
               : 0;
}

/* The labels that a block of region_seams() has found. */
struct seen {
    uint32_t table[SEAM_SLOTS], list[SEAM_THREADS * SEAM_EACH];
    unsigned n;
};

/* Adds a label to the list; a label may be listed twice if the table is crowded. */
static __device__ inline void seen_add(struct seen *seen, uint32_t label)
{
    unsigned slot = hash_of(label) % SEAM_SLOTS;
    for (int i = 0; i < SEAM_PROBES; i++, slot = (slot + 1) % SEAM_SLOTS) {
        uint32_t found = atomicCAS(&seen->table[slot], 0u, label);
        if (found == label)
            return;
        if (found == 0)
            break;
    }
    seen->list[atomicAdd(&seen->n, 1u)] = label;
}

/* Clears the regions that cross a seam between tiles. A thread owns a piece of SEAM_EACH pixels.
 * The first `nrows` pieces are above horizontal seams, all further pieces to the left of vertical
 * seams. */
static __global__ void __launch_bounds__(SEAM_THREADS)
    region_seams(struct gi_region_sums *regions, struct gi_image labels, unsigned row_pieces,
                 unsigned column_pieces, unsigned nrows)
{
    __shared__ struct seen seen;
    seams_begun();
    for (unsigned i = threadIdx.x; i < SEAM_SLOTS; i += SEAM_THREADS)
        seen.table[i] = 0;
    if (threadIdx.x == 0)
        seen.n = 0;
    unsigned piece = blockIdx.x * SEAM_THREADS + threadIdx.x;
    const bool rows = piece < nrows;
    piece -= rows ? 0 : nrows;
    const unsigned pieces = rows ? row_pieces : column_pieces;
    const int along = (int)(piece % pieces * SEAM_EACH), seam = (int)(piece / pieces) + 1;
    const int x = rows ? along : seam * TILE_WIDTH, y = rows ? seam * TILE_ROWS : along;
    uint32_t before[SEAM_EACH], after[SEAM_EACH + 2], last = 0;
#pragma unroll
    for (int i = 0; i < SEAM_EACH; i++)
        before[i] = seam_label(labels, rows ? x + i : x - 1, rows ? y - 1 : y + i);
#pragma unroll
    for (int i = 0; i < SEAM_EACH + 2; i++)
        after[i] = seam_label(labels, rows ? x + i - 1 : x, rows ? y : y + i - 1);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < SEAM_EACH; i++) {
        uint32_t label = before[i];
        bool over = label == after[i] || label == after[i + 1] || label == after[i + 2];
        if (label && over && label != last) {
            seen_add(&seen, label);
            last = label;
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < seen.n * SUMS_WORDS; i += SEAM_THREADS) {
        uint64_t *region = (uint64_t *)&regions[seen.list[i / SUMS_WORDS] - 1];
        region[i % SUMS_WORDS] = word_empty(i % SUMS_WORDS);
    }
}

/* ---- launches ---- */

static unsigned ceiling(int n, int of)
{
    return (unsigned)((n + of - 1) / of);
}

/* Launches region_tiles(). In code for compute_90 and later region_tiles() waits in seams_wait(),
 * and therefore may start while region_seams() runs. */
template <typename V>
static enum gi_status tiles_launch(struct gi_cuda_queue *cu, struct gi_region_sums *regions,
                                   const struct task &task, unsigned across, unsigned down,
                                   bool seams, struct gi_err *err)
{
    struct cudaFuncAttributes code;
    GI_CUDA_TRY(cudaFuncGetAttributes(&code, region_tiles<V>));
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(across * down);
    launch.blockDim = dim3(THREADS);
    launch.stream = cu->stream;
    launch.attrs = &early;
    launch.numAttrs = seams && code.ptxVersion >= 90;
    GI_CUDA_TRY(cudaLaunchKernelEx(&launch, region_tiles<V>, regions, task, across));
    return GI_OK;
}

enum gi_status gi_cuda_region_stats_launch(struct gi_cuda_queue *cu, struct gi_region_sums *regions,
                                           const struct gi_image *labels,
                                           const struct gi_image *values, float lo, float hi,
                                           struct gi_err *err)
{
    unsigned across = ceiling(labels->width, TILE_WIDTH), down = ceiling(labels->height, TILE_ROWS);
    unsigned row_pieces = ceiling(labels->width, SEAM_EACH),
             column_pieces = ceiling(labels->height, SEAM_EACH);
    unsigned nrows = (down - 1) * row_pieces, pieces = nrows + (across - 1) * column_pieces;
    const struct task task = {*labels, *values, quantiser_of(lo, hi)};
    bool seams = pieces > 0;
    if (seams) {
        region_seams<<<ceiling((int)pieces, SEAM_THREADS), SEAM_THREADS, 0, cu->stream>>>(
            regions, *labels, row_pieces, column_pieces, nrows);
        GI_CUDA_LAUNCHED();
    }
    GI_CUDA_TYPES(values->type, tiles_launch<T>(cu, regions, task, across, down, seams, err));
}

static enum gi_status by_tiles(struct gi_queue *queue, struct gi_region_sums *regions,
                               const struct gi_image *values, const struct gi_region_stats *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_region_sums *device;
    size_t nbytes = spec->n * sizeof *regions;
    if (spec->n == 0)
        return GI_OK;
    enum gi_status status = gi_cuda_scratch(cu, (void **)&device, nbytes, err);
    if (!status)
        status =
            gi_cuda_region_stats_launch(cu, device, spec->labels, values, spec->lo, spec->hi, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, regions, nbytes, device, nbytes, nbytes, 1, err);
    return status;
}

const struct gi_region_stats_way gi_cuda_region_stats_ways[GI_WAYS_MAX] = {
    {{"tiles", "everything"}, NULL, by_tiles},
};
