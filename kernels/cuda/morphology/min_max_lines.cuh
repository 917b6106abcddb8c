/* Minima along the rows of a strip, for min_max_strips.cu: doubling (the minimum of 2m pixels is
 * the minimum of two minima of m pixels), in registers and through lines of shared memory.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MIN_MAX_LINES_CUH
#define GI_KERNELS_CUDA_MIN_MAX_LINES_CUH

#include "kernels/cuda/morphology/min_max.cuh"

enum { NBYTES = 16 /* of a row, that a thread owns */ };

/* The keys of a thread's 16 bytes of a row. Bytes are in two parts, even and odd bytes, each as the
 * upper bytes of 16-bit halves: the lower byte of a half does not change which upper byte is the
 * minimum. Other types have one part. */
template <typename T> struct line_keys {
    enum { PARTS = sizeof(T) == 1 ? 2 : 1 };
    unsigned v[PARTS][4];
};

/* Returns part p of a word. */
template <typename T> static __device__ __forceinline__ unsigned part_of(unsigned word, int p)
{
    return sizeof(T) == 1 && p == 0 ? word << 8 : word;
}

template <typename T> static __device__ __forceinline__ line_keys<T> keys_split(uint4 words)
{
    unsigned w[4] = {words.x, words.y, words.z, words.w};
    line_keys<T> keys;
#pragma unroll
    for (int p = 0; p < line_keys<T>::PARTS; p++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            keys.v[p][j] = part_of<T>(w[j], p);
    return keys;
}

template <typename T> static __device__ __forceinline__ uint4 keys_join(line_keys<T> keys)
{
    enum { LAST = line_keys<T>::PARTS - 1 };
    unsigned w[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        w[j] = LAST ? __byte_perm(keys.v[0][j], keys.v[LAST][j], 0x7351) : keys.v[0][j];
    return make_uint4(w[0], w[1], w[2], w[3]);
}

/* Returns the minimum of each key in two words of a part. */
template <typename T> static __device__ __forceinline__ unsigned part_least(unsigned a, unsigned b)
{
    return sizeof(T) == 4 ? min(a, b) : __vminu2(a, b);
}

template <typename T>
static __device__ __forceinline__ line_keys<T> keys_least(line_keys<T> a, line_keys<T> b)
{
#pragma unroll
    for (int p = 0; p < line_keys<T>::PARTS; p++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            a.v[p][j] = part_least<T>(a.v[p][j], b.v[p][j]);
    return a;
}

/* The minimum of three, by three-operand minima. */
template <typename T>
static __device__ __forceinline__ line_keys<T> keys_least3(line_keys<T> a, line_keys<T> b,
                                                           line_keys<T> c)
{
#pragma unroll
    for (int p = 0; p < line_keys<T>::PARTS; p++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            a.v[p][j] = sizeof(T) == 4 ? __vimin3_u32(a.v[p][j], b.v[p][j], c.v[p][j])
                                       : __vimin3_u16x2(a.v[p][j], b.v[p][j], c.v[p][j]);
    return a;
}

/* The base-2 logarithm of the maximum number of neighbouring pixels, N, whose minimum is computed
 * in registers. The N - 1 pixels after a thread's bytes must be in its neighbour's bytes. */
template <int PIXEL> struct near_columns {
    enum { LOG = 15 * PIXEL <= NBYTES ? 4 : 7 * PIXEL <= NBYTES ? 3 : 3 * PIXEL <= NBYTES ? 2 : 1 };
};

/* Minima of pairs of pixels that are `distance` pixels apart, in the first words of `near`, those
 * of a thread and its neighbour on the right. A shift by an odd number of bytes exchanges the
 * parts. */
template <typename T, int PIXEL, int DISTANCE, int WORDS>
static __device__ __forceinline__ void near_pairs(unsigned (*near)[8])
{
    enum { PARTS = line_keys<T>::PARTS, SHIFT = DISTANCE * PIXEL };
    unsigned other[PARTS][WORDS];
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            int halves = 2 * j + (SHIFT + (SHIFT % 2 ? 2 * p - 1 : 0)) / 2, word = halves / 2;
            const unsigned *from = near[SHIFT % 2 ? PARTS - 1 - p : p];
            other[p][j] = halves % 2
                              ? __funnelshift_r(from[word], from[word < 7 ? word + 1 : 7], 16)
                              : from[word];
        }
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int j = 0; j < WORDS; j++)
            near[p][j] = part_least<T>(near[p][j], other[p][j]);
}

/* Minima of 2^LOG neighbouring pixels. The largest distance is first, because later steps then need
 * fewer words. */
template <typename T, int PIXEL, int LOG>
static __device__ __forceinline__ void near_least(unsigned (*near)[8])
{
    if constexpr (LOG > 0) {
        enum { DISTANCE = 1 << (LOG - 1), WORDS = (NBYTES + (DISTANCE - 1) * PIXEL + 3) / 4 };
        near_pairs<T, PIXEL, DISTANCE, WORDS>(near);
        near_least<T, PIXEL, LOG - 1>(near);
    }
}

static __device__ __forceinline__ void line_sync(void)
{
    if (blockDim.x > 32)
        __syncthreads();
    else
        __syncwarp();
}

/* Takes the 16 bytes that begin WORD words and `bits` bits into the 32 bytes a, b. */
template <int WORD>
static __device__ __forceinline__ uint4 line_cut(uint4 a, uint4 b, unsigned bits)
{
    unsigned w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}, v[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        v[j] = __funnelshift_r(w[WORD + j], w[WORD + j + 1], bits);
    return make_uint4(v[0], v[1], v[2], v[3]);
}

/* Reads the 16 bytes that are `offset` bytes from a thread's own, in each of ROWS rows. All threads
 * have the same offset, so that none diverges. */
template <int ROWS>
static __device__ __forceinline__ void line_read(uint4 (&words)[ROWS], const uint4 *line,
                                                 int offset)
{
    int first = (int)threadIdx.x + (offset >> 4), last = (int)blockDim.x - 1;
    unsigned bits = (unsigned)offset % 4 * 8;
    uint4 a[ROWS], b[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        a[r] = line[r * (int)blockDim.x + min(max(first, 0), last)];
        b[r] = line[r * (int)blockDim.x + min(max(first + 1, 0), last)];
    }
    if (offset & 8)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            words[r] = offset & 4 ? line_cut<3>(a[r], b[r], bits) : line_cut<2>(a[r], b[r], bits);
    else
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            words[r] = offset & 4 ? line_cut<1>(a[r], b[r], bits) : line_cut<0>(a[r], b[r], bits);
}

/* Stores a thread's keys of ROWS rows in a buffer of `line`. Returns this buffer. The buffers are
 * used in turn. */
template <typename T, int ROWS>
static __device__ __forceinline__ const uint4 *line_put(uint4 *line, int *which,
                                                        const line_keys<T> (&keys)[ROWS])
{
    uint4 *at = line + *which * ROWS * (int)blockDim.x;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        at[r * (int)blockDim.x + (int)threadIdx.x] = keys_join(keys[r]);
    line_sync();
    *which ^= 1;
    return at;
}

/* Computes minima of 2^LOG pixels in registers; `at` has the keys of all threads. */
template <typename T, int PIXEL, int ROWS, int LOG>
static __device__ __forceinline__ void line_near(line_keys<T> (&keys)[ROWS], const uint4 *at)
{
    enum { PARTS = line_keys<T>::PARTS };
    int n = (int)blockDim.x;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        line_keys<T> next = keys_split<T>(at[r * n + min((int)threadIdx.x + 1, n - 1)]);
        unsigned near[PARTS][8];
#pragma unroll
        for (int i = 0; i < PARTS * 4; i++) {
            near[i / 4][i % 4] = keys[r].v[i / 4][i % 4];
            near[i / 4][4 + i % 4] = next.v[i / 4][i % 4];
        }
        near_least<T, PIXEL, LOG>(near);
#pragma unroll
        for (int i = 0; i < PARTS * 4; i++)
            keys[r].v[i / 4][i % 4] = near[i / 4][i % 4];
    }
}

/* Replaces the keys of each row by minima of `width` pixels; the element begins `reach` bytes
 * before each pixel. `line` is two buffers of ROWS rows in shared memory, of which *which is used
 * next. */
template <typename T, int PIXEL, int ROWS>
static __device__ __forceinline__ void least_along(line_keys<T> (&keys)[ROWS], int width, int reach,
                                                   uint4 *line, int *which)
{
    enum { LOG = near_columns<PIXEL>::LOG };
    int n = (int)blockDim.x, m = 1;
    const uint4 *at = line_put<T, ROWS>(line, which, keys);
    if (LOG == 4 && width > 16) {
        line_near<T, PIXEL, ROWS, LOG == 4 ? 4 : 0>(keys, at);
        m = 16;
    } else if (LOG >= 3 && width > 8) {
        line_near<T, PIXEL, ROWS, LOG >= 3 ? 3 : 0>(keys, at);
        m = 8;
    } else if (LOG >= 2 && width > 4) {
        line_near<T, PIXEL, ROWS, LOG >= 2 ? 2 : 0>(keys, at);
        m = 4;
    } else if (width > 2) {
        line_near<T, PIXEL, ROWS, 1>(keys, at);
        m = 2;
    }
    for (;; m *= 2) {
        at = line_put<T, ROWS>(line, which, keys);
        if (2 * m >= width)
            break;
        uint4 other[ROWS];
        if ((PIXEL << LOG) % NBYTES == 0)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                other[r] = at[r * n + min((int)threadIdx.x + m * PIXEL / NBYTES, n - 1)];
        else
            line_read<ROWS>(other, at, m * PIXEL);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            keys[r] = keys_least<T>(keys[r], keys_split<T>(other[r]));
    }
    uint4 first[ROWS], last[ROWS];
    int to_last = (width - m) * PIXEL - reach;
    line_read<ROWS>(first, at, -reach);
    if (to_last) { /* 0 for a centred window of 2 m - 1 pixels */
        line_read<ROWS>(last, at, to_last);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            keys[r] = keys_split<T>(last[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        keys[r] = keys_least<T>(keys[r], keys_split<T>(first[r]));
}

#endif
