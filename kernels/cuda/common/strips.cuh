/* Column sums and prefix sums of a strip of columns: sums of k samples per column that are updated
 * from row to row, and their prefix sums along the row. Shared by the box filter (box_strips.cu)
 * and local thresholds.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_STRIPS_CUH
#define GI_KERNELS_CUDA_STRIPS_CUH

#include "kernels/cuda/convolution/box.cuh"

enum {
    PIXELS = 8, /* neighbouring pixels per thread */
    WARPS = 32, /* maximum of a block */
    MOST_THREADS = 32 * WARPS,
};

static __device__ __forceinline__ unsigned dot4(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* columns[s] += fresh sample - old sample; WEIGH: of colour times alpha. */
template <typename T, int CHANNELS, bool WEIGH>
static __device__ __forceinline__ void columns_move(unsigned *columns, const unsigned *fresh,
                                                    const unsigned *old)
{
    enum { WORDS = PIXELS * CHANNELS * (int)sizeof(T) / 4, LAST = CHANNELS - 1 };
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        unsigned f = fresh[i], o = old[i];
        if (sizeof(T) == 2) {
            columns[2 * i] = dot2(__byte_perm(f, o, 0x5410), 0xff01, columns[2 * i]);
            columns[2 * i + 1] = dot2(__byte_perm(f, o, 0x7632), 0xff01, columns[2 * i + 1]);
        } else if (WEIGH) {
#pragma unroll
            for (int b = 0; b < 4; b++) {
                unsigned v = f >> 8 * b & 255, w = o >> 8 * b & 255;
                if (b % CHANNELS == LAST)
                    columns[4 * i + b] += v - w;
                else
                    columns[4 * i + b] +=
                        v * (f >> 8 * (b | LAST) & 255) - w * (o >> 8 * (b | LAST) & 255);
            }
        } else { /* pairs of fresh and old, times 1 and -1 */
            unsigned low = __byte_perm(f, o, 0x5140), high = __byte_perm(f, o, 0x7362);
            columns[4 * i] = dot4(low, 0x0000ff01, columns[4 * i]);
            columns[4 * i + 1] = dot4(low, 0xff010000, columns[4 * i + 1]);
            columns[4 * i + 2] = dot4(high, 0x0000ff01, columns[4 * i + 2]);
            columns[4 * i + 3] = dot4(high, 0xff010000, columns[4 * i + 3]);
        }
    }
}

/* Index of prefix sum i in shared memory: one word of padding after every 8, so that accesses of
 * threads that are 8 sums apart are free of bank conflicts. */
static __host__ __device__ __forceinline__ int padded(int i)
{
    return i + (i >> 3);
}

/* Loads or stores N words of shared memory, with wide accesses if N allows. */
template <int N> static __device__ __forceinline__ void words_get(unsigned *v, const unsigned *p)
{
    if constexpr (N == 4) {
        uint4 t = *(const uint4 *)p;
        v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
    } else if constexpr (N == 2) {
        uint2 t = *(const uint2 *)p;
        v[0] = t.x, v[1] = t.y;
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = p[i];
    }
}

template <int N> static __device__ __forceinline__ void words_put(unsigned *p, const unsigned *v)
{
    if constexpr (N == 3)
        p[0] = v[0], p[1] = v[1], p[2] = v[2];
    else
        words_store<N>(p, v);
}

/* Adds the sum of the lane d below, if it exists. */
static __device__ __forceinline__ void add_lane(unsigned *sum, int d)
{
    asm volatile("{\n\t.reg .u32 other;\n\t.reg .pred there;\n\t"
                 "shfl.sync.up.b32 other|there, %0, %1, 0, 0xffffffff;\n\t"
                 "@there add.u32 %0, %0, other;\n\t}"
                 : "+r"(*sum)
                 : "r"(d));
}

/* Exclusive prefix sum within the warp: base[v] = the sum of sums[v] over the lower lanes. The
 * total of the warp is added to `before` of all warps after it. */
template <int N>
static __device__ __forceinline__ void threads_scan(unsigned *base, unsigned *before,
                                                    const unsigned *sums)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int v = 0; v < N; v++)
        base[v] = sums[v];
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int v = 0; v < N; v++)
            add_lane(&base[v], d);
#pragma unroll
    for (int v = 0; v < N; v++) {
        unsigned all = __shfl_sync(~0u, base[v], 31);
        if (lane > warp)
            atomicAdd(&before[lane * N + v], all);
        base[v] -= sums[v];
    }
}

/* Division of rows into strips. */
struct strips_cut {
    int strips, across; /* strips per row; pixels that each strip computes, in whole threads */
    int threads;        /* per block; 0: the halo is too wide */
};

/* Chooses the number of threads per block so that few threads work on the halo, which is `halo`
 * pixels on each side of a strip. */
static inline struct strips_cut strips_cut_of(int width, int halo, int most)
{
    struct strips_cut cut = {0, 0, 0};
    double best = 1e30;
    for (int n = 32; n <= most; n += 32) {
        int across = n * PIXELS - 2 * halo;
        if (across <= 0)
            continue;
        int strips = ceil_div(width, across);
        double cost = (double)strips * n * (1 + n / 2048.0); /* large blocks wait longer */
        if (cost < best) {
            best = cost;
            cut = {strips, across, n};
        }
    }
    return cut;
}

#endif
