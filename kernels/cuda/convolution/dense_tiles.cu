/* Dense convolution with kernels of any size. A block copies the samples under a tile of the result
 * to shared memory as floats, one plane per channel. Each thread computes RUN neighbouring sums in
 * registers. One kernel serves all types, channel counts and borders, because they concern only the
 * copy to shared memory and the storing of results.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/convolve_2d.h"

#include <string.h>

#include "kernels/cuda/convolution/stage.cuh"
#include "kernels/convolution.h"

enum {
    WARPS = 8,
    BLOCKS = 2,              /* blocks per multiprocessor, at 128 registers per thread */
    RUN = 64,                /* neighbouring sums per thread */
    DOWN = 8,                /* rows of threads in a warp, of 32 / DOWN threads each */
    WIDTH = 32 / DOWN * RUN, /* columns of a tile */
    CHUNK = 8,               /* taps at a time; 16 would exceed the instruction cache */
    MOST = 11,               /* taps at a time if no more remain */
    SUMS_PITCH = WIDTH + 4,  /* floats per row of finished sums */
    STAGE_DEEP = 6,          /* bytes in flight per thread while it stages (6 rows of 8-bit gray) */
    TAPS_LEAST = 64,         /* minimum number of taps staged at once, even if few rows remain */
};

struct dense_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int width, height, anchor_x, anchor_y; /* of the kernel */
    int warps;                             /* warps per channel, one below the other */
    int taps, steps;                       /* kernel columns and kernel rows staged at once */
    int pitch, plane;                      /* layout of the staged samples, see struct planes */
    float weights[GI_WEIGHTS_MAX];         /* kernel argument, so in constant memory */
};

static __device__ __forceinline__ void four_load(float *v, unsigned at)
{
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                 : "r"(at));
}

/* Multiplies one staged row by TAPS taps, of which weights[at] is the first. `staged` is the
 * shared-memory address of the sample under the first tap of the thread's first sum. Every sample
 * is loaded once and used by all taps. Weights have indices that depend only on loop counters, so
 * that ptxas keeps them in uniform registers (`FFMA R, R, UR, R`) and an FFMA reads at most two
 * other registers. */
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

/* n taps, at most TAPS. */
template <int TAPS>
static __device__ __forceinline__ void dense_rest(float *sum, unsigned staged,
                                                  const struct dense_args *args, int at, int n)
{
    if (n == TAPS)
        dense_taps<TAPS>(sum, staged, args, at);
    else if constexpr (TAPS > 1)
        dense_rest<TAPS - 1>(sum, staged, args, at, n);
}

/* One kernel row of n taps. */
static __device__ __forceinline__ void dense_line(float *sum, unsigned staged,
                                                  const struct dense_args *args, int at, int n)
{
#pragma unroll 1
    for (; n > MOST; n -= CHUNK, staged += 4 * CHUNK, at += CHUNK)
        dense_taps<CHUNK>(sum, staged, args, at);
    dense_rest<MOST>(sum, staged, args, at, n);
}

/* ---- results ---- */

/* Applies the epilogue to the rows of the tile, of which y0 is the first, and stores them. `sums`
 * is indexed by channel, row and column. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void epilogue_rows(const struct dense_args *args,
                                                     const float *sums, int x0, int y0, int rows)
{
    enum { LAST = CHANNELS - 1, PER_WORD = 4 / (int)sizeof(T), NBYTES = CHANNELS * (int)sizeof(T) };
    const struct rule *rule = &args->rule;
    bool wants_source = rule->alpha == GI_ALPHA_KEEP || GI_EPILOGUE_COMPARES(rule->epilogue.kind);
    for (int k = (int)threadIdx.x; k < rows * WIDTH; k += (int)blockDim.x) {
        int a = k % WIDTH, r = k / WIDTH, x = x0 + a, y = y0 + r;
        if (x >= args->src.width || y >= args->src.height)
            continue;
        const T *in = (const T *)(args->src.data + (size_t)y * args->src.stride);
        T *out = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * CHANNELS;
        float f[CHANNELS], s[CHANNELS] = {};
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            f[c] = sums[(c * rows + r) * SUMS_PITCH + a];
        if (wants_source)
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                s[c] = (float)in[(size_t)x * CHANNELS + c];
        float alpha = f[LAST]; /* used only if there is alpha */
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            f[c] = CHANNELS % 2 == 0 && c == LAST ? epilogue_alpha(rule, alpha, s[c])
                                                  : epilogue_color(rule, f[c], alpha, s[c]);
#pragma unroll
        for (int i = 0; NBYTES % 4 == 0 && i < NBYTES / 4; i++)
            ((unsigned *)out)[i] = sample_pack<T>(f + i * PER_WORD);
        if (NBYTES % 4)
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sample_store(out + c, f[c]);
    }
}

/* Like epilogue_rows(), for the plain epilogue. A thread stores 4 pixels, by words. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void epilogue_plain(const struct dense_args *args,
                                                      const float *sums, int x0, int y0, int rows)
{
    enum { LAST = CHANNELS - 1, PER_WORD = 4 / (int)sizeof(T) };
    for (int k = (int)threadIdx.x; k < rows * WIDTH / 4; k += (int)blockDim.x) {
        int a = k % (WIDTH / 4) * 4, r = k / (WIDTH / 4), x = x0 + a, y = y0 + r;
        if (x >= args->src.width || y >= args->src.height)
            continue;
        float v[4 * CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            float4 f = *(const float4 *)(sums + (c * rows + r) * SUMS_PITCH + a);
            float zero = sizeof(T) < 4 || (CHANNELS % 2 == 0 && c == LAST) ? -0.0f : 0.0f;
            v[c] = f.x + zero; /* -0 becomes +0, except in alpha */
            v[CHANNELS + c] = f.y + zero;
            v[2 * CHANNELS + c] = f.z + zero;
            v[3 * CHANNELS + c] = f.w + zero;
        }
        T *out = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * CHANNELS;
        if (x + 4 <= args->src.width)
#pragma unroll
            for (int i = 0; i < CHANNELS * (int)sizeof(T); i++)
                ((unsigned *)out)[i] = sample_pack<T>(v + i * PER_WORD);
        else
#pragma unroll
            for (int p = 0; p < 3; p++)
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    if (x + p < args->src.width)
                        sample_store(out + p * CHANNELS + c, v[p * CHANNELS + c]);
    }
}

template <typename T, int CHANNELS>
static __device__ __forceinline__ void epilogue_tile(const struct dense_args *args,
                                                     const float *sums, int x0, int y0, int rows)
{
    if (args->rule.plain)
        epilogue_plain<T, CHANNELS>(args, sums, x0, y0, rows);
    else
        epilogue_rows<T, CHANNELS>(args, sums, x0, y0, rows);
}

template <typename T>
static __device__ __forceinline__ void epilogue_type(const struct dense_args *args,
                                                     const float *sums, int x0, int y0, int rows)
{
    if (args->src.channels == 1)
        epilogue_tile<T, 1>(args, sums, x0, y0, rows);
    else if (args->src.channels == 2)
        epilogue_tile<T, 2>(args, sums, x0, y0, rows);
    else if (args->src.channels == 3)
        epilogue_tile<T, 3>(args, sums, x0, y0, rows);
    else
        epilogue_tile<T, 4>(args, sums, x0, y0, rows);
}

/* Rounds a thread's sums and stores them at column x of row y and the following columns. */
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
            for (int j = 0; j < PER_WORD; j++) /* -0 becomes +0 */
                f[j] =
                    sizeof(T) == 4 ? sum[k + i * PER_WORD + j] + 0.0f : sum[k + i * PER_WORD + j];
            words[i] = sample_pack<T>(f);
        }
        words_store<4>(out + k * sizeof(T), words);
    }
}

/* Column and row in the tile of a thread's first sum, its channel, and the rows per tile. */
struct place {
    int x, y, c, rows;
};

/* Stores a tile. Gray with the plain epilogue is stored directly from registers. Otherwise sums are
 * exchanged through shared memory, so that a thread can read all channels of a pixel. */
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
        epilogue_type<uint8_t>(args, shared, x0, y0, at->rows);
    else if (src->type == GI_U16)
        epilogue_type<uint16_t>(args, shared, x0, y0, at->rows);
    else
        epilogue_type<float>(args, shared, x0, y0, at->rows);
}

static __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    dense(const __grid_constant__ struct dense_args args)
{
    extern __shared__ __align__(16) float shared[];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    struct place at = {lane / DOWN * RUN, warp % args.warps * DOWN + lane % DOWN, warp / args.warps,
                       args.warps * DOWN};
    int x0 = (int)blockIdx.x * WIDTH, y0 = (int)blockIdx.y * at.rows;
    const struct planes planes = {shared, args.pitch, args.plane};
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
            /* Load: stage the samples under this part of the kernel. */
            __syncthreads();
            long long x = (long long)x0 - args.anchor_x + i0;
            int y = y0 - args.anchor_y + t0, rows = at.rows + end - t0 - 1, columns = WIDTH + n - 1;
            if (args.src.type == GI_U8)
                stage_tile<uint8_t, STAGE_DEEP>(&planes, &args.src, x, y, rows, columns);
            else if (args.src.type == GI_U16)
                stage_tile<uint16_t, STAGE_DEEP>(&planes, &args.src, x, y, rows, columns);
            else
                stage_tile<float, STAGE_DEEP>(&planes, &args.src, x, y, rows, columns);
            __syncthreads();
#pragma unroll 1
            for (int t = t0; t < end; t++) /* compute */
                dense_line(sum, mine + 4 * (t - t0) * args.pitch, &args, t * args.width + i0, n);
        }
    dense_store(sum, shared, &args, &at, x0, y0);
}

/* ---- launching ---- */

/* Sets the layout of shared memory and returns its size in bytes. */
static size_t shared_nbytes(struct dense_args *args)
{
    int rows = args->warps * DOWN;
    args->pitch = (WIDTH + args->taps - 1 + 7) / 8 * 8 + 4;
    args->plane = (rows + args->steps - 1) * args->pitch;
    int sums = rows * SUMS_PITCH;
    return (size_t)args->src.channels * (args->plane > sums ? args->plane : sums) * sizeof(float);
}

/* Chooses lower tiles if there would be too few tiles. Also chooses how much of the kernel is
 * staged at once (all, or some rows, or part of one row), so that BLOCKS blocks fit in a
 * multiprocessor. Returns the bytes of shared memory per block. */
static size_t divide(struct dense_args *args, const struct gi_cuda_queue *cu)
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

enum gi_status gi_cuda_dense_tiles(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_dense *spec,
                                   struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct dense_args args;
    args.src = source_of(src, &spec->border, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->epilogue, spec->sum);
    args.width = spec->width;
    args.height = spec->height;
    args.anchor_x = spec->anchor_x;
    args.anchor_y = spec->anchor_y;
    memcpy(args.weights, spec->weights, (size_t)spec->width * spec->height * sizeof(float));
    size_t nbytes = divide(&args, cu);
    GI_CUDA_ALLOW_SHARED(cu, dense);
    dim3 grid(ceil_div(src->width, WIDTH), ceil_div(src->height, args.warps * DOWN));
    dense<<<grid, 32 * args.warps * src->channels, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
