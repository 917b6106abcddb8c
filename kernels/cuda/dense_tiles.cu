/* Dense convolution of any size: a block stages the samples under a tile of the result as floats,
 * one plane a channel, and each thread makes 2 rows of 4 x 8 sums in registers from it. One kernel
 * for all types, channel counts and borders: they matter only before and after the sums.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernels/cuda/dense_tiles.h"
#include "kernels/cuda/sample.cuh"

enum {
    WARPS = 8,
    ROWS = 2,                      /* of sums of a thread */
    RUN = 8,                       /* sums next to each other */
    GROUPS = 4,                    /* of such, a warp's width apart */
    ACROSS = 8,                    /* threads of a warp next to each other; the others lie below */
    WIDTH = GROUPS * RUN * ACROSS, /* columns of a tile */
    WARP_ROWS = 32 / ACROSS * ROWS,
    AHEAD = 4,       /* loads of a thread under way while staging */
    TAPS_SPLIT = 64, /* where not even one row of taps fits */
};

struct dense_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int width, height, anchor_x, anchor_y; /* of the kernel */
    int warps;                             /* of each channel, one below the other */
    int taps, steps; /* staged at once: taps of a kernel's row; steps down, of 1 + height */
    int half;        /* floats of half a staged row, see staged_at() */
    float weights[GI_WEIGHTS_MAX]; /* in constant memory, with the arguments */
};

/* Where column a of a staged row lies: runs of four go to its two halves in turn, so that threads
 * RUN columns apart read neighbours. */
static __device__ __forceinline__ int staged_at(int a, int half)
{
    return (a >> 3) * 4 + (a & 3) + (a & 4 ? half : 0);
}

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
                                                    long long x0, long long y0, int rows,
                                                    int columns)
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
                float *out = staged + (size_t)(r * channels + c) * 2 * args->half;
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
                        out[staged_at(a0 + 32 * i, args->half)] = v[i];
            }
        }
    }
}

/* Samples 0..3 of a run that begins `shift` bits into its first word. */
template <typename T>
static __device__ __forceinline__ float4 four_at(const unsigned *words, unsigned shift)
{
    unsigned w[sizeof(T)];
#pragma unroll
    for (int i = 0; i < (int)sizeof(T); i++)
        w[i] = sizeof(T) == 4 ? words[i] : __funnelshift_r(words[i], words[i + 1], shift);
    return make_float4(sample_unpack<T>(w, 0), sample_unpack<T>(w, 1), sample_unpack<T>(w, 2),
                       sample_unpack<T>(w, 3));
}

/* One channel, each thread the same 8 columns of some rows, in whole words inside the image. */
template <typename T>
static __device__ __forceinline__ void stage_gray(float *staged, const struct dense_args *args,
                                                  long long x0, long long y0, int rows, int units)
{
    enum { WORDS = 2 * (int)sizeof(T) + (sizeof(T) < 4), BITS = 8 * (int)sizeof(T) };
    const struct source *src = &args->src;
    int step = (int)blockDim.x / units;
    int u = (int)threadIdx.x % units, r = (int)threadIdx.x / units;
    if (r >= step)
        return;
    long long x = x0 + 8 * u;
    float *out = staged + (size_t)r * 2 * args->half + 4 * u;
    size_t down = (size_t)step * 2 * args->half;
    bool inside = x >= 0 && x + 12 <= src->width; /* and the word after, too */
    for (; r < rows; r += AHEAD * step) {
        unsigned words[AHEAD][WORDS];
        bool whole[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            int yi = index_at(y0 + min(r + i * step, rows - 1), src->height, src->border);
            whole[i] = inside && yi >= 0;
            if (whole[i]) {
                const unsigned *p = (const unsigned *)(src->data + (size_t)yi * src->stride) +
                                    (size_t)x * sizeof(T) / 4;
#pragma unroll
                for (int k = 0; k < WORDS; k++)
                    words[i][k] = p[k];
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++, out += down) {
            if (r + i * step >= rows)
                continue;
            if (whole[i]) {
                unsigned shift = (unsigned)x * BITS % 32;
                *(float4 *)out = four_at<T>(words[i], shift);
                *(float4 *)(out + args->half) = four_at<T>(words[i] + sizeof(T), shift);
                continue;
            }
            for (int k = 0; k < 8; k++)
                out[staged_at(k, args->half)] = source_at<T>(src, x + k, y0 + r + i * step, 0);
        }
    }
}

template <typename T>
static __device__ __forceinline__ void stage_tile(float *staged, const struct dense_args *args,
                                                  long long x0, long long y0, int rows, int columns)
{
    int units = (columns + 7) / 8;
    if (args->src.channels == 1 && units <= (int)blockDim.x)
        stage_gray<T>(staged, args, x0, y0, rows, units);
    else
        stage_pixels<T>(staged, args, x0, y0, rows, columns);
}

/* ---- sums ---- */

/* TAPS taps meet a staged row, for rows LO to HI - 1 of sums. even, odd: the halves of the row at
 * my first column; weights: of row 0, those of row 1 are a kernel's row further up. */
template <int LO, int HI, int TAPS>
static __device__ __forceinline__ void dense_taps(float (*sum)[GROUPS * RUN], const float *even,
                                                  const float *odd, const float *weights, int pitch)
{
    enum { WINDOW = (TAPS + RUN - 1 + 3) / 4 };
    float w[ROWS][(TAPS + 3) / 4 * 4];
#pragma unroll
    for (int r = LO; r < HI; r++)
#pragma unroll
        for (int i = 0; i < (TAPS + 3) / 4; i++)
            ((float4 *)w[r])[i] = ((const float4 *)(weights - r * pitch))[i];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        float v[WINDOW * 4];
#pragma unroll
        for (int k = 0; k < WINDOW; k++) {
            const float *part = k & 1 ? odd : even;
            ((float4 *)v)[k] = *(const float4 *)(part + g * ACROSS * 4 + k / 2 * 4);
        }
#pragma unroll
        for (int i = 0; i < TAPS; i++)
#pragma unroll
            for (int r = LO; r < HI; r++)
#pragma unroll
                for (int k = 0; k < RUN; k++)
                    sum[r][g * RUN + k] = __fmaf_rn(w[r][i], v[i + k], sum[r][g * RUN + k]);
    }
}

/* n taps for both rows of sums. Eight or nine at a time need the same 16 samples a run. */
static __device__ __forceinline__ void dense_line(float (*sum)[GROUPS * RUN], const float *even,
                                                  const float *odd, const float *weights, int pitch,
                                                  int n)
{
#pragma unroll 1
    for (; n >= 10 || n == 8; n -= 8, even += 4, odd += 4, weights += 8)
        dense_taps<0, ROWS, 8>(sum, even, odd, weights, pitch);
    switch (n) {
    case 9:
        dense_taps<0, ROWS, 9>(sum, even, odd, weights, pitch);
        break;
    case 7:
        dense_taps<0, ROWS, 7>(sum, even, odd, weights, pitch);
        break;
    case 6:
        dense_taps<0, ROWS, 6>(sum, even, odd, weights, pitch);
        break;
    case 5:
        dense_taps<0, ROWS, 5>(sum, even, odd, weights, pitch);
        break;
    case 4:
        dense_taps<0, ROWS, 4>(sum, even, odd, weights, pitch);
        break;
    case 3:
        dense_taps<0, ROWS, 3>(sum, even, odd, weights, pitch);
        break;
    case 2:
        dense_taps<0, ROWS, 2>(sum, even, odd, weights, pitch);
        break;
    case 1:
        dense_taps<0, ROWS, 1>(sum, even, odd, weights, pitch);
    }
}

/* The same for one row of sums: the first and the last staged row. */
template <int ROW>
static __device__ __forceinline__ void dense_half(float (*sum)[GROUPS * RUN], const float *even,
                                                  const float *odd, const float *weights, int pitch,
                                                  int n)
{
#pragma unroll 1
    for (; n >= 4; n -= 4, weights += 4) {
        dense_taps<ROW, ROW + 1, 4>(sum, even, odd, weights, pitch);
        const float *next = even + 4; /* four columns on, the halves change places */
        even = odd;
        odd = next;
    }
    if (n == 3)
        dense_taps<ROW, ROW + 1, 3>(sum, even, odd, weights, pitch);
    else if (n == 2)
        dense_taps<ROW, ROW + 1, 2>(sum, even, odd, weights, pitch);
    else if (n == 1)
        dense_taps<ROW, ROW + 1, 1>(sum, even, odd, weights, pitch);
}

/* Taps i0 to i0 + n - 1 of the kernel's rows from `first` on, `count` of them, those there are. */
static __device__ __forceinline__ void stage_weights(float *staged, const struct dense_args *args,
                                                     int first, int count, int i0, int n, int pitch)
{
    for (int k = (int)threadIdx.x; k < count * n; k += (int)blockDim.x) {
        int j = first + k / n, i = i0 + k % n;
        if (j >= 0 && j < args->height)
            staged[k / n * pitch + k % n] = args->weights[j * args->width + i];
    }
}

/* ---- results ---- */

/* Pixels of every second row from y0 on, whose sums lie in `sums`: row, channel, column. */
template <typename T>
static __device__ __forceinline__ void finish_rows(const struct dense_args *args, const float *sums,
                                                   int x0, int y0, int rows)
{
    const struct source *src = &args->src;
    int channels = src->channels, last = channels - 1;
    for (int k = (int)threadIdx.x; k < rows * WIDTH; k += (int)blockDim.x) {
        int x = x0 + k % WIDTH, y = y0 + k / WIDTH * ROWS;
        if (x >= src->width || y >= src->height)
            continue;
        const float *f = sums + k / WIDTH * channels * WIDTH + k % WIDTH;
        const T *in = (const T *)(src->data + (size_t)y * src->stride) + (size_t)x * channels;
        T *out = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * channels;
        float a = f[last * WIDTH]; /* means something only where there is alpha */
#pragma unroll 1
        for (int c = 0; c < channels; c++) {
            float s = (float)in[c], v = f[c * WIDTH];
            sample_store(out + c, channels % 2 == 0 && c == last
                                      ? finish_alpha(&args->rule, v, s)
                                      : finish_colour(&args->rule, v, a, s));
        }
    }
}

/* Where the sums of a thread begin: column in the tile, channel, pair of rows. */
struct place {
    int x, c, pair, pairs;
};

/* Stores a tile: gray as it is straight from registers, the rest through shared memory, one of a
 * thread's rows at a time, so that a pixel's channels come together. */
static __device__ __forceinline__ void dense_store(float (*sum)[GROUPS * RUN], float *shared,
                                                   const struct dense_args *args,
                                                   const struct place *at, int x0, int y0)
{
    const struct source *src = &args->src;
    bool straight = args->rule.plain && src->channels == 1 && x0 + WIDTH <= src->width;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (straight) {
            int x = x0 + at->x, y = y0 + at->pair * ROWS + r;
#pragma unroll
            for (int k = 0; k < GROUPS * RUN && y < src->height; k += 4)
                store_four(&args->dst, src->type, x + k / RUN * RUN * ACROSS + k % RUN, y,
                           sum[r] + k);
            continue;
        }
        __syncthreads();
        float *mine = shared + (at->pair * src->channels + at->c) * WIDTH + at->x;
#pragma unroll
        for (int k = 0; k < GROUPS * RUN; k += 4)
            *(float4 *)(mine + k / RUN * RUN * ACROSS + k % RUN) =
                make_float4(sum[r][k], sum[r][k + 1], sum[r][k + 2], sum[r][k + 3]);
        __syncthreads();
        if (src->type == GI_U8)
            finish_rows<uint8_t>(args, shared, x0, y0 + r, at->pairs);
        else if (src->type == GI_U16)
            finish_rows<uint16_t>(args, shared, x0, y0 + r, at->pairs);
        else
            finish_rows<float>(args, shared, x0, y0 + r, at->pairs);
    }
}

/* Step t, 0 to height: row t of the kernel for the upper row of sums, t - 1 for the lower one. */
static __global__ void __launch_bounds__(32 * WARPS, 2)
    dense(const __grid_constant__ struct dense_args args)
{
    extern __shared__ __align__(16) float shared[];
    const struct source *src = &args.src;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, half = args.half;
    struct place at = {lane % ACROSS * RUN, warp / args.warps,
                       warp % args.warps * (32 / ACROSS) + lane / ACROSS, args.warps * 32 / ACROSS};
    int x0 = (int)blockIdx.x * WIDTH, y0 = (int)blockIdx.y * at.pairs * ROWS;
    int weights_pitch = (args.taps + 3) / 4 * 4, down = src->channels * 2 * half;
    float *weights = shared, *staged = shared + (args.steps + 1) * weights_pitch;
    const float *mine = staged + at.pair * ROWS * down + at.c * 2 * half + lane % ACROSS * 4;

    float sum[ROWS][GROUPS * RUN];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int k = 0; k < GROUPS * RUN; k++)
            sum[r][k] = 0;
    for (int t0 = 0; t0 <= args.height; t0 += args.steps)
        for (int i0 = 0; i0 < args.width; i0 += args.taps) {
            int steps = min(args.steps, args.height + 1 - t0), n = min(args.taps, args.width - i0);
            long long x = (long long)x0 - args.anchor_x + i0,
                      y = (long long)y0 - args.anchor_y + t0;
            int rows = (at.pairs - 1) * ROWS + steps, columns = WIDTH + n - 1;
            __syncthreads();
            stage_weights(weights, &args, t0 - 1, steps + 1, i0, n, weights_pitch);
            if (src->type == GI_U8)
                stage_tile<uint8_t>(staged, &args, x, y, rows, columns);
            else if (src->type == GI_U16)
                stage_tile<uint16_t>(staged, &args, x, y, rows, columns);
            else
                stage_tile<float>(staged, &args, x, y, rows, columns);
            __syncthreads();
            const float *even = mine, *w = weights + weights_pitch;
#pragma unroll 1
            for (int t = t0; t < t0 + steps; t++, even += down, w += weights_pitch)
                if (t == 0)
                    dense_half<0>(sum, even, even + half, w, weights_pitch, n);
                else if (t == args.height)
                    dense_half<1>(sum, even, even + half, w, weights_pitch, n);
                else
                    dense_line(sum, even, even + half, w, weights_pitch, n);
        }
    dense_store(sum, shared, &args, &at, x0, y0);
}

/* ---- launching ---- */

/* Bytes of shared memory; sets args->half. */
static size_t shared_nbytes(struct dense_args *args, int channels)
{
    int pairs = args->warps * 32 / ACROSS, units = (WIDTH + args->taps - 1 + 7) / 8;
    args->half = 4 * ((units + 3) / 8 * 8 + 4); /* 16 banks from half to half */
    size_t rows = (size_t)(pairs - 1) * ROWS + args->steps;
    size_t work =
        (size_t)(args->steps + 1) * ((args->taps + 3) / 4 * 4) + rows * channels * 2 * args->half;
    size_t sums = (size_t)pairs * channels * WIDTH;
    return (work > sums ? work : sums) * sizeof(float);
}

/* All of a tile at once where it fits; else as many steps as leave room for two blocks a
 * multiprocessor; else one step; else a lower tile; else not all taps. */
static size_t divide(struct dense_args *args, int channels, size_t most)
{
    size_t nbytes;
    args->taps = args->width;
    args->steps = args->height + 1;
    args->warps = WARPS / channels;
    if ((nbytes = shared_nbytes(args, channels)) <= most)
        return nbytes;
    args->steps = 1;
    size_t one = shared_nbytes(args, channels);
    args->steps = 2;
    size_t each = shared_nbytes(args, channels) - one, room = one < most / 2 ? most / 2 : most;
    if (one <= most) {
        args->steps = 1 + (int)((room - one) / each);
        args->steps = args->steps > args->height + 1 ? args->height + 1 : args->steps;
        return shared_nbytes(args, channels);
    }
    args->steps = 1;
    while (args->warps > 1 && shared_nbytes(args, channels) > most)
        args->warps /= 2;
    if (shared_nbytes(args, channels) > most && args->taps > TAPS_SPLIT)
        args->taps = TAPS_SPLIT;
    return shared_nbytes(args, channels);
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
    size_t nbytes = divide(&args, src->channels, (size_t)cu->shared_nbytes);
    GI_CUDA_TRY(
        cudaFuncSetAttribute(dense, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes));
    dim3 grid(ceil_div(src->width, WIDTH), ceil_div(src->height, args.warps * WARP_ROWS));
    dense<<<grid, 32 * args.warps * src->channels, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
