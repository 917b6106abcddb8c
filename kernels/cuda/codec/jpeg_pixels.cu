/* Coefficients to pixels: dequantisation, inverse transform, upsampling and colour.
 *
 * The first kernel gives a block of 8 x 8 coefficients to 8 lanes. Lane i transforms column i,
 * stores it in shared memory, reads row i, transforms it, and stores 8 samples of a plane. The
 * second kernel computes 4 pixels per thread.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/jpeg_decode.h"

enum {
    LANES = 8,   /* threads of a block of coefficients */
    BLOCKS = 32, /* of coefficients, that a block of threads transforms at the same time */
    TIMES = 4,   /* how often it does so */
    PITCH = 9,   /* of a column in shared memory, free of bank conflicts */
    BLOCK_SHARED = LANES * PITCH,
    PIXELS = 4, /* of a thread */
    COLOR_THREADS = 128,
};

/* A lane's part of a block of SIZE x SIZE samples: column `lane` of the coefficients, then row
 * `lane` of the samples, which are stored at `out`. `exchange` is shared memory of the block. All
 * lanes of the warp call it; `there` is false past the last block. Returns whether a value leaves
 * 16 bits. */
template <int SIZE>
static __device__ inline bool transform_lane(int *exchange, const uint4 &coefficients,
                                             const uint4 &steps, bool there, uint8_t *out)
{
    const int lane = (int)(threadIdx.x % LANES);
    uint32_t leaves = 0;
    int v[8];
    if (there && gi_jpeg_uses(lane, SIZE)) {
#pragma unroll
        for (int y = 0; y < 8; y++)
            v[y] = gi_jpeg_uses(y, SIZE)
                       ? ((const int16_t *)&coefficients)[y] * ((const uint16_t *)&steps)[y]
                       : 0;
        leaves = gi_jpeg_idct_column(v, SIZE);
#pragma unroll
        for (int y = 0; y < SIZE; y++)
            exchange[y * PITCH + lane] = v[y];
    }
    __syncwarp();
    if (there && lane < SIZE) {
#pragma unroll
        for (int x = 0; x < 8; x++)
            v[x] = gi_jpeg_uses(x, SIZE) ? exchange[lane * PITCH + x] : 0;
        leaves |= gi_jpeg_idct_row(v, SIZE);
        uint32_t words[2] = {(uint32_t)(v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24),
                             (uint32_t)(v[4] | v[5] << 8 | v[6] << 16 | v[7] << 24)};
        if (SIZE == 8)
            *(uint2 *)out = make_uint2(words[0], words[1]);
        else if (SIZE == 4)
            *(uint32_t *)out = words[0];
        else if (SIZE == 2)
            *(uint16_t *)out = (uint16_t)words[0];
        else
            *out = (uint8_t)words[0];
    }
    return leaves != 0;
}

/* A block of threads transforms blocks of coefficients that are neighbours in a row of a plane,
 * BLOCKS at a time. The rows of all planes are numbered one plane after another. */
static __global__ void __launch_bounds__(BLOCKS *LANES) transform(const struct jpeg_task *tasks)
{
    __shared__ int exchange[BLOCKS][BLOCK_SHARED];
    const struct jpeg_task &task = tasks[blockIdx.z];
    int c = 0, by = (int)blockIdx.y;
    while (c < task.result.channels - 1 && by >= task.grid.planes[c].down)
        by -= task.grid.planes[c++].down;
    const struct gi_jpeg_plane plane = task.grid.planes[c]; /* stores can't change a copy */
    const int first = (int)blockIdx.x * TIMES * BLOCKS;
    if (by >= plane.down || first >= plane.across || jpeg_gave_up(task))
        return;
    const unsigned lane = threadIdx.x % LANES, slot = threadIdx.x / LANES;
    const uint4 steps = ((const uint4 *)task.quantization[c])[lane];
    const size_t size = (size_t)plane.size, row = (size_t)by * size + lane;
    const uint4 *coefficients = (const uint4 *)task.coefficients;
    const uint32_t across = (uint32_t)task.grid.across, nunits = (uint32_t)task.grid.nunits;
    uint8_t *out = task.planes[c] + row * (size_t)plane.across * size;
    bool leaves = false;
#pragma unroll 1
    for (int left = first; left < min(first + TIMES * BLOCKS, plane.across); left += BLOCKS) {
        const int bx = left + (int)slot;
        const bool there = bx < plane.across;
        const uint32_t unit =
            gi_jpeg_unit_at(&plane, (uint32_t)(there ? bx : left), (uint32_t)by, across, nunits);
        const uint4 wide = coefficients[(size_t)unit * LANES + lane];
        uint8_t *at = out + (size_t)bx * size;
        leaves |= size == 8   ? transform_lane<8>(exchange[slot], wide, steps, there, at)
                  : size == 4 ? transform_lane<4>(exchange[slot], wide, steps, there, at)
                  : size == 2 ? transform_lane<2>(exchange[slot], wide, steps, there, at)
                              : transform_lane<1>(exchange[slot], wide, steps, there, at);
        __syncwarp();
    }
    if (leaves)
        atomicOr(task.status, JPEG_LEAVES_16_BITS);
}

/* ---- pixels ---- */

/* Loads PIXELS samples of a plane from (x, y) on. */
static __device__ inline void load_samples(int v[PIXELS], const struct jpeg_task &task, int c,
                                           int x, int y)
{
    const struct gi_jpeg_plane &plane = task.grid.planes[c];
    const uint8_t *data = task.planes[c];
    if (plane.step_x == 1 && plane.step_y == 1 && plane.size == 8) {
        size_t at = (size_t)y * (size_t)plane.across * 8 + (size_t)x;
        uint32_t word = *(const uint32_t *)(data + at);
        for (int i = 0; i < PIXELS; i++)
            v[i] = word >> 8 * i & 255;
        return;
    }
    for (int i = 0; i < PIXELS; i++) /* pixels beyond the image repeat the last one */
        v[i] = gi_jpeg_sample(data, &plane, min(x + i, task.result.width - 1), y);
}

/* Stores the bytes of PIXELS pixels, or of fewer at the right edge. */
template <int N>
static __device__ inline void store_pixels(const struct gi_image &result, int x, int y,
                                           const uint8_t bytes[N * PIXELS])
{
    uint8_t *at = (uint8_t *)result.data + (size_t)y * result.stride + (size_t)x * N;
    int n = min(PIXELS, result.width - x) * N;
    if (n == N * PIXELS) {
#pragma unroll
        for (int i = 0; i < N; i++)
            ((uint32_t *)at)[i] = bytes[4 * i] | bytes[4 * i + 1] << 8 | bytes[4 * i + 2] << 16 |
                                  (uint32_t)bytes[4 * i + 3] << 24;
        return;
    }
    for (int i = 0; i < N * PIXELS; i++)
        if (i < n)
            at[i] = bytes[i];
}

static __global__ void __launch_bounds__(COLOR_THREADS) make_pixels(const struct jpeg_task *tasks)
{
    const struct jpeg_task &task = tasks[blockIdx.z];
    const int x = (int)(blockIdx.x * COLOR_THREADS + threadIdx.x) * PIXELS, y = (int)blockIdx.y;
    if (x >= task.result.width || y >= task.result.height || *task.status)
        return;
    int v[GI_JPEG_COMPONENTS][PIXELS];
    uint8_t bytes[GI_JPEG_COMPONENTS * PIXELS];
    load_samples(v[0], task, 0, x, y);
    if (task.result.channels == 1) {
        for (int i = 0; i < PIXELS; i++)
            bytes[i] = (uint8_t)v[0][i];
        store_pixels<1>(task.result, x, y, bytes);
        return;
    }
    load_samples(v[1], task, 1, x, y);
    load_samples(v[2], task, 2, x, y);
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        if (task.ycc)
            gi_jpeg_rgb(bytes + 3 * i, v[0][i], v[1][i], v[2][i]);
        else
            for (int c = 0; c < 3; c++)
                bytes[3 * i + c] = (uint8_t)v[c][i];
    store_pixels<3>(task.result, x, y, bytes);
}

enum gi_status gi_cuda_jpeg_pixels(struct gi_cuda_queue *cu, const struct jpeg_launch *launch,
                                   struct gi_err *err)
{
    const dim3 blocks((launch->across - 1) / (TIMES * BLOCKS) + 1, launch->down, launch->n);
    transform<<<blocks, BLOCKS * LANES, 0, cu->stream>>>(launch->tasks);
    GI_CUDA_LAUNCHED();
    const unsigned across = ((unsigned)launch->width - 1) / (COLOR_THREADS * PIXELS) + 1;
    make_pixels<<<dim3(across, (unsigned)launch->height, launch->n), COLOR_THREADS, 0,
                  cu->stream>>>(launch->tasks);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
