/* Min/max filter with a rectangular structuring element whose rows, or minima of 8 rows, fit in
 * shared memory.
 * Vertical: van Herk/Gil-Werman, in groups of as many rows as the element is high. Horizontal:
 * doubling (the minimum of 2m pixels is the minimum of two minima of m pixels). Sources: see
 * min_max.cu.
 *
 * A block owns a strip of columns, including the halo, and a band of rows, and moves down the band.
 * A thread owns 16 bytes of each row. Bytes are compared as the upper bytes of 16-bit halves, even
 * and odd bytes apart (struct line_keys), because there is no instruction for minima of four bytes.
 *
 * Elements of up to LOW rows, of bytes GROUP: groups of as many rows as the element is high; each
 * row is read once.
 *
 *        before       across       after
 *       +------+------------------+-----+   ring: `height` rows. After the last row of a group
 *       |t0 |t1|t2 |t3 |  ...     |  |tn|   ring_close() replaces each by the minimum of itself
 *       +------+------------------+-----+   and all later rows of the group (backward minima); then
 *       |          ring           |         the next group overwrites them row by row.
 *       +------+------------------+-----+   below: minimum of the rows of the next group (register)
 *       |          line x 2             |   column minimum = min(ring[slot], below)
 *       +------+------------------+-----+
 *
 * Other elements: groups and blocks of GROUP rows. The ring buffer holds the minima of blocks, and
 * the rows of a window's first block are loaded again, from the L2 cache; their backward minima are
 * in shared memory too.
 *
 *       row i of block g to its end | whole blocks             | a part of another block
 *       from[i]                     | whole, of the ring       | part, row by row (registers)
 *
 * Exchange along the row: the first doublings need only 32 bytes (a thread's own and its
 * neighbour's) and are done in registers. The other doublings go through `line`, two buffers of the
 * rows of a step (double buffering); see min_max_lines.cuh.
 *
 * Phases of a step, of one row or of ROWS rows: load (the rows of the next step), compute columns,
 * exchange, store. The loop over the steps of a group is not unrolled, so that it fits in the
 * instruction cache.
 *
 * Example: for 31 x 31 and 8-bit gray, doubling in registers ends at 16 pixels. The result is the
 * minimum of two overlapping ranges of 16 pixels. A thread has 4 minima of blocks, 2 x 2 rows of
 * `line` and 8 backward minima in shared memory: 16 * 16 bytes.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/morphology/min_max_lines.cuh"
#include "kernels/morphology.h"

enum {
    MOST_THREADS = 512,
    LEAST_WARPS = 4,
    GROUP = 8, /* rows of a block */
    LOW = 32,  /* maximum rows of elements of low_strip(); of bytes GROUP */
    AHEAD = 4, /* rows in flight in low_strip() */
    ROWS = 2,  /* per step of high_strip(), which are exchanged at a time */
};

struct strips_args {
    struct box_rows rows;
    struct target dst;
    int width, height, anchor_y;
    int reach;          /* bytes between the first pixel of the element and its anchor */
    int before, across; /* number of chunks of a block: in the left halo; with results */
    int band;           /* rows per block */
    int ring;           /* rows of the ring buffer: source rows, or minima of blocks of rows */
    bool high;          /* minima of blocks of rows */
    unsigned turn;
    bool keep_alpha;
};

/* Returns the bytes of shared memory per thread: the ring buffer and two lines of as many rows as
 * are made at a time. */
static inline int shared_of(const struct strips_args *args)
{
    return NBYTES * (args->ring + (args->high ? 2 * ROWS + GROUP : 2));
}

/* Stores a thread's keys as samples of row y, but at most the n samples that remain in the image
 * row. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void strips_store(line_keys<T> keys,
                                                    const struct strips_args *args,
                                                    struct box_chunk chunk, int y, int n)
{
    uint4 v = keys_join(keys);
    unsigned words[4] = {v.x, v.y, v.z, v.w};
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

/* Loads a thread's samples of rows y to y + N - 1. `inside`: these rows are inside the image, which
 * is the same for all threads of a block. */
template <typename T, int N>
static __device__ __forceinline__ void strips_load(uint4 *rows, const struct strips_args *args,
                                                   struct box_chunk chunk, int y, bool inside)
{
    unsigned words[N][4];
    if (inside)
#pragma unroll
        for (int i = 0; i < N; i++)
            chunk_load_inside<T, 4>(words[i], chunk, y + i);
    else
#pragma unroll
        for (int i = 0; i < N; i++)
            chunk_load<T, 4>(words[i], &args->rows, chunk, y + i);
#pragma unroll
    for (int i = 0; i < N; i++)
        rows[i] = make_uint4(words[i][0], words[i][1], words[i][2], words[i][3]);
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

/* What a block does with the columns of a band of rows. */
struct strip {
    struct box_chunk chunk;
    uint4 *columns,
        *line;   /* shared memory: the thread's part of the ring buffer; two rows or more */
    int y0, y1;  /* of the result */
    int samples; /* from the thread's chunk to the row's end */
    bool makes;  /* whether the thread has results */
};

template <typename T>
static __device__ __forceinline__ struct strip strip_of(const struct strips_args *args,
                                                        uint4 *shared, int ring)
{
    enum { UNIT = NBYTES / (int)sizeof(T) };
    int t = (int)threadIdx.x;
    int sample = ((int)blockIdx.x * args->across - args->before + t) * UNIT;
    struct strip strip;
    strip.chunk = chunk_at(&args->rows, sample, (int)sizeof(T));
    strip.columns = shared + t;
    strip.line = shared + ring * (int)blockDim.x;
    strip.y0 = (int)blockIdx.y * args->band;
    strip.y1 = min(strip.y0 + args->band, args->rows.src.height);
    strip.samples = args->rows.src.width * args->rows.src.channels - sample;
    strip.makes = t >= args->before && t < args->before + args->across && strip.samples > 0;
    chunk_wait(&args->rows, &strip.chunk);
    return strip;
}

/* Elements of few rows. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void low_strip(const struct strips_args *args,
                                                 const struct strip *strip)
{
    int n = (int)blockDim.x, height = args->height, which = 0, y0 = strip->y0;
    int top = y0 - args->anchor_y, slot = 0, steps = strip->y1 - y0 + height;
    uint4 *ring = strip->columns, next[AHEAD];
    line_keys<T> below = greatest_keys<T>();
    strips_load<T, AHEAD>(next, args, strip->chunk, top, false);
    for (int step = 0; step < steps; step += AHEAD) {
        int from = top + step + AHEAD;
        bool inside = from >= 0 && from + AHEAD <= args->rows.src.height;
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (step + i == steps)
                return;
            /* Load: get the keys of this row, and start to load the row AHEAD rows further down. */
            line_keys<T> fresh = strips_keys<T>(next[i], args->turn);
            strips_load<T, 1>(next + i, args, strip->chunk, from + i, inside);
            if (step + i >= height) {
                /* Compute columns, exchange along the row, store. */
                line_keys<T> v[1] = {keys_least(keys_split<T>(ring[slot * n]), below)};
                if (args->width > 1)
                    least_along<T, PIXEL, 1>(v, args->width, args->reach, strip->line, &which);
                if (strip->makes)
                    strips_store<T, PIXEL>(v[0], args, strip->chunk, y0 + step + i - height,
                                           strip->samples);
            }
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
    }
}

/* Elements of more than GROUP rows. Source rows are numbered from the first row of the first
 * window, and are in blocks of GROUP rows, as results are in groups. The window of result i of
 * group g consists of rows i to GROUP - 1 of block g, of whole blocks, and of a part of another
 * block. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void high_strip(const struct strips_args *args,
                                                  const struct strip *strip)
{
    int n = (int)blockDim.x, height = args->height, which = 0, slot = 1 % args->ring;
    int top = strip->y0 - args->anchor_y, rows = strip->y1 - strip->y0, row = GROUP;
    int first = slot; /* slot of the block after the group's */
    uint4 next[ROWS], *from = strip->line + 2 * ROWS * n + (int)threadIdx.x;
    line_keys<T> part = greatest_keys<T>(); /* minimum of the rows of the last block so far */
#pragma unroll 4
    for (; row < height - 1; row++) {
        uint4 fresh;
        strips_load<T, 1>(&fresh, args, strip->chunk, top + row, false);
        part = keys_least(part, strips_keys<T>(fresh, args->turn));
        if (row % GROUP == GROUP - 1) {
            strip->columns[slot * n] = keys_join(part);
            slot = slot + 1 == args->ring ? 0 : slot + 1;
            part = greatest_keys<T>();
        }
    }
    uint4 own[GROUP];
    strips_load<T, ROWS>(next, args, strip->chunk, top + row, false);
    strips_load<T, GROUP>(own, args, strip->chunk, top, false);
    for (int y = 0; y < rows; y += GROUP) {
        bool inside = top + y >= 0 && top + row + 2 * GROUP <= args->rows.src.height;
        /* Backward minima of block y / GROUP, whose rows are loaded again. */
        line_keys<T> whole = greatest_keys<T>(), best = whole;
        for (int block = first; block != slot; block = block + 1 == args->ring ? 0 : block + 1)
            whole = keys_least(whole, keys_split<T>(strip->columns[block * n]));
        first = first + 1 == args->ring ? 0 : first + 1;
#pragma unroll
        for (int i = GROUP - 1; i >= 0; i--) {
            best = keys_least(best, strips_keys<T>(own[i], args->turn));
            from[i * n] = keys_join(best);
        }
        strips_load<T, GROUP>(own, args, strip->chunk, top + y + GROUP, inside);
#pragma unroll 1 /* the loop fits in the instruction cache */
        for (int i = 0; i < GROUP; i += ROWS) {
            line_keys<T> v[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++, row++) {
                /* Compute columns. */
                part = keys_least(part, strips_keys<T>(next[r], args->turn));
                v[r] = keys_least3(keys_split<T>(from[(i + r) * n]), whole, part);
                if (row % GROUP == GROUP - 1) {
                    strip->columns[slot * n] = keys_join(part);
                    slot = slot + 1 == args->ring ? 0 : slot + 1;
                    whole = keys_least(whole, part);
                    part = greatest_keys<T>();
                }
            }
            /* Load the rows of the next step. */
            strips_load<T, ROWS>(next, args, strip->chunk, top + row, inside);
            /* Exchange along the row, store. */
            if (args->width > 1)
                least_along<T, PIXEL, ROWS>(v, args->width, args->reach, strip->line, &which);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (strip->makes && y + i + r < rows)
                    strips_store<T, PIXEL>(v[r], args, strip->chunk, strip->y0 + y + i + r,
                                           strip->samples);
        }
    }
}

template <typename T, int PIXEL, bool HIGH>
static __device__ __forceinline__ void strip_make(const struct strips_args &args, uint4 *shared)
{
    struct strip strip = strip_of<T>(&args, shared, args.ring);
    if (HIGH)
        high_strip<T, PIXEL>(&args, &strip);
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
    args->width = spec->width;
    args->height = spec->height;
    args->high = spec->height > (src->type == GI_U8 ? (int)GROUP : (int)LOW);
    args->ring = args->high ? (spec->height - 1) / GROUP + 1 : spec->height;
    args->anchor_y = spec->anchor_y;
    args->reach = spec->anchor_x * pixel;
    args->before = ceil_div(args->reach, NBYTES);
    for (int n = 32; n <= MOST_THREADS; n *= 2) {
        int across = n - args->before - after, shared = n * shared_of(args);
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
    int shared = threads * shared_of(&args);
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
