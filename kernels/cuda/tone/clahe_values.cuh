/* CLAHE of 16 bits and floats, which have 65536 bins. The way "interleaved" counts large tiles in
 * shared memory, by several blocks with a part of the bins each, and interleaves the tables of four
 * neighbouring tiles, so that a pixel needs one access of 8 bytes. The way "values" counts by
 * atomics in global memory, and a pixel reads four tables.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CLAHE_VALUES_CUH
#define GI_KERNELS_CUDA_CLAHE_VALUES_CUH

#include "kernels/cuda/tone/clahe.cuh"

/* ---- counts ---- */

/* "interleaved": a block has counters for a part of the bins in shared memory, and one more for all
 * other bins, because a branch would cost more. blockIdx.x is the tile, blockIdx.y the part of its
 * rows, and blockIdx.z the part of the bins. A warp counts a row at a time. */
enum {
    PART_THREADS = 1024,
    PART_AHEAD = 8,            /* samples per thread that are loaded before the first is counted */
    PART_LEAST = 16384,        /* minimum bins per part: up to four blocks read the same samples */
    PART_PIXELS_MIN = 1 << 17, /* minimum pixels per block: twice the bins */
};

/* Returns the bins per part, of which there are a power of 2, or 0 if shared memory is too small.
 */
static int part_bins(const struct gi_cuda_queue *cu)
{
    int size = 65536;
    while ((size + 1) * (int)sizeof(unsigned) > cu->shared_nbytes)
        size /= 2;
    return size < PART_LEAST ? 0 : size;
}

template <typename T>
static __device__ __forceinline__ void part_count(const struct clahe_args &args, int set,
                                                  unsigned size, unsigned *counters)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int tile = (int)blockIdx.x, parts = (int)gridDim.y, part = (int)blockIdx.y;
    int x0 = tile % sx.tiles * sx.tile, top = tile / sx.tiles * sy.tile;
    int y0 = top + (int)((long long)sy.tile * part / parts);
    int y1 = top + (int)((long long)sy.tile * (part + 1) / parts);
    unsigned first = blockIdx.z * size;
    for (unsigned i = threadIdx.x; i <= size; i += PART_THREADS)
        counters[i] = 0;
    __syncthreads();
    for (int y = y0 + (int)(threadIdx.x / 32); y < y1; y += PART_THREADS / 32) {
        size_t at = (size_t)gi_border_index(y, sy.n, GI_BORDER_REFLECT101) * args.judge.stride;
        const T *row = (const T *)((const char *)args.judge.data + at);
        int x = (int)(threadIdx.x % 32), step = 32 * args.judge.channels;
        int inside = min(sx.tile, args.judge.width - x0) - 32 * (PART_AHEAD - 1);
        for (; x < inside; x += 32 * PART_AHEAD) {
            const T *from = row + (size_t)(x0 + x) * args.judge.channels + set;
            T v[PART_AHEAD];
#pragma unroll
            for (int k = 0; k < PART_AHEAD; k++)
                v[k] = from[k * step];
#pragma unroll
            for (int k = 0; k < PART_AHEAD; k++)
                atomicAdd(&counters[min(value_of(v[k]) - first, size)], 1u);
        }
        for (; x < sx.tile; x += 32)
            atomicAdd(&counters[min(judged(args, row, x0 + x, set) - first, size)], 1u);
    }
    __syncthreads();
    uint32_t *counts = args.counts + (size_t)tile * args.shape.bins + first;
    for (unsigned i = threadIdx.x; i < size; i += PART_THREADS)
        if (counters[i])
            atomicAdd(&counts[i], counters[i]);
}

static __global__ void __launch_bounds__(PART_THREADS)
    clahe_count_part(const __grid_constant__ struct clahe_args args, int set, unsigned size)
{
    extern __shared__ unsigned counters[];
    if (args.judge.type == GI_U16)
        part_count<uint16_t>(args, set, size, counters);
    else
        part_count<float>(args, set, size, counters);
}

/* "values": atomics in global memory. */
template <typename T>
static __device__ __forceinline__ void each_count(const struct clahe_args &args, int set)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int tile = (int)blockIdx.x, parts = (int)gridDim.y, part = (int)blockIdx.y;
    int x0 = tile % sx.tiles * sx.tile, top = tile / sx.tiles * sy.tile;
    int y0 = top + (int)((long long)sy.tile * part / parts);
    int y1 = top + (int)((long long)sy.tile * (part + 1) / parts);
    uint32_t *counts = args.counts + (size_t)tile * args.shape.bins;
    for (int y = y0 + (int)(threadIdx.x / 32); y < y1; y += COUNT_THREADS / 32) {
        size_t at = (size_t)gi_border_index(y, sy.n, GI_BORDER_REFLECT101) * args.judge.stride;
        const T *row = (const T *)((const char *)args.judge.data + at);
        for (int x = x0 + (int)(threadIdx.x % 32); x < x0 + sx.tile; x += 32)
            atomicAdd(&counts[judged(args, row, x, set)], 1u);
    }
}

static __global__ void __launch_bounds__(COUNT_THREADS)
    clahe_count_each(const __grid_constant__ struct clahe_args args, int set)
{
    if (args.judge.type == GI_U16)
        each_count<uint16_t>(args, set);
    else
        each_count<float>(args, set);
}

/* ---- pixels ---- */

static __device__ __forceinline__ float clahe_between(float p, float q, float r, float s, float a,
                                                      float b)
{
    float c = __fsub_rn(1.0f, a);
    return __fadd_rn(__fmul_rn(__fadd_rn(__fmul_rn(p, c), __fmul_rn(q, a)), __fsub_rn(1.0f, b)),
                     __fmul_rn(__fadd_rn(__fmul_rn(r, c), __fmul_rn(s, a)), b));
}

/* The result for sample v. */
template <typename T> static __device__ __forceinline__ T stored(float f, T v)
{
    if constexpr (sizeof(T) == 4)
        return canonical(v == v ? __fdiv_rn(f, 65535.0f) : v);
    else
        return (T)__float2uint_rn(f);
}

/* Interleaves the tables of the four tiles around each cell. Cell (x, y) is the area between the
 * centres of tiles x - 1 and x in its row, and y - 1 and y in its column. There is one thread per
 * value; blockIdx.z is the set. */
static __global__ void __launch_bounds__(EACH_THREADS)
    clahe_interleave(const __grid_constant__ struct clahe_args args)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    size_t bins = args.shape.bins, v = (size_t)blockIdx.x * EACH_THREADS + threadIdx.x;
    int cells = (int)gridDim.y, x = (int)blockIdx.y % (sx.tiles + 1) - 1;
    int y = (int)blockIdx.y / (sx.tiles + 1) - 1;
    const uint16_t *tables =
        (const uint16_t *)args.tables + (size_t)blockIdx.z * sx.tiles * sy.tiles * bins + v;
    const uint16_t *up = tables + (size_t)gi_clahe_nearest(&sy, y) * sx.tiles * bins;
    const uint16_t *down = tables + (size_t)gi_clahe_nearest(&sy, y + 1) * sx.tiles * bins;
    size_t left = gi_clahe_nearest(&sx, x) * bins, right = gi_clahe_nearest(&sx, x + 1) * bins;
    args.four[((size_t)blockIdx.z * cells + blockIdx.y) * bins + v] =
        make_ushort4(up[left], up[right], down[left], down[right]);
}

/* One thread per sample of a row. FOUR: the tables are interleaved. */
template <typename T, bool FOUR>
static __device__ __forceinline__ void each_map(const struct clahe_args &args)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int channels = args.src.channels, i = (int)(blockIdx.x * EACH_THREADS + threadIdx.x);
    int x = i / channels, channel = i % channels;
    if (x >= sx.n)
        return;
    bool alpha = channels % 2 == 0 && channel == channels - 1;
    size_t bins = args.shape.bins, set = alpha || args.sets == 1 ? 0 : channel;
    float a, b;
    int tx = gi_clahe_tile(&sx, x, &a);
    size_t left = gi_clahe_nearest(&sx, tx) * bins, right = gi_clahe_nearest(&sx, tx + 1) * bins;
    const uint16_t *tables = (const uint16_t *)args.tables + set * sx.tiles * sy.tiles * bins;
    const ushort4 *four =
        args.four + (set * (sy.tiles + 1) * (sx.tiles + 1) + (size_t)(tx + 1)) * bins;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        T sample = ((const T *)((const char *)args.src.data + (size_t)y * args.src.stride))[i];
        unsigned v = value_of(sample);
        int ty = gi_clahe_tile(&sy, y + args.y, &b);
        ushort4 e;
        if (FOUR) {
            e = four[(size_t)(ty + 1) * (sx.tiles + 1) * bins + v];
        } else {
            const uint16_t *up = tables + (size_t)gi_clahe_nearest(&sy, ty) * sx.tiles * bins + v;
            const uint16_t *down =
                tables + (size_t)gi_clahe_nearest(&sy, ty + 1) * sx.tiles * bins + v;
            e = make_ushort4(up[left], up[right], down[left], down[right]);
        }
        float f = clahe_between(e.x, e.y, e.z, e.w, a, b);
        ((T *)((char *)args.dst.data + (size_t)y * args.dst.stride))[i] =
            alpha ? sample : stored(f, sample);
    }
}

template <bool FOUR>
static __global__ void __launch_bounds__(EACH_THREADS)
    clahe_each(const __grid_constant__ struct clahe_args args)
{
    if (args.src.type == GI_U16)
        each_map<uint16_t, FOUR>(args);
    else
        each_map<float, FOUR>(args);
}

#endif
