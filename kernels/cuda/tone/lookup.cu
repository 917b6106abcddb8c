/* Lookup tables. Tables are kernel arguments, so that no launch waits for a copy, and the caller
 * may change its table at once.
 *
 * Bytes: a block has 32 copies of each table (64 words) in shared memory, so that each lane finds
 * its entry in a bank of its own. 16 bits and floats: tables are in global memory, read through the
 * L1 cache. (A copy of a table of 16 bits in shared memory saves 1 % of 8192 x 8192 samples.)
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/tone.h"

enum {
    LANES = 32,
    ENTRIES8 = 256,
    ENTRIES16 = 65536,
    TABLE16_NBYTES = 2 * ENTRIES16,
    TABLE32_NBYTES = 4 * ENTRIES16,
    THREADS16 = 1024,
    PART_NBYTES = 28 << 10, /* bytes of a table per launch; arguments have at most 32764 bytes */
};

struct table_args {
    struct gi_image dst, src;
    struct walk walk;
    unsigned keep[WORDS];
    const uint16_t *tables; /* 16 bits: device memory, PERIOD tables */
};

/* ---- bytes ---- */

struct bytes_args {
    struct table_args common;
    unsigned words[4][ENTRIES8 / 4];
};

template <int PERIOD>
static __global__ void __launch_bounds__(POINTWISE_THREADS) table_bytes(struct bytes_args args)
{
    __shared__ unsigned copies[PERIOD][ENTRIES8 / 4][LANES];
    for (unsigned i = threadIdx.x; i < PERIOD * ENTRIES8 / 4 * LANES; i += POINTWISE_THREADS)
        (&copies[0][0][0])[i] = (&args.words[0][0])[i / LANES];
    __syncthreads();
    const struct table_args &a = args.common;
    const char *mine = (const char *)&copies[0][0][threadIdx.x % LANES];
    unsigned x, y;
    walk_start(a.walk, &y, &x, blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    for (; y < (unsigned)a.src.height; walk_next(a.walk, &y, &x)) {
        uint4 piece = *piece_at(a.src, (int)x, (int)y);
        unsigned *words = (unsigned *)&piece, first = PERIOD == 3 ? x % 3 : 0;
        /* tables in the order of this piece's channels */
        const char *table[PERIOD];
#pragma unroll
        for (unsigned c = 0; c < PERIOD; c++) {
            unsigned from = first + c >= PERIOD ? first + c - PERIOD : first + c;
            table[c] = mine + from * sizeof copies[0];
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            unsigned in = words[i], entry[4];
#pragma unroll
            for (int s = 0; s < 4; s++) { /* entries 4 v' to 4 v' + 3 are v' rows down */
                unsigned v = in >> 8 * s & 255;
                unsigned four = *(const unsigned *)(table[(4 * i + s) % PERIOD] + (v >> 2) * 128);
                entry[s] = __byte_perm(four, 0, v & 3);
            }
            unsigned low = __byte_perm(entry[0], entry[1], 0x0040);
            unsigned high = __byte_perm(entry[2], entry[3], 0x0040);
            words[i] = (__byte_perm(low, high, 0x5410) & ~a.keep[i]) | (in & a.keep[i]);
        }
        *piece_at(a.dst, (int)x, (int)y) = piece;
    }
}

/* ---- 16 bits ---- */

struct part_args {
    uint4 *to;
    uint4 part[PART_NBYTES / sizeof(uint4)];
};

static __global__ void __launch_bounds__(POINTWISE_THREADS) put_part(const struct part_args args)
{
    unsigned i = blockIdx.x * POINTWISE_THREADS + threadIdx.x;
    args.to[i] = args.part[i];
}

/* PERIOD: number of samples after which the tables, those of a pixel's channels, repeat. */
template <int PERIOD>
static __global__ void __launch_bounds__(THREADS16) table_words(const struct table_args args)
{
    unsigned x, y, height = (unsigned)args.src.height;
    walk_start(args.walk, &y, &x, blockIdx.x * THREADS16 + threadIdx.x);
    uint4 next = y < height ? *piece_at(args.src, (int)x, (int)y) : make_uint4(0, 0, 0, 0);
    while (y < height) {
        uint4 piece = next, *to = piece_at(args.dst, (int)x, (int)y);
        unsigned *words = (unsigned *)&piece, first = PERIOD == 3 ? x * 2 % 3 : 0;
        unsigned table[PERIOD]; /* index of the table of each sample */
#pragma unroll
        for (unsigned c = 0; c < PERIOD; c++)
            table[c] = (first + c >= PERIOD ? first + c - PERIOD : first + c) * ENTRIES16;
        walk_next(args.walk, &y, &x);
        if (y < height) /* in flight while this piece is looked up */
            next = *piece_at(args.src, (int)x, (int)y);
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            unsigned in = words[i], entry[2];
#pragma unroll
            for (int s = 0; s < 2; s++) {
                unsigned v = in >> 16 * s & 65535;
                entry[s] = __ldg(&args.tables[table[(2 * i + s) % PERIOD] + v]);
            }
            unsigned word = entry[0] | entry[1] << 16;
            words[i] = (word & ~args.keep[i]) | (in & args.keep[i]);
        }
        *to = piece;
    }
}

/* ---- floats ---- */

struct floats_args {
    struct gi_image dst, src;
    int pieces;          /* per row */
    unsigned stays;      /* bit mask of channels that are copied */
    const float *tables; /* device memory: one per channel, or one */
    size_t each;         /* entries per table */
};

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    table_floats(const struct floats_args args)
{
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x),
        first = x * WORDS % args.src.channels;
    if (x >= args.pieces)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 piece = *piece_at(args.src, x, y);
        float *v = (float *)&piece;
        int c = first;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            if (v[i] == v[i] && !(args.stays >> c & 1))
                v[i] = __ldg(&args.tables[c * args.each + (size_t)gi_unit_bin(v[i])]);
            v[i] = canonical(v[i]);
            c = c + 1 == args.src.channels ? 0 : c + 1;
        }
        *piece_at(args.dst, x, y) = piece;
    }
}

/* ---- launchers ---- */

static void fill_args(struct table_args *args, struct gi_image *dst, const struct gi_image *src,
                      bool keeps, int threads)
{
    args->dst = *dst;
    args->src = *src;
    args->walk = walk_of(src, PIECE, (size_t)threads);
    keep_bits(args->keep, src, keeps);
}

/* Returns the number of blocks that are resident at once, or fewer if there are fewer pieces. */
static int blocks_of(const struct gi_image *src, int threads, int most)
{
    int blocks = ceil_div((long long)pieces_of(src) * src->height, threads);
    return blocks < most ? blocks : most;
}

static enum gi_status launch_bytes(struct gi_cuda_queue *cu, struct gi_image *dst,
                                   const struct gi_image *src, const void *const *tables,
                                   int period, bool keeps, struct gi_err *err)
{
    static void (*const kernels[])(struct bytes_args) = {NULL, table_bytes<1>, NULL, table_bytes<3>,
                                                         table_bytes<4>};
    struct bytes_args args = {};
    int fit = 0;
    for (int c = 0; c < period; c++)
        memcpy(args.words[c], tables[c % src->channels], ENTRIES8);
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernels[period], POINTWISE_THREADS, 0));
    int blocks = blocks_of(src, POINTWISE_THREADS, fit * cu->units);
    fill_args(&args.common, dst, src, keeps, blocks * POINTWISE_THREADS);
    kernels[period]<<<blocks, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Copies a table to device memory in stream order, by kernel arguments. */
static enum gi_status put_table(struct gi_cuda_queue *cu, char *to, const void *table,
                                int table_nbytes, struct gi_err *err)
{
    static_assert(sizeof(struct part_args) <= 32764, "more than a launch takes");
    struct part_args args;
    for (int at = 0; at < table_nbytes; at += PART_NBYTES) {
        args.to = (uint4 *)(to + at);
        int left = table_nbytes - at, nbytes = left < PART_NBYTES ? left : PART_NBYTES;
        memcpy(args.part, (const char *)table + at, (size_t)nbytes);
        put_part<<<nbytes / PIECE / POINTWISE_THREADS, POINTWISE_THREADS, 0, cu->stream>>>(args);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

static enum gi_status launch_words(struct gi_cuda_queue *cu, struct gi_image *dst,
                                   const struct gi_image *src, const void *const *tables,
                                   int period, bool keeps, struct gi_err *err)
{
    static void (*const kernels[])(struct table_args) = {NULL, table_words<1>, NULL, table_words<3>,
                                                         table_words<4>};
    struct table_args args = {};
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, (size_t)period * TABLE16_NBYTES, err);
    for (int c = 0; c < period && !status; c++)
        status = put_table(cu, (char *)scratch + (size_t)c * TABLE16_NBYTES,
                           tables[c % src->channels], TABLE16_NBYTES, err);
    if (status)
        return status;
    args.tables = (const uint16_t *)scratch;
    int blocks = blocks_of(src, THREADS16, 2 * cu->units);
    fill_args(&args, dst, src, keeps, blocks * THREADS16);
    kernels[period]<<<blocks, THREADS16, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status launch_floats(struct gi_cuda_queue *cu, struct gi_image *dst,
                                    const struct gi_image *src, const void *const *tables,
                                    bool keeps, struct gi_err *err)
{
    int colours = src->channels - keeps;
    struct floats_args args = {*dst, *src, pieces_of(src), keeps ? 1u << colours : 0, NULL, 0};
    void *scratch;
    for (int c = 0; c < colours; c++) {
        args.stays |= tables[c] ? 0 : 1u << c;
        if (tables[c] != tables[0])
            args.each = ENTRIES16;
    }
    enum gi_status status =
        gi_cuda_scratch(cu, &scratch, (size_t)(args.each ? colours : 1) * TABLE32_NBYTES, err);
    for (int c = 0; c < (args.each ? colours : 1) && !status; c++)
        if (tables[c])
            status = put_table(cu, (char *)scratch + (size_t)c * TABLE32_NBYTES, tables[c],
                               TABLE32_NBYTES, err);
    if (status)
        return status;
    args.tables = (const float *)scratch;
    table_floats<<<pointwise_grid(args.pieces, src->height), POINTWISE_THREADS, 0, cu->stream>>>(
        args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_pointwise_table(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src, const struct gi_pointwise *spec,
                                       struct gi_err *err)
{
    const void *tables[GI_MAX_CHANNELS];
    bool keeps = gi_has_alpha(src) && !spec->alpha_too, one = true;
    for (int c = 0; c < src->channels; c++) {
        tables[c] = spec->table[keeps && c == src->channels - 1 ? 0 : c];
        one = one && tables[c] == tables[0];
    }
    int period = one ? 1 : src->channels == 3 ? 3 : 4;
    if (src->type == GI_U8)
        return launch_bytes(gi_cuda(queue), dst, src, tables, period, keeps, err);
    if (src->type == GI_U16)
        return launch_words(gi_cuda(queue), dst, src, tables, period, keeps, err);
    return launch_floats(gi_cuda(queue), dst, src, tables, keeps, err);
}
