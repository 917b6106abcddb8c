/* Template matching by direct sums. direct: a thread computes a score and reads the samples below
 * the pattern from global memory. Neighbouring threads of a warp read neighbouring pixels, so that
 * loads are coalesced, and the rows that the threads of a block share stay in the L1 cache:
 *
 *      block of 32 x 8 scores, pattern of 3 x 2 pixels
 *      row y      | thread 0: x 0, 1, 2 | thread 1: x 1, 2, 3 | ...
 *      row y + 1  | x 0, 1, 2           | x 1, 2, 3           | ...
 *
 * All threads read one sample of the pattern at a time, which is a broadcast. Its own sums are
 * computed by every thread, because they cost two of five multiply-adds, and no further kernel.
 *
 * bytes: for gray images of 8 bits. The pattern and the samples below a block are in shared memory,
 * as words of four bytes, and __dp4a() adds four products at a time. A thread computes 4 x 4
 * scores. It reads each word of a row of samples once, and shifts it with the next word for the
 * four columns:
 *
 *      words of a row    | v0 v1 v2 v3 | v4 v5 v6 v7 | ...
 *      pattern of width 6, words | p0 p1 p2 p3 | p4 p5 0 0 |
 *      column 1          dp4a(v1 v2 v3 v4, p0 p1 p2 p3) + dp4a(v5 v6 v7 v8, p4 p5 0 0)
 *
 * Row q of the samples meets row q - r of the pattern for the scores in row r of the thread. Rows
 * of zeros above and below the pattern stand for rows outside it. The sums of v and of v * v of a
 * row are computed once for the four rows of scores. All sums fit in 32 bits, because the pattern
 * has at most 66051 pixels: 66051 * 255 * 255 < 2^32. SPDX-License-Identifier: MIT */
#include "kernels/correlate.h"
#include "kernels/cuda/common/sample.cuh"

enum { BLOCK_X = 32, BLOCK_Y = 8, BLOCK_ROWS_MAX = 65535 };

struct correlate_args {
    struct gi_image dst, src, pattern;
    enum gi_correlate_method method;
    int colors;
    bool alpha; /* of the pattern */
};

/* Returns row y of an image from column x on. */
template <typename T>
static __device__ __forceinline__ const T *row_at(const struct gi_image &image, int x, int y)
{
    return (const T *)((const char *)image.data + (size_t)y * image.stride) +
           (size_t)x * image.channels;
}

/* The sums of integers are 64-bit integers, and those of floats are double. */
static __device__ __forceinline__ void sums_add(struct gi_correlate_integers *s, unsigned p,
                                                unsigned v)
{
    s->n++;
    s->p += p;
    s->pp += (uint64_t)p * p;
    s->v += v;
    s->vv += (uint64_t)v * v;
    s->pv += (uint64_t)p * v;
}

static __device__ __forceinline__ void sums_add(struct gi_correlate_reals *s, float p, float v)
{
    double a = (double)p, b = (double)v;
    s->n = __dadd_rn(s->n, 1.0);
    s->p = __dadd_rn(s->p, a);
    s->pp = __dadd_rn(s->pp, __dmul_rn(a, a));
    s->v = __dadd_rn(s->v, b);
    s->vv = __dadd_rn(s->vv, __dmul_rn(b, b));
    s->pv = __dadd_rn(s->pv, __dmul_rn(a, b));
}

static __device__ __forceinline__ void total_add(struct gi_correlate_total *total,
                                                 enum gi_correlate_method method,
                                                 const struct gi_correlate_integers *s)
{
    gi_correlate_add_integers(total, method, s);
}

static __device__ __forceinline__ void total_add(struct gi_correlate_total *total,
                                                 enum gi_correlate_method method,
                                                 const struct gi_correlate_reals *s)
{
    gi_correlate_add_reals(total, method, s);
}

/* Makes the score of the pattern at (x, y). SUMS is the struct of sums for samples of type T. */
template <typename T, typename SUMS>
static __device__ __forceinline__ float score_make(const struct correlate_args &args, int x, int y)
{
    const struct gi_image &pattern = args.pattern;
    struct gi_correlate_total total = {};
    for (int c = 0; c < args.colors; c++) {
        SUMS sums = {};
        for (int r = 0; r < pattern.height; r++) {
            const T *p = row_at<T>(pattern, 0, r), *v = row_at<T>(args.src, x, y + r) + c;
            for (int i = 0; i < pattern.width; i++) {
                if (!args.alpha || p[args.colors] > 0)
                    sums_add(&sums, p[c], *v);
                p += pattern.channels;
                v += args.src.channels;
            }
        }
        total_add(&total, args.method, &sums);
    }
    return gi_correlate_score(&total, args.method);
}

template <typename T, typename SUMS>
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    correlate_direct(const __grid_constant__ struct correlate_args args)
{
    int x = (int)(blockIdx.x * BLOCK_X + threadIdx.x);
    for (int y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y); y < args.dst.height;
         y += (int)(gridDim.y * BLOCK_Y))
        if (x < args.dst.width)
            ((float *)((char *)args.dst.data + (size_t)y * args.dst.stride))[x] =
                score_make<T, SUMS>(args, x, y);
}

static enum gi_status direct(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_correlate *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct correlate_args args = {*dst,
                                        *src,
                                        *spec->pattern,
                                        spec->method,
                                        gi_color_channels(spec->pattern),
                                        gi_has_alpha(spec->pattern)};
    int rows = ceil_div(dst->height, BLOCK_Y);
    dim3 grid((unsigned)ceil_div(dst->width, BLOCK_X),
              (unsigned)(rows < BLOCK_ROWS_MAX ? rows : BLOCK_ROWS_MAX)),
        block(BLOCK_X, BLOCK_Y);
    if (src->type == GI_U8)
        correlate_direct<uint8_t, struct gi_correlate_integers>
            <<<grid, block, 0, cu->stream>>>(args);
    else if (src->type == GI_U16)
        correlate_direct<uint16_t, struct gi_correlate_integers>
            <<<grid, block, 0, cu->stream>>>(args);
    else
        correlate_direct<float, struct gi_correlate_reals><<<grid, block, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- bytes ---- */

enum {
    SCORES = 4, /* columns and rows of scores per thread */
    BYTES_WIDTH = BLOCK_X * SCORES,
    BYTES_HEIGHT = BLOCK_Y * SCORES,
    BYTES_PIXELS_MAX = 66051,
    BYTES_SHARED_MAX = 48 << 10, /* that every GPU allows without further steps */
};

/* Sizes of the arrays in shared memory, in words: the pattern with SCORES - 1 rows of zeros above
 * and below, then the samples. */
struct bytes_shape {
    int words;  /* of a row of the pattern */
    int rows;   /* of the pattern, with the zeros */
    int across; /* words of a row of samples */
    int down;   /* rows of samples */
};

static __host__ __device__ inline struct bytes_shape bytes_shape_of(int width, int height)
{
    int words = (width + 3) / 4;
    struct bytes_shape shape = {words, height + 2 * (SCORES - 1), BLOCK_X + words,
                                BYTES_HEIGHT + height - 1};
    return shape;
}

static __host__ __device__ inline size_t bytes_nbytes(const struct bytes_shape &shape)
{
    return ((size_t)shape.words * shape.rows + (size_t)shape.across * shape.down) * 4;
}

/* Returns the word of bytes x to x + 3 of row y of a gray image, 0 where there are none. */
static __device__ __forceinline__ unsigned word_at(const struct gi_image &image, int x, int y)
{
    const uint8_t *row = (const uint8_t *)image.data + (size_t)y * image.stride;
    unsigned word = 0;
    for (int i = 0; i < 4; i++)
        if (x + i < image.width && y < image.height)
            word |= (unsigned)row[x + i] << 8 * i;
    return word;
}

/* Fills the shared memory of the block whose first score is at (x, y). */
static __device__ __forceinline__ void bytes_load(unsigned *shared, const struct bytes_shape &shape,
                                                  const struct correlate_args &args, int x, int y,
                                                  int thread)
{
    int threads = BLOCK_X * BLOCK_Y, n = shape.words * shape.rows;
    for (int i = thread; i < n; i += threads) {
        int row = i / shape.words - (SCORES - 1), column = i % shape.words * 4;
        bool zero = row < 0 || row >= args.pattern.height;
        shared[i] = zero ? 0 : word_at(args.pattern, column, row);
    }
    for (int i = thread; i < shape.across * shape.down; i += threads)
        shared[n + i] = word_at(args.src, x + i % shape.across * 4, y + i / shape.across);
}

/* The sums of the scores of a thread, by row and column, and those of the pattern. */
struct bytes_sums {
    unsigned pv[SCORES][SCORES], v[SCORES][SCORES], vv[SCORES][SCORES];
    unsigned p, pp;
};

/* Adds row q of the samples below the thread's first score. */
static __device__ __forceinline__ void
bytes_add_row(struct bytes_sums *sums, const unsigned *pattern, const unsigned *samples,
              const struct bytes_shape &shape, const struct correlate_args &args, int q)
{
    unsigned v[SCORES] = {}, vv[SCORES] = {}, word = samples[0];
    for (int k = 0; k < shape.words; k++) {
        unsigned next = samples[k + 1];
        int left = args.pattern.width - 4 * k;
        unsigned used = left >= 4 ? 0xffffffffu : (1u << 8 * left) - 1;
#pragma unroll
        for (int j = 0; j < SCORES; j++) {
            unsigned four = __funnelshift_r(word, next, 8 * j) & used;
            v[j] = __dp4a(four, 0x01010101u, v[j]);
            vv[j] = __dp4a(four, four, vv[j]);
#pragma unroll
            for (int r = 0; r < SCORES; r++)
                sums->pv[r][j] =
                    __dp4a(four, pattern[(q - r + SCORES - 1) * shape.words + k], sums->pv[r][j]);
        }
        word = next;
    }
#pragma unroll
    for (int r = 0; r < SCORES; r++)
        if (q - r >= 0 && q - r < args.pattern.height)
#pragma unroll
            for (int j = 0; j < SCORES; j++) {
                sums->v[r][j] += v[j];
                sums->vv[r][j] += vv[j];
            }
}

/* Makes the scores of a thread; the first one is at (x, y). */
static __device__ __forceinline__ void bytes_make(const unsigned *shared,
                                                  const struct bytes_shape &shape,
                                                  const struct correlate_args &args, int x, int y,
                                                  int thread_x, int thread_y)
{
    const unsigned *samples =
        shared + shape.words * shape.rows + thread_x + thread_y * SCORES * shape.across;
    struct bytes_sums sums = {};
    for (int q = 0; q < args.pattern.height + SCORES - 1; q++)
        bytes_add_row(&sums, shared, samples + q * shape.across, shape, args, q);
    for (int i = 0; i < shape.words * shape.rows; i++) {
        sums.p = __dp4a(shared[i], 0x01010101u, sums.p);
        sums.pp = __dp4a(shared[i], shared[i], sums.pp);
    }
#pragma unroll
    for (int r = 0; r < SCORES; r++)
#pragma unroll
        for (int j = 0; j < SCORES; j++) {
            if (x + j >= args.dst.width || y + r >= args.dst.height)
                continue;
            struct gi_correlate_total total = {};
            const struct gi_correlate_integers s = {(uint64_t)args.pattern.width *
                                                        args.pattern.height,
                                                    sums.p,
                                                    sums.pp,
                                                    sums.v[r][j],
                                                    sums.vv[r][j],
                                                    sums.pv[r][j]};
            gi_correlate_add_integers(&total, args.method, &s);
            float *row = (float *)((char *)args.dst.data + (size_t)(y + r) * args.dst.stride);
            row[x + j] = gi_correlate_score(&total, args.method);
        }
}

static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    correlate_bytes(const __grid_constant__ struct correlate_args args)
{
    extern __shared__ unsigned shared[];
    const struct bytes_shape shape = bytes_shape_of(args.pattern.width, args.pattern.height);
    int x = (int)blockIdx.x * BYTES_WIDTH, tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    for (int y = (int)blockIdx.y * BYTES_HEIGHT; y < args.dst.height;
         y += (int)gridDim.y * BYTES_HEIGHT) {
        __syncthreads(); /* all have read the samples of the strip before */
        bytes_load(shared, shape, args, x, y, ty * BLOCK_X + tx);
        __syncthreads();
        bytes_make(shared, shape, args, x + tx * SCORES, y + ty * SCORES, tx, ty);
    }
}

static bool bytes_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_correlate *spec)
{
    const struct gi_image *pattern = spec->pattern;
    (void)queue;
    return src->type == GI_U8 && src->channels == 1 && pattern->channels == 1 &&
           (uint64_t)pattern->width * (uint64_t)pattern->height <= BYTES_PIXELS_MAX &&
           bytes_nbytes(bytes_shape_of(pattern->width, pattern->height)) <= BYTES_SHARED_MAX;
}

static enum gi_status bytes(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_correlate *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct gi_image *pattern = spec->pattern;
    const struct correlate_args args = {*dst, *src, *pattern, spec->method, 1, false};
    size_t nbytes = bytes_nbytes(bytes_shape_of(pattern->width, pattern->height));
    int rows = ceil_div(dst->height, BYTES_HEIGHT);
    dim3 grid((unsigned)ceil_div(dst->width, BYTES_WIDTH),
              (unsigned)(rows < BLOCK_ROWS_MAX ? rows : BLOCK_ROWS_MAX)),
        block(BLOCK_X, BLOCK_Y);
    correlate_bytes<<<grid, block, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_correlate_way gi_cuda_correlate_ways[GI_WAYS_MAX] = {
    {{"bytes", "gray, 8 bits, small patterns"}, bytes_takes, bytes},
    {{"direct", "everything"}, NULL, direct},
};
