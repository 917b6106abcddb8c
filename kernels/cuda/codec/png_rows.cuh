/* The work of the PNG encoder on one image, and its first kernel, which filters the rows.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PNG_ROWS_CUH
#define GI_KERNELS_CUDA_PNG_ROWS_CUH

#include "kernels/cuda/common/measure.h"
#include "kernels/png_encode.h"

enum {
    ROW_THREADS = 256,
    ADLER = 65521, /* base of Adler-32 (RFC 1950) */
};

enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

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

/* Returns byte i of a row in PNG's order. */
static __device__ inline int byte_of(const struct encoding &e, const uint8_t *row, uint32_t i)
{
    return e.src.type == GI_U8 ? row[i] : row[i ^ 1];
}

/* The byte, and those to the left, above, and above the left. */
struct near {
    int v, a, b, c;
};

static __device__ inline struct near near_of(const struct encoding &e, int y, uint32_t i)
{
    const uint8_t *row = (const uint8_t *)e.src.data + (size_t)y * e.src.stride;
    const uint8_t *above = row - e.src.stride;
    const bool left = i >= e.pixel_nbytes;
    struct near n;
    n.v = byte_of(e, row, i);
    n.a = left ? byte_of(e, row, i - e.pixel_nbytes) : 0;
    n.b = y ? byte_of(e, above, i) : 0;
    n.c = y && left ? byte_of(e, above, i - e.pixel_nbytes) : 0;
    return n;
}

static __device__ inline int paeth(int a, int b, int c)
{
    const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static __device__ inline int filtered(const struct near &n, int kind)
{
    const int predicted = kind == NONE      ? 0
                          : kind == SUB     ? n.a
                          : kind == UP      ? n.b
                          : kind == AVERAGE ? (n.a + n.b) / 2
                                            : paeth(n.a, n.b, n.c);
    return (n.v - predicted) & 255;
}

static __global__ void __launch_bounds__(ROW_THREADS) filter_rows(struct encoding e)
{
    __shared__ device_u64 costs[FILTERS], sums[2];
    const int y = (int)blockIdx.x, number = y / e.strip_rows;
    device_u64 mine[FILTERS] = {0, 0, 0, 0, 0};
    if (threadIdx.x < FILTERS)
        costs[threadIdx.x] = 0;
    if (threadIdx.x < 2)
        sums[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < e.row_nbytes; i += ROW_THREADS) {
        const struct near n = near_of(e, y, i);
#pragma unroll
        for (int kind = NONE; kind < FILTERS; kind++) {
            const int byte = filtered(n, kind);
            mine[kind] += (uint32_t)min(byte, 256 - byte);
        }
    }
    for (int kind = NONE; kind < FILTERS; kind++) {
        const device_u64 sum = warp_sum(mine[kind]);
        if (threadIdx.x % WARP == 0)
            atomicAdd(&costs[kind], sum);
    }
    __syncthreads();
    int best = PAETH;
    for (int kind = PAETH - 1; kind >= NONE; kind--)
        best = costs[kind] < costs[best] ? kind : best;
    /* Store. */
    const uint32_t at = (uint32_t)(y - number * e.strip_rows) * (1 + e.row_nbytes);
    const uint32_t left = nbytes_of(e, number) - at; /* bytes of the strip from this row on */
    uint8_t *out = e.raw + (size_t)number * e.pitch + at;
    device_u64 sum = 0, weighted = 0;
    for (uint32_t i = threadIdx.x; i < 1 + e.row_nbytes; i += ROW_THREADS) {
        const uint32_t byte = i ? (uint32_t)filtered(near_of(e, y, i - 1), best) : (uint32_t)best;
        out[i] = (uint8_t)byte;
        sum += byte;
        weighted += (device_u64)((left - i) % ADLER) * byte;
    }
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
