/* Dense convolution of any size: a block stages the samples under a tile of the result as floats,
 * one plane a channel, and each thread makes RUN sums next to each other in registers from it. One
 * kernel for all types, channel counts and borders: they matter only before and after the sums.
 * SPDX-License-Identifier: MIT */
#include <cuda_pipeline.h>
#include <string.h>

#include "kernels/cuda/dense_tiles.h"
#include "kernels/cuda/sample.cuh"

enum {
    WARPS = 8,
    BLOCKS = 2,              /* of a multiprocessor: a thread has 128 registers */
    RUN = 64,                /* sums of a thread, next to each other */
    DOWN = 8,                /* threads of a warp below each other; the others lie across */
    WIDTH = 32 / DOWN * RUN, /* columns of a tile */
    CHUNK = 8, /* taps at a time, or one more: twice that, and the instructions no longer stay in
                * the cache */
    SUMS_PITCH = WIDTH + 4, /* floats from row to row of finished sums */
    AHEAD = 4,              /* pixels of a thread under way while staging */
    DEEP = 6,               /* rows of bytes of a thread under way while staging */
    TAPS_LEAST = 64,        /* staged at once, however few rows that leaves */
};

struct dense_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int width, height, anchor_x, anchor_y; /* of the kernel */
    int warps;                             /* of each channel, one below the other */
    int taps, steps;                       /* of the kernel's row and column, staged at once */
    int pitch; /* floats of a staged row, an odd multiple of 4: threads one below the other find
                * all banks */
    int plane; /* floats of a channel */
    float weights[GI_WEIGHTS_MAX]; /* in constant memory, with the arguments */
};

/* The steep part of gi_border_index(), out of the way. */
static __device__ __noinline__ int beyond(long long i, int n, enum gi_border border)
{
    return gi_border_index(i, n, border);
}

static __device__ __forceinline__ int index_at(long long i, int n, enum gi_border border)
{
    return i >= 0 && i < n ? (int)i : beyond(i, n, border);
}

/* ---- staging: `rows` rows from y0 on, `columns` columns from x0 on ---- */

/* Pixel by pixel, a warp a row. */
template <typename T>
static __device__ __forceinline__ void stage_pixels(float *staged, const struct dense_args *args,
                                                    long long x0, int y0, int rows, int columns)
{
    const struct source *src = &args->src;
    int channels = src->channels, last = channels - 1;
    for (int r = (int)threadIdx.x / 32; r < rows; r += (int)blockDim.x / 32) {
        int yi = index_at(y0 + r, src->height, src->border);
        const T *row = (const T *)(src->data + (size_t)max(yi, 0) * src->stride);
        for (int a0 = (int)threadIdx.x % 32; a0 < columns; a0 += 32 * AHEAD) {
            int at[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                int xi = index_at(x0 + a0 + 32 * i, src->width, src->border);
                at[i] = xi < 0 || yi < 0 ? -1 : xi * channels;
            }
#pragma unroll 1
            for (int c = 0; c < channels; c++) {
                float *out = staged + c * args->plane + r * args->pitch;
                float v[AHEAD];
#pragma unroll
                for (int i = 0; i < AHEAD; i++)
                    v[i] = at[i] < 0 ? src->value[c] : (float)row[at[i] + c];
                if (src->premultiply && c < last)
#pragma unroll
                    for (int i = 0; i < AHEAD; i++)
                        v[i] = __fmul_rn(v[i],
                                         at[i] < 0 ? src->value[last] : (float)row[at[i] + last]);
#pragma unroll
                for (int i = 0; i < AHEAD; i++)
                    if (a0 + 32 * i < columns)
                        out[a0 + 32 * i] = v[i];
            }
        }
    }
}

/* The part of what is staged that comes straight from the image: its rows and columns. */
struct inside {
    int top, bottom, left, right;
};

/* One channel of floats, a warp a row, copied without passing through registers. */
static __device__ __forceinline__ void stage_rows(float *staged, const struct dense_args *args,
                                                  const float *from, int columns,
                                                  const struct inside *in)
{
    for (int r = in->top + (int)threadIdx.x / 32; r < in->bottom; r += (int)blockDim.x / 32) {
        const float *row = (const float *)((const char *)from + (ptrdiff_t)r * args->src.stride);
        float *out = staged + r * args->pitch;
#pragma unroll 8
        for (int a = in->left + (int)threadIdx.x % 32; a < in->right; a += 32)
            __pipeline_memcpy_async(out + a, row + a, sizeof(float));
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

/* Four samples that begin `shift` bits into the first of sizeof(T) + 1 words. */
template <typename T>
static __device__ __forceinline__ float4 four_at(const unsigned *words, unsigned shift)
{
    unsigned w[sizeof(T)];
#pragma unroll
    for (int i = 0; i < (int)sizeof(T); i++)
        w[i] = __funnelshift_r(words[i], words[i + 1], shift);
    return make_float4(sample_unpack<T>(w, 0), sample_unpack<T>(w, 1), sample_unpack<T>(w, 2),
                       sample_unpack<T>(w, 3));
}

/* One channel of integers: each thread, of some rows, the same 4 columns and 4 more half a row
 * further on, so that neighbours write to neighbouring banks. */
template <typename T>
static __device__ __forceinline__ void stage_rows(float *staged, const struct dense_args *args,
                                                  const T *from, int columns,
                                                  const struct inside *in)
{
    enum { WORDS = (int)sizeof(T) + 1, ROWS = DEEP / (int)sizeof(T) };
    int fours = (columns + 7) / 8, step = (int)blockDim.x / fours;
    int u = (int)threadIdx.x % fours, r = in->top + (int)threadIdx.x / fours;
    bool mine[2] = {4 * u >= in->left && 4 * u < in->right,
                    4 * (u + fours) >= in->left && 4 * (u + fours) < in->right};
    unsigned shift = (unsigned)(size_t)from * 8 % 32;
    size_t stride = args->src.stride;
    const char *row = (const char *)((size_t)(from + 4 * u) & ~(size_t)3) + (ptrdiff_t)r * stride;
    float *out = staged + r * args->pitch + 4 * u;
    if ((int)threadIdx.x >= step * fours)
        return;
    for (; r < in->bottom; r += ROWS * step) {
        unsigned words[ROWS][2][WORDS];
#pragma unroll
        for (int i = 0; i < ROWS; i++, row += step * stride)
#pragma unroll
            for (int h = 0; h < 2; h++)
                if (mine[h] && r + i * step < in->bottom)
#pragma unroll
                    for (int k = 0; k < WORDS; k++)
                        words[i][h][k] =
                            ((const unsigned *)(row + h * fours * 4 * (int)sizeof(T)))[k];
#pragma unroll
        for (int i = 0; i < ROWS; i++, out += step * args->pitch)
#pragma unroll
            for (int h = 0; h < 2; h++)
                if (mine[h] && r + i * step < in->bottom)
                    *(float4 *)(out + h * fours * 4) = four_at<T>(words[i][h], shift);
    }
}

/* One channel: what lies inside the image by rows, and what does not, one by one. */
template <typename T>
static __device__ __forceinline__ void stage_gray(float *staged, const struct dense_args *args,
                                                  long long x0, int y0, int rows, int columns)
{
    /* Integers: whole fours of columns, with the word after. */
    enum { ALIGN = sizeof(T) == 4 ? 1 : 4, AFTER = sizeof(T) == 4 ? 1 : 8 };
    const struct source *src = &args->src;
    long long last = src->width - AFTER - x0;
    struct inside in = {
        max(0, -y0), min(rows, src->height - y0),
        x0 < 0 ? (int)min((long long)columns, (-x0 + ALIGN - 1) & ~(ALIGN - 1LL)) : 0,
        last < 0 ? 0 : (int)min((long long)columns, (last & ~(ALIGN - 1LL)) + ALIGN)};
    stage_rows(staged, args, (const T *)(src->data + (ptrdiff_t)y0 * src->stride) + x0, columns,
               &in);
    if (in.top == 0 && in.bottom == rows && in.left == 0 && in.right == columns)
        return;
    for (int r = (int)threadIdx.x / 32; r < rows; r += (int)blockDim.x / 32) {
        bool outside = r < in.top || r >= in.bottom;
#pragma unroll 1
        for (int a = (int)threadIdx.x % 32; a < columns; a += 32)
            if (outside || a < in.left || a >= in.right)
                staged[r * args->pitch + a] = source_at<T>(src, x0 + a, y0 + r, 0);
    }
}

template <typename T>
static __device__ __forceinline__ void stage_tile(float *staged, const struct dense_args *args,
                                                  long long x0, int y0, int rows, int columns)
{
    if (args->src.channels == 1 && columns <= 8 * (int)blockDim.x)
        stage_gray<T>(staged, args, x0, y0, rows, columns);
    else
        stage_pixels<T>(staged, args, x0, y0, rows, columns);
}

/* ---- sums ---- */

static __device__ __forceinline__ void four_load(float *v, unsigned at)
{
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                 : "r"(at));
}

/* TAPS taps from `at` on meet a staged row; `staged`: in shared memory, its sample under the first
 * tap of my first sum. Every sample is loaded once and meets its taps one after the other. Indices
 * of weights are made from loops' counters alone: then ptxas keeps the weights in uniform
 * registers, and an FFMA reads at most two others. */
template <int TAPS>
static __device__ __forceinline__ void dense_taps(float *sum, unsigned staged,
                                                  const struct dense_args *args, int at)
{
    float w[TAPS], next[4];
#pragma unroll
    for (int i = 0; i < TAPS; i++)
        w[i] = args->weights[at + i];
    four_load(next, staged);
#pragma unroll
    for (int k = 0; k < TAPS + RUN - 1; k += 4) {
        float v[4] = {next[0], next[1], next[2], next[3]};
        if (k + 4 < TAPS + RUN - 1)
            four_load(next, staged + 4 * (k + 4));
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < TAPS; i++)
                if (k + j >= i && k + j - i < RUN)
                    sum[k + j - i] = __fmaf_rn(w[i], v[j], sum[k + j - i]);
    }
}

/* n taps, TAPS at most. */
template <int TAPS>
static __device__ __forceinline__ void dense_rest(float *sum, unsigned staged,
                                                  const struct dense_args *args, int at, int n)
{
    if (n == TAPS)
        dense_taps<TAPS>(sum, staged, args, at);
    else if constexpr (TAPS > 1)
        dense_rest<TAPS == CHUNK + 1 ? TAPS - 2 : TAPS - 1>(sum, staged, args, at, n);
}

/* A row of n taps. Nine at a time need no more samples than eight. */
static __device__ __forceinline__ void dense_line(float *sum, unsigned staged,
                                                  const struct dense_args *args, int at, int n)
{
#pragma unroll 1
    for (; n > CHUNK + 1 || n == CHUNK; n -= CHUNK, staged += 4 * CHUNK, at += CHUNK)
        dense_taps<CHUNK>(sum, staged, args, at);
    dense_rest<CHUNK + 1>(sum, staged, args, at, n);
}

/* ---- results ---- */

/* Pixels of all rows from y0 on, whose sums lie in `sums`: channel, row, column. */
template <typename T>
static __device__ __forceinline__ void finish_rows(const struct dense_args *args, const float *sums,
                                                   int x0, int y0, int rows)
{
    const struct source *src = &args->src;
    int channels = src->channels, last = channels - 1, plane = rows * SUMS_PITCH;
    for (int k = (int)threadIdx.x; k < rows * WIDTH; k += (int)blockDim.x) {
        int x = x0 + k % WIDTH, y = y0 + k / WIDTH;
        if (x >= src->width || y >= src->height)
            continue;
        const float *f = sums + k / WIDTH * SUMS_PITCH + k % WIDTH;
        const T *in = (const T *)(src->data + (size_t)y * src->stride) + (size_t)x * channels;
        T *out = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * channels;
        float a = f[last * plane]; /* means something only where there is alpha */
#pragma unroll 1
        for (int c = 0; c < channels; c++) {
            float s = (float)in[c], v = f[c * plane];
            sample_store(out + c, channels % 2 == 0 && c == last
                                      ? finish_alpha(&args->rule, v, s)
                                      : finish_colour(&args->rule, v, a, s));
        }
    }
}

/* My sums, as they are, from column x of row y on. */
template <typename T>
static __device__ __forceinline__ void store_straight(const struct target *dst, const float *sum,
                                                      int x, int y)
{
    enum { PER_WORD = 4 / (int)sizeof(T) };
    char *out = dst->data + (size_t)y * dst->stride + (size_t)x * sizeof(T);
#pragma unroll
    for (int k = 0; k < RUN; k += 4 * PER_WORD) {
        unsigned words[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float f[PER_WORD];
#pragma unroll
            for (int j = 0; j < PER_WORD; j++) /* -0 becomes 0 */
                f[j] =
                    sizeof(T) == 4 ? sum[k + i * PER_WORD + j] + 0.0f : sum[k + i * PER_WORD + j];
            words[i] = sample_pack<T>(f);
        }
        words_store<4>(out + k * sizeof(T), words);
    }
}

/* Where the sums of a thread begin: column and row in the tile, channel; rows of a tile. */
struct place {
    int x, y, c, rows;
};

/* Stores a tile: gray as it is straight from registers, the rest through shared memory, so that a
 * pixel's channels come together. */
static __device__ __forceinline__ void dense_store(const float *sum, float *shared,
                                                   const struct dense_args *args,
                                                   const struct place *at, int x0, int y0)
{
    const struct source *src = &args->src;
    if (args->rule.plain && src->channels == 1 && x0 <= src->width - WIDTH) {
        int x = x0 + at->x, y = y0 + at->y;
        if (y >= src->height)
            return;
        if (src->type == GI_U8)
            store_straight<uint8_t>(&args->dst, sum, x, y);
        else if (src->type == GI_U16)
            store_straight<uint16_t>(&args->dst, sum, x, y);
        else
            store_straight<float>(&args->dst, sum, x, y);
        return;
    }
    __syncthreads();
    float *mine = shared + (at->c * at->rows + at->y) * SUMS_PITCH + at->x;
#pragma unroll
    for (int k = 0; k < RUN; k += 4)
        *(float4 *)(mine + k) = make_float4(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
    __syncthreads();
    if (src->type == GI_U8)
        finish_rows<uint8_t>(args, shared, x0, y0, at->rows);
    else if (src->type == GI_U16)
        finish_rows<uint16_t>(args, shared, x0, y0, at->rows);
    else
        finish_rows<float>(args, shared, x0, y0, at->rows);
}

static __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    dense(const __grid_constant__ struct dense_args args)
{
    extern __shared__ __align__(16) float shared[];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    struct place at = {lane / DOWN * RUN, warp % args.warps * DOWN + lane % DOWN, warp / args.warps,
                       args.warps * DOWN};
    int x0 = (int)blockIdx.x * WIDTH, y0 = (int)blockIdx.y * at.rows;
    unsigned mine =
        (unsigned)__cvta_generic_to_shared(shared + at.c * args.plane + at.y * args.pitch + at.x);
    float sum[RUN];
#pragma unroll
    for (int k = 0; k < RUN; k++)
        sum[k] = 0;
#pragma unroll 1
    for (int t0 = 0; t0 < args.height; t0 += args.steps)
#pragma unroll 1
        for (int i0 = 0; i0 < args.width; i0 += args.taps) {
            int end = min(t0 + args.steps, args.height), n = min(args.taps, args.width - i0);
            __syncthreads();
            long long x = (long long)x0 - args.anchor_x + i0;
            int y = y0 - args.anchor_y + t0, rows = at.rows + end - t0 - 1, columns = WIDTH + n - 1;
            if (args.src.type == GI_U8)
                stage_tile<uint8_t>(shared, &args, x, y, rows, columns);
            else if (args.src.type == GI_U16)
                stage_tile<uint16_t>(shared, &args, x, y, rows, columns);
            else
                stage_tile<float>(shared, &args, x, y, rows, columns);
            __syncthreads();
#pragma unroll 1
            for (int t = t0; t < end; t++)
                dense_line(sum, mine + 4 * (t - t0) * args.pitch, &args, t * args.width + i0, n);
        }
    dense_store(sum, shared, &args, &at, x0, y0);
}

/* ---- launching ---- */

/* Bytes of shared memory; sets what lies where in it. */
static size_t shared_nbytes(struct dense_args *args)
{
    int rows = args->warps * DOWN;
    args->pitch = (WIDTH + args->taps - 1 + 7) / 8 * 8 + 4;
    args->plane = (rows + args->steps - 1) * args->pitch;
    int sums = rows * SUMS_PITCH;
    return (size_t)args->src.channels * (args->plane > sums ? args->plane : sums) * sizeof(float);
}

/* A lower tile where there are too few; staged at once is what leaves room for all blocks: the
 * whole kernel, or some of its rows, or some of one row. Returns the bytes of shared memory. */
static size_t divide(struct dense_args *args, const struct gi_cuda_context *cu)
{
    int channels = args->src.channels, across = ceil_div(args->src.width, WIDTH);
    size_t most = (size_t)cu->shared_nbytes, room = most / BLOCKS;
    args->warps = WARPS / channels;
    while (args->warps > 2 &&
           (long long)across * ceil_div(args->src.height, args->warps * DOWN) < cu->units * BLOCKS)
        args->warps /= 2;
    args->taps = args->width;
    args->steps = args->height;
    while (args->steps > 1 && shared_nbytes(args) > room)
        args->steps = (args->steps + 1) / 2;
    while (args->taps > TAPS_LEAST && shared_nbytes(args) > room)
        args->taps = (args->taps + 15) / 16 * 8;
    while (args->warps > 1 && shared_nbytes(args) > most)
        args->warps /= 2;
    return shared_nbytes(args);
}

enum gi_status gi_cuda_dense_tiles(struct gi_cuda_context *cu, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_dense *spec,
                                   struct gi_err *err)
{
    struct dense_args args;
    args.src = source_of(src, &spec->edge, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    args.width = spec->width;
    args.height = spec->height;
    args.anchor_x = spec->anchor_x;
    args.anchor_y = spec->anchor_y;
    memcpy(args.weights, spec->weights, (size_t)spec->width * spec->height * sizeof(float));
    size_t nbytes = divide(&args, cu);
    GI_CUDA_TRY(
        cudaFuncSetAttribute(dense, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes));
    dim3 grid(ceil_div(src->width, WIDTH), ceil_div(src->height, args.warps * DOWN));
    dense<<<grid, 32 * args.warps * src->channels, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
