/* Min/max filter with a rectangular structuring element whose rows, or minima of 8 rows, fit in
 * shared memory.
 * Vertical: van Herk/Gil-Werman, in groups of as many rows as the element is high. Horizontal:
 * doubling (the minimum of 2m pixels is the minimum of two minima of m pixels). Sources: see
 * min_max.cu.
 *
 * A block owns a strip of columns, including the halo, and a band of rows, and moves down the band;
 * it reads each row once if the element has fewer than LOW rows. A thread owns 16 bytes of each
 * row.
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
 * For elements of LOW rows and more the ring buffer holds the minima of blocks of GROUP rows
 * instead of rows, and the rows of a window's first block are loaded again, from the L2 cache.
 *
 * Exchange along the row: the first doublings need only 32 bytes (a thread's own and its
 * neighbour's) and are done in registers. The other doublings go through `line`, which holds two
 * rows of the block (double buffering), or four from LOW rows on; see min_max_lines.cuh.
 *
 * Phases of a step: load (AHEAD rows in flight), compute columns, exchange, store.
 *
 * Example: for 31 x 31 and 8-bit gray, doubling in registers ends at 16 pixels. The result is the
 * minimum of two overlapping ranges of 16 pixels. 128 threads need 128 * 16 * (31 + 2) = 67584
 * bytes of shared memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/morphology/min_max_lines.cuh"
#include "kernels/morphology.h"

enum { AHEAD = 4, MOST_THREADS = 512, LEAST_WARPS = 4, GROUP = 8, LOW = 64 };

struct strips_args {
    struct box_rows rows;
    struct target dst;
    int width, height, anchor_y;
    int reach;          /* bytes between the first pixel of the element and its anchor */
    int before, across; /* number of chunks of a block: in the left halo; with results */
    int band;           /* rows per block */
    unsigned turn;
    bool keep_alpha;
};

/* Returns the number of rows of the ring buffer: source rows, or minima of blocks of rows. */
static __host__ __device__ __forceinline__ int ring_of(int height)
{
    return height < LOW ? height : (height - 1) / GROUP + 1;
}

/* Returns the bytes of shared memory per thread: the ring buffer and two lines of as many rows as
 * are made at a time. */
static inline int shared_of(int height)
{
    return NBYTES * (ring_of(height) + (height < LOW ? 2 : 4));
}

template <typename T> static __device__ __forceinline__ uint4 least_of(uint4 a, uint4 b)
{
    return make_uint4(least<T>(a.x, b.x), least<T>(a.y, b.y), least<T>(a.z, b.z),
                      least<T>(a.w, b.w));
}

/* Stores a thread's words to row y, but at most the n samples that remain in the image row. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void strips_store(unsigned *words, const struct strips_args *args,
                                                    struct box_chunk chunk, int y, int n)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = sizeof(T) == 4 ? min_max_bits(words[j], args->turn) : words[j] ^ args->turn;
    if (args->keep_alpha) {
        unsigned source[4];
        chunk_load<T, 4>(source, &args->rows, chunk, y);
#pragma unroll
        for (int j = 0; j < 4; j++)
            words[j] =
                (words[j] & ~alpha_bits<T, PIXEL>(j)) | (source[j] & alpha_bits<T, PIXEL>(j));
    }
    min_max_put<T>(&args->dst, words, chunk.sample, y, n);
}

template <typename T>
static __device__ __forceinline__ uint4 strips_load(const struct strips_args *args,
                                                    struct box_chunk chunk, int y)
{
    unsigned words[4];
    chunk_load<T, 4>(words, &args->rows, chunk, y);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

template <typename T> static __device__ __forceinline__ uint4 strips_keys(uint4 v, unsigned turn)
{
    if (sizeof(T) == 4)
        return make_uint4(min_max_key(v.x, turn), min_max_key(v.y, turn), min_max_key(v.z, turn),
                          min_max_key(v.w, turn));
    return make_uint4(v.x ^ turn, v.y ^ turn, v.z ^ turn, v.w ^ turn);
}

/* Computes backward minima: a row of the ring buffer becomes the minimum of itself and later
 * rows. */
template <typename T>
static __device__ __forceinline__ void ring_close(uint4 *ring, int height, int n)
{
    uint4 best = ring[(height - 1) * n];
#pragma unroll 4
    for (int i = height - 2; i >= 0; i--) {
        best = least_of<T>(best, ring[i * n]);
        ring[i * n] = best;
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

static __device__ __forceinline__ uint4 greatest_key(void)
{
    return make_uint4(~0u, ~0u, ~0u, ~0u);
}

/* Elements of less than LOW rows. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void low_strip(const struct strips_args *args,
                                                 const struct strip *strip)
{
    int n = (int)blockDim.x, height = args->height, which = 0, y0 = strip->y0;
    int top = y0 - args->anchor_y, slot = 0, steps = strip->y1 - y0 + height;
    uint4 *ring = strip->columns, next[AHEAD], below = greatest_key();
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = strips_load<T>(args, strip->chunk, top + i);
    for (int step = 0; step < steps; step += AHEAD)
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (step + i == steps)
                return;
            /* Load: get the keys of this row, and start to load the row AHEAD rows further down. */
            uint4 fresh = strips_keys<T>(next[i], args->turn);
            next[i] = strips_load<T>(args, strip->chunk, top + step + i + AHEAD);
            if (step + i >= height) {
                /* Compute columns, exchange along the row, store. */
                uint4 v = least_of<T>(ring[slot * n], below);
                unsigned words[1][4] = {{v.x, v.y, v.z, v.w}};
                if (args->width > 1)
                    least_along<T, PIXEL, 1>(words, args->width, args->reach, strip->line, &which);
                if (strip->makes)
                    strips_store<T, PIXEL>(words[0], args, strip->chunk, y0 + step + i - height,
                                           strip->samples);
            }
            /* van Herk/Gil-Werman: update the forward minimum; at the end of the group compute
             * backward minima. */
            ring[slot * n] = fresh;
            below = least_of<T>(below, fresh);
            if (++slot == height) {
                ring_close<T>(ring, height, n);
                below = greatest_key();
                slot = 0;
            }
        }
}

/* Elements of LOW rows and more. Source rows are numbered from the first row of the first window,
 * and are in blocks of GROUP rows, as results are in groups. The window of result i of group g
 * consists of rows i to GROUP - 1 of block g, of whole blocks, and of a part of another block. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void high_strip(const struct strips_args *args,
                                                  const struct strip *strip)
{
    int n = (int)blockDim.x, height = args->height, ring = ring_of(height), which = 0;
    int top = strip->y0 - args->anchor_y, rows = strip->y1 - strip->y0, row = GROUP;
    uint4 next[AHEAD], part = greatest_key(); /* minimum of the rows of the last block so far */
    for (; row < height - 1; row++) {
        part = least_of<T>(
            part, strips_keys<T>(strips_load<T>(args, strip->chunk, top + row), args->turn));
        if (row % GROUP == GROUP - 1) {
            strip->columns[row / GROUP % ring * n] = part;
            part = greatest_key();
        }
    }
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = strips_load<T>(args, strip->chunk, top + row + i);
    for (int y = 0; y < rows; y += GROUP) {
        /* Backward minima of block y / GROUP, whose rows are loaded again. */
        uint4 from[GROUP], whole = greatest_key();
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            from[i] = strips_load<T>(args, strip->chunk, top + y + i);
        for (int block = y / GROUP + 1; block < (y + height - 1) / GROUP; block++)
            whole = least_of<T>(whole, strip->columns[block % ring * n]);
#pragma unroll
        for (int i = GROUP - 1; i >= 0; i--) {
            from[i] = strips_keys<T>(from[i], args->turn);
            if (i < GROUP - 1)
                from[i] = least_of<T>(from[i], from[i + 1]);
        }
#pragma unroll
        for (int i = 0; i < GROUP; i += 2) {
            unsigned words[2][4];
#pragma unroll
            for (int r = 0; r < 2; r++, row++) {
                /* Load, compute columns. */
                part = least_of<T>(part, strips_keys<T>(next[(i + r) % AHEAD], args->turn));
                next[(i + r) % AHEAD] = strips_load<T>(args, strip->chunk, top + row + AHEAD);
                uint4 v = least_of<T>(least_of<T>(from[i + r], whole), part);
                words[r][0] = v.x, words[r][1] = v.y, words[r][2] = v.z, words[r][3] = v.w;
                if (row % GROUP == GROUP - 1) {
                    strip->columns[row / GROUP % ring * n] = part;
                    whole = least_of<T>(whole, part);
                    part = greatest_key();
                }
            }
            /* Exchange along the row, store. */
            if (args->width > 1)
                least_along<T, PIXEL, 2>(words, args->width, args->reach, strip->line, &which);
#pragma unroll
            for (int r = 0; r < 2; r++)
                if (strip->makes && y + i + r < rows)
                    strips_store<T, PIXEL>(words[r], args, strip->chunk, strip->y0 + y + i + r,
                                           strip->samples);
        }
    }
}

template <typename T, int PIXEL, bool HIGH>
static __global__ void __launch_bounds__(MOST_THREADS)
    min_max_strips(const __grid_constant__ struct strips_args args)
{
    extern __shared__ uint4 shared[];
    struct strip strip = strip_of<T>(&args, shared, ring_of(args.height));
    if (HIGH)
        high_strip<T, PIXEL>(&args, &strip);
    else
        low_strip<T, PIXEL>(&args, &strip);
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
    args->anchor_y = spec->anchor_y;
    args->reach = spec->anchor_x * pixel;
    args->before = ceil_div(args->reach, NBYTES);
    for (int n = 32; n <= MOST_THREADS; n *= 2) {
        int across = n - args->before - after, shared = n * shared_of(spec->height);
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

template <typename T, int PIXEL>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_min_max *spec,
                             struct gi_err *err)
{
    enum { UNIT = NBYTES / (int)sizeof(T) };
    struct strips_args args = {};
    struct gi_border_spec border = min_max_border(src, &spec->border);
    int threads = divide(&args, cu, src, spec), blocks = 1;
    int after = ceil_div((spec->width - 1LL - spec->anchor_x) * PIXEL, NBYTES);
    int halo = args.before > after ? args.before : after;
    args.dst = target_of(dst);
    args.turn = spec->greatest ? ~0u : 0;
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    enum gi_status status = gi_cuda_box_rows(cu, &args.rows, src, &border, UNIT,
                                             (halo > 1 ? halo : 1) * UNIT, NULL, 0, err);
    if (status)
        return status;
    void (*kernel)(const struct strips_args) =
        spec->height < LOW ? min_max_strips<T, PIXEL, false> : min_max_strips<T, PIXEL, true>;
    int shared = threads * shared_of(spec->height);
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, (size_t)shared));
    int strips = ceil_div(ceil_div((long long)gi_row_nbytes(src), NBYTES), args.across);
    int bands = blocks * cu->units / strips; /* one wave */
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args.band = ceil_div(src->height, bands);
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
    GI_CUDA_TYPES(src->type,
                  src->channels == 1   ? launch<T, (int)sizeof(T)>(cu, dst, src, spec, err)
                  : src->channels == 2 ? launch<T, 2 * (int)sizeof(T)>(cu, dst, src, spec, err)
                  : src->channels == 3 ? launch<T, 3 * (int)sizeof(T)>(cu, dst, src, spec, err)
                                       : launch<T, 4 * (int)sizeof(T)>(cu, dst, src, spec, err));
}
