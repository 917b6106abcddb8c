/* The work of the PNG encoder on one image, and its first kernel, which filters the rows.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PNG_ROWS_CUH
#define GI_KERNELS_CUDA_PNG_ROWS_CUH

#include "kernels/cuda/common/measure.h"
#include "kernels/png_encode.h"

enum { ROW_THREADS = 256 };

/* State of a strip. */
struct strip {
    device_u64 sum, weighted; /* of the filtered bytes, and each times the bytes from it on */
    device_u64 at, nbytes;    /* of the result */
    uint32_t suits;
};

/* State of 64 KiB of a strip. */
struct block {
    device_u64 start; /* first bit in the strip's stream */
    uint32_t nbits, head_nbits, nitems, stored;
    struct gi_runs_item items[GI_RUNS_ITEMS_MAX]; /* its head */
    struct gi_runs_item end;                      /* code of the end */
    uint32_t counts[GI_RUNS_TOKENS];
    uint32_t bits[GI_RUNS_TOKENS];
    uint8_t nbits_of[GI_RUNS_TOKENS];
};

/* The work on one image. Pointers are to device memory. */
struct encoding {
    struct gi_image src;
    uint32_t row_nbytes, pixel_nbytes;
    int strip_rows, nstrips;
    uint32_t strip_nbytes; /* filtered bytes of a strip, except for the last one */
    uint32_t last_nbytes;
    size_t pitch; /* bytes from strip to strip in `raw` */
    uint32_t strip_blocks;
    uint8_t *raw;
    uint8_t *folded; /* 2 * GI_RUNS_SAMPLE bytes per strip */
    struct strip *strips;
    struct block *blocks;
    uint32_t *bytes; /* the result, zeros at first */
};

static __device__ inline uint32_t nbytes_of(const struct encoding &e, int strip)
{
    return strip == e.nstrips - 1 ? e.last_nbytes : e.strip_nbytes;
}

/* ---- filters ---- */

/* Four bytes of a row in PNG's order, the first one in the lowest bits, and those to the left,
 * above, and above the left. Bytes outside the image are 0. */
struct near {
    uint32_t v, a, b, c;
};

/* Returns word k of the row at `row`, which is NULL above the image. */
static __device__ inline uint32_t word_of(const struct encoding &e, const uint8_t *row, int k)
{
    if (!row || k < 0)
        return 0;
    const uint32_t word = ((const uint32_t *)row)[k];
    return e.src.type == GI_U8 ? word : __byte_perm(word, 0, 0x2301);
}

/* Returns the bytes that are one pixel to the left of word k. */
static __device__ inline uint32_t left_of(const struct encoding &e, const uint8_t *row, int k)
{
    const int words = (int)e.pixel_nbytes / 4, bytes = (int)e.pixel_nbytes % 4;
    const uint32_t word = word_of(e, row, k - words);
    return bytes ? __funnelshift_l(word_of(e, row, k - words - 1), word, 8 * bytes) : word;
}

static __device__ inline struct near near_of(const struct encoding &e, int y, int k)
{
    const uint8_t *row = (const uint8_t *)e.src.data + (size_t)y * e.src.stride;
    const uint8_t *above = y ? row - e.src.stride : NULL;
    return {word_of(e, row, k), left_of(e, row, k), word_of(e, above, k), left_of(e, above, k)};
}

/* For each byte, returns 255 if x <= y, else 0. Bytes are compared in pairs of 16 bits, whose upper
 * bits are then the results. */
static __device__ inline uint32_t at_most(uint32_t x, uint32_t y)
{
    const uint32_t even = 0x00ff00ff, upper = 0x80008000;
    const uint32_t low = (y & even) + upper - (x & even);
    const uint32_t high = (y >> 8 & even) + upper - (x >> 8 & even);
    const uint32_t ones = __byte_perm(low, high, 0x7351) >> 7 & 0x01010101;
    return ones * 255;
}

/* The predictor Paeth (PNG 1.2, 6.6) takes the first of a, b and c that is nearest to a + b - c.
 * The distances are |b - c|, |a - c| and |b - c + a - c|. The third is not the least if both
 * differences have the same sign, else it is the difference of the first two. */
static __device__ inline uint32_t paeth(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t pa = __vabsdiffu4(b, c), pb = __vabsdiffu4(a, c);
    const uint32_t same = ~(at_most(c, a) ^ at_most(c, b));
    const uint32_t pc = same | __vabsdiffu4(pa, pb);
    const uint32_t take_a = at_most(pa, pb) & at_most(pa, pc), take_b = at_most(pb, pc);
    return (take_a & a) | (~take_a & ((take_b & b) | (~take_b & c)));
}

static __device__ inline uint32_t filtered(const struct near &n, int kind)
{
    const uint32_t predicted = kind == GI_PNG_NONE  ? 0
                               : kind == GI_PNG_SUB ? n.a
                               : kind == GI_PNG_UP  ? n.b
                               : kind == GI_PNG_AVERAGE
                                   ? (n.a & n.b) + ((n.a ^ n.b) >> 1 & 0x7f7f7f7f)
                                   : paeth(n.a, n.b, n.c);
    return __vsub4(n.v, predicted);
}

/* Returns the number of bytes of word k that belong to the row, at most 4. */
static __device__ inline uint32_t used_of(const struct encoding &e, int k)
{
    return min(4u, e.row_nbytes - 4 * (uint32_t)k);
}

/* Stores a filtered row, and adds it to the sums of its strip. `left` is the number of bytes of the
 * strip from this row on. Word k of a row begins at its byte 1 + 4 k, after the filter's byte. */
static __device__ inline void store_row(const struct encoding &e, uint8_t *out, int y, int kind,
                                        uint32_t left, device_u64 *sum, device_u64 *weighted)
{
    const int nwords = (int)((e.row_nbytes + 3) / 4);
    *sum = *weighted = 0;
    if (threadIdx.x == 0) {
        out[0] = (uint8_t)kind;
        *sum = (device_u64)kind;
        *weighted = (device_u64)(left % GI_ADLER_BASE) * (device_u64)kind;
    }
    for (int k = (int)threadIdx.x; k < nwords; k += ROW_THREADS) {
        const uint32_t used = used_of(e, k), at = 1 + 4 * (uint32_t)k;
        const uint32_t word = filtered(near_of(e, y, k), kind) & ~0u >> (32 - 8 * used);
        const uint32_t bytes = __dp4a(word, 0x01010101u, 0u);
        for (uint32_t i = 0; i < used; i++)
            out[at + i] = (uint8_t)(word >> 8 * i);
        *sum += bytes;
        /* The weights of the bytes are left - at, left - at - 1 and so on. */
        *weighted += (device_u64)((left - at) % GI_ADLER_BASE + GI_ADLER_BASE) * bytes -
                     __dp4a(word, 0x03020100u, 0u);
    }
}

static __global__ void __launch_bounds__(ROW_THREADS) filter_rows(struct encoding e)
{
    __shared__ device_u64 costs[GI_PNG_FILTERS], sums[2];
    const int y = (int)blockIdx.x, number = y / e.strip_rows;
    uint32_t mine[GI_PNG_FILTERS] = {0, 0, 0, 0, 0}; /* a row has less than 2^31 bytes */
    if (threadIdx.x < GI_PNG_FILTERS)
        costs[threadIdx.x] = 0;
    if (threadIdx.x < 2)
        sums[threadIdx.x] = 0;
    __syncthreads();
    const int nwords = (int)((e.row_nbytes + 3) / 4);
    for (int k = (int)threadIdx.x; k < nwords; k += ROW_THREADS) {
        const struct near n = near_of(e, y, k);
        const uint32_t mask = ~0u >> (32 - 8 * used_of(e, k));
#pragma unroll
        for (int kind = GI_PNG_NONE; kind < GI_PNG_FILTERS; kind++)
            mine[kind] = __dp4a(__vabs4(filtered(n, kind) & mask), 0x01010101u, mine[kind]);
    }
    for (int kind = GI_PNG_NONE; kind < GI_PNG_FILTERS; kind++) {
        const device_u64 sum = warp_sum((device_u64)mine[kind]);
        if (threadIdx.x % WARP == 0)
            atomicAdd(&costs[kind], sum);
    }
    __syncthreads();
    int best = GI_PNG_PAETH;
    for (int kind = GI_PNG_PAETH - 1; kind >= GI_PNG_NONE; kind--)
        best = costs[kind] < costs[best] ? kind : best;
    /* Store. */
    const uint32_t at = (uint32_t)(y - number * e.strip_rows) * (1 + e.row_nbytes);
    const uint32_t left = nbytes_of(e, number) - at; /* bytes of the strip from this row on */
    device_u64 sum, weighted;
    store_row(e, e.raw + (size_t)number * e.pitch + at, y, best, left, &sum, &weighted);
    sum = warp_sum(sum);
    weighted = warp_sum(weighted);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(&sums[0], sum);
        atomicAdd(&sums[1], weighted);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&e.strips[number].sum, sums[0]);
        atomicAdd(&e.strips[number].weighted, sums[1]);
    }
}

#endif
