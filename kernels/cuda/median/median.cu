/* Medians. Of 3 x 3 and 5 x 5 samples by comparing pairs; kernels/cpu/median/
 * median_network.c says what may be left out. Of larger windows a warp goes down a column of the
 * image with a histogram of the window's upper digits, as T. Huang, G. Yang, G. Tang, IEEE TASSP
 * 27(1), 1979, along rows; further digits are counted in the window for each sample.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/box/box.cuh"
#include "kernels/cuda/common/measure.h"

enum {
    THREADS = 256,
    ACROSS = 4,
    WARPS = 8,
    BINS = 256,
    BAND = 64,       /* rows of a warp */
    ROWS_MAX = 32768 /* of a grid */
};

struct median_args {
    struct source src; /* border values are samples */
    struct target dst;
    int k;
    bool keep_alpha;
};

/* A number that orders as the sample does, NaN above all, and back. */
template <typename T> static __device__ __forceinline__ unsigned key_of(T v)
{
    if (sizeof(T) < 4)
        return (unsigned)v;
    unsigned bits = __float_as_uint((float)v);
    return (bits & 0x7fffffffu) > 0x7f800000u ? ~0u : gi_float_key(bits);
}

template <typename T> static __device__ __forceinline__ T sample_of(unsigned key)
{
    if (sizeof(T) < 4)
        return (T)key;
    return (T)__uint_as_float(key == ~0u ? 0x7fc00000u : gi_float_key_bits(key));
}

template <typename T>
static __device__ __forceinline__ unsigned key_at(const struct median_args *args, int x, int y,
                                                  int c)
{
    int xi = x, yi = y;
    if ((unsigned)x >= (unsigned)args->src.width)
        xi = gi_border_index(x, args->src.width, args->src.border);
    if ((unsigned)y >= (unsigned)args->src.height)
        yi = gi_border_index(y, args->src.height, args->src.border);
    if (xi < 0 || yi < 0)
        return key_of<T>((T)args->src.value[c]);
    const T *row = (const T *)(args->src.data + (size_t)yi * args->src.stride);
    return key_of<T>(row[(size_t)xi * args->src.channels + c]);
}

/* Samples of one or two bytes go two in a word, those of two rows. */
template <typename T> constexpr int PAIR = sizeof(T) < 4 ? 2 : 1;

template <typename T> static __device__ __forceinline__ unsigned lesser(unsigned a, unsigned b)
{
    return PAIR<T> == 2 ? __vminu2(a, b) : min(a, b);
}

template <typename T> static __device__ __forceinline__ unsigned greater(unsigned a, unsigned b)
{
    return PAIR<T> == 2 ? __vmaxu2(a, b) : max(a, b);
}

template <typename T> static __device__ __forceinline__ void sort_two(unsigned *a, unsigned *b)
{
    unsigned low = lesser<T>(*a, *b);
    *b = greater<T>(*a, *b);
    *a = low;
}

template <typename T, int N> static __device__ __forceinline__ void sort(unsigned *v)
{
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = i % 2; j + 1 < N; j += 2)
            sort_two<T>(&v[j], &v[j + 1]);
}

/* The middle of K x K keys in columns that are sorted. */
template <typename T, int K>
static __device__ __forceinline__ unsigned middle(const unsigned (*columns)[K])
{
    unsigned v[K][K], d[K];
#pragma unroll
    for (int i = 0; i < K; i++) {
#pragma unroll
        for (int j = 0; j < K; j++)
            v[i][j] = columns[j][i];
        sort<T, K>(v[i]);
    }
#pragma unroll
    for (int i = 0; i < K; i++)
        d[i] = v[i][K - 1 - i];
    sort<T, K>(d);
    if constexpr (K == 3) {
        return d[1];
    } else {
        unsigned below = greater<T>(greater<T>(v[0][3], v[1][2]), greater<T>(v[2][1], v[3][0]));
        unsigned above = lesser<T>(lesser<T>(v[1][4], v[2][3]), lesser<T>(v[3][2], v[4][1]));
        sort_two<T>(&below, &above);
        return lesser<T>(d[3], lesser<T>(greater<T>(below, d[2]), greater<T>(above, d[1])));
    }
}

/* The keys of the window's column x, sorted. */
template <typename T, int K>
static __device__ __forceinline__ void column_at(unsigned *column, const struct median_args *args,
                                                 int x, int y, int c, bool inside)
{
    unsigned keys[K + 1];
    const T *from = (const T *)(args->src.data + (long long)(y - K / 2) * args->src.stride) +
                    ((long long)x * args->src.channels + c);
#pragma unroll
    for (int i = 0; i < K + PAIR<T> - 1; i++)
        keys[i] = inside ? key_of<T>(*(const T *)((const char *)from + i * args->src.stride))
                         : key_at<T>(args, x, y - K / 2 + i, c);
#pragma unroll
    for (int i = 0; i < K; i++)
        column[i] = PAIR<T> == 2 ? keys[i] | keys[i + 1] << 16 : keys[i];
    sort<T, K>(column);
}

/* A thread takes ACROSS pixels of a channel, in as many rows as a word has samples. */
template <typename T, int K>
static __global__ void __launch_bounds__(THREADS)
    median_network(const __grid_constant__ struct median_args args)
{
    int i = (int)(blockIdx.x * THREADS + threadIdx.x), channels = args.src.channels;
    int x = i / channels * ACROSS, c = i % channels;
    bool keep = args.keep_alpha && c == channels - 1;
    if (x >= args.src.width)
        return;
    for (int y = (int)blockIdx.y * PAIR<T>; y < args.src.height; y += (int)gridDim.y * PAIR<T>) {
        bool inside = x >= K / 2 && x + ACROSS + K / 2 <= args.src.width && y >= K / 2 &&
                      y + PAIR<T> + K / 2 <= args.src.height;
        unsigned columns[ACROSS + K - 1][K];
#pragma unroll
        for (int j = 0; j < ACROSS + K - 1; j++)
            column_at<T, K>(columns[j], &args, x - K / 2 + j, y, c, inside);
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            unsigned key = middle<T, K>(columns + j);
            size_t at = (size_t)(x + j) * channels + c;
#pragma unroll
            for (int r = 0; r < PAIR<T>; r++) {
                if (x + j >= args.src.width || y + r >= args.src.height)
                    continue;
                T out = sample_of<T>(PAIR<T> == 2 ? key >> 16 * r & 0xffff : key);
                if (keep)
                    out = ((const T *)(args.src.data + (size_t)(y + r) * args.src.stride))[at];
                ((T *)(args.dst.data + (size_t)(y + r) * args.dst.stride))[at] = out;
            }
        }
    }
}

/* The bin in which the sample of that rank lies; `rank` becomes that in the bin. All lanes. */
static __device__ unsigned bin_of(const unsigned *bins, unsigned *rank)
{
    unsigned lane = threadIdx.x % WARP, own = 0;
#pragma unroll
    for (int i = 0; i < BINS / WARP; i++)
        own += bins[lane * (BINS / WARP) + (i + lane / 4) % (BINS / WARP)]; /* bank by bank */
    unsigned to = own;
    for (int step = 1; step < WARP; step *= 2) {
        unsigned before = __shfl_up_sync(ALL_LANES, to, step);
        to += lane >= (unsigned)step ? before : 0;
    }
    int from = __ffs((int)__ballot_sync(ALL_LANES, to > *rank)) - 1;
    unsigned left = *rank - __shfl_sync(ALL_LANES, to - own, from);
    unsigned bin = (unsigned)from * (BINS / WARP);
    while (bins[bin] <= left)
        left -= bins[bin++];
    *rank = left;
    return bin;
}

/* A row of the window comes into the bins of the upper digits, or goes out of them. */
template <typename T>
static __device__ __forceinline__ void slide(const struct median_args *args, unsigned *bins, int x,
                                             int y, int c, unsigned one)
{
    for (int i = (int)threadIdx.x % WARP; i < args->k; i += WARP)
        atomicAdd(&bins[key_at<T>(args, x + i - args->k / 2, y, c) >> (8 * sizeof(T) - 8)], one);
}

/* The next digit of the key that begins with `digits`, by the window's samples that do. */
template <typename T>
static __device__ unsigned next_digit(const struct median_args *args, unsigned *bins, int x, int y,
                                      int c, unsigned digits, int shift, unsigned *rank)
{
    int lane = (int)threadIdx.x % WARP, half = args->k / 2;
    for (int i = lane; i < BINS; i += WARP)
        bins[i] = 0;
    __syncwarp();
    for (int j = -half; j <= half; j++)
        for (int i = lane - half; i <= half; i += WARP) {
            unsigned key = key_at<T>(args, x + i, y + j, c) >> shift;
            if (key >> 8 == digits)
                atomicAdd(&bins[key & 255], 1u);
        }
    __syncwarp();
    return bin_of(bins, rank);
}

template <typename T>
static __global__ void __launch_bounds__(WARPS *WARP)
    median_sliding(const __grid_constant__ struct median_args args)
{
    __shared__ unsigned upper[WARPS][BINS], lower[WARPS][BINS];
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    int i = (int)blockIdx.x * WARPS + warp, channels = args.src.channels, half = args.k / 2;
    int x = i / channels, c = i % channels;
    bool keep = args.keep_alpha && c == channels - 1;
    for (int y0 = (int)blockIdx.y * BAND; x < args.src.width && y0 < args.src.height;
         y0 += (int)gridDim.y * BAND) {
        for (int j = lane; j < BINS; j += WARP)
            upper[warp][j] = 0;
        __syncwarp();
        for (int j = -half; j < half; j++)
            slide<T>(&args, upper[warp], x, y0 + j, c, 1);
        for (int y = y0; y < min(y0 + BAND, args.src.height); y++) {
            unsigned rank = (unsigned)args.k * (unsigned)args.k / 2;
            slide<T>(&args, upper[warp], x, y + half, c, 1);
            __syncwarp();
            unsigned key = bin_of(upper[warp], &rank);
            for (int shift = 8 * (int)sizeof(T) - 16; shift >= 0; shift -= 8) {
                __syncwarp();
                key = key << 8 | next_digit<T>(&args, lower[warp], x, y, c, key, shift, &rank);
            }
            T out = sample_of<T>(key);
            if (keep)
                out = ((const T *)(args.src.data + (size_t)y * args.src.stride))[i];
            if (lane == 0)
                ((T *)(args.dst.data + (size_t)y * args.dst.stride))[i] = out;
            __syncwarp();
            slide<T>(&args, upper[warp], x, y - half, c, ~0u);
        }
        __syncwarp();
    }
}

static struct median_args args_of(struct gi_image *dst, const struct gi_image *src,
                                  const struct gi_median *spec)
{
    struct gi_edge edge = src->type == GI_F32 ? spec->edge : box_edge(src, &spec->edge);
    struct median_args args = {source_of(src, &edge, GI_ALPHA_PLAIN), target_of(dst), spec->k,
                               gi_has_alpha(src) && !spec->alpha_too};
    return args;
}

static dim3 grid_of(const struct gi_image *src, int pixels, int samples, int rows)
{
    int bands = ceil_div(src->height, rows);
    return dim3(ceil_div((long long)ceil_div(src->width, pixels) * src->channels, samples),
                bands < ROWS_MAX ? (unsigned)bands : (unsigned)ROWS_MAX);
}

static bool network_takes(const struct gi_queue *queue, const struct gi_image *src,
                          const struct gi_median *spec)
{
    (void)queue, (void)src;
    return spec->k == 3 || spec->k == 5;
}

template <typename T>
static enum gi_status network_run(struct gi_cuda_queue *cu, const struct median_args *args,
                                  dim3 grid, struct gi_err *err)
{
    if (args->k == 3)
        median_network<T, 3><<<grid, THREADS, 0, cu->stream>>>(*args);
    else
        median_network<T, 5><<<grid, THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status network(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct median_args args = args_of(dst, src, spec);
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_TYPES(src->type,
                  network_run<T>(cu, &args, grid_of(src, ACROSS, THREADS, PAIR<T>), err));
}

template <typename T>
static enum gi_status sliding_run(struct gi_cuda_queue *cu, const struct median_args *args,
                                  dim3 grid, struct gi_err *err)
{
    median_sliding<T><<<grid, WARPS * WARP, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status sliding(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct median_args args = args_of(dst, src, spec);
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_TYPES(src->type, sliding_run<T>(cu, &args, grid_of(src, 1, WARPS, BAND), err));
}

static const struct gi_median_way ways[] = {
    {{"network", "k 3 and 5"}, network_takes, network},
    {{"sliding", "everything"}, NULL, sliding},
};

const struct gi_ways gi_cuda_median_ways = GI_WAYS(median, GI_SAMPLE_TYPES, ways);

enum gi_status gi_cuda_median(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    GI_WAYS_RUN(gi_cuda_median_ways, ways, queue, src, (queue, src, spec),
                (queue, dst, src, spec, err), err);
}
