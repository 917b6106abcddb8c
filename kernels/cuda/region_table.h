/* The table of region_stats: sums of a tile's regions in shared memory, on their way from the runs
 * of lanes to the regions. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REGION_TABLE_H
#define GI_KERNELS_CUDA_REGION_TABLE_H

#include "kernels/cuda/measure.h"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    WARP_WIDTH = 2 * (WARP - 2), /* the first and last lane only show others their labels */
    TILE_WIDTH = WARPS * WARP_WIDTH,
    TILE_ROWS = 32,
    CHUNK = 8,   /* rows whose samples are in flight at a time */
    SLOTS = 512, /* regions of a tile's table; more of them go past it */
    PROBES = 8,
};

/* The table, one array of SLOTS words a field. A tile has fewer than 2^13 pixels. Rows are bits, of
 * which the ends count. Sums of values may have a second word, which counts 2^16. */
enum field {
    LABEL,
    AREA_STRAIGHT, /* area | straight << 16 */
    MIXED_DIAGONAL,
    SUM_X, /* from the tile's first column */
    SUM_Y,
    MIN_X,
    MAX_X,
    ROWS,
    MIN_KEY,
    MAX_KEY,
    SUM, /* of values */
    LOW, /* of squares */
    LOW_HIGH,
    SUM_HIGH,
    HIGH,
    HIGH_HIGH,
    COUNT, /* of values, as some may be NaN */
    FIELDS,
};

/* Fields that a type of values needs. */
template <typename V> static __host__ __device__ constexpr int fields_of(void)
{
    return sizeof(V) == 4 ? FIELDS : sizeof(V) == 2 ? SUM_HIGH : LOW_HIGH;
}

template <typename V> struct memory {
    uint32_t table[fields_of<V>() * SLOTS];
    uint32_t counts[16];   /* of some of 2 x 2 pixels: all, right << 8, lower << 16 */
    uint32_t classes[256]; /* of 2 x 2 pixels, by perimeter's low and high bits: straight, mixed
                              << 10, diagonal << 20 */
};

/* Pixels of one region in a lane's columns, y from the tile's first row. */
template <typename V> struct run {
    uint32_t label, y_first, y_last;
    uint32_t counts, classes; /* as in struct memory */
    uint32_t y_sum;           /* of the upper rows of squares */
    uint32_t min_key, max_key;
    struct some_sums<V> value;
};

/* What goes to the table, its fields named as there. */
template <typename V> struct part {
    uint32_t label, area_straight, mixed_diagonal, sum_x, sum_y, min_x, max_x, rows;
    uint32_t min_key, max_key;
    struct some_sums<V> value;
};

template <typename V> static __device__ inline struct run<V> run_start(uint32_t label, uint32_t y) {
    struct run<V> run = {
    };
    run.label = label;
    run.y_first = y;
    run.min_key = UINT32_MAX;
    return run;
}

/* ---- values ---- */

static __device__ inline uint32_t
value_key(uint8_t v)
{
    return v;
}

static __device__ inline uint32_t value_key(uint16_t v)
{
    return v;
}

static __device__ inline uint32_t value_key(float v)
{
    return gi_float_key(__float_as_uint(v));
}

/* Two samples side by side, loaded at once. */
template <typename V> struct __align__(2 * sizeof(V)) pair
{
    V v[2];
};

template <typename V>
static __device__ inline void run_add(struct run<V> *run, V v, const struct quantiser &z)
{
    if (v != v)
        return;
    uint32_t key = value_key(v);
    run->min_key = min(run->min_key, key);
    run->max_key = max(run->max_key, key);
    some_add(&run->value, v, z);
}

/* ---- from a run to the table, or past it ---- */

/* `x`: the lane's left column in the tile. */
template <typename V>
static __device__ inline struct part<V> part_of(const struct run<V> &run, uint32_t x) {
    uint32_t area = run.counts & 255, right = run.counts >> 8 & 255, lower = run.counts >> 16;
    uint32_t straight = run.classes & 1023, mixed = run.classes >> 10 & 1023,
             diagonal = run.classes >> 20;
    return {run.label,
            area | straight << 16,
            mixed | diagonal << 16,
            area *x + right,
            run.y_sum + lower,
            x + (right == area),
            x + (right > 0),
            1u << run.y_first | 1u << run.y_last,
            run.min_key,
            run.max_key,
            run.value};
}

template <typename N>
static __device__ inline void across(N *v, int step)
{
    *v += __shfl_xor_sync(ALL_LANES, *v, step);
}

/* Adds up the parts of all lanes; those that are not `in` count for nothing. */
template <typename V> static __device__ inline void part_sum(struct part<V> *p, bool in)
{
    if (!in) {
        uint32_t label = p->label;
        *p = {};
        p->label = label;
        p->min_x = p->min_key = UINT32_MAX;
    }
    for (int step = WARP / 2; step > 0; step /= 2) {
        across(&p->area_straight, step);
        across(&p->mixed_diagonal, step);
        across(&p->sum_x, step);
        across(&p->sum_y, step);
        p->min_x = min(p->min_x, __shfl_xor_sync(ALL_LANES, p->min_x, step));
        p->max_x = max(p->max_x, __shfl_xor_sync(ALL_LANES, p->max_x, step));
        p->rows |= __shfl_xor_sync(ALL_LANES, p->rows, step);
        p->min_key = min(p->min_key, __shfl_xor_sync(ALL_LANES, p->min_key, step));
        p->max_key = max(p->max_key, __shfl_xor_sync(ALL_LANES, p->max_key, step));
        across(&p->value.n, step);
        across(&p->value.q, step);
        across(&p->value.q2_low, step);
        across(&p->value.q2_high, step);
    }
}

/* The slot of `label` in the table, SLOTS where it finds no place. */
static __device__ inline unsigned table_slot(uint32_t *table, uint32_t label)
{
    unsigned slot = label * 2654435769u >> 23; /* Knuth's multiplicative hash, 9 bits */
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) % SLOTS) {
        uint32_t found = atomicCAS(&table[LABEL * SLOTS + slot], 0u, label);
        if (found == 0 || found == label)
            return slot;
    }
    return SLOTS;
}

/* HIGH_WORD: of sums that may pass 2^32 in a tile, else 0. */
template <int WORD, int HIGH_WORD>
static __device__ inline void table_sum(uint32_t *slot, uint64_t v)
{
    atomicAdd(&slot[WORD * SLOTS], (uint32_t)v & (HIGH_WORD ? 0xffff : UINT32_MAX));
    if (HIGH_WORD && v >> 16)
        atomicAdd(&slot[HIGH_WORD * SLOTS], (uint32_t)(v >> 16));
}

template <typename V>
static __device__ inline void table_add(uint32_t *slot, const struct part<V> &part)
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

static __device__ inline void add64(uint64_t *sum, uint64_t v)
{
    if (v)
        atomicAdd((device_u64 *)sum, (device_u64)v);
}

static __device__ inline uint32_t first_bit(uint32_t bits)
{
    return (uint32_t)__ffs((int)bits) - 1;
}

static __device__ inline uint32_t last_bit(uint32_t bits)
{
    return 31 - (uint32_t)__clz((int)bits);
}

/* x and y: of the tile's first column and row. */
template <typename V>
static __device__ void region_add(struct gi_region_sums *region, const struct part<V> &part,
                                  uint32_t x, uint32_t y)
{
    uint32_t area = part.area_straight & 0xffff;
    add64(&region->area, area);
    add64(&region->sum_x, (uint64_t)area * x + part.sum_x);
    add64(&region->sum_y, (uint64_t)area * y + part.sum_y);
    atomicMin(&region->min_x, x + part.min_x);
    atomicMin(&region->min_y, y + first_bit(part.rows));
    atomicMax(&region->max_x, x + part.max_x);
    atomicMax(&region->max_y, y + last_bit(part.rows));
    add64(&region->value.n, part.value.n);
    add64(&region->value.q, part.value.q);
    add64(&region->value.q2_low, part.value.q2_low);
    add64(&region->value.q2_high, part.value.q2_high);
    atomicMin(&region->min_key, part.min_key);
    atomicMax(&region->max_key, part.max_key);
    add64(&region->straight, part.area_straight >> 16);
    add64(&region->diagonal, part.mixed_diagonal >> 16);
    add64(&region->mixed, part.mixed_diagonal & 0xffff);
}

/* Where a thread's sums go. */
struct place {
    struct gi_region_sums *regions;
    uint32_t x, y; /* of the tile */
    uint32_t lane_x;
};

enum { ALIKE = 4 }; /* lanes from which on it pays to add up before the table */

/* Ends the runs of the lanes where `ends`; all lanes come here. */
template <typename V>
static __device__ inline void run_end(const struct run<V> &run, bool ends, uint32_t *table,
                                      const struct place &place)
{
    struct part<V> part = part_of<V>(run, place.lane_x);
    unsigned lanes = __ballot_sync(ALL_LANES, ends), first = first_bit(lanes);
    uint32_t label = __shfl_sync(ALL_LANES, run.label, first & 31);
    if (__popc(lanes) >= ALIKE && __all_sync(ALL_LANES, !ends || run.label == label)) {
        part_sum(&part, ends);
        ends = threadIdx.x % WARP == first;
    }
    if (!ends)
        return;
    unsigned slot = table_slot(table, part.label);
    if (slot < SLOTS)
        table_add<V>(table + slot, part);
    else
        region_add(&place.regions[part.label - 1], part, place.x, place.y);
}

/* ---- from the table to the regions ---- */

/* What one lane of a half-warp moves: a part of a word (and of the one that counts 2^16), plus
 * `base` for each pixel, or once. Lanes in the order of struct gi_region_sums, so that the 16
 * atomics of a region fall into four sectors. */
struct mover {
    unsigned offset; /* bytes, in struct gi_region_sums */
    unsigned word, shift, mask, high;
    uint32_t base;
    enum { ADD, ADD_BY_AREA, MIN, MAX, NOTHING } how;
};

#define MOVER(member) offsetof(struct gi_region_sums, member)

template <typename V>
static __device__ inline struct mover mover_of(unsigned lane, uint32_t x, uint32_t y)
{
    const unsigned all = 0xffffffffu, low = 0xffff;
    constexpr bool real = sizeof(V) == 4;
    switch (lane) {
    case 0:
        return {MOVER(area), AREA_STRAIGHT, 0, low, 0, 0, mover::ADD};
    case 1:
        return {MOVER(sum_x), SUM_X, 0, all, 0, x, mover::ADD_BY_AREA};
    case 2:
        return {MOVER(sum_y), SUM_Y, 0, all, 0, y, mover::ADD_BY_AREA};
    case 3:
        return {MOVER(min_x), MIN_X, 0, all, 0, x, mover::MIN};
    case 4:
        return {MOVER(min_y), ROWS, 0, low, 0, y, mover::MIN};
    case 5:
        return {MOVER(max_x), MAX_X, 0, all, 0, x, mover::MAX};
    case 6:
        return {MOVER(max_y), ROWS, 16, low, 0, y, mover::MAX};
    case 7:
        return {MOVER(value.n), real ? COUNT : AREA_STRAIGHT, 0, real ? all : low, 0, 0,
                mover::ADD};
    case 8:
        return {MOVER(value.q), SUM, 0, all, real ? SUM_HIGH : 0u, 0, mover::ADD};
    case 9:
        return {MOVER(value.q2_low), LOW, 0, all, sizeof(V) > 1 ? LOW_HIGH : 0u, 0, mover::ADD};
    case 10:
        return {MOVER(value.q2_high),
                real ? HIGH : 0u,
                0,
                all,
                real ? HIGH_HIGH : 0u,
                0,
                real ? mover::ADD : mover::NOTHING};
    case 11:
        return {MOVER(min_key), MIN_KEY, 0, all, 0, 0, mover::MIN};
    case 12:
        return {MOVER(max_key), MAX_KEY, 0, all, 0, 0, mover::MAX};
    case 13:
        return {MOVER(straight), AREA_STRAIGHT, 16, low, 0, 0, mover::ADD};
    case 14:
        return {MOVER(diagonal), MIXED_DIAGONAL, 16, low, 0, 0, mover::ADD};
    default:
        return {MOVER(mixed), MIXED_DIAGONAL, 0, low, 0, 0, mover::ADD};
    }
}

static __device__ inline void slot_move(const struct mover &m, const uint32_t *slot,
                                        struct gi_region_sums *regions)
{
    char *to = (char *)&regions[slot[LABEL * SLOTS] - 1] + m.offset;
    uint64_t v = slot[m.word * SLOTS] >> m.shift & m.mask;
    if (m.high)
        v += (uint64_t)slot[m.high * SLOTS] << 16;
    if (m.how == mover::MIN)
        atomicMin((uint32_t *)to, (uint32_t)v + m.base);
    else if (m.how == mover::MAX)
        atomicMax((uint32_t *)to, (uint32_t)v + m.base);
    else if (m.how == mover::ADD_BY_AREA)
        add64((uint64_t *)to, v + (uint64_t)m.base * (slot[AREA_STRAIGHT * SLOTS] & 0xffff));
    else if (m.how == mover::ADD)
        add64((uint64_t *)to, v);
}

/* A warp has its share of the slots. */
template <typename V>
static __device__ inline void table_move(uint32_t *table, const struct place &place)
{
    unsigned lane = threadIdx.x % WARP;
    const struct mover m = mover_of<V>(lane % 16, place.x, place.y);
    for (unsigned i = threadIdx.x; i < SLOTS; i += THREADS) {
        uint32_t *slots = table + i - lane, rows = table[ROWS * SLOTS + i];
        unsigned used = __ballot_sync(ALL_LANES, rows != 0);
        if (rows) /* bits become their ends */
            table[ROWS * SLOTS + i] = first_bit(rows) | last_bit(rows) << 16;
        __syncwarp();
        while (used) { /* two slots at a time, half a warp each */
            unsigned one = first_bit(used);
            used &= used - 1;
            unsigned two = used ? first_bit(used) : WARP;
            used &= used - 1;
            unsigned slot = lane < 16 ? one : two;
            if (slot < WARP)
                slot_move(m, slots + slot, place.regions);
        }
    }
}

#endif
