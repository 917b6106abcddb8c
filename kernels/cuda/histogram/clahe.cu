/* Contrast-limited adaptive equalization in three kernels: blocks count parts of a tile, a block
 * makes the table of a tile, blocks go down the pixels between the centres of four tiles.
 *
 * Bytes are counted as in histogram.cu, each lane in a bank of its own. Looking up, a thread owns
 * four neighbouring samples of LOOK_ROWS rows; the four tables stand in shared memory as one of
 * words, so that one load answers for all of them.
 * SPDX-License-Identifier: MIT */
#include <limits.h>

#include "kernels/cuda/common/sample.cuh"

enum {
    BINS8 = 256,
    PITCH8 = 256, /* bytes of a counter's row: a word a lane, twice */
    COUNT_THREADS = 512,
    COUNT_NBYTES = BINS8 * PITCH8, /* of shared memory */
    COUNT_AHEAD = 2,               /* pieces of a thread under way */
    PARTS_MIN_ROWS = 16,
    TABLE_THREADS = 256,
    LOOK_THREADS = 128,
    LOOK_ROWS = 64,
    LOOK_AHEAD = 8,
    EACH_THREADS = 256,
};

struct clahe_args {
    struct gi_image dst, src, judge;
    struct gi_clahe_shape shape;
    int sets;         /* tables for all channels, or for each colour */
    uint32_t *counts; /* of one set: [tile][value] */
    void *tables;     /* of 8 or 16 bits: [set][tile][value] */
};

/* ---- counts ---- */

/* What a sample counts as and is looked up as. */
template <typename T> static __device__ __forceinline__ unsigned value_of(T v)
{
    if constexpr (sizeof(T) == 4)
        return (unsigned)gi_unit_bin(v);
    else
        return v;
}

template <typename T>
static __device__ __forceinline__ unsigned judged(const struct clahe_args &args, const T *row,
                                                  int x, int set)
{
    x = gi_border_index(x, args.judge.width, GI_BORDER_REFLECT101);
    return value_of(row[x * args.judge.channels + set]);
}

static __device__ __forceinline__ void count8(char *table, unsigned v, unsigned slot)
{
    atomicAdd((unsigned *)(table + (v << 8 | slot)), 1u);
}

/* Rows y0 to y1 - 1, pixels x0 to x1 - 1, all in columns of the image: 16 bytes at a time, of which
 * `across` begin with the first-th of a row. */
struct pieces {
    int x0, x1, y0, y1, first, across;
};

static __device__ __forceinline__ void count_piece(char *table, unsigned slot, const uint4 &piece,
                                                   int x, const struct pieces &pieces)
{
    const unsigned *words = (const unsigned *)&piece;
    if (x >= pieces.x0 && x + 16 <= pieces.x1) {
#pragma unroll
        for (int k = 0; k < 16; k++)
            atomicAdd((unsigned *)(table + __byte_perm(words[k / 4], slot, 0x5504 | k % 4 << 4)),
                      1u);
    } else {
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (x + k >= pieces.x0 && x + k < pieces.x1)
                count8(table, words[k / 4] >> k % 4 * 8 & 255, slot);
    }
}

static __device__ void count_pieces(const struct clahe_args &args, char *table, unsigned slot,
                                    const struct pieces &pieces)
{
    int height = args.judge.height, across = pieces.across, at = (int)threadIdx.x % across;
    int y = pieces.y0 + (int)threadIdx.x / across;
    int down = COUNT_THREADS / across, on = COUNT_THREADS % across;
    while (y < pieces.y1) {
        uint4 batch[COUNT_AHEAD];
        int x[COUNT_AHEAD];
#pragma unroll
        for (int k = 0; k < COUNT_AHEAD; k++) {
            int yi = y < height ? y : gi_border_index(y, height, GI_BORDER_REFLECT101);
            x[k] = y < pieces.y1 ? (pieces.first + at) * 16 : INT_MAX - 16;
            if (y < pieces.y1)
                batch[k] = *(const uint4 *)((const char *)args.judge.data +
                                            (size_t)(unsigned)yi * args.judge.stride + x[k]);
            at += on;
            y += down + (at >= across);
            at -= at >= across ? across : 0;
        }
#pragma unroll
        for (int k = 0; k < COUNT_AHEAD; k++)
            count_piece(table, slot, batch[k], x[k], pieces);
    }
}

static __global__ void __launch_bounds__(COUNT_THREADS)
    clahe_count8(const __grid_constant__ struct clahe_args args, int set)
{
    extern __shared__ __align__(16) char table[];
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int tile = (int)blockIdx.x, parts = (int)gridDim.y, part = (int)blockIdx.y;
    int x0 = tile % sx.tiles * sx.tile, top = tile / sx.tiles * sy.tile;
    int y0 = top + (int)((long long)sy.tile * part / parts);
    int y1 = top + (int)((long long)sy.tile * (part + 1) / parts);
    unsigned slot = threadIdx.x % 64 * 4;
    for (int i = threadIdx.x; i < COUNT_NBYTES / 16; i += COUNT_THREADS)
        ((uint4 *)table)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    int inside = args.judge.channels == 1 ? max(x0, min(x0 + sx.tile, sx.n)) : x0;
    struct pieces pieces = {x0, inside, y0, y1, x0 / 16, (inside + 15) / 16 - x0 / 16};
    if (inside > x0)
        count_pieces(args, table, slot, pieces);
    int rest = x0 + sx.tile - inside, n = rest * (y1 - y0);
    for (int i = threadIdx.x; i < n; i += COUNT_THREADS) {
        int y = gi_border_index(y0 + i / rest, sy.n, GI_BORDER_REFLECT101);
        const uint8_t *row = (const uint8_t *)args.judge.data + (size_t)y * args.judge.stride;
        count8(table, judged(args, row, inside + i % rest, set), slot);
    }
    __syncthreads();
    for (int v = threadIdx.x; v < BINS8; v += COUNT_THREADS) {
        unsigned sum = 0;
        for (int i = 0; i < PITCH8 / 4; i++)
            sum += ((const unsigned *)(table + v * PITCH8))[(i + v) % (PITCH8 / 4)];
        if (sum)
            atomicAdd(&args.counts[tile * BINS8 + v], sum);
    }
}

/* 16 bits and floats: counted where the counts are. */
template <typename T>
static __global__ void __launch_bounds__(COUNT_THREADS)
    clahe_count_each(const __grid_constant__ struct clahe_args args, int set)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int tile = (int)blockIdx.x, parts = (int)gridDim.y, part = (int)blockIdx.y;
    int x0 = tile % sx.tiles * sx.tile, top = tile / sx.tiles * sy.tile;
    int y0 = top + (int)((long long)sy.tile * part / parts);
    int y1 = top + (int)((long long)sy.tile * (part + 1) / parts);
    uint32_t *counts = args.counts + (size_t)tile * args.shape.bins;
    for (int y = y0 + (int)(threadIdx.x / 32); y < y1; y += COUNT_THREADS / 32) {
        size_t at = (size_t)gi_border_index(y, sy.n, GI_BORDER_REFLECT101) * args.judge.stride;
        const T *row = (const T *)((const char *)args.judge.data + at);
        for (int x = x0 + (int)(threadIdx.x % 32); x < x0 + sx.tile; x += 32)
            atomicAdd(&counts[judged(args, row, x, set)], 1u);
    }
}

/* ---- tables ---- */

/* The sum over the block of `v`; *before: over the threads before this one. */
static __device__ unsigned block_sum(unsigned v, unsigned *before)
{
    __shared__ unsigned warps[TABLE_THREADS / 32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = v;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, d);
        sum += (int)lane >= d ? other : 0;
    }
    __syncthreads();
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    unsigned total = 0, first = 0;
    for (unsigned i = 0; i < TABLE_THREADS / 32; i++) {
        first += i < warp ? warps[i] : 0;
        total += warps[i];
    }
    *before = first + sum - v;
    return total;
}

/* A thread has `bins` / TABLE_THREADS values, one after the other. */
template <typename T>
static __global__ void __launch_bounds__(TABLE_THREADS)
    clahe_table(const __grid_constant__ struct clahe_args args, int set)
{
    unsigned tile = blockIdx.x, bins = args.shape.bins, n = bins / TABLE_THREADS;
    unsigned v0 = threadIdx.x * n, over = 0, sum = 0, before;
    const uint32_t *counts = args.counts + (size_t)tile * bins;
    T *table = (T *)args.tables + ((size_t)set * gridDim.x + tile) * bins;
    struct gi_clahe_cut cut = {args.shape.limit, 0, 0, 1};
    for (unsigned v = v0; v < v0 + n; v++) {
        unsigned kept = min(counts[v], cut.limit);
        over += counts[v] - kept;
        sum += kept;
    }
    gi_clahe_share(&cut, block_sum(over, &before), bins);
    /* Of the values before v so many are multiples of the step, of which `extra` count. */
    unsigned grown = min((v0 + cut.step - 1) / cut.step, cut.extra);
    block_sum(sum, &before);
    sum = before + v0 * cut.each + grown;
    for (unsigned v = v0; v < v0 + n; v++) {
        bool grows = grown < cut.extra && v == grown * cut.step;
        grown += grows;
        sum += min(counts[v], cut.limit) + cut.each + grows;
        float f = __fmul_rn((float)sum, args.shape.scale);
        table[v] = (T)__float2uint_rn(fminf(f, (float)(bins - 1)));
    }
}

/* ---- pixels ---- */

static __device__ __forceinline__ float clahe_between(float p, float q, float r, float s, float a,
                                                      float b)
{
    float c = __fsub_rn(1.0f, a);
    return __fadd_rn(__fmul_rn(__fadd_rn(__fmul_rn(p, c), __fmul_rn(q, a)), __fsub_rn(1.0f, b)),
                     __fmul_rn(__fadd_rn(__fmul_rn(r, c), __fmul_rn(s, a)), b));
}

/* What stands in the place of v. */
template <typename T> static __device__ __forceinline__ T stored(float f, T v)
{
    if constexpr (sizeof(T) == 4)
        return canonical(v == v ? __fdiv_rn(f, 65535.0f) : v);
    else
        return (T)__float2uint_rn(f);
}

/* A sample a thread. */
template <typename T>
static __global__ void __launch_bounds__(EACH_THREADS)
    clahe_each(const __grid_constant__ struct clahe_args args)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int channels = args.src.channels, i = (int)(blockIdx.x * EACH_THREADS + threadIdx.x);
    int x = i / channels, channel = i % channels, set = args.sets > 1 ? channel : 0;
    if (x >= sx.n)
        return;
    bool alpha = channels % 2 == 0 && channel == channels - 1;
    float a, b;
    int tx = gi_clahe_tile(&sx, x, &a);
    int left = gi_clahe_nearest(&sx, tx), right = gi_clahe_nearest(&sx, tx + 1);
    size_t bins = args.shape.bins;
    const uint16_t *tables =
        (const uint16_t *)args.tables + (size_t)(alpha ? 0 : set) * sx.tiles * sy.tiles * bins;
    for (int y = (int)blockIdx.y; y < sy.n; y += (int)gridDim.y) {
        T sample = ((const T *)((const char *)args.src.data + (size_t)y * args.src.stride))[i];
        unsigned v = value_of(sample);
        int ty = gi_clahe_tile(&sy, y, &b);
        const uint16_t *up = tables + (size_t)gi_clahe_nearest(&sy, ty) * sx.tiles * bins + v;
        const uint16_t *down = tables + (size_t)gi_clahe_nearest(&sy, ty + 1) * sx.tiles * bins + v;
        float f = clahe_between(up[left * bins], up[right * bins], down[left * bins],
                                down[right * bins], a, b);
        ((T *)((char *)args.dst.data + (size_t)y * args.dst.stride))[i] =
            alpha ? sample : stored(f, sample);
    }
}

/* Where the pixels after the centre of each tile begin: those of tile t at t + 1. */
struct spans {
    int tiles, starts[GI_CLAHE_MAX + 2];
};

/* Block `index` of those that share out the spans, `size` pixels at most each: the tile before it,
 * and where it begins and ends. False: there is none. */
static __device__ bool block_span(const struct spans &spans, int index, int size, int *tile,
                                  int *from, int *to)
{
    for (int t = 0; t <= spans.tiles; t++) {
        int n = (spans.starts[t + 1] - spans.starts[t] + size - 1) / size;
        if (index < n) {
            *tile = t - 1;
            *from = spans.starts[t] + index * size;
            *to = min(spans.starts[t + 1], *from + size);
            return true;
        }
        index -= n;
    }
    return false;
}

/* What a thread's four samples of a row are made with: their weights, each beside what takes 2^23
 * times it off again; their tables; and which of their bits are written and changed. */
struct clahe_look {
    float before[4], after[4], before_bulk[4], after_bulk[4];
    unsigned table[4], changes, writes;
};

static __device__ void look_start(struct clahe_look *look, const struct clahe_args &args, int first,
                                  int x0, int x1)
{
    int channels = args.src.channels;
    look->changes = look->writes = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int x = (first + i) / channels, channel = (first + i) % channels;
        bool alpha = channels % 2 == 0 && channel == channels - 1;
        gi_clahe_tile(&args.shape.x, x, &look->after[i]);
        look->before[i] = __fsub_rn(1.0f, look->after[i]);
        look->after_bulk[i] = __fmul_rn(look->after[i], -8388608.0f);
        look->before_bulk[i] = __fmul_rn(look->before[i], -8388608.0f);
        look->table[i] = args.sets > 1 && !alpha ? channel * BINS8 : 0;
        look->writes |= x >= x0 && x < x1 ? 255u << 8 * i : 0;
        look->changes |= alpha ? 0 : 255u << 8 * i;
    }
}

/* Byte I of the four looked up as a float that has it in its last bits: 2^23 more than it is. One
 * fmaf of it, with the bulk taken off, rounds as the product of the byte does. */
template <int I> static __device__ __forceinline__ float byte_float(unsigned four)
{
    return __uint_as_float(__byte_perm(four, 0x4b000000u, 0x7550 | I));
}

/* EACH: every channel has tables of its own. */
template <bool EACH>
static __device__ __forceinline__ unsigned
look_up(const struct clahe_look &look, const unsigned *tables, unsigned word, float b, float c)
{
    float made[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned v = __byte_perm(word, 0, 0x4440 | i);
        unsigned four = tables[EACH ? look.table[i] + v : v];
        float up = __fadd_rn(__fmaf_rn(byte_float<0>(four), look.before[i], look.before_bulk[i]),
                             __fmaf_rn(byte_float<1>(four), look.after[i], look.after_bulk[i]));
        float down = __fadd_rn(__fmaf_rn(byte_float<2>(four), look.before[i], look.before_bulk[i]),
                               __fmaf_rn(byte_float<3>(four), look.after[i], look.after_bulk[i]));
        made[i] = __fadd_rn(__fadd_rn(__fmul_rn(up, c), __fmul_rn(down, b)), 8388608.0f);
    }
    unsigned low = __byte_perm(__float_as_uint(made[0]), __float_as_uint(made[1]), 0x0040);
    unsigned high = __byte_perm(__float_as_uint(made[2]), __float_as_uint(made[3]), 0x0040);
    return __byte_perm(low, high, 0x5410);
}

/* Tables of the tiles about (tx, ty), their bytes side by side, a set after the other; the weights
 * of rows. */
static __device__ void look_tables(const struct clahe_args &args, unsigned *tables, float2 *weights,
                                   int tx, int ty, int y0, int y1)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    const uint8_t *from = (const uint8_t *)args.tables;
    size_t up = (size_t)gi_clahe_nearest(&sy, ty) * sx.tiles;
    size_t down = (size_t)gi_clahe_nearest(&sy, ty + 1) * sx.tiles;
    int left = gi_clahe_nearest(&sx, tx), right = gi_clahe_nearest(&sx, tx + 1);
    for (int i = threadIdx.x; i < args.sets * BINS8; i += LOOK_THREADS) {
        const uint8_t *v = from + (size_t)(i / BINS8) * sx.tiles * sy.tiles * BINS8 + i % BINS8;
        tables[i] = v[(up + left) * BINS8] | v[(up + right) * BINS8] << 8 |
                    v[(down + left) * BINS8] << 16 | (unsigned)v[(down + right) * BINS8] << 24;
    }
    for (int y = y0 + (int)threadIdx.x; y < y1; y += LOOK_THREADS) {
        float b;
        gi_clahe_tile(&sy, y, &b);
        weights[y - y0] = make_float2(b, __fsub_rn(1.0f, b));
    }
    __syncthreads();
}

/* A thread's words of rows y0 to y1 - 1, LOOK_AHEAD of them asked for at a time. */
template <bool EACH>
static __device__ __forceinline__ void
look_rows(const struct clahe_look &look, const struct clahe_args &args, const unsigned *tables,
          const float2 *weights, int first, int y0, int y1)
{
    const char *in = (const char *)args.src.data + (size_t)y0 * args.src.stride + first;
    char *out = (char *)args.dst.data + (size_t)y0 * args.dst.stride + first;
    int n = y1 - y0, y = 0;
    unsigned words[LOOK_AHEAD];
    for (; look.writes == ~0u && y + LOOK_AHEAD <= n; y += LOOK_AHEAD) {
#pragma unroll
        for (int k = 0; k < LOOK_AHEAD; k++, in += args.src.stride)
            words[k] = *(const unsigned *)in;
#pragma unroll
        for (int k = 0; k < LOOK_AHEAD; k++, out += args.dst.stride) {
            unsigned made =
                look_up<EACH>(look, tables, words[k], weights[y + k].x, weights[y + k].y);
            *(unsigned *)out = (made & look.changes) | (words[k] & ~look.changes);
        }
    }
    for (; y < n; y++, in += args.src.stride, out += args.dst.stride) {
        unsigned word = *(const unsigned *)in;
        unsigned made = look_up<EACH>(look, tables, word, weights[y].x, weights[y].y);
        made = (made & look.changes) | (word & ~look.changes);
        for (int i = 0; i < 4; i++)
            if (look.writes >> 8 * i & 255)
                out[i] = (char)(made >> 8 * i);
    }
}

template <bool EACH>
static __global__ void __launch_bounds__(LOOK_THREADS)
    clahe_look8(const __grid_constant__ struct clahe_args args,
                const __grid_constant__ struct spans across,
                const __grid_constant__ struct spans down)
{
    __shared__ unsigned tables[GI_MAX_CHANNELS * BINS8];
    __shared__ float2 weights[LOOK_ROWS];
    int channels = args.src.channels, width = LOOK_THREADS * 4 / channels - 4;
    int tx, x0, x1, ty, y0, y1;
    width = channels == 1 ? LOOK_THREADS * 4 : width;
    if (!block_span(across, (int)blockIdx.x, width, &tx, &x0, &x1) ||
        !block_span(down, (int)blockIdx.y, LOOK_ROWS, &ty, &y0, &y1))
        return;
    look_tables(args, tables, weights, tx, ty, y0, y1);
    for (int first = x0 * channels / 4 * 4 + (int)threadIdx.x * 4; first < x1 * channels;
         first += LOOK_THREADS * 4) {
        struct clahe_look look;
        look_start(&look, args, first, x0, x1);
        look_rows<EACH>(look, args, tables, weights, first, y0, y1);
    }
}

/* ---- launchers ---- */

static struct spans spans_of(const struct gi_clahe_side *side)
{
    struct spans spans = {side->tiles, {0}};
    float weight;
    for (int t = 0, at = 0; t <= side->tiles; t++) {
        long long guess = ((long long)t * side->tile) + side->tile / 2 - 2;
        at = guess < at ? at : guess < side->n ? (int)guess : side->n;
        while (at < side->n && gi_clahe_tile(side, at, &weight) < t)
            at++;
        spans.starts[t + 1] = t < side->tiles ? at : side->n;
    }
    return spans;
}

static unsigned blocks_of(const struct spans *spans, int size)
{
    int n = 0;
    for (int t = 0; t <= spans->tiles; t++)
        n += ceil_div(spans->starts[t + 1] - spans->starts[t], size);
    return (unsigned)n;
}

static enum gi_status look(struct gi_cuda_queue *cu, const struct clahe_args *args,
                           struct gi_err *err)
{
    const struct gi_clahe_side *x = &args->shape.x, *y = &args->shape.y;
    int channels = args->src.channels;
    int width = channels == 1 ? LOOK_THREADS * 4 : LOOK_THREADS * 4 / channels - 4;
    if (args->src.type == GI_U8) {
        struct spans across = spans_of(x), down = spans_of(y);
        auto *kernel = args->sets > 1 ? clahe_look8<true> : clahe_look8<false>;
        kernel<<<dim3(blocks_of(&across, width), blocks_of(&down, LOOK_ROWS)), LOOK_THREADS, 0,
                 cu->stream>>>(*args, across, down);
    } else {
        dim3 grid(ceil_div((long long)x->n * channels, EACH_THREADS),
                  (unsigned)(y->n < 4096 ? y->n : 4096));
        auto *each = args->src.type == GI_U16 ? clahe_each<uint16_t> : clahe_each<float>;
        each<<<grid, EACH_THREADS, 0, cu->stream>>>(*args);
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status tiles(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_image *judge,
                            const struct gi_clahe *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct clahe_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.judge = judge ? *judge : *src;
    args.shape = gi_clahe_shape_of(src, spec);
    args.sets = judge ? 1 : gi_colour_channels(src);
    unsigned ntiles = (unsigned)(spec->across * spec->down), bins = args.shape.bins;
    size_t counts_nbytes = (size_t)ntiles * bins * sizeof(uint32_t);
    void *scratch;
    size_t tables_nbytes = (size_t)args.sets * ntiles * bins * (bins == BINS8 ? 1 : 2);
    enum gi_status status = gi_cuda_scratch(cu, &scratch, counts_nbytes + tables_nbytes, err);
    if (status)
        return status;
    args.counts = (uint32_t *)scratch;
    args.tables = (char *)scratch + counts_nbytes;
    bool bytes = src->type == GI_U8;
    auto *count = src->type == GI_U16 ? clahe_count_each<uint16_t> : clahe_count_each<float>;
    int blocks = 6; /* of a multiprocessor */
    if (bytes) {
        GI_CUDA_TRY(cudaFuncSetAttribute(clahe_count8, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         COUNT_NBYTES));
        GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, clahe_count8, COUNT_THREADS, COUNT_NBYTES)); /* one wave */
    }
    int parts = blocks * cu->units / (int)ntiles,
        most = ceil_div(args.shape.y.tile, PARTS_MIN_ROWS);
    dim3 grid(ntiles, (unsigned)(parts < 1 ? 1 : parts < most ? parts : most));
    for (int set = 0; set < args.sets; set++) {
        GI_CUDA_TRY(cudaMemsetAsync(args.counts, 0, counts_nbytes, cu->stream));
        if (bytes)
            clahe_count8<<<grid, COUNT_THREADS, COUNT_NBYTES, cu->stream>>>(args, set);
        else
            count<<<grid, COUNT_THREADS, 0, cu->stream>>>(args, set);
        GI_CUDA_LAUNCHED();
        if (bytes)
            clahe_table<uint8_t><<<ntiles, TABLE_THREADS, 0, cu->stream>>>(args, set);
        else
            clahe_table<uint16_t><<<ntiles, TABLE_THREADS, 0, cu->stream>>>(args, set);
        GI_CUDA_LAUNCHED();
    }
    return look(cu, &args, err);
}

static const struct gi_clahe_way ways[] = {
    {{"tiles", "everything"}, NULL, tiles},
};

const struct gi_ways gi_cuda_clahe_ways = GI_WAYS(clahe, GI_SAMPLE_TYPES, ways);

enum gi_status gi_cuda_clahe(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_image *judge,
                             const struct gi_clahe *spec, struct gi_err *err)
{
    GI_WAYS_RUN(gi_cuda_clahe_ways, ways, queue, src, (queue, src),
                (queue, dst, src, judge, spec, err), err);
}
