/* Hash table of region_stats.cu: sums of a tile's regions in shared memory (open addressing, linear
 * probing), and their transfer to global memory.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SHARED_REGION_TABLE_H
#define GI_KERNELS_CUDA_SHARED_REGION_TABLE_H

#include "kernels/cuda/common/warp_collectives.cuh"
#include "kernels/cuda/common/measure.h"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    TILE_WIDTH = 240,
    TILE_ROWS = 32,
    SIDE = 4,    /* of a square */
    SLOTS = 512, /* maximum of regions in a tile's table */
    PROBES = 64,
    STAGE = 16, /* regions staged for storing */
    SUMS_WORDS = sizeof(struct gi_region_sums) / 8,
};

/* Fields of the table, each an array of SLOTS words. A tile has fewer than 2^13 pixels. ROWS has a
 * bit per row. Sums of values may have a second word, in units of 2^16. */
enum field {
    LABEL,
    AREA_STRAIGHT, /* area | straight << 16 */
    MIXED_DIAGONAL,
    SUM_X, /* relative to the tile's first column */
    SUM_Y,
    MIN_X,
    MAX_X,
    ROWS,
    MIN_KEY,
    MAX_KEY,
    SUM, /* of values */
    LOW, /* of squares of values */
    LOW_HIGH,
    SUM_HIGH,
    HIGH,
    HIGH_HIGH,
    COUNT, /* of values that are not NaN */
    FIELDS,
};

/* Returns the number of fields for values of type V. */
template <typename V> static __host__ __device__ constexpr int fields_of(void)
{
    return sizeof(V) == 4 ? FIELDS : sizeof(V) == 2 ? SUM_HIGH : LOW_HIGH;
}

/* Regions that wait to be stored, in the format of global memory. */
struct stage {
    uint64_t words[STAGE * SUMS_WORDS];
    uint32_t labels[STAGE];
};

/* A square of SIDE x SIDE pixels. Each property has 16 bits, one per pixel, and a word holds two
 * properties. `rest`: the region is not processed yet; `straight`, `mixed`, `diagonal`: the class
 * in gi_region_sums; `leaves`, `leaves_tile`: a neighbour in the region is in another square or
 * tile. */
struct __align__(16) square
{
    uint32_t place_rest; /* x | y << 8, in the tile, | rest << 16 */
    uint32_t straight_mixed, diagonal_leaves, leaves_tile;
};

/* Squares of a warp that wait for a lane. */
struct queue {
    struct square squares[2 * WARP];
};

template <typename V> struct memory {
    struct stage stages[WARPS];
    struct queue queues[WARPS];
    __align__(16) uint32_t table[fields_of<V>() * SLOTS];
    uint32_t open[SLOTS / WARP]; /* a bit per slot: the region extends into other tiles */
    uint16_t used[SLOTS];        /* the slots in use */
    unsigned nused;
    bool full; /* a region found no free slot */
};

/* Sums over pixels of one region; the members are named as the fields of the table. */
template <typename V> struct part {
    uint32_t label, area_straight, mixed_diagonal, sum_x, sum_y, min_x, max_x, rows;
    uint32_t min_key, max_key;
    struct some_sums<V> value;
};

static __device__ inline uint32_t first_bit(uint32_t bits)
{
    return (uint32_t)__ffs((int)bits) - 1;
}

static __device__ inline uint32_t last_bit(uint32_t bits)
{
    return 31 - (uint32_t)__clz((int)bits);
}

/* ---- parts to the table ---- */

/* Adds up the parts of the lanes whose `in` is true; lane `first` gets the sum. */
template <typename V>
static __device__ inline void part_sum(struct part<V> *p, bool in, unsigned first)
{
    struct part<V> sum;
    sum.label = p->label;
    sum.area_straight = warp_reduce_sum(in ? p->area_straight : 0);
    sum.mixed_diagonal = warp_reduce_sum(in ? p->mixed_diagonal : 0);
    sum.sum_x = warp_reduce_sum(in ? p->sum_x : 0);
    sum.sum_y = warp_reduce_sum(in ? p->sum_y : 0);
    sum.min_x = ~warp_reduce_max(in ? ~p->min_x : 0);
    sum.max_x = warp_reduce_max(in ? p->max_x : 0);
    sum.rows = warp_reduce_or(in ? p->rows : 0);
    sum.min_key = ~warp_reduce_max(in ? ~p->min_key : 0);
    sum.max_key = warp_reduce_max(in ? p->max_key : 0);
    sum.value.q = warp_reduce_sum(in ? p->value.q : 0);
    sum.value.q2_low = warp_reduce_sum(in ? p->value.q2_low : 0);
    if (sizeof(V) == 4) {
        sum.value.q2_high = warp_reduce_sum(in ? p->value.q2_high : 0);
        sum.value.n = warp_reduce_sum(in ? p->value.n : 0);
    }
    if (threadIdx.x % WARP == first)
        *p = sum;
}

/* Returns Knuth's multiplicative hash. Its upper 9 bits select a slot, and its other bits select a
 * pass. */
static __device__ inline uint32_t hash_of(uint32_t label)
{
    return label * 2654435769u;
}

/* Returns the slot of `label`, which is entered if it is new. Returns SLOTS if the table is
 * crowded. */
template <typename V>
static __device__ inline unsigned table_slot(struct memory<V> *t, uint32_t label)
{
    unsigned slot = hash_of(label) >> 23;
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) % SLOTS) {
        uint32_t found = atomicCAS(&t->table[LABEL * SLOTS + slot], 0u, label);
        if (found == 0)
            t->used[atomicAdd(&t->nused, 1u)] = (uint16_t)slot;
        if (found == 0 || found == label)
            return slot;
    }
    return SLOTS;
}

/* Adds to a sum. HIGH_WORD is the second word of the sum if the sum may exceed 2^32 in a tile, else
 * 0. */
template <int WORD, int HIGH_WORD>
static __device__ inline void table_sum(uint32_t *slot, uint64_t v)
{
    atomicAdd(&slot[WORD * SLOTS], (uint32_t)v & (HIGH_WORD ? 0xffff : UINT32_MAX));
    if (HIGH_WORD && v >> 16)
        atomicAdd(&slot[HIGH_WORD * SLOTS], (uint32_t)(v >> 16));
}

template <typename V>
static __device__ inline void slot_add(uint32_t *slot, const struct part<V> &part)
{
    atomicAdd(&slot[AREA_STRAIGHT * SLOTS], part.area_straight);
    if (part.mixed_diagonal)
        atomicAdd(&slot[MIXED_DIAGONAL * SLOTS], part.mixed_diagonal);
    atomicAdd(&slot[SUM_X * SLOTS], part.sum_x);
    atomicAdd(&slot[SUM_Y * SLOTS], part.sum_y);
    atomicMin(&slot[MIN_X * SLOTS], part.min_x);
    atomicMax(&slot[MAX_X * SLOTS], part.max_x);
    atomicOr(&slot[ROWS * SLOTS], part.rows);
    atomicMin(&slot[MIN_KEY * SLOTS], part.min_key);
    atomicMax(&slot[MAX_KEY * SLOTS], part.max_key);
    table_sum<SUM, sizeof(V) == 4 ? SUM_HIGH : 0>(slot, part.value.q);
    table_sum<LOW, sizeof(V) >= 2 ? LOW_HIGH : 0>(slot, part.value.q2_low);
    if (sizeof(V) == 4) {
        table_sum<HIGH, HIGH_HIGH>(slot, part.value.q2_high);
        atomicAdd(&slot[COUNT * SLOTS], part.value.n);
    }
}

enum { ALIKE = 4 }; /* minimum lanes with one label for which a warp sum pays */

/* Adds the parts of the lanes whose `in` is true to the table. Parts of the first lane's region are
 * first added up within the warp. All lanes of the warp call it. `open`: the region extends into
 * another tile. */
template <typename V>
static __device__ inline void table_add(struct memory<V> *t, struct part<V> part, bool in,
                                        bool open)
{
    const unsigned first = first_bit(__ballot_sync(ALL_LANES, in)) % WARP;
    const uint32_t label = __shfl_sync(ALL_LANES, part.label, first);
    const bool alike = in && part.label == label;
    if (__popc(__ballot_sync(ALL_LANES, alike)) >= ALIKE) {
        const bool any_open = __any_sync(ALL_LANES, alike && open);
        part_sum(&part, alike, first);
        open = alike ? any_open : open;
        in &= !alike || threadIdx.x % WARP == first;
    }
    if (!in)
        return;
    unsigned slot = table_slot(t, part.label);
    if (slot == SLOTS) {
        t->full = true;
        return;
    }
    slot_add<V>(t->table + slot, part);
    if (open)
        atomicOr(&t->open[slot / WARP], 1u << slot % WARP);
}

static_assert((int)SLOTS == 4 * (int)THREADS, "a thread clears four slots");

template <typename V> static __device__ inline void table_clear(struct memory<V> *t)
{
#pragma unroll
    for (int field = 0; field < fields_of<V>(); field++) {
        const uint32_t v = field == MIN_X || field == MIN_KEY ? UINT32_MAX : 0;
        ((uint4 *)&t->table[field * SLOTS])[threadIdx.x] = make_uint4(v, v, v, v);
    }
    if (threadIdx.x < SLOTS / WARP)
        t->open[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        t->nused = 0;
        t->full = false;
    }
}

/* ---- parts to the regions ---- */

/* Destination of a thread's sums. */
struct place {
    struct gi_region_sums *regions;
    uint32_t x, y; /* of the tile */
};

template <typename V>
static __device__ inline struct gi_region_sums sums_of(const struct part<V> &part,
                                                       const struct place &place)
{
    struct gi_region_sums sums;
    uint32_t area = part.area_straight & 0xffff;
    sums.area = area;
    sums.sum_x = (uint64_t)area * place.x + part.sum_x;
    sums.sum_y = (uint64_t)area * place.y + part.sum_y;
    sums.min_x = place.x + part.min_x;
    sums.min_y = place.y + first_bit(part.rows);
    sums.max_x = place.x + part.max_x;
    sums.max_y = place.y + last_bit(part.rows);
    sums.value.n = sizeof(V) == 4 ? part.value.n : area;
    sums.value.q = part.value.q;
    sums.value.q2_low = part.value.q2_low;
    sums.value.q2_high = part.value.q2_high;
    sums.min_key = part.min_key;
    sums.max_key = part.max_key;
    sums.straight = part.area_straight >> 16;
    sums.diagonal = part.mixed_diagonal >> 16;
    sums.mixed = part.mixed_diagonal & 0xffff;
    return sums;
}

static __device__ inline void add64(uint64_t *sum, uint64_t v)
{
    if (v)
        atomicAdd((device_u64 *)sum, (device_u64)v);
}

/* The index of a member as a word of struct gi_region_sums. */
#define WORD_OF(member) (offsetof(struct gi_region_sums, member) / 8)

static_assert(
    offsetof(struct gi_region_sums, min_y) == offsetof(struct gi_region_sums, min_x) + 4 &&
        offsetof(struct gi_region_sums, max_y) == offsetof(struct gi_region_sums, max_x) + 4 &&
        offsetof(struct gi_region_sums, max_key) == offsetof(struct gi_region_sums, min_key) + 4,
    "words of two");

/* Adds word `i` of the sums to a region in global memory by atomics. */
static __device__ inline void word_merge(uint64_t *word, unsigned i, uint64_t v)
{
    uint32_t *two = (uint32_t *)word, low = (uint32_t)v, high = (uint32_t)(v >> 32);
    if (i == WORD_OF(min_x)) {
        atomicMin(&two[0], low);
        atomicMin(&two[1], high);
    } else if (i == WORD_OF(max_x)) {
        atomicMax(&two[0], low);
        atomicMax(&two[1], high);
    } else if (i == WORD_OF(min_key)) {
        atomicMin(&two[0], low);
        atomicMax(&two[1], high);
    } else {
        add64(word, v);
    }
}

/* Returns word `i` of a struct gi_region_sums that contains no pixels. */
static __device__ inline uint64_t word_empty(unsigned i)
{
    return i == WORD_OF(min_x) ? UINT64_MAX : i == WORD_OF(min_key) ? UINT32_MAX : 0;
}

/* Copies the sums of the `n` staged regions from shared memory to `regions`, the result in global
 * memory. With MERGE the staged sums are added to the sums in `regions` by atomics, otherwise they
 * overwrite the sums in `regions`. A whole warp calls this function. */
template <bool MERGE>
static __device__ inline void stage_flush(const struct stage *stage, unsigned n,
                                          struct gi_region_sums *regions)
{
    __syncwarp();
    for (unsigned i = threadIdx.x % WARP; i < n * SUMS_WORDS; i += WARP) {
        unsigned region = i / SUMS_WORDS, word = i % SUMS_WORDS;
        uint64_t *to = (uint64_t *)&regions[stage->labels[region] - 1] + word;
        if (MERGE)
            word_merge(to, word, stage->words[i]);
        else
            *to = stage->words[i];
    }
    __syncwarp();
}

/* Stages the sums of the lanes whose `in` is true, after `n` staged regions. Returns their new
 * number. */
template <bool MERGE>
static __device__ inline unsigned
stage_add(struct stage *stage, unsigned n, struct gi_region_sums *regions,
          const struct gi_region_sums &sums, uint32_t label, bool in)
{
    for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, in));) {
        unsigned at = n + (unsigned)__popc(lanes & ((1u << threadIdx.x % WARP) - 1));
        if (in && at < STAGE) {
            ((struct gi_region_sums *)stage->words)[at] = sums;
            stage->labels[at] = label;
            in = false;
        }
        n += (unsigned)__popc(lanes);
        if (n >= STAGE) {
            stage_flush<MERGE>(stage, STAGE, regions);
            n = 0;
        }
    }
    return n;
}

template <typename V>
static __device__ inline void slot_get(struct part<V> *part, const uint32_t *slot)
{
    part->label = slot[LABEL * SLOTS];
    part->area_straight = slot[AREA_STRAIGHT * SLOTS];
    part->mixed_diagonal = slot[MIXED_DIAGONAL * SLOTS];
    part->sum_x = slot[SUM_X * SLOTS];
    part->sum_y = slot[SUM_Y * SLOTS];
    part->min_x = slot[MIN_X * SLOTS];
    part->max_x = slot[MAX_X * SLOTS];
    part->rows = slot[ROWS * SLOTS];
    part->min_key = slot[MIN_KEY * SLOTS];
    part->max_key = slot[MAX_KEY * SLOTS];
    part->value = {};
    part->value.q = slot[SUM * SLOTS];
    part->value.q2_low = slot[LOW * SLOTS];
    if (sizeof(V) >= 2)
        part->value.q2_low += (uint64_t)slot[LOW_HIGH * SLOTS] << 16;
    if (sizeof(V) == 4) {
        part->value.q += (uint64_t)slot[SUM_HIGH * SLOTS] << 16;
        part->value.q2_high = slot[HIGH * SLOTS] + ((uint64_t)slot[HIGH_HIGH * SLOTS] << 16);
        part->value.n = slot[COUNT * SLOTS];
    }
}

/* Moves the table's regions to global memory. */
template <typename V>
static __device__ inline void table_move(struct memory<V> *t, const struct place &place)
{
    const unsigned warp = threadIdx.x / WARP;
    struct stage *stage = &t->stages[warp];
    for (unsigned first = warp * WARP; first < t->nused; first += THREADS) {
        unsigned i = first + threadIdx.x % WARP, slot = i < t->nused ? t->used[i] : 0;
        bool in = i < t->nused, open = t->open[slot / WARP] >> slot % WARP & 1;
        struct part<V> part;
        slot_get<V>(&part, t->table + slot);
        struct gi_region_sums sums = sums_of<V>(part, place);
        unsigned n = stage_add<false>(stage, 0, place.regions, sums, part.label, in && !open);
        stage_flush<false>(stage, n, place.regions);
        n = stage_add<true>(stage, 0, place.regions, sums, part.label, in && open);
        stage_flush<true>(stage, n, place.regions);
    }
}

#endif
