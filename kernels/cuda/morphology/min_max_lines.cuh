/* Minima along the rows of a strip, for min_max_strips.cu: doubling (the minimum of 2m pixels is
 * the minimum of two minima of m pixels), in registers and through lines of shared memory.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MIN_MAX_LINES_CUH
#define GI_KERNELS_CUDA_MIN_MAX_LINES_CUH

#include "kernels/cuda/morphology/min_max.cuh"

enum { NBYTES = 16 /* of a row, that a thread owns */ };

/* The maximum number of neighbouring pixels, N, whose minimum is computed in registers. The N - 1
 * pixels after a thread's bytes must be in its neighbour's bytes. */
template <int PIXEL> struct near_columns {
    enum { N = 15 * PIXEL <= NBYTES ? 16 : 7 * PIXEL <= NBYTES ? 8 : 3 * PIXEL <= NBYTES ? 4 : 2 };
};

/* Returns the word that begins at byte `at` of eight words. Bytes beyond the eighth word are
 * undefined. */
static __device__ __forceinline__ unsigned bytes_at(const unsigned *words, int at)
{
    int word = at / 4 < 7 ? at / 4 : 7, next = word < 7 ? word + 1 : 7;
    return at % 4 ? __funnelshift_r(words[word], words[next], at % 4 * 8) : words[word];
}

template <typename T, int PIXEL, int M>
static __device__ __forceinline__ void double_near(unsigned *words, int width, int *m)
{
    if constexpr (M < near_columns<PIXEL>::N) {
        if (2 * M < width) {
#pragma unroll
            for (int j = 0; j < 8; j++)
                if (4 * j < NBYTES + (near_columns<PIXEL>::N - 2 * M) * PIXEL)
                    words[j] = least<T>(words[j], bytes_at(words, 4 * j + M * PIXEL));
            *m = 2 * M;
            double_near<T, PIXEL, 2 * M>(words, width, m);
        }
    }
}

/* The same for gray bytes. Even and odd bytes are the upper bytes of 16-bit halves, in words of
 * their own, so that most shifts by bytes become shifts by halves or none. */
static __device__ __forceinline__ void double_bytes(unsigned *words, int width, int *m)
{
    unsigned parts[2][8];
#pragma unroll
    for (int j = 0; j < 8; j++) {
        parts[0][j] = words[j] << 8;
        parts[1][j] = words[j];
    }
    if (2 < width) {
#pragma unroll
        for (int j = 0; j < 8; j++) { /* byte 1 and byte 2, the first of the next word's half */
            unsigned even = parts[0][j], after = __funnelshift_r(even, parts[0][min(j + 1, 7)], 16);
            parts[0][j] = __vminu2(even, parts[1][j]);
            parts[1][j] = __vminu2(parts[1][j], after);
        }
        *m = 2;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        unsigned *v = parts[i];
        if (4 < width)
#pragma unroll
            for (int j = 0; j < 7; j++)
                v[j] = __vminu2(v[j], __funnelshift_r(v[j], v[j + 1], 16));
        if (8 < width)
#pragma unroll
            for (int j = 0; j < 6; j++)
                v[j] = __vminu2(v[j], v[j + 1]);
        if (16 < width)
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[j] = __vminu2(v[j], v[j + 2]);
    }
    *m = 16 < width ? 16 : 8 < width ? 8 : 4 < width ? 4 : *m;
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = __byte_perm(parts[0][j], parts[1][j], 0x7351);
}

static __device__ __forceinline__ void line_sync(void)
{
    if (blockDim.x > 32)
        __syncthreads();
    else
        __syncwarp();
}

/* Reads the 16 bytes that are `offset` bytes from a thread's own. */
static __device__ __forceinline__ void line_read(unsigned *words, const uint4 *line, int offset)
{
    int first = (int)threadIdx.x + (offset >> 4), last = (int)blockDim.x - 1;
    uint4 a = line[min(max(first, 0), last)], b = line[min(max(first + 1, 0), last)];
    unsigned w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int j = 0; j < 6; j++)
        w[j] = offset & 8 ? w[j + 2] : w[j];
#pragma unroll
    for (int j = 0; j < 5; j++)
        w[j] = offset & 4 ? w[j + 1] : w[j];
#pragma unroll
    for (int j = 0; j < 4; j++)
        words[j] = __funnelshift_r(w[j], w[j + 1], offset % 4 * 8);
}

/* Reads the 16 bytes that are `chunks` chunks from a thread's own. */
static __device__ __forceinline__ void line_get(unsigned *words, const uint4 *line, int chunks)
{
    uint4 v = line[min((int)threadIdx.x + chunks, (int)blockDim.x - 1)];
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
}

/* Stores a thread's words of ROWS rows in a buffer of `line`. Returns this buffer. The buffers are
 * used in turn. */
template <int ROWS>
static __device__ __forceinline__ const uint4 *line_put(uint4 *line, int *which,
                                                        const unsigned (&words)[ROWS][4])
{
    uint4 *at = line + *which * ROWS * (int)blockDim.x;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        at[r * (int)blockDim.x + (int)threadIdx.x] =
            make_uint4(words[r][0], words[r][1], words[r][2], words[r][3]);
    line_sync();
    *which ^= 1;
    return at;
}

/* Replaces the words of each row by minima of `width` pixels; the element begins `reach` bytes
 * before each pixel. `line` is two buffers of ROWS rows in shared memory, of which *which is used
 * next. */
template <typename T, int PIXEL, int ROWS>
static __device__ __forceinline__ void least_along(unsigned (&words)[ROWS][4], int width, int reach,
                                                   uint4 *line, int *which)
{
    int n = (int)blockDim.x, m = 1;
    const uint4 *at = line_put<ROWS>(line, which, words);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        uint4 next = at[r * n + min((int)threadIdx.x + 1, n - 1)];
        unsigned near[8] = {words[r][0], words[r][1], words[r][2], words[r][3],
                            next.x,      next.y,      next.z,      next.w};
        m = 1;
        if constexpr (PIXEL == 1)
            double_bytes(near, width, &m);
        else
            double_near<T, PIXEL, 1>(near, width, &m);
#pragma unroll
        for (int j = 0; j < 4; j++)
            words[r][j] = near[j];
    }
    for (;; m *= 2) {
        at = line_put<ROWS>(line, which, words);
        if (2 * m >= width)
            break;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            unsigned other[4];
            if (near_columns<PIXEL>::N * PIXEL % NBYTES == 0)
                line_get(other, at + r * n, m * PIXEL / NBYTES);
            else
                line_read(other, at + r * n, m * PIXEL);
#pragma unroll
            for (int j = 0; j < 4; j++)
                words[r][j] = least<T>(words[r][j], other[j]);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned first[4];
        int to_last = (width - m) * PIXEL - reach;
        line_read(first, at + r * n, -reach);
        if (to_last) /* 0 for a centred window of 2 m - 1 pixels */
            line_read(words[r], at + r * n, to_last);
#pragma unroll
        for (int j = 0; j < 4; j++)
            words[r][j] = least<T>(first[j], words[r][j]);
    }
}

#endif
