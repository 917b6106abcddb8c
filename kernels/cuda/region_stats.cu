/* region_stats: integer sums of every region, in one pass over labels and values.
 * A warp goes down a strip of columns, a lane a column: each lane sums until it meets another
 * label, then adds to the strip's table in shared memory; the table goes to the regions at last.
 * Lanes at the strip's sides only show their labels to their neighbours.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/measure.h"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    HALO = 2, /* pixels around that decide about a border pixel's class */
    STRIP_WIDTH = WARP - 2 * HALO,
    STRIP_ROWS = 64,
    SLOTS = 128, /* regions of a strip's table; more of them go past it */
    PROBES = 8,
    AHEAD = 8, /* rows whose samples are in flight at a time */
};

/* The table, one array of SLOTS words a field. Most fields share a word: 28 x 64 pixels make an
 * area below 2^11, sums of coordinates below 2^16 (x) and 2^17 (y), fewer than 2^11 border pixels.
 * Columns and rows are bits, of which the ends count. Sums of values have two words, the second one
 * counts 2^16. */
enum field {
    LABEL,
    AREA_X,   /* area | sum of x << 11 */
    MIXED_Y,  /* mixed | sum of y << 11 */
    STRAIGHT, /* straight | diagonal << 11 */
    COLUMNS,
    ROWS,
    ROWS_HIGH,
    MIN_KEY,
    MAX_KEY,
    SUM, /* of values */
    SUM_HIGH,
    LOW, /* of squares */
    LOW_HIGH,
    HIGH,
    HIGH_HIGH,
    COUNT, /* of values, as some may be NaN */
    FIELDS,
};

enum { SHARED_BITS = 11, SHARED_MASK = (1 << SHARED_BITS) - 1 };

/* Fields that a type of values needs: the last ones are for floats. */
template <typename V> static __host__ __device__ constexpr int fields_of(void)
{
    return sizeof(V) == 4 ? FIELDS : HIGH;
}

/* Pixels of one region in one column, y from the strip's first row. */
template <typename V> struct run {
    uint32_t label, x, y_first, y_last;
    uint32_t area, y_sum, classes; /* straight | mixed << 10 | diagonal << 20 */
    uint32_t min_key, max_key;
    struct some_sums<V> value;
};

template <typename V>
static __device__ inline struct run<V> run_start(uint32_t label, uint32_t x, uint32_t y) {
    struct run<V> run = {
    };
    run.label = label;
    run.x = x;
    run.y_first = y;
    run.min_key = UINT32_MAX;
    return run;
}

/* Two bits a class: 1 straight, 2 mixed, 3 diagonal. Index: 5 * diagonal + 4-neighbours, the
 * classes that gi_region_sums names, less 1 and halved. */
static constexpr uint64_t
class_bits(int class_, uint64_t kind)
{
    return kind << (class_ - 1);
}
static constexpr uint64_t CLASSES = class_bits(5, 1) | class_bits(7, 1) | class_bits(15, 1) |
                                    class_bits(17, 1) | class_bits(25, 1) | class_bits(27, 1) |
                                    class_bits(13, 2) | class_bits(23, 2) | class_bits(21, 3) |
                                    class_bits(33, 3);

/* ---- values ---- */

static __device__ inline uint32_t value_key(uint8_t v)
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

/* The slot of `label` in the table, SLOTS where it finds no place. */
static __device__ inline unsigned table_slot(uint32_t *table, uint32_t label)
{
    unsigned slot = label * 2654435769u >> 25; /* Knuth's multiplicative hash, 7 bits */
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) % SLOTS) {
        uint32_t found = atomicCAS(&table[LABEL * SLOTS + slot], 0u, label);
        if (found == 0 || found == label)
            return slot;
    }
    return SLOTS;
}

/* WIDE: where the sums of a strip may pass 2^32. */
template <bool WIDE> static __device__ inline void table_sum(uint32_t *word, uint64_t v)
{
    atomicAdd(word, (uint32_t)v & (WIDE ? 0xffff : UINT32_MAX));
    if (WIDE && v >> 16)
        atomicAdd(word + SLOTS, (uint32_t)(v >> 16));
}

template <typename V>
static __device__ inline void table_add(uint32_t *slot, const struct run<V> &run)
{
    uint32_t straight = run.classes & 1023, mixed = run.classes >> 10 & 1023,
             diagonal = run.classes >> 20;
    atomicAdd(&slot[AREA_X * SLOTS], run.area | run.area * run.x << SHARED_BITS);
    atomicAdd(&slot[MIXED_Y * SLOTS], mixed | run.y_sum << SHARED_BITS);
    if (straight | diagonal)
        atomicAdd(&slot[STRAIGHT * SLOTS], straight | diagonal << SHARED_BITS);
    uint64_t rows = 1ull << run.y_first | 1ull << run.y_last;
    atomicOr(&slot[COLUMNS * SLOTS], 1u << run.x);
    if ((uint32_t)rows)
        atomicOr(&slot[ROWS * SLOTS], (uint32_t)rows);
    if (rows >> 32)
        atomicOr(&slot[ROWS_HIGH * SLOTS], (uint32_t)(rows >> 32));
    atomicMin(&slot[MIN_KEY * SLOTS], run.min_key);
    atomicMax(&slot[MAX_KEY * SLOTS], run.max_key);
    table_sum<sizeof(V) == 4>(&slot[SUM * SLOTS], run.value.q);
    table_sum<sizeof(V) >= 2>(&slot[LOW * SLOTS], run.value.q2_low);
    if (sizeof(V) == 4) {
        table_sum<true>(&slot[HIGH * SLOTS], run.value.q2_high);
        atomicAdd(&slot[COUNT * SLOTS], run.value.n);
    }
}

static __device__ inline void add64(uint64_t *sum, uint64_t v)
{
    if (v)
        atomicAdd((device_u64 *)sum, (device_u64)v);
}

/* x and y: of the strip's first owned column and first row. */
template <typename V>
static __device__ void region_add(struct gi_region_sums *region, const struct run<V> &run,
                                  uint32_t x, uint32_t y)
{
    add64(&region->area, run.area);
    add64(&region->sum_x, (uint64_t)run.area * (x + run.x));
    add64(&region->sum_y, (uint64_t)run.area * y + run.y_sum);
    atomicMin(&region->min_x, x + run.x);
    atomicMin(&region->min_y, y + run.y_first);
    atomicMax(&region->max_x, x + run.x);
    atomicMax(&region->max_y, y + run.y_last);
    add64(&region->value.n, run.value.n);
    add64(&region->value.q, run.value.q);
    add64(&region->value.q2_low, run.value.q2_low);
    add64(&region->value.q2_high, run.value.q2_high);
    atomicMin(&region->min_key, run.min_key);
    atomicMax(&region->max_key, run.max_key);
    add64(&region->straight, run.classes & 1023);
    add64(&region->diagonal, run.classes >> 20);
    add64(&region->mixed, run.classes >> 10 & 1023);
}

template <typename V>
static __device__ inline void run_end(const struct run<V> &run, uint32_t *table,
                                      struct gi_region_sums *regions, uint32_t x, uint32_t y)
{
    unsigned slot = table_slot(table, run.label);
    if (slot < SLOTS)
        table_add<V>(table + slot, run);
    else
        region_add(&regions[run.label - 1], run, x, y);
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

template <typename V>
static __device__ inline struct mover mover_of(unsigned lane, uint32_t x, uint32_t y)
{
    const unsigned all = 0xffffffffu, low = SHARED_MASK;
    constexpr bool wide = sizeof(V) == 4;
    switch (lane) {
    case 0:
        return {offsetof(struct gi_region_sums, area), AREA_X, 0, low, 0, 0, mover::ADD};
    case 1:
        return {offsetof(struct gi_region_sums, sum_x),
                AREA_X,
                SHARED_BITS,
                all,
                0,
                x,
                mover::ADD_BY_AREA};
    case 2:
        return {offsetof(struct gi_region_sums, sum_y),
                MIXED_Y,
                SHARED_BITS,
                all,
                0,
                y,
                mover::ADD_BY_AREA};
    case 3:
        return {offsetof(struct gi_region_sums, min_x), COLUMNS, 0, 0xffff, 0, x, mover::MIN};
    case 4:
        return {offsetof(struct gi_region_sums, min_y), ROWS, 0, 0xffff, 0, y, mover::MIN};
    case 5:
        return {offsetof(struct gi_region_sums, max_x), COLUMNS, 16, 0xffff, 0, x, mover::MAX};
    case 6:
        return {offsetof(struct gi_region_sums, max_y), ROWS, 16, 0xffff, 0, y, mover::MAX};
    case 7:
        return {offsetof(struct gi_region_sums, value.n),
                wide ? COUNT : AREA_X,
                0,
                wide ? all : low,
                0,
                0,
                mover::ADD};
    case 8:
        return {offsetof(struct gi_region_sums, value.q), SUM, 0, all, SUM_HIGH, 0, mover::ADD};
    case 9:
        return {
            offsetof(struct gi_region_sums, value.q2_low), LOW, 0, all, LOW_HIGH, 0, mover::ADD};
    case 10:
        return {offsetof(struct gi_region_sums, value.q2_high),
                wide ? HIGH : 0u,
                0,
                all,
                wide ? HIGH_HIGH : 0u,
                0,
                wide ? mover::ADD : mover::NOTHING};
    case 11:
        return {offsetof(struct gi_region_sums, min_key), MIN_KEY, 0, all, 0, 0, mover::MIN};
    case 12:
        return {offsetof(struct gi_region_sums, max_key), MAX_KEY, 0, all, 0, 0, mover::MAX};
    case 13:
        return {offsetof(struct gi_region_sums, straight), STRAIGHT, 0, low, 0, 0, mover::ADD};
    case 14:
        return {offsetof(struct gi_region_sums, diagonal),
                STRAIGHT,
                SHARED_BITS,
                low,
                0,
                0,
                mover::ADD};
    default:
        return {offsetof(struct gi_region_sums, mixed), MIXED_Y, 0, low, 0, 0, mover::ADD};
    }
}

/* Bits become their ends: first | last << 16. */
static __device__ inline void table_ends(uint32_t *slot)
{
    uint32_t columns = slot[COLUMNS * SLOTS];
    uint64_t rows = slot[ROWS * SLOTS] | (uint64_t)slot[ROWS_HIGH * SLOTS] << 32;
    slot[COLUMNS * SLOTS] =
        ((uint32_t)__ffs((int)columns) - 1) | (31 - (uint32_t)__clz((int)columns)) << 16;
    slot[ROWS * SLOTS] =
        ((uint32_t)__ffsll((long long)rows) - 1) | (63 - (uint32_t)__clzll((long long)rows)) << 16;
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
        add64((uint64_t *)to, v + (uint64_t)m.base * (slot[AREA_X * SLOTS] & SHARED_MASK));
    else if (m.how == mover::ADD)
        add64((uint64_t *)to, v);
}

template <typename V>
static __device__ inline void table_move(uint32_t *table, struct gi_region_sums *regions,
                                         uint32_t x, uint32_t y)
{
    unsigned lane = threadIdx.x % WARP;
    const struct mover m = mover_of<V>(lane % 16, x, y);
    for (unsigned first = 0; first < SLOTS; first += WARP) {
        unsigned used = __ballot_sync(ALL_LANES, table[LABEL * SLOTS + first + lane] != 0);
        if (used >> lane & 1)
            table_ends(table + first + lane);
        __syncwarp();
        while (used) { /* two slots at a time, half a warp each */
            unsigned one = (unsigned)__ffs((int)used) - 1;
            used &= used - 1;
            unsigned two = used ? (unsigned)__ffs((int)used) - 1 : WARP;
            used &= used - 1;
            unsigned slot = lane < 16 ? one : two;
            if (slot < WARP)
                slot_move(m, table + first + slot, regions);
        }
    }
}

/* ---- the strip ---- */

/* Labels of a row in a lane's column; 0 outside the image. */
static __device__ inline uint32_t label_at(const struct gi_image &labels, int x, int y)
{
    return x >= 0 && x < labels.width && y >= 0 && y < labels.height
               ? sample_at<uint32_t>(labels, x, y)
               : 0;
}

/* The label where it stands on a border pixel, else 0. */
static __device__ inline uint32_t border_label(uint32_t above, uint32_t label, uint32_t below)
{
    uint32_t left = __shfl_up_sync(ALL_LANES, label, 1),
             right = __shfl_down_sync(ALL_LANES, label, 1);
    return above == label && below == label && left == label && right == label ? 0 : label;
}

/* Border labels of a row: a lane's own and its neighbours'. */
struct border_row {
    uint32_t left, own, right;
};

static __device__ inline struct border_row border_row(uint32_t own)
{
    return {__shfl_up_sync(ALL_LANES, own, 1), own, __shfl_down_sync(ALL_LANES, own, 1)};
}

/* One in its place of run.classes, or 0. */
static __device__ inline uint32_t
border_class(const struct border_row &a, const struct border_row &b, const struct border_row &c)
{
    uint32_t own = b.own;
    unsigned edges = (a.own == own) + (b.left == own) + (b.right == own) + (c.own == own);
    unsigned corners = (a.left == own) + (a.right == own) + (c.left == own) + (c.right == own);
    unsigned kind = (unsigned)(CLASSES >> (10 * corners + 2 * edges)) & 3;
    return own && kind ? 1u << (10 * (kind - 1)) : 0;
}

template <typename V>
static __global__ void __launch_bounds__(THREADS)
    region_strips(struct gi_region_sums *regions, uint32_t n, struct gi_image labels,
                  struct gi_image values, struct quantiser z, unsigned strips_across)
{
    __shared__ uint32_t tables[WARPS][fields_of<V>() * SLOTS];
    uint32_t *table = tables[threadIdx.x / WARP];
    unsigned lane = threadIdx.x % WARP, strip = blockIdx.x * WARPS + threadIdx.x / WARP;
    int x0 = (int)(strip % strips_across * STRIP_WIDTH), x = x0 + (int)lane - HALO;
    unsigned y0 = strip / strips_across * STRIP_ROWS;
    if (y0 >= (unsigned)labels.height)
        return;
    for (unsigned i = lane; i < fields_of<V>() * SLOTS; i += WARP) {
        unsigned field = i / SLOTS;
        table[i] = field == MIN_KEY ? UINT32_MAX : 0;
    }
    __syncwarp();

    bool owned = lane >= HALO && lane < WARP - HALO;
    int y = (int)y0;
    uint32_t above = label_at(labels, x, y - 1), label = label_at(labels, x, y),
             below = label_at(labels, x, y + 1);
    uint32_t top = border_label(label_at(labels, x, y - 2), above, label);
    struct border_row up = border_row(top), mid = border_row(border_label(above, label, below));
    struct run<V> run = {
    };
    for (; y < (int)y0 + STRIP_ROWS; y += AHEAD) {
        uint32_t next[AHEAD];
        V value[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            next[k] = label_at(labels, x, y + k + 2);
            value[k] = owned && x < labels.width && y + k < labels.height
                           ? sample_at<V>(values, x, y + k)
                           : (V)0;
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            struct border_row down = border_row(border_label(label, below, next[k]));
            uint32_t border = border_class(up, mid, down), row = (uint32_t)(y + k) - y0;
            if (owned && label - 1 < n) {
                if (run.label != label) {
                    if (run.label)
                        run_end<V>(run, table, regions, (uint32_t)x0, y0);
                    run = run_start<V>(label, lane - HALO, row);
                }
                run.y_last = row;
                run.y_sum += row;
                run.area++;
                run.classes += border;
                run_add(&run, value[k], z);
            }
            label = below;
            below = next[k];
            up = mid;
            mid = down;
        }
    }
    if (run.label)
        run_end<V>(run, table, regions, (uint32_t)x0, y0);
    __syncwarp();
    table_move<V>(table, regions, (uint32_t)x0, y0);
}

/* Sums of no pixel, written as 64-bit words. */
static __global__ void region_clear(uint64_t *words, size_t nwords)
{
    constexpr unsigned PER_REGION = sizeof(struct gi_region_sums) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = (unsigned)(i % PER_REGION);
    if (i < nwords)
        words[i] = word == offsetof(struct gi_region_sums, min_x) / 8     ? UINT64_MAX
                   : word == offsetof(struct gi_region_sums, min_key) / 8 ? UINT32_MAX
                                                                          : 0;
}

static_assert(sizeof(struct gi_region_sums) % 8 == 0, "cleared by 64-bit words");
static_assert(offsetof(struct gi_region_sums, min_y) == offsetof(struct gi_region_sums, min_x) + 4,
              "cleared together");

/* ---- launches ---- */

enum gi_status gi_cuda_region_stats_launch(struct gi_cuda_context *cu,
                                           struct gi_region_sums *regions, uint32_t n,
                                           const struct gi_image *labels,
                                           const struct gi_image *values, float lo, float hi,
                                           struct gi_err *err)
{
    size_t nwords = n * (sizeof *regions / 8);
    region_clear<<<(unsigned)((nwords + 255) / 256), 256, 0, cu->stream>>>((uint64_t *)regions,
                                                                           nwords);
    GI_CUDA_LAUNCHED();
    unsigned across = ((unsigned)labels->width + STRIP_WIDTH - 1) / STRIP_WIDTH;
    size_t strips = (size_t)across * (((unsigned)labels->height + STRIP_ROWS - 1) / STRIP_ROWS);
    unsigned blocks = (unsigned)((strips + WARPS - 1) / WARPS);
    struct quantiser z = quantiser_of(lo, hi);
    if (values->type == GI_U8)
        region_strips<uint8_t>
            <<<blocks, THREADS, 0, cu->stream>>>(regions, n, *labels, *values, z, across);
    else if (values->type == GI_U16)
        region_strips<uint16_t>
            <<<blocks, THREADS, 0, cu->stream>>>(regions, n, *labels, *values, z, across);
    else
        region_strips<float>
            <<<blocks, THREADS, 0, cu->stream>>>(regions, n, *labels, *values, z, across);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_region_stats(struct gi_context *cx, struct gi_region_sums *regions,
                                    uint32_t n, const struct gi_image *labels,
                                    const struct gi_image *values, float lo, float hi,
                                    struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    struct gi_region_sums *device;
    size_t nbytes = n * sizeof *regions;
    if (n == 0)
        return GI_OK;
    enum gi_status status = gi_cuda_scratch(cu, (void **)&device, nbytes, err);
    if (!status)
        status = gi_cuda_region_stats_launch(cu, device, n, labels, values, lo, hi, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, regions, nbytes, device, nbytes, nbytes, 1, err);
    return status;
}
