/* Template matching on tensor cores, for gray images of 8 bits. They add the products p * v of a
 * row of the pattern and a row of the image as a matrix product D += T B. T is the Toeplitz matrix
 * of the row of the pattern, and the columns of B overlap, so that D has 16 x 8 scores side by
 * side:
 *
 *      D[m][n]: score at x0 + 16 n + m        T (pattern of 3 pixels)      B
 *      T[m][k] = p(k - m)                     p0 p1 p2 0  0  0 ...         v0 v16 v32 ...
 *      B[k][n] = v(x0 + 16 n + k)             0  p0 p1 p2 0  0 ...         v1 v17 v33 ...
 *      k = 0 to width + 14, in steps of 32    0  0  p0 p1 p2 0 ...         v2 v18 v34 ...
 *
 * The order of k within a step is free. Lane l of a warp takes columns l / 4 of B and 8 bytes from
 * k = 8 (l % 4) on, so that its part of B is word 2 (l / 4) + l % 4 of the row of samples, in words
 * of 8 bytes, without bank conflicts. Three kernels follow each other:
 *
 * 1. correlate_fragments stores T for each row of the pattern and each step, in the order of the
 *    lanes. Rows of zeros above and below the pattern stand for rows outside it. It also adds up p
 *    and p * p.
 * 2. correlate_products: a block of 8 warps has 512 x 32 scores, a warp 512 x 4, which are 4 x 4
 *    matrices D in registers. Samples are in shared memory. Row i of them meets row i - j of the
 *    pattern for row j of scores, so a warp loads one T per row and keeps the three before:
 *
 *      samples in row i    T(i)  T(i-1)  T(i-2)  T(i-3)      16 products of matrices
 *      scores in row        0     1       2       3
 *
 *    The sums of products wait in the result, as unsigned integers. They fit in 32 bits, because
 *    the pattern has at most 66051 pixels: 66051 * 255 * 255 < 2^32. The tensor cores add modulo
 *    2^32.
 * 3. correlate_scores adds up v and v * v of each window, and replaces the sums by scores. A block
 *    moves down a strip of columns. Let C(x) be the sum of column x over the rows of the window.
 *    The window at x + 1 has the sum of the window at x, plus C(x + width) - C(x). A thread keeps
 *    these differences for its columns, and a prefix sum over the block makes the sums of windows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/statistics/correlate_tensor.h"
#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/common/warp_collectives.cuh"

enum {
    ROWS = 4,  /* of scores per warp */
    TILES = 4, /* matrices D side by side per warp */
    WARPS = 8, /* per block, one below the other */
    TILE_WIDTH = 128,
    PRODUCTS_WIDTH = TILES * TILE_WIDTH,
    PRODUCTS_HEIGHT = WARPS * ROWS,
    STEP = 32,  /* columns of T per instruction */
    STEPS = 4,  /* whose samples are in shared memory at once */
    DEPTH = 68, /* rows of T whose samples are in shared memory at once, a multiple of ROWS */
    /* Samples in shared memory: the last column of B begins at TILES * TILE_WIDTH - 16. */
    SAMPLES_WIDTH = PRODUCTS_WIDTH + STEPS * STEP,
    SAMPLES_HEIGHT = DEPTH + PRODUCTS_HEIGHT - ROWS + 1, /* the last one is loaded, but not used */
    SAMPLES_NBYTES = SAMPLES_WIDTH * SAMPLES_HEIGHT,
    FRAGMENTS_THREADS = 256,
    SCORES_THREADS = 128,
    COLUMNS = 4, /* of scores per thread, whose samples are a word */
    SCORES_WIDTH = SCORES_THREADS * COLUMNS,
    SCORES_BLOCKS = 4, /* per multiprocessor */
    TENSOR_PIXELS_MAX = 66051,
};

struct tensor_args {
    struct gi_image dst, src, pattern;
    enum gi_correlate_method method;
    int steps;        /* of STEP columns of T */
    int depth;        /* rows of samples per row of scores and warp, a multiple of ROWS */
    int rows;         /* of T, with zeros */
    int band;         /* rows per block of correlate_scores */
    uint4 *fragments; /* [steps][rows][32] */
    unsigned *sums;   /* of p and of p * p, zero before correlate_fragments */
};

/* Returns row y of a gray image. */
static __device__ __forceinline__ uint8_t *row_of(const struct gi_image &image, int y)
{
    return (uint8_t *)image.data + (size_t)y * image.stride;
}

/* Returns bytes x to x + 3 of a row of the pattern, 0 where there are none. */
static __device__ __forceinline__ unsigned word_at(const uint8_t *row, int width, int x)
{
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (x + i >= 0 && x + i < width)
            word |= (unsigned)row[x + i] << 8 * i;
    return word;
}

/* A thread makes one lane's part of T. */
static __global__ void __launch_bounds__(FRAGMENTS_THREADS)
    correlate_fragments(const __grid_constant__ struct tensor_args args)
{
    const struct gi_image &pattern = args.pattern;
    int i = (int)(blockIdx.x * FRAGMENTS_THREADS + threadIdx.x), lane = i % WARP;
    int row = i / WARP % args.rows, step = i / WARP / args.rows, y = row - (ROWS - 1);
    if (step >= args.steps)
        return;
    const uint8_t *p = row_of(pattern, y);
    int width = y >= 0 && y < pattern.height ? pattern.width : 0;
    int x = STEP * step + 8 * (lane % 4) - lane / 4;
    args.fragments[i] = make_uint4(word_at(p, width, x), word_at(p, width, x - 8),
                                   word_at(p, width, x + 4), word_at(p, width, x - 4));
    if (step > 0)
        return;
    uint32_t sum = 0, squares = 0;
    for (int k = lane; k < width; k += WARP) {
        sum += p[k];
        squares += (uint32_t)p[k] * p[k];
    }
    sum = warp_reduce_sum(sum);
    squares = warp_reduce_sum(squares);
    if (lane == 0 && width > 0) {
        atomicAdd(&args.sums[0], sum);
        atomicAdd(&args.sums[1], squares);
    }
}

/* D += T B. */
static __device__ __forceinline__ void multiply_add(unsigned *d, uint4 t, uint2 b)
{
#if GI_CUDA_ARCH >= 800
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(t.x), "r"(t.y), "r"(t.z), "r"(t.w), "r"(b.x), "r"(b.y));
#endif
}

/* Copies `rows` rows of SAMPLES_WIDTH samples, from (x, y) on, to shared memory. Samples outside
 * the image meet zeros of T, or belong to no score. */
static __device__ __forceinline__ void samples_load(uint4 *samples, const struct gi_image &src,
                                                    int x, int y, int rows)
{
    enum { PIECES = SAMPLES_WIDTH / 16 };
#pragma unroll 4
    for (int i = (int)threadIdx.x; i < rows * PIECES; i += WARPS * WARP) {
        int row = min(y + i / PIECES, src.height - 1);
        int column = min(x + i % PIECES * 16, (int)src.stride - 16);
        samples[i] = *(const uint4 *)(row_of(src, row) + column);
    }
}

/* Adds a step of `depth` rows to the sums of a warp. `samples` and `fragments` point to the lane's
 * parts of the first row of samples, and of the row of T that is ROWS - 1 rows above it. Both are
 * loaded one row ahead. */
static __device__ __forceinline__ void step_add(unsigned (*d)[TILES][4], const uint2 *samples,
                                                const uint4 *fragments, int depth)
{
    enum { ROW = SAMPLES_WIDTH / 8, TILE = TILE_WIDTH / 8 };
    uint4 t[ROWS], next = __ldg(&fragments[(ROWS - 1) * WARP]);
    uint2 b[TILES], ahead[TILES];
#pragma unroll
    for (int j = 1; j < ROWS; j++)
        t[j] = __ldg(&fragments[(j - 1) * WARP]);
#pragma unroll
    for (int k = 0; k < TILES; k++)
        ahead[k] = samples[k * TILE];
    for (int i = 0; i < depth; i += ROWS) {
#pragma unroll
        for (int u = 0; u < ROWS; u++) {
            t[u] = next;
            next = __ldg(&fragments[(u + ROWS) * WARP]);
#pragma unroll
            for (int k = 0; k < TILES; k++) {
                b[k] = ahead[k];
                ahead[k] = samples[(u + 1) * ROW + k * TILE];
            }
#pragma unroll
            for (int j = 0; j < ROWS; j++)
#pragma unroll
                for (int k = 0; k < TILES; k++)
                    multiply_add(d[j][k], t[(u - j + ROWS) % ROWS], b[k]);
        }
        samples += ROWS * ROW;
        fragments += ROWS * WARP;
    }
}

/* Stores the sums of a warp, whose first score is at (x, y), in the result. Register i of D is at
 * m = l / 4 + 8 (i / 2) and n = 2 (l % 4) + i % 2 in lane l. */
static __device__ __forceinline__ void products_store(const struct gi_image &dst, int x, int y,
                                                      const unsigned (*d)[TILES][4])
{
    int lane = (int)threadIdx.x % WARP, first = x + lane % 4 * 32 + lane / 4;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        unsigned *row = (unsigned *)row_of(dst, y + j) + first;
        int left = y + j < dst.height ? dst.width - first : 0;
#pragma unroll
        for (int i = 0; i < TILES * 4; i++) {
            int column = i / 4 * TILE_WIDTH + i % 4 / 2 * 8 + i % 2 * 16;
            if (column < left)
                row[column] = d[j][i / 4][i % 4];
        }
    }
}

static __global__ void __launch_bounds__(WARPS *WARP, 2)
    correlate_products(const __grid_constant__ struct tensor_args args)
{
    extern __shared__ uint4 samples[];
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    int x = (int)blockIdx.x * PRODUCTS_WIDTH, y = (int)blockIdx.y * PRODUCTS_HEIGHT;
    bool used = y + warp * ROWS < args.dst.height;
    const uint2 *own =
        (const uint2 *)samples + warp * ROWS * (SAMPLES_WIDTH / 8) + lane / 4 * 2 + lane % 4;
    unsigned d[ROWS][TILES][4] = {};
    for (int first = 0; first < args.steps; first += STEPS)
        for (int i = 0; i < args.depth; i += DEPTH) {
            int depth = min(args.depth - i, (int)DEPTH);
            __syncthreads(); /* all have read the samples before */
            samples_load(samples, args.src, x + first * STEP, y + i,
                         depth + PRODUCTS_HEIGHT - ROWS);
            __syncthreads();
            for (int s = first; used && s < min(first + STEPS, args.steps); s++)
                step_add(d, own + (s - first) * (STEP / 8),
                         args.fragments + (size_t)(s * args.rows + i) * WARP + lane, depth);
        }
    if (used)
        products_store(args.dst, x, y + warp * ROWS, d);
}

/* What a thread of correlate_scores keeps of the rows of the windows. C(x) is the sum of column x
 * of the samples, or of their squares. */
struct columns {
    unsigned sum[COLUMNS], square[COLUMNS]; /* C(x + width) - C(x) */
    /* warp 0: the lane's share of the first window of the block */
    unsigned first_sum, first_square;
};

/* Where a thread reads words of a row: at x, at x + width, and after it. */
struct places {
    unsigned left, right, next;
};

/* Adds words from these places of a row with sign 1, or subtracts them with sign -1. */
static __device__ __forceinline__ void columns_add(struct columns *columns, struct places words,
                                                   int width, int sign)
{
    unsigned left = words.left, right = __funnelshift_r(words.right, words.next, width % 4 * 8);
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        unsigned a = left >> 8 * j & 0xff, b = right >> 8 * j & 0xff;
        unsigned difference = sign > 0 ? b - a : a - b;
        columns->sum[j] += difference;
        columns->square[j] += difference * (a + b);
    }
}

static __device__ __forceinline__ struct places words_of(const struct gi_image &src,
                                                         struct places at, int y)
{
    const unsigned *row = (const unsigned *)row_of(src, min(y, src.height - 1));
    struct places words = {row[at.left], row[at.right], row[at.next]};
    return words;
}

/* Adds or subtracts n rows of the first window of the block, which begins at (x, y). x is a
 * multiple of 4. */
static __device__ __forceinline__ void first_add(struct columns *columns,
                                                 const struct gi_image &src, int width, int x,
                                                 int y, int n, int sign)
{
    for (int k = (int)threadIdx.x * 4; threadIdx.x < WARP && k < width; k += WARP * 4) {
        unsigned used = width - k < 4 ? (1u << 8 * (width - k)) - 1 : ~0u;
#pragma unroll 4
        for (int r = 0; r < n; r++) {
            unsigned word = *(const unsigned *)(row_of(src, y + r) + x + k) & used;
            columns->first_sum += (unsigned)sign * __dp4a(word, 0x01010101u, 0u);
            columns->first_square += (unsigned)sign * __dp4a(word, word, 0u);
        }
    }
}

/* A sum of samples in the lower 32 bits, and the sum of their squares in the upper 32 bits. Both
 * fit for a window. Differences are two's complements, and the signed `sum` is below 2^31. */
typedef unsigned long long both_sums;

static __device__ __forceinline__ both_sums both_of(unsigned sum, unsigned square)
{
    return ((both_sums)square << 32) + (both_sums)(int)sum;
}

/* Returns the sums of the window of the thread's first column. `totals` is in shared memory,
 * another array than in the last call. */
static __device__ __forceinline__ both_sums window_of(const struct columns *columns,
                                                      both_sums *totals)
{
    int warp = (int)threadIdx.x / WARP;
    both_sums sum = 0, total;
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        sum += both_of(columns->sum[j], columns->square[j]);
    both_sums before = warp_before(sum, &total);
    if (warp == 0) {
        both_sums first =
            both_of(warp_reduce_sum(columns->first_sum), warp_reduce_sum(columns->first_square));
        before += first;
        total += first;
    }
    if (threadIdx.x % WARP == 0)
        totals[warp] = total;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < SCORES_THREADS / WARP; i++)
        before += i < warp ? totals[i] : 0;
    return before;
}

static __global__ void __launch_bounds__(SCORES_THREADS, SCORES_BLOCKS)
    correlate_scores(const __grid_constant__ struct tensor_args args)
{
    __shared__ both_sums totals[2][SCORES_THREADS / WARP];
    const struct gi_image &src = args.src, &dst = args.dst;
    int width = args.pattern.width, height = args.pattern.height;
    int x0 = (int)blockIdx.x * SCORES_WIDTH, x = x0 + (int)threadIdx.x * COLUMNS;
    int y0 = (int)blockIdx.y * args.band, y1 = min(y0 + args.band, dst.height);
    struct gi_correlate_integers s = {(unsigned)(width * height), args.sums[0], args.sums[1]};
    struct gi_correlate_total of_pattern = {};
    gi_correlate_add_integers(&of_pattern, args.method, &s);
    unsigned last = (unsigned)(src.stride / 4) - 1, right = (unsigned)(x + width) / 4;
    struct places at = {min((unsigned)x / 4, last), min(right, last), min(right + 1, last)};
    struct columns columns = {};
#pragma unroll 8
    for (int r = 0; r < height; r++)
        columns_add(&columns, words_of(src, at, y0 + r), width, 1);
    first_add(&columns, src, width, x0, y0, height, 1);
    for (int y = y0; y < y1; y++) {
        float *out = (float *)row_of(dst, y) + x, score[COLUMNS];
        uint4 products = x < dst.width ? *(const uint4 *)out : make_uint4(0, 0, 0, 0);
        const unsigned pv[COLUMNS] = {products.x, products.y, products.z, products.w};
        struct places below = words_of(src, at, y + height), top = words_of(src, at, y);
        both_sums window[COLUMNS] = {window_of(&columns, totals[y % 2])};
#pragma unroll
        for (int j = 1; j < COLUMNS; j++)
            window[j] = window[j - 1] + both_of(columns.sum[j - 1], columns.square[j - 1]);
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            struct gi_correlate_total total = {};
            s.v = (unsigned)window[j];
            s.vv = window[j] >> 32;
            s.pv = pv[j];
            gi_correlate_add_integers(&total, args.method, &s);
            total.pattern = of_pattern.pattern; /* the same, computed once */
            score[j] = gi_correlate_score(&total, args.method);
        }
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            if (x + j < dst.width)
                out[j] = score[j];
        columns_add(&columns, below, width, 1);
        columns_add(&columns, top, width, -1);
        if (y + 1 < y1) {
            first_add(&columns, src, width, x0, y + height, 1, 1);
            first_add(&columns, src, width, x0, y, 1, -1);
        }
    }
}

bool gi_cuda_correlate_tensor_takes(const struct gi_queue *queue, const struct gi_image *src,
                                    const struct gi_correlate *spec)
{
    const struct gi_image *pattern = spec->pattern;
    return ((const struct gi_cuda_queue *)queue)->capability >= 80 && src->type == GI_U8 &&
           src->channels == 1 && pattern->channels == 1 &&
           (uint64_t)pattern->width * (uint64_t)pattern->height <= TENSOR_PIXELS_MAX;
}

enum gi_status gi_cuda_correlate_tensor(struct gi_queue *queue, struct gi_image *dst,
                                        const struct gi_image *src, const struct gi_correlate *spec,
                                        struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct gi_image *pattern = spec->pattern;
    struct tensor_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.pattern = *pattern;
    args.method = spec->method;
    args.steps = ceil_div(pattern->width + 15, STEP);
    args.depth = ceil_div(pattern->height + ROWS - 1, ROWS) * ROWS;
    args.rows = args.depth + ROWS; /* the last one is loaded, but not used */
    int fragments = args.steps * args.rows * WARP, strips = ceil_div(dst->width, SCORES_WIDTH);
    args.band = ceil_div(dst->height, ceil_div(cu->units * SCORES_BLOCKS, strips)); /* one wave */
    void *scratch;
    enum gi_status status = gi_cuda_scratch(
        cu, &scratch, GI_CUDA_ALIGN + (size_t)fragments * sizeof *args.fragments, err);
    if (status)
        return status;
    args.sums = (unsigned *)scratch;
    args.fragments = (uint4 *)((char *)scratch + GI_CUDA_ALIGN);
    GI_CUDA_TRY(cudaMemsetAsync(args.sums, 0, 2 * sizeof *args.sums, cu->stream));
    correlate_fragments<<<ceil_div(fragments, FRAGMENTS_THREADS), FRAGMENTS_THREADS, 0,
                          cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    GI_CUDA_ALLOW_SHARED(cu, correlate_products);
    dim3 products(ceil_div(dst->width, PRODUCTS_WIDTH), ceil_div(dst->height, PRODUCTS_HEIGHT));
    correlate_products<<<products, WARPS * WARP, SAMPLES_NBYTES, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    dim3 scores(strips, ceil_div(dst->height, args.band));
    correlate_scores<<<scores, SCORES_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
