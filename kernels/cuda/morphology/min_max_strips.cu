/* Min/max filter with any rectangular structuring element whose rows fit in shared memory.
 * Vertical: van Herk/Gil-Werman, in groups of as many rows as the element is high. Horizontal:
 * doubling (the minimum of 2m pixels is the minimum of two minima of m pixels). Sources: see
 * min_max.cu.
 *
 * A block owns a strip of columns, including the halo, and a band of rows, and moves down the band;
 * it reads each row once. A thread owns 16 bytes of each row.
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
 * Exchange along the row: the first doublings need only 32 bytes (a thread's own and its
 * neighbour's) and are done in registers. The other doublings go through `line`, which holds two
 * rows of the block (double buffering).
 *
 * Phases of a step: load (AHEAD rows in flight), compute columns, exchange, store.
 *
 * Example: for 31 x 31 and 8-bit gray, doubling in registers ends at 16 pixels. The result is the
 * minimum of two overlapping ranges of 16 pixels. 128 threads need 128 * 16 * (31 + 2) = 67584
 * bytes of shared memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/morphology/min_max.cuh"
#include "kernels/morphology.h"

enum { AHEAD = 4, NBYTES = 16, MOST_THREADS = 512, LEAST_WARPS = 4 };

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

/* The maximum number of neighbouring pixels, N, whose minimum is computed in registers. The N - 1
 * pixels after a thread's bytes must be in its neighbour's bytes. */
template <int PIXEL> struct near_columns {
    enum { N = 15 * PIXEL <= NBYTES ? 16 : 7 * PIXEL <= NBYTES ? 8 : 3 * PIXEL <= NBYTES ? 4 : 2 };
};

/* Returns the word that begins at byte `at` of eight words. Bytes beyond the eighth word are
 * undefined. */
static __device__ __forceinline__ unsigned bytes_at(const unsigned *words, int at)
{
    int word = at / 4 < 7 ? at / 4 : 7, next = word < 7 ? word + 1 : 7;
    return at % 4 ? __funnelshift_r(words[word], words[next], at % 4 * 8) : words[word];
}

template <typename T, int PIXEL, int M>
static __device__ __forceinline__ void double_near(unsigned *words, int width, int *m)
{
    if constexpr (M < near_columns<PIXEL>::N) {
        if (2 * M < width) {
#pragma unroll
            for (int j = 0; j < 8; j++)
                if (4 * j < NBYTES + (near_columns<PIXEL>::N - 2 * M) * PIXEL)
                    words[j] = least<T>(words[j], bytes_at(words, 4 * j + M * PIXEL));
            *m = 2 * M;
            double_near<T, PIXEL, 2 * M>(words, width, m);
        }
    }
}

static __device__ __forceinline__ void line_sync(void)
{
    if (blockDim.x > 32)
        __syncthreads();
    else
        __syncwarp();
}

/* Reads the 16 bytes that are `offset` bytes from a thread's own. */
static __device__ __forceinline__ void line_read(unsigned *words, const uint4 *line, int offset)
{
    int first = (int)threadIdx.x + (offset >> 4), last = (int)blockDim.x - 1;
    uint4 a = line[min(max(first, 0), last)], b = line[min(max(first + 1, 0), last)];
    unsigned w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int j = 0; j < 6; j++)
        w[j] = offset & 8 ? w[j + 2] : w[j];
#pragma unroll
    for (int j = 0; j < 5; j++)
        w[j] = offset & 4 ? w[j + 1] : w[j];
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = __funnelshift_r(w[j], w[j + 1], offset % 4 * 8);
}

template <typename T> static __device__ __forceinline__ uint4 least_of(uint4 a, uint4 b)
{
    return make_uint4(least<T>(a.x, b.x), least<T>(a.y, b.y), least<T>(a.z, b.z),
                      least<T>(a.w, b.w));
}

/* Replaces `words` by minima of `width` pixels; the element begins `reach` bytes before each pixel.
 * `line` is two rows of the block in shared memory, of which *which is used next. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void least_along(unsigned *words, const struct strips_args *args,
                                                   uint4 *line, int *which)
{
    int n = (int)blockDim.x, m = 1;
    uint4 *at = line + *which * n;
    at[threadIdx.x] = make_uint4(words[0], words[1], words[2], words[3]);
    line_sync();
    *which ^= 1;
    uint4 next = at[min((int)threadIdx.x + 1, n - 1)];
    unsigned near[8] = {words[0], words[1], words[2], words[3], next.x, next.y, next.z, next.w};
    double_near<T, PIXEL, 1>(near, args->width, &m);
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = near[j];
    for (;;) {
        at = line + *which * n;
        at[threadIdx.x] = make_uint4(words[0], words[1], words[2], words[3]);
        line_sync();
        *which ^= 1;
        unsigned other[4];
        if (2 * m >= args->width)
            break;
        line_read(other, at, m * PIXEL);
#pragma unroll
        for (int j = 0; j < 4; j++)
            words[j] = least<T>(words[j], other[j]);
        m *= 2;
    }
    unsigned first[4], last[4];
    line_read(first, at, -args->reach);
    line_read(last, at, (args->width - m) * PIXEL - args->reach);
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = least<T>(first[j], last[j]);
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

template <typename T, int PIXEL>
static __global__ void __launch_bounds__(MOST_THREADS)
    min_max_strips(const __grid_constant__ struct strips_args args)
{
    extern __shared__ uint4 shared[];
    enum { UNIT = NBYTES / (int)sizeof(T) };
    int n = (int)blockDim.x, t = (int)threadIdx.x, height = args.height, which = 0;
    uint4 *ring = shared + t, *line = shared + height * n;
    int sample = ((int)blockIdx.x * args.across - args.before + t) * UNIT;
    int samples = args.rows.src.width * (PIXEL / (int)sizeof(T)) - sample; /* to the row's end */
    bool makes = t >= args.before && t < args.before + args.across && samples > 0;
    struct box_chunk chunk = chunk_at(&args.rows, sample, (int)sizeof(T));
    chunk_wait(&args.rows, &chunk);
    int y0 = (int)blockIdx.y * args.band, y1 = min(y0 + args.band, args.rows.src.height);
    int top = y0 - args.anchor_y, slot = 0, steps = y1 - y0 + height;
    uint4 next[AHEAD], below = make_uint4(~0u, ~0u, ~0u, ~0u);
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = strips_load<T>(&args, chunk, top + i);
    for (int step = 0; step < steps; step += AHEAD)
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (step + i == steps)
                return;
            /* Load: get the keys of this row, and start to load the row AHEAD rows further down. */
            uint4 fresh = strips_keys<T>(next[i], args.turn);
            next[i] = strips_load<T>(&args, chunk, top + step + i + AHEAD);
            if (step + i >= height) {
                /* Compute columns, exchange along the row, store. */
                uint4 v = least_of<T>(ring[slot * n], below);
                unsigned words[4] = {v.x, v.y, v.z, v.w};
                if (args.width > 1)
                    least_along<T, PIXEL>(words, &args, line, &which);
                if (makes)
                    strips_store<T, PIXEL>(words, &args, chunk, y0 + step + i - height, samples);
            }
            /* van Herk/Gil-Werman: update the forward minimum; at the end of the group compute
             * backward minima. */
            ring[slot * n] = fresh;
            below = least_of<T>(below, fresh);
            if (++slot == height) {
                ring_close<T>(ring, height, n);
                below = make_uint4(~0u, ~0u, ~0u, ~0u);
                slot = 0;
            }
        }
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
        int across = n - args->before - after, shared = n * NBYTES * (spec->height + 2);
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
    enum gi_status status =
        gi_cuda_box_rows(cu, &args.rows, src, &border, UNIT, (halo > 1 ? halo : 1) * UNIT, err);
    if (status)
        return status;
    void (*kernel)(const struct strips_args) = min_max_strips<T, PIXEL>;
    int shared = threads * NBYTES * (spec->height + 2);
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
