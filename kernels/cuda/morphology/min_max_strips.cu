/* Min/max filter with a rectangular structuring element whose rows, or minima of 8 rows, fit in
 * shared memory. Sources: see min_max.cu.
 *
 * A block owns a strip of columns, including the halo, and a band of rows. Every second block moves
 * up its band, the others move down: two bands begin, or end, at their common edge at the same
 * time, and rows that both need are read from memory once. A thread owns 16 bytes of each row.
 * Bytes are compared as the upper bytes of 16-bit halves, even and odd bytes apart (struct
 * line_keys), because there is no instruction for minima of four bytes.
 *
 * A step makes ROWS rows: load (the rows of the next step), compute columns, exchange along the
 * rows (min_max_lines.cuh), store. Columns:
 *
 * - up to FEW rows: the rows of the step and FEW - 1 rows before them are in registers.
 *
 * - up to LOW rows, of bytes LOW_BYTES: van Herk/Gil-Werman, in groups of as many rows as the
 * element is high. A ring buffer in shared memory has `height` rows. After the last row of a group
 *   ring_close() replaces each by the minimum of itself and all later rows of the group (backward
 *   minima); then the next group overwrites them row by row. The minimum of the rows of the next
 *   group, `below`, is in registers: column minimum = min(ring[slot], below).
 *
 * - others: groups and blocks of GROUP rows. The ring buffer holds the minima of blocks, and the
 *   rows of a window's first block are loaded again, from the L2 cache. Their backward minima are
 * in registers for the first half of a group, in `from` for the second.
 *
 *       row i of block g to its end | whole blocks             | a part of another block
 *       from[i]                     | whole, of the ring       | part, row by row (registers)
 *
 * The loop over the steps is not unrolled, so that it fits in the instruction cache.
 *
 * Example: 8-bit gray, 63 x 63: a thread has 8 minima of blocks and 4 backward minima of 16 bytes
 * in shared memory, and 148 bytes for the exchange. SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/morphology/min_max_lines.cuh"
#include "kernels/morphology.h"

enum {
    MOST_THREADS = 512,
    LEAST_WARPS = 4,
    GROUP = 8, /* rows of a block */
    LOW = 32,  /* maximum rows of elements of low_strip() */
    LOW_BYTES = 16,
    FEW = 5, /* maximum rows of elements of few_strip() */
};

struct strips_args {
    struct box_rows rows;
    struct target dst;
    struct line_spec line;
    int height, anchor_y;
    int before, across; /* number of chunks of a block: in the left halo; with results */
    int band;           /* rows per block */
    int ring;           /* rows of the ring buffer: source rows, or minima of blocks of rows */
    bool high;          /* minima of blocks of rows */
    unsigned turn;
    bool keep_alpha;
};

/* Returns the bytes of shared memory per thread: the ring buffer, backward minima of the rows of a
 * step, and the exchange along rows. */
static inline int shared_of(const struct strips_args *args, int nbytes, int channels)
{
    return NBYTES * (args->ring + (args->high ? ROWS : 0)) + line_nbytes(nbytes, channels);
}

/* Stores a thread's keys of a row, at `row`, which is y as a row of the image, but at most the n
 * samples that remain in the image row. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void strips_store(unsigned *words, const struct strips_args *args,
                                                    struct box_chunk chunk, int y, int n)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = sizeof(T) == 4 ? min_max_bits(words[j], args->turn) : words[j] ^ args->turn;
    if (PIXEL / (int)sizeof(T) % 2 == 0 && args->keep_alpha) {
        unsigned source[4];
        chunk_load_inside<T, 4>(source, chunk, y);
#pragma unroll
        for (int j = 0; j < 4; j++)
            words[j] =
                (words[j] & ~alpha_bits<T, PIXEL>(j)) | (source[j] & alpha_bits<T, PIXEL>(j));
    }
    min_max_put<T>(&args->dst, words, chunk.sample, y, n);
}

/* Returns the keys of samples. The complement of a word, for a maximum, is -word - 1: multiply-adds
 * leave the units that compute minima alone. */
template <typename T>
static __device__ __forceinline__ line_keys<T> strips_keys(uint4 words, unsigned turn)
{
    unsigned w[4] = {words.x, words.y, words.z, words.w}, sign = turn | 1;
    line_keys<T> keys;
#pragma unroll
    for (int p = 0; p < line_keys<T>::PARTS; p++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            keys.v[p][j] = sizeof(T) == 4             ? min_max_key(w[j], turn)
                           : sizeof(T) == 1 && p == 0 ? w[j] * (sign << 8) + (turn << 8)
                                                      : w[j] * sign + turn;
    return keys;
}

template <typename T> static __device__ __forceinline__ line_keys<T> greatest_keys(void)
{
    return keys_split<T>(make_uint4(~0u, ~0u, ~0u, ~0u));
}

/* Computes backward minima: a row of the ring buffer becomes the minimum of itself and later
 * rows. */
template <typename T>
static __device__ __forceinline__ void ring_close(uint4 *ring, int height, int n)
{
    line_keys<T> best = keys_split<T>(ring[(height - 1) * n]);
#pragma unroll 4
    for (int i = height - 2; i >= 0; i--) {
        best = keys_least(best, keys_split<T>(ring[i * n]));
        ring[i * n] = keys_join(best);
    }
}

/* What a block does with the columns of a band of rows. Rows are numbered in the order in which the
 * block moves, `step` is 1 or -1: row i of the source is row top + step * i of the image, and row i
 * of the result is row y + step * i. Neighbouring bands begin, or end, at their common edge at the
 * same time, so that the rows that both need are read from memory once. */
template <typename T> struct strip {
    struct box_chunk chunk;
    uint4 *columns; /* shared memory: the thread's part of the ring buffer */
    uint4 *from;    /* and of ROWS backward minima */
    struct line<T> line;
    int y, top, step, rows;
    int samples; /* from the thread's chunk to the row's end */
    bool makes;  /* whether the thread has results */
};

template <typename T>
static __device__ __forceinline__ strip<T> strip_of(const struct strips_args *args, uint4 *shared)
{
    enum { UNIT = NBYTES / (int)sizeof(T) };
    int t = (int)threadIdx.x, n = (int)blockDim.x, height = args->rows.src.height;
    int sample = ((int)blockIdx.x * args->across - args->before + t) * UNIT;
    strip<T> strip;
    strip.chunk = chunk_at(&args->rows, sample, (int)sizeof(T));
    strip.columns = shared + t;
    strip.from = strip.columns + args->ring * n;
    strip.line = line_at<T>((unsigned *)(shared + (args->ring + (args->high ? ROWS : 0)) * n));
    strip.y = (int)blockIdx.y * args->band;
    strip.rows = min(args->band, height - strip.y);
    strip.step = blockIdx.y % 2 ? -1 : 1;
    strip.y = strip.step < 0 ? strip.y + strip.rows - 1 : strip.y;
    strip.top = strip.y - args->anchor_y + (strip.step < 0 ? args->height - 1 : 0);
    strip.samples = args->rows.src.width * args->rows.src.channels - sample;
    strip.makes = t >= args->before && t < args->before + args->across && strip.samples > 0;
    chunk_wait(&args->rows, &strip.chunk);
    return strip;
}

/* Loads a thread's samples of source rows i to i + N - 1. `inside`: these rows are inside the
 * image, which is the same for all threads of a block. */
template <typename T, int N>
static __device__ __forceinline__ void strips_load(uint4 *rows, const struct strips_args *args,
                                                   strip<T> *strip, int i, bool inside)
{
    unsigned words[N][4];
    int y = strip->top + strip->step * i;
    if (inside)
#pragma unroll
        for (int r = 0; r < N; r++, y += strip->step)
            chunk_load_inside<T, 4>(words[r], strip->chunk, y);
    else
#pragma unroll
        for (int r = 0; r < N; r++, y += strip->step)
            chunk_load<T, 4>(words[r], &args->rows, strip->chunk, y);
#pragma unroll
    for (int r = 0; r < N; r++)
        rows[r] = make_uint4(words[r][0], words[r][1], words[r][2], words[r][3]);
}

/* Returns whether source rows i to i + n - 1 are inside the image. */
template <typename T>
static __device__ __forceinline__ bool rows_inside(const struct strips_args *args, strip<T> *strip,
                                                   int i, int n)
{
    int a = strip->top + strip->step * i, b = a + strip->step * (n - 1);
    return min(a, b) >= 0 && max(a, b) < args->rows.src.height;
}

/* Computes the minima along the rows of column minima v, and stores them as rows i and following of
 * the result. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void strips_make(const struct strips_args *args, strip<T> *strip,
                                                   const line_keys<T> (&v)[ROWS], int i)
{
    unsigned words[ROWS][4];
    least_along<T, PIXEL / (int)sizeof(T)>(words, v, &args->line, &strip->line, strip->makes);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (strip->makes && i + r < strip->rows)
            strips_store<T, PIXEL>(words[r], args, strip->chunk, strip->y + strip->step * (i + r),
                                   strip->samples);
}

/* Elements of up to FEW rows: the FEW - 1 rows before those of a step are in registers. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void few_strip(const struct strips_args *args, strip<T> *strip)
{
    enum { OLD = FEW - 1 };
    static_assert(OLD == ROWS, "the rows of a step become the old ones");
    int height = args->height, row = height - 1; /* first new row of a step */
    uint4 rows[OLD + ROWS];
    strips_load<T, OLD>(rows, args, strip, row - OLD, false);
    strips_load<T, ROWS>(rows + OLD, args, strip, row, false);
    for (int y = 0; y < strip->rows; y += ROWS) {
        line_keys<T> k[OLD + ROWS], v[ROWS];
#pragma unroll
        for (int i = 0; i < OLD + ROWS; i++)
            k[i] = strips_keys<T>(rows[i], args->turn);
        /* Load the rows of the next step. */
        row += ROWS;
#pragma unroll
        for (int i = 0; i < OLD; i++)
            rows[i] = rows[i + ROWS];
        strips_load<T, ROWS>(rows + OLD, args, strip, row, rows_inside(args, strip, row, ROWS));
        /* Compute columns. */
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            v[r] = height == 1   ? k[r + 4]
                   : height == 2 ? keys_least<T>(k[r + 3], k[r + 4])
                                 : keys_least3<T>(k[r + 2], k[r + 3], k[r + 4]);
        if (height > 3)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                v[r] = height == 4 ? keys_least<T>(v[r], k[r + 1])
                                   : keys_least3<T>(v[r], k[r + 1], k[r]);
        strips_make<T, PIXEL>(args, strip, v, y);
    }
}

/* Elements of few rows. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void low_strip(const struct strips_args *args, strip<T> *strip)
{
    int n = (int)blockDim.x, height = args->height, slot = 0, row = height;
    uint4 *ring = strip->columns, next[ROWS];
    line_keys<T> below = greatest_keys<T>();
#pragma unroll 4
    for (int i = 0; i < height; i++) {
        uint4 fresh;
        strips_load<T, 1>(&fresh, args, strip, i, false);
        ring[i * n] = keys_join(strips_keys<T>(fresh, args->turn));
    }
    ring_close<T>(ring, height, n);
    strips_load<T, ROWS>(next, args, strip, row, false);
    for (int y = 0; y < strip->rows; y += ROWS) {
        line_keys<T> v[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            line_keys<T> fresh = strips_keys<T>(next[r], args->turn);
            v[r] = keys_least(keys_split<T>(ring[slot * n]), below);
            /* van Herk/Gil-Werman: update the forward minimum; at the end of the group compute
             * backward minima. */
            ring[slot * n] = keys_join(fresh);
            below = keys_least(below, fresh);
            if (++slot == height) {
                ring_close<T>(ring, height, n);
                below = greatest_keys<T>();
                slot = 0;
            }
        }
        row += ROWS;
        strips_load<T, ROWS>(next, args, strip, row, rows_inside(args, strip, row, ROWS));
        strips_make<T, PIXEL>(args, strip, v, y);
    }
}

/* Computes backward minima of ROWS rows: v[r] is that of row r and all later rows of its block. */
template <typename T>
static __device__ __forceinline__ void rows_close(line_keys<T> *v, line_keys<T> *best,
                                                  const uint4 *own, unsigned turn)
{
#pragma unroll
    for (int r = ROWS - 1; r >= 0; r--)
        v[r] = *best = keys_least(*best, strips_keys<T>(own[r], turn));
}

/* Elements of more than GROUP rows. Source rows are in blocks of GROUP rows, as results are in
 * groups. The window of result i of group g consists of rows i to GROUP - 1 of block g, of whole
 * blocks, and of a part of another block. A step is half a group. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void high_strip(const struct strips_args *args, strip<T> *strip)
{
    static_assert(GROUP == 2 * ROWS, "a step is half a group");
    int n = (int)blockDim.x, height = args->height, slot = 1 % args->ring, row = GROUP;
    int first = slot; /* slot of the block after the group's */
    uint4 next[ROWS], own[ROWS];
    line_keys<T> part = greatest_keys<T>(); /* minimum of the rows of the last block so far */
#pragma unroll 4
    for (; row < height - 1; row++) {
        uint4 fresh;
        strips_load<T, 1>(&fresh, args, strip, row, false);
        part = keys_least(part, strips_keys<T>(fresh, args->turn));
        if (row % GROUP == GROUP - 1) {
            strip->columns[slot * n] = keys_join(part);
            slot = slot + 1 == args->ring ? 0 : slot + 1;
            part = greatest_keys<T>();
        }
    }
    line_keys<T> v[ROWS], whole, best = greatest_keys<T>(); /* best: of the block's last rows */
    strips_load<T, ROWS>(own, args, strip, ROWS, false);
    rows_close<T>(v, &best, own, args->turn);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        strip->from[r * n] = keys_join(v[r]);
    strips_load<T, ROWS>(own, args, strip, 0, false);
    strips_load<T, ROWS>(next, args, strip, row, false);
#pragma unroll 1 /* the loop fits in the instruction cache */
    for (int y = 0; y < strip->rows; y += ROWS) {
        bool half = y % GROUP;
        if (half) {
            line_keys<T> close[ROWS];
            best = greatest_keys<T>();
            rows_close<T>(close, &best, own, args->turn); /* of the next block's last rows */
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                v[r] = keys_split<T>(strip->from[r * n]);
                strip->from[r * n] = keys_join(close[r]);
            }
        } else {
            rows_close<T>(v, &best, own, args->turn);
            whole = greatest_keys<T>();
            for (int block = first; block != slot; block = block + 1 == args->ring ? 0 : block + 1)
                whole = keys_least(whole, keys_split<T>(strip->columns[block * n]));
            first = first + 1 == args->ring ? 0 : first + 1;
        }
        /* Compute columns. */
#pragma unroll
        for (int r = 0; r < ROWS; r++, row++) {
            part = keys_least(part, strips_keys<T>(next[r], args->turn));
            v[r] = keys_least3(v[r], whole, part);
            if (row % GROUP == GROUP - 1) {
                strip->columns[slot * n] = keys_join(part);
                slot = slot + 1 == args->ring ? 0 : slot + 1;
                whole = keys_least(whole, part);
                part = greatest_keys<T>();
            }
        }
        /* Load the rows of the next step. Exchange along the rows, store. */
        bool inside = rows_inside(args, strip, y, row + 2 * GROUP - y);
        strips_load<T, ROWS>(next, args, strip, row, inside);
        strips_load<T, ROWS>(own, args, strip, y + (half ? (int)ROWS : GROUP + (int)ROWS), inside);
        strips_make<T, PIXEL>(args, strip, v, y);
    }
}

template <typename T, int PIXEL, bool HIGH>
static __device__ __forceinline__ void strip_make(const struct strips_args &args, uint4 *shared)
{
    strip<T> strip = strip_of<T>(&args, shared);
    if (HIGH)
        high_strip<T, PIXEL>(&args, &strip);
    else if (args.height <= FEW)
        few_strip<T, PIXEL>(&args, &strip);
    else
        low_strip<T, PIXEL>(&args, &strip);
}

template <int CHANNELS, bool HIGH>
static __global__ void __launch_bounds__(MOST_THREADS)
    min_max_strips(const __grid_constant__ struct strips_args args)
{
    extern __shared__ uint4 shared[];
    SAMPLE_TYPES(args.rows.src.type, strip_make<T, CHANNELS *(int)sizeof(T), HIGH>(args, shared));
}

/* Divides the work: fills all members of `args` except the images. Returns the number of threads
 * per block, or 0 if a block with this much shared memory would be too small. */
static int divide(struct strips_args *args, const struct gi_cuda_queue *cu,
                  const struct gi_image *src, const struct gi_min_max *spec)
{
    int pixel = src->channels * (int)gi_type_nbytes(src->type), threads = 0;
    int after = ceil_div((spec->width - 1LL - spec->anchor_x) * pixel, NBYTES);
    double best = INFINITY;
    int nbytes = (int)gi_type_nbytes(src->type), samples = NBYTES / nbytes;
    args->line.width = spec->width;
    args->line.reach = spec->anchor_x * src->channels;
    for (int i = 0; i < 2 * NBYTES; i++) {
        int first = i - args->line.reach, last = first + (spec->width - 1) * src->channels;
        args->line.first[i] = 4 * nbytes * line_padded(first, samples);
        if (i < NBYTES)
            args->line.last[i] = 4 * nbytes * line_padded(last, samples);
    }
    args->height = spec->height;
    args->high = spec->height > (src->type == GI_U8 ? (int)LOW_BYTES : (int)LOW);
    args->ring = args->high            ? (spec->height - 1) / GROUP + 1
                 : spec->height <= FEW ? 0
                                       : spec->height;
    args->anchor_y = spec->anchor_y;
    args->before = ceil_div((long long)spec->anchor_x * pixel, NBYTES);
    for (int n = 32; n <= MOST_THREADS; n *= 2) {
        int across = n - args->before - after, shared = n * shared_of(args, nbytes, src->channels);
        double cost = (double)n / across * (1 + n / 1024.0); /* large blocks wait longer */
        if (across > 0 && cost < best && shared <= cu->shared_nbytes &&
            cu->shared_nbytes / shared * (n / 32) >= LEAST_WARPS) {
            best = cost;
            threads = n;
            args->across = across;
        }
    }
    return threads;
}

template <int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_min_max *spec,
                             struct gi_err *err)
{
    int nbytes = (int)gi_type_nbytes(src->type), pixel = CHANNELS * nbytes, unit = NBYTES / nbytes;
    struct strips_args args = {};
    struct gi_border_spec border = min_max_border(src, &spec->border);
    int threads = divide(&args, cu, src, spec), blocks = 1;
    int after = ceil_div((spec->width - 1LL - spec->anchor_x) * pixel, NBYTES);
    int halo = args.before > after ? args.before : after;
    args.dst = target_of(dst);
    args.turn = spec->greatest ? ~0u : 0;
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    enum gi_status status = gi_cuda_box_rows(cu, &args.rows, src, &border, unit,
                                             (halo > 1 ? halo : 1) * unit, NULL, 0, err);
    if (status)
        return status;
    void (*kernel)(const struct strips_args) =
        args.high ? min_max_strips<CHANNELS, true> : min_max_strips<CHANNELS, false>;
    int shared = threads * shared_of(&args, nbytes, CHANNELS);
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, (size_t)shared));
    int strips = ceil_div(ceil_div((long long)gi_row_nbytes(src), NBYTES), args.across);
    int bands = blocks * cu->units / strips; /* one wave */
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args.band = ceil_div(ceil_div(src->height, bands), GROUP) * GROUP;
    return pdl_launch(cu, kernel, dim3(strips, ceil_div(src->height, args.band)), threads, shared,
                      &args, err);
}

bool gi_cuda_min_max_strips_takes(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_min_max *spec)
{
    struct strips_args args = {};
    return !spec->runs && spec->height <= src->height &&
           divide(&args, (const struct gi_cuda_queue *)queue, src, spec) > 0;
}

enum gi_status gi_cuda_min_max_strips(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_min_max *spec,
                                      struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_CHANNELS(src->channels, launch<CHANNELS>(cu, dst, src, spec, err));
}
