/* CLAHE of bytes. Counting uses private counters as in histogram.cu, with a bank per lane. For the
 * lookup, a thread owns four neighbouring samples of LOOK_ROWS rows. The tables of the four
 * surrounding tiles are interleaved in shared memory, so that one 32-bit load reads all four
 * values.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CLAHE_BYTES_CUH
#define GI_KERNELS_CUDA_CLAHE_BYTES_CUH

#include <limits.h>

#include "kernels/cuda/tone/clahe.cuh"

/* ---- counts ---- */

static __device__ __forceinline__ void count8(char *table, unsigned v, unsigned slot)
{
    atomicAdd((unsigned *)(table + (v << 8 | slot)), 1u);
}

/* Rows y0 to y1 - 1 and bytes x0 to x1 - 1 of a row, all inside the image: `across` pieces of 16
 * bytes per row, from piece `first` on. The samples of channel `set` are counted. */
struct pieces {
    int x0, x1, y0, y1, first, across, set;
};

template <int CHANNELS>
static __device__ __forceinline__ void count_piece(char *table, unsigned slot, const uint4 &piece,
                                                   int x, const struct pieces &pieces)
{
    const unsigned *words = (const unsigned *)&piece;
    /* the first sample of the channel; 16 is a multiple of 1, 2 and 4 */
    int skip = CHANNELS == 1 ? 0 : CHANNELS == 3 ? (pieces.set + 3 - x % 3) % 3 : pieces.set;
    if (x >= pieces.x0 && x + 16 <= pieces.x1) {
        unsigned from[4]; /* begin with this sample */
#pragma unroll
        for (int i = 0; i < 4; i++)
            from[i] = __funnelshift_r(words[i], i < 3 ? words[i + 1] : 0, 8 * skip);
#pragma unroll
        for (int k = 0; k < 16; k += CHANNELS)
            if (k < 15 || CHANNELS == 1 || skip == 0)
                atomicAdd((unsigned *)(table + __byte_perm(from[k / 4], slot, 0x5504 | k % 4 << 4)),
                          1u);
    } else {
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (x + k >= pieces.x0 && x + k < pieces.x1 && (k - skip) % CHANNELS == 0)
                count8(table, words[k / 4] >> k % 4 * 8 & 255, slot);
    }
}

template <int CHANNELS>
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
            count_piece<CHANNELS>(table, slot, batch[k], x[k], pieces);
    }
}

template <int CHANNELS>
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
    int inside = max(x0, min(x0 + sx.tile, sx.n)), from = x0 * CHANNELS, to = inside * CHANNELS;
    struct pieces pieces = {from, to, y0, y1, from / 16, (to + 15) / 16 - from / 16, set};
    if (inside > x0)
        count_pieces<CHANNELS>(args, table, slot, pieces);
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

/* ---- pixels ---- */

/* starts[t + 1] is the first pixel after the centre of tile t. */
struct spans {
    int tiles, starts[GI_CLAHE_MAX + 2];
};

/* Blocks divide each span into at most `size` pixels. Finds the pixels *from to *to - 1 of block
 * `index` and the tile before them; returns false if there is no such block. */
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

/* Parameters of a thread's four samples of a row: the weights of the tiles before and after, each
 * with the term -2^23 * weight; the tables; masks of bits to write and to change. */
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

/* Returns byte I of `four` as the float 2^23 + byte, by one __byte_perm() instead of a conversion.
 * fmaf(2^23 + byte, w, -2^23 * w), where the term is before_bulk or after_bulk, is then byte * w,
 * rounded once. */
template <int I> static __device__ __forceinline__ float byte_float(unsigned four)
{
    return __uint_as_float(__byte_perm(four, 0x4b000000u, 0x7550 | I));
}

/* Returns the four samples of `word`, interpolated between the tables of four tiles. An entry of
 * `tables` has the values of the upper left, upper right, lower left and lower right tile; c is the
 * weight of the upper tiles, and b is the weight of the lower tiles. With EACH every channel has
 * its own tables. */
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

/* Loads the tables of the tiles around (tx, ty), interleaved, one set after another, and the
 * weights of rows. */
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
        gi_clahe_tile(&sy, y + args.y, &b);
        weights[y - y0] = make_float2(b, __fsub_rn(1.0f, b));
    }
    __syncthreads();
}

/* Computes a thread's words of rows y0 to y1 - 1, with LOOK_AHEAD loads in flight. */
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

#endif
