/* Lookup tables. Tables are kernel arguments, unless the stream is without work, so that no launch
 * waits for a copy, and the caller may change its table at once.
 *
 * Bytes: a block has 32 copies of each table (64 words) in shared memory, so that each lane finds
 * its entry in a bank of its own. 16 bits and floats: tables are in global memory, read through the
 * L1 cache. (A copy of a table of 16 bits in shared memory saves 1 % of 8192 x 8192 samples.) A
 * single table of floats, which is larger than the cache, is copied to shared memory as far as it
 * fits.
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
    const void *tables; /* 16 bits: device memory, PERIOD tables; floats: one */
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
    const uint16_t *tables = (const uint16_t *)args.tables;
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
                entry[s] = __ldg(&tables[table[(2 * i + s) % PERIOD] + v]);
            }
            unsigned word = entry[0] | entry[1] << 16;
            words[i] = (word & ~args.keep[i]) | (in & args.keep[i]);
        }
        *to = piece;
    }
}

/* ---- floats ---- */

/* Returns gi_unit_bin(v), without branches. */
static __device__ __forceinline__ unsigned unit_bin(float v)
{
    return min((unsigned)(__saturatef(v) * 65536.0f), 65535u);
}

/* Loads a piece of an image. It gets no room in the L1 cache. */
static __device__ __forceinline__ uint4 piece_load(const uint4 *piece)
{
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(piece));
    return v;
}

/* Maps by one table. Its first `nshared` entries, a multiple of 4, are in shared memory. The others
 * are read through the L1 cache. A block uses a whole multiprocessor. */
static __global__ void __launch_bounds__(THREADS16)
    table_shared(const struct table_args args, unsigned nshared)
{
    extern __shared__ uint4 shared_pieces[];
    const float *shared = (const float *)shared_pieces, *table = (const float *)args.tables;
    unsigned x, y, height = (unsigned)args.src.height;
    walk_start(args.walk, &y, &x, blockIdx.x * THREADS16 + threadIdx.x);
    uint4 next =
        y < height ? piece_load(piece_at(args.src, (int)x, (int)y)) : make_uint4(0, 0, 0, 0);
    for (unsigned i = threadIdx.x; i < nshared / 4; i += THREADS16)
        shared_pieces[i] = ((const uint4 *)table)[i];
    __syncthreads();
    while (y < height) {
        uint4 piece = next, *to = piece_at(args.dst, (int)x, (int)y);
        float *v = (float *)&piece;
        walk_next(args.walk, &y, &x);
        if (y < height) /* in flight while this piece is looked up */
            next = piece_load(piece_at(args.src, (int)x, (int)y));
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            unsigned bin = unit_bin(v[i]);
            float entry = shared[min(bin, nshared - 1)];
            if (bin >= nshared)
                entry = __ldg(&table[bin]);
            v[i] = canonical(args.keep[i] || v[i] != v[i] ? v[i] : entry);
        }
        *to = piece;
    }
}

struct floats_args {
    struct gi_image dst, src;
    int pieces;          /* per row */
    unsigned stays;      /* bit mask of channels that are copied */
    const float *tables; /* device memory: one per channel */
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
                v[i] = __ldg(&args.tables[(size_t)c * ENTRIES16 + unit_bin(v[i])]);
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

/* Copies a table to device memory in stream order. By kernel arguments this takes 16 us per part. A
 * copy takes less, but would wait for the work that is enqueued before it, so that only a stream
 * without work gets one. */
static enum gi_status put_table(struct gi_cuda_queue *cu, char *to, const void *table,
                                int table_nbytes, struct gi_err *err)
{
    static_assert(sizeof(struct part_args) <= 32764, "more than a launch takes");
    struct part_args args;
    if (cudaStreamQuery(cu->stream) == cudaSuccess)
        return gi_cuda_copy_to_device(cu, to, (size_t)table_nbytes, table, (size_t)table_nbytes,
                                      (size_t)table_nbytes, 1, err);
    cudaGetLastError(); /* cudaErrorNotReady is no error */
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
    args.tables = scratch;
    int blocks = blocks_of(src, THREADS16, 2 * cu->units);
    fill_args(&args, dst, src, keeps, blocks * THREADS16);
    kernels[period]<<<blocks, THREADS16, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Maps floats by one table. */
static enum gi_status launch_shared(struct gi_cuda_queue *cu, struct gi_image *dst,
                                    const struct gi_image *src, const void *table, bool keeps,
                                    struct gi_err *err)
{
    int most = cu->shared_nbytes / PIECE * PIECE;
    int nbytes = most < TABLE32_NBYTES ? most : TABLE32_NBYTES;
    struct table_args args = {};
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, TABLE32_NBYTES, err);
    if (!status)
        status = put_table(cu, (char *)scratch, table, TABLE32_NBYTES, err);
    if (status)
        return status;
    args.tables = scratch;
    int blocks = blocks_of(src, THREADS16, cu->units);
    fill_args(&args, dst, src, keeps, blocks * THREADS16);
    GI_CUDA_ALLOW_SHARED(cu, table_shared);
    table_shared<<<blocks, THREADS16, (size_t)nbytes, cu->stream>>>(args, (unsigned)nbytes / 4);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Maps floats by a table per channel. A channel without a table is copied. */
static enum gi_status launch_floats(struct gi_cuda_queue *cu, struct gi_image *dst,
                                    const struct gi_image *src, const void *const *tables,
                                    bool keeps, struct gi_err *err)
{
    int colors = src->channels - keeps;
    struct floats_args args = {*dst, *src, pieces_of(src), keeps ? 1u << colors : 0, NULL};
    void *scratch;
    for (int c = 0; c < colors; c++)
        args.stays |= tables[c] ? 0 : 1u << c;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, (size_t)colors * TABLE32_NBYTES, err);
    for (int c = 0; c < colors && !status; c++)
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
    return one && tables[0] ? launch_shared(gi_cuda(queue), dst, src, tables[0], keeps, err)
                            : launch_floats(gi_cuda(queue), dst, src, tables, keeps, err);
}
