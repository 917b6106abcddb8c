/* Exact distance transform. Sites are packed as bits, 32 rows of a column per word, from which the
 * distance to the nearest site in a column follows by counting zeros. In a row the nearest column
 * of a pixel never decreases from left to right. So pixels are searched by bisection: those in the
 * middle between pixels that are known search only between the columns nearest to these.
 *
 *    word: 32 rows x 1 column       1. distance_pack: the sites as bits
 *    +-+-+-+-+-+-+-+                2. distance_scan: per word, the nearest sites above and below
 *    | | | | | | | | words 0        3. distance_rows: a block per row, with the cost and the
 * nearest | | | | | | | |                   column of each column in shared memory
 *    +-+-+-+-+-+-+-+                   a. every 32nd pixel, a warp per pixel
 *    | | | | | | | | words 1           b. the others, a thread per pixel
 *    +-+-+-+-+-+-+-+                   c. the results
 *
 * Example: in a row of 256 pixels the first level searches all columns for pixel 127; if the
 * nearest is column 100, the second level searches columns 0 to 100 for pixel 63, and 100 to 255
 * for pixel 191. A pixel whose own column has a site at a distance of 9 rows searches at most
 * 9 columns to each side.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/common/warp_collectives.cuh"
#include "kernels/regions.h"

enum {
    PACK_THREADS = 256,
    ROW_THREADS = 512,
    LONG = 24,               /* columns that a thread searches alone */
    FIRST = 32,              /* pixels between those of step a */
    GRID_ROWS = 16384,       /* of a grid */
    NO_SITE = 1 << 28,       /* an offset of this amount or more says that the column has no site */
    SIDE_MAX = 32768,        /* of images whose costs have 32 bits */
    WIDE_BLOCKS = 4,         /* blocks per multiprocessor for other images */
    WIDE_NBYTES = 256 << 20, /* limit of the memory for their rows */
};

/* The sites of the image: width x words of each array. */
struct sites {
    uint32_t *bits; /* bit i: row 32 * word + i has a site */
    int32_t *above; /* row of the last site above the word, or -NO_SITE */
    int32_t *below; /* row of the first site below the word, or 2 * NO_SITE */
    int width, height, words;
};

struct distance_args {
    struct gi_image dst, src;
    struct gi_distance spec;
    struct sites sites;
    void *rows; /* a row per block, if it does not fit in shared memory */
};

/* ---- columns ---- */

template <typename T>
static __device__ __forceinline__ void words_pack(const struct distance_args &args, int x)
{
    const struct gi_image &src = args.src;
    const T *column = (const T *)src.data + x;
    for (int word = (int)blockIdx.y; word < args.sites.words; word += (int)gridDim.y) {
        uint32_t bits = 0;
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            int y = 32 * word + i;
            if (y >= src.height)
                break;
            T v = *(const T *)((const char *)column + (size_t)y * src.stride);
            bool site = ((float)v > args.spec.above) != args.spec.invert;
            bits |= (uint32_t)site << i;
        }
        args.sites.bits[(size_t)word * src.width + x] = bits;
    }
}

/* Each thread packs 32 rows of a column. */
static __global__ void __launch_bounds__(PACK_THREADS)
    distance_pack(const __grid_constant__ struct distance_args args)
{
    int x = (int)(blockIdx.x * PACK_THREADS + threadIdx.x);
    if (x < args.src.width)
        SAMPLE_TYPES(args.src.type, words_pack<T>(args, x));
}

/* Each thread scans the words of a column, down and up. */
static __global__ void __launch_bounds__(PACK_THREADS) distance_scan(struct sites s)
{
    int x = (int)(blockIdx.x * PACK_THREADS + threadIdx.x);
    int last = -NO_SITE, next = 2 * NO_SITE;
    if (x >= s.width)
        return;
#pragma unroll 16
    for (int word = 0; word < s.words; word++) {
        size_t at = (size_t)word * s.width + x;
        uint32_t bits = s.bits[at];
        s.above[at] = last;
        last = bits ? 32 * word + 31 - __clz((int)bits) : last;
    }
#pragma unroll 16
    for (int word = s.words - 1; word >= 0; word--) {
        size_t at = (size_t)word * s.width + x;
        uint32_t bits = s.bits[at];
        s.below[at] = next;
        next = bits ? 32 * word + __ffs((int)bits) - 1 : next;
    }
}

/* Returns the rows from row y down to the nearest site in column x, which is negative for a site
 * above. If two sites are equally near it is the upper one. */
static __device__ __forceinline__ int offset_at(const struct sites &s, int x, int y)
{
    size_t at = (size_t)(y / 32) * s.width + x;
    uint32_t bits = s.bits[at], upper = bits & (0xffffffffu >> (31 - y % 32)),
             lower = bits & ~upper;
    int first = y - y % 32;
    int up = y - (upper ? first + 31 - __clz((int)upper) : s.above[at]);
    int down = (lower ? first + __ffs((int)lower) - 1 : s.below[at]) - y;
    return up <= down ? -up : down;
}

/* ---- costs ---- */

/* How distances along rows and columns are combined. */
enum metric { SQUARES, CITY_BLOCK, CHESSBOARD };

/* What exceeds the cost of every site. Adding the square of a distance does not overflow. */
template <typename C> static __device__ __forceinline__ C no_site_cost(void)
{
    return (C)1 << (8 * sizeof(C) - 1);
}

/* The cost of a site `rows` above or below in the own column. */
template <typename C, enum metric METRIC> static __device__ __forceinline__ C column_cost(int rows)
{
    C n = (C)abs(rows);
    return n >= NO_SITE ? no_site_cost<C>() : METRIC == SQUARES ? n * n : n;
}

/* The cost of a column dx pixels away, whose own cost is `column`. */
template <typename C, enum metric METRIC>
static __device__ __forceinline__ C cost_of(C column, int dx)
{
    C n = (C)abs(dx);
    return METRIC == SQUARES ? column + n * n : METRIC == CITY_BLOCK ? column + n : max(column, n);
}

/* Returns a number of columns beyond which no column costs `cost` or less. */
template <typename C, enum metric METRIC>
static __device__ __forceinline__ int reach_of(C cost, int width)
{
    if (cost >= (C)width * width)
        return width;
    if (METRIC != SQUARES)
        return (int)min(cost, (C)width);
    return sizeof(C) == sizeof(uint32_t) ? (int)__fsqrt_rn((float)cost) + 1
                                         : (int)__dsqrt_rn((double)cost) + 1;
}

/* Columns from lo to hi. */
struct span {
    int lo, hi;
};

/* ---- rows ---- */

/* The type of columns beside costs of type C. */
template <typename C> struct columns {
    typedef int type;
};
template <> struct columns<uint32_t> {
    typedef uint16_t type;
};

/* A row that a block processes. */
template <typename C> struct row {
    C *costs; /* of each column, at padded() */
    typename columns<C>::type *nearest;
    int y, width;
};

/* The place of a column among the costs, such that 32 columns at a distance of a power of 2 are in
 * different banks. */
static __host__ __device__ __forceinline__ int padded(int column)
{
    return column + (int)((unsigned)column / 32);
}

/* Searches the columns of a span, which is not empty. In a tie it returns the leftmost. */
template <typename C, enum metric METRIC>
static __device__ __forceinline__ int thread_search(const struct row<C> &row, int x, struct span in)
{
    int column = in.lo;
    C least = cost_of<C, METRIC>(row.costs[padded(in.lo)], x - in.lo);
    for (int i = in.lo + 1; i <= in.hi; i++) {
        C cost = cost_of<C, METRIC>(row.costs[padded(i)], x - i);
        column = cost < least ? i : column;
        least = min(cost, least);
    }
    return column;
}

/* Returns the column with the smallest of the costs that the lanes of a warp have. */
static __device__ __forceinline__ int warp_nearest(uint32_t cost, int column)
{
    uint32_t least = ~warp_reduce_max(~cost);
    return warp_reduce_min(cost == least ? column : INT_MAX);
}

static __device__ __forceinline__ int warp_nearest(uint64_t cost, int column)
{
    uint32_t high = (uint32_t)(cost >> 32), least_high = ~warp_reduce_max(~high);
    return warp_nearest(high == least_high ? (uint32_t)cost : UINT32_MAX,
                        high == least_high ? column : INT_MAX);
}

/* The same search by a warp. */
template <typename C, enum metric METRIC>
static __device__ __forceinline__ int warp_search(const struct row<C> &row, int x, struct span in)
{
    C least = (C)-1;
    int column = INT_MAX;
    for (int i = in.lo + (int)(threadIdx.x % WARP); i <= in.hi; i += WARP) {
        C cost = cost_of<C, METRIC>(row.costs[padded(i)], x - i);
        column = cost < least ? i : column;
        least = min(cost, least);
    }
    return warp_nearest(least, column);
}

/* Returns the columns to search for pixel x, of the level with this step. */
template <typename C, enum metric METRIC>
static __device__ __forceinline__ struct span span_at(const struct row<C> &row, int x, int step)
{
    int reach = reach_of<C, METRIC>(row.costs[padded(x)], row.width);
    int lo = x >= step ? (int)row.nearest[x - step] : 0;
    int hi = step < row.width - x ? (int)row.nearest[x + step] : row.width - 1;
    return {max(lo, x - reach), reach < hi - x ? x + reach : hi};
}

/* Finds the nearest columns of a level, a thread per pixel. The few long searches, where the
 * nearest site changes to a far one, are made by the whole warp. */
template <typename C, enum metric METRIC>
static __device__ __forceinline__ void level_search(const struct row<C> &row, int step)
{
    const unsigned n = ((unsigned)row.width / (unsigned)step + 1) / 2; /* pixels of the level */
    for (unsigned k = threadIdx.x; k - threadIdx.x % WARP < n; k += ROW_THREADS) {
        int x = (int)((2 * k + 1) * (unsigned)step - 1), column = 0;
        struct span span = {0, -1};
        if (k < n)
            span = span_at<C, METRIC>(row, x, step);
        bool is_long = span.hi - span.lo >= LONG;
        if (k < n && !is_long)
            column = thread_search<C, METRIC>(row, x, span);
        for (unsigned left = __ballot_sync(~0u, is_long); left; left &= left - 1) {
            int lane = __ffs((int)left) - 1;
            struct span far = {__shfl_sync(~0u, span.lo, lane), __shfl_sync(~0u, span.hi, lane)};
            int found = warp_search<C, METRIC>(row, __shfl_sync(~0u, x, lane), far);
            column = (int)threadIdx.x % WARP == lane ? found : column;
        }
        if (k < n)
            row.nearest[x] = (typename columns<C>::type)column;
    }
}

/* Finds the nearest columns. The pixels of a level are step - 1, 3 * step - 1, 5 * step - 1, ... */
template <typename C, enum metric METRIC>
static __device__ __forceinline__ void row_search(const struct row<C> &row)
{
    long long warp = threadIdx.x / WARP, step = FIRST;
    while (step <= row.width / 2)
        step *= 2;
    for (; step >= FIRST; step /= 2) {
        for (long long x = (2 * warp + 1) * step - 1; x < row.width;
             x += 2 * step * (ROW_THREADS / WARP)) {
            int column =
                warp_search<C, METRIC>(row, (int)x, span_at<C, METRIC>(row, (int)x, (int)step));
            if (threadIdx.x % WARP == 0)
                row.nearest[x] = (typename columns<C>::type)column;
        }
        __syncthreads();
    }
    for (int each = FIRST / 2; each >= 1; each /= 2) {
        level_search<C, METRIC>(row, each);
        __syncthreads();
    }
}

/* Stores the result of pixel (x, y). */
template <typename C>
static __device__ __forceinline__ void result_store(const struct distance_args &args, int x, int y,
                                                    int column, C cost)
{
    enum gi_distance_kind kind = args.spec.kind;
    bool none = cost >= no_site_cost<C>();
    char *row = (char *)args.dst.data + (size_t)y * args.dst.stride;
    if (kind == GI_DISTANCE_PLACE) {
        int from = none ? -1 : y + offset_at(args.sites, column, y);
        ((float *)row)[2 * (size_t)x] = none ? -1.0f : (float)column;
        ((float *)row)[2 * (size_t)x + 1] = (float)from;
    } else if (kind == GI_DISTANCE_SAMPLE) {
        bool near = !none && (int64_t)cost <= args.spec.within;
        int from = near ? y + offset_at(args.sites, column, y) : 0;
        const char *line = (const char *)args.src.data + (size_t)from * args.src.stride;
        SAMPLE_TYPES(args.src.type, ((T *)row)[x] = near ? ((const T *)line)[column] : (T)0);
    } else {
        float v = none                            ? INFINITY
                  : kind != GI_DISTANCE_EUCLIDEAN ? (float)cost
                  : cost <= 1 << 24               ? __fsqrt_rn((float)cost)
                                                  : (float)__dsqrt_rn((double)cost);
        SAMPLE_TYPES(args.dst.type, sample_store((T *)row + x, v));
    }
}

template <typename C, enum metric METRIC>
static __device__ __forceinline__ void row_make(const struct row<C> &row,
                                                const struct distance_args &args)
{
    for (int x = (int)threadIdx.x; x < row.width; x += ROW_THREADS)
        row.costs[padded(x)] = column_cost<C, METRIC>(offset_at(args.sites, x, row.y));
    __syncthreads();
    row_search<C, METRIC>(row);
    for (int x = (int)threadIdx.x; x < row.width; x += ROW_THREADS) {
        int column = row.nearest[x];
        C cost = cost_of<C, METRIC>(row.costs[padded(column)], x - column);
        result_store<C>(args, x, row.y, column, cost);
    }
    __syncthreads();
}

template <typename C> static __host__ __device__ inline size_t row_nbytes(int width)
{
    return ((size_t)padded(width) * sizeof(C) + (size_t)width * sizeof(typename columns<C>::type) +
            15) /
           16 * 16;
}

/* Costs of 32 bits are in shared memory, costs of 64 bits in args.rows. */
template <typename C>
static __global__ void __launch_bounds__(ROW_THREADS, 4)
    distance_rows(const __grid_constant__ struct distance_args args)
{
    extern __shared__ uint4 shared[];
    const int width = args.sites.width;
    C *costs = sizeof(C) == sizeof(uint32_t)
                   ? (C *)shared
                   : (C *)((char *)args.rows + blockIdx.x * row_nbytes<C>(width));
    struct row<C> row = {};
    row.costs = costs;
    row.nearest = (typename columns<C>::type *)(costs + padded(width));
    row.width = width;
    for (row.y = (int)blockIdx.x; row.y < args.sites.height; row.y += (int)gridDim.x) {
        if (args.spec.kind == GI_DISTANCE_CITY_BLOCK)
            row_make<C, CITY_BLOCK>(row, args);
        else if (args.spec.kind == GI_DISTANCE_CHESSBOARD)
            row_make<C, CHESSBOARD>(row, args);
        else
            row_make<C, SQUARES>(row, args);
    }
}

/* ---- launches ---- */

static enum gi_status rows_launch(struct gi_cuda_queue *cu, const struct distance_args &args,
                                  unsigned blocks, bool narrow, struct gi_err *err)
{
    if (narrow) {
        GI_CUDA_ALLOW_SHARED(cu, distance_rows<uint32_t>);
        distance_rows<uint32_t>
            <<<blocks, ROW_THREADS, row_nbytes<uint32_t>(args.src.width), cu->stream>>>(args);
    } else {
        distance_rows<uint64_t><<<blocks, ROW_THREADS, 0, cu->stream>>>(args);
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_distance *spec,
                              struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct distance_args args = {*dst, *src, *spec, {}, NULL};
    struct sites *s = &args.sites;
    s->width = src->width;
    s->height = src->height;
    s->words = ceil_div(src->height, 32);
    size_t n = (size_t)src->width * (size_t)s->words, row = row_nbytes<uint64_t>(src->width);
    bool narrow = src->width <= SIDE_MAX && src->height <= SIDE_MAX &&
                  row_nbytes<uint32_t>(src->width) <= (size_t)cu->shared_nbytes;
    long long blocks = min(src->height, (int)GRID_ROWS);
    if (!narrow)
        blocks = max(
            min(min(blocks, (long long)cu->units * WIDE_BLOCKS), (long long)(WIDE_NBYTES / row)),
            1LL);
    void *scratch;
    size_t rows_nbytes = narrow ? 0 : (size_t)blocks * row;
    enum gi_status status =
        gi_cuda_scratch(cu, &scratch, rows_nbytes + 3 * n * sizeof *s->bits, err);
    if (status)
        return status;
    args.rows = scratch;
    s->bits = (uint32_t *)((char *)scratch + rows_nbytes);
    s->above = (int32_t *)(s->bits + n);
    s->below = s->above + n;
    unsigned across = (unsigned)ceil_div(src->width, PACK_THREADS);
    dim3 pack(across, (unsigned)min(s->words, (int)GRID_ROWS));
    distance_pack<<<pack, PACK_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    distance_scan<<<across, PACK_THREADS, 0, cu->stream>>>(*s);
    GI_CUDA_LAUNCHED();
    return rows_launch(cu, args, (unsigned)blocks, narrow, err);
}

const struct gi_distance_way gi_cuda_distance_ways[GI_WAYS_MAX] = {
    {{"rows", "everything"}, NULL, by_rows},
};
