/* Shared by the reduction kernels: results, and positions of minimum and maximum.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REDUCE_CUH
#define GI_KERNELS_CUDA_REDUCE_CUH

#include "kernels/cuda/common/measure.h"

enum {
    REDUCE_THREADS = 256,
    REDUCE_WARPS = REDUCE_THREADS / WARP,
    SUM_DIGITS = 12,
    SQUARE_DIGITS = 20,
};

/* Numbers as 32-bit digits without carries: each digit is a sum of signed 64-bit terms. */
struct digits {
    device_u64 sum[SUM_DIGITS], magnitude[SUM_DIGITS], square[SQUARE_DIGITS];
    device_u64 nan, above, below; /* samples of GI_F32 */
};

/* Results of one channel, all 0 at first. `ends` are ~(key << 32 | position), with the key of the
 * maximum complemented, so that an atomic maximum selects the first one in raster order. */
struct device_reduction {
    device_u64 n, ends[2]; /* minimum, maximum */
    struct digits digits;  /* integers use only the lowest digit of each number */
};

/* Pieces that a thread has in flight per step, and resident blocks per multiprocessor. */
template <typename T, int CHANNELS> struct reduce_shape {
    enum {
        TURN = CHANNELS == 3 ? 2 : 4,
        BLOCKS = (sizeof(T) < 4 ? 4 : 3) - (CHANNELS > (sizeof(T) < 4 ? 2 : 1))
    };
    typedef struct piece<T, CHANNELS> turn[TURN];
};

/* The minimum and the maximum of a channel that a thread has found, and tags of where they are:
 * sample_tag() for integers, the step for floats. */
template <typename V> struct ends {
    V value[2];
    unsigned tag[2];
};

template <typename V>
static __device__ inline void ends_note(struct ends<V> *ends, V least, unsigned least_tag, V most,
                                        unsigned most_tag)
{
    if (least < ends->value[0]) {
        ends->value[0] = least;
        ends->tag[0] = least_tag;
    }
    if (most > ends->value[1]) {
        ends->value[1] = most;
        ends->tag[1] = most_tag;
    }
}

/* Tag of sample i of a thread's step. */
enum { TAG_BITS = 7, LAST_TAG = (1 << TAG_BITS) - 1 };

static __device__ inline unsigned sample_tag(unsigned turn, unsigned i)
{
    return turn << TAG_BITS | i;
}

static __device__ inline uint32_t key_of(int v)
{
    return (uint32_t)v;
}

static __device__ inline uint32_t key_of(float v)
{
    return gi_float_key(__float_as_uint(v + 0.0f)); /* -0 becomes +0 */
}

/* Sample c of a pixel in registers. */
template <typename T, int CHANNELS> static __device__ inline T channel_of(const T *pixel, int c)
{
    T v = pixel[0];
#pragma unroll
    for (int i = 1; i < CHANNELS; i++)
        v = i == c ? pixel[i] : v;
    return v;
}

/* Finds piece j of a thread's step: row *y, and index *index within the row. */
template <typename T, int CHANNELS>
static __device__ inline void piece_at(unsigned *y, unsigned *index, const struct walk &walk,
                                       unsigned turn, unsigned j)
{
    unsigned at = blockIdx.x * REDUCE_THREADS + threadIdx.x +
                  (turn * reduce_shape<T, CHANNELS>::TURN + j) * gridDim.x * REDUCE_THREADS;
    *y = at / walk.pieces;
    *index = at % walk.pieces;
}

/* Returns the position in the image of a thread's sample, from its tag. */
template <typename T, int CHANNELS, bool OPAQUE>
static __device__ inline uint32_t place_of(const struct gi_image &src, const struct walk &walk,
                                           unsigned tag, int, int)
{
    constexpr unsigned SAMPLES = piece<T, CHANNELS>::SAMPLES;
    static_assert(reduce_shape<T, CHANNELS>::TURN * SAMPLES <= 1 << TAG_BITS, "tags tell all");
    unsigned i = tag & LAST_TAG, y, index;
    piece_at<T, CHANNELS>(&y, &index, walk, tag >> TAG_BITS, i / SAMPLES);
    return y * (uint32_t)src.width + (index * SAMPLES + i % SAMPLES) / CHANNELS;
}

/* Loads a step of a thread again, and returns the position of the first sample of channel c in that
 * step that equals `v`. */
template <typename T, int CHANNELS, bool OPAQUE>
static __device__ __noinline__ uint32_t place_of(const struct gi_image &src,
                                                 const struct walk &walk, unsigned turn, int c,
                                                 float v)
{
    constexpr int TURN = reduce_shape<T, CHANNELS>::TURN;
    constexpr int PIXELS = piece<T, CHANNELS>::SAMPLES / CHANNELS;
    uint32_t place = UINT32_MAX;
#pragma unroll
    for (int j = TURN - 1; j >= 0; j--) {
        unsigned y, index;
        piece_at<T, CHANNELS>(&y, &index, walk, turn, (unsigned)j);
        struct piece<T, CHANNELS> piece;
        piece_load(&piece, src, y, index);
#pragma unroll
        for (int i = PIXELS - 1; i >= 0; i--) {
            const T *pixel = &piece.samples[i * CHANNELS];
            if (i * CHANNELS < piece.n && (!OPAQUE || pixel[CHANNELS - 1] > 0) &&
                channel_of<T, CHANNELS>(pixel, c) == v)
                place = y * (uint32_t)src.width + index * PIXELS + (unsigned)i;
        }
    }
    return place;
}

/* Adds the results of the block's threads to `found`. All threads of the block call it. */
template <typename T, int CHANNELS, bool OPAQUE, typename V>
static __device__ inline void ends_finish(struct device_reduction *found,
                                          const struct ends<V> *ends, const struct gi_image &src,
                                          const struct walk &walk)
{
    __shared__ device_u64 partial[REDUCE_WARPS][2 * CHANNELS];
#pragma unroll
    for (int i = 0; i < 2 * CHANNELS; i++) {
        const int c = i / 2, end = i % 2;
        V v = ends[c].value[end];
        bool any = ends[c].value[0] <= ends[c].value[1];
        uint32_t key = any ? (end ? ~key_of(v) : key_of(v)) : UINT32_MAX, best = key;
        for (int step = WARP / 2; step > 0; step /= 2)
            best = min(best, __shfl_xor_sync(ALL_LANES, best, step));
        uint32_t place = UINT32_MAX;
        unsigned tag = any && key == best ? ends[c].tag[end] : UINT32_MAX, first = tag;
        if (sizeof(T) == 4) /* a search is slow; positions grow with the tag */
            for (int step = WARP / 2; step > 0; step /= 2)
                first = min(first, __shfl_xor_sync(ALL_LANES, first, step));
        if (any && key == best && tag == first)
            place = place_of<T, CHANNELS, OPAQUE>(src, walk, tag, c, v);
        for (int step = WARP / 2; step > 0; step /= 2)
            place = min(place, __shfl_xor_sync(ALL_LANES, place, step));
        if (threadIdx.x % WARP == 0)
            partial[threadIdx.x / WARP][i] = ~((device_u64)best << 32 | place);
    }
    __syncthreads();
    if (threadIdx.x < 2 * CHANNELS) {
        device_u64 best = 0;
        for (int w = 0; w < REDUCE_WARPS; w++)
            best = max(best, partial[w][threadIdx.x]);
        if (best)
            atomicMax(&found[threadIdx.x / 2].ends[threadIdx.x % 2], best);
    }
}

/* Reduces floats, as gi_reduce_fn does, to `found` in device memory (reduce_floats.cu). */
enum gi_status gi_cuda_reduce_floats(struct gi_cuda_queue *cu, struct device_reduction *found,
                                     const struct gi_image *src, bool opaque, struct gi_err *err);

#endif
