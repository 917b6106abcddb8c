/* Gathers samples: a thread makes one 32-bit word of every row of its block from 1, 2 or 4 samples,
 * or copies 16 bytes. Stores are coalesced; neighbouring threads load from the same cache lines.
 * The addresses of the samples are computed once, in the first row.
 *
 * Example: RGB bytes in reverse order: word 0 of a row consists of bytes 2, 1, 0 and 5 of the
 * source row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/gather_samples.h"

#include "kernels/cuda/common/pointwise.cuh"

enum {
    GATHER_ROWS = 4, /* rows that a thread loads before it stores the first */
    TURNS = 4,       /* times that a block that makes words moves down */
};

template <typename T>
static __device__ __forceinline__ void gather_rows(const struct sample_gather &args, int word)
{
    enum { N = 4 / (int)sizeof(T) };
    const char *from[N];
    ptrdiff_t stride[N];
    unsigned value[N];
    int x = word * N / args.channels, c = word * N % args.channels, height = args.dst.height;
#pragma unroll
    for (int i = 0; i < N; i++) {
        bool copied = args.from[c] && x < args.width;
        from[i] = copied ? args.from[c] + x * args.step[c] : NULL;
        stride[i] = args.stride[c];
        value[i] = args.value[c];
        c = c + 1 < args.channels ? c + 1 : 0;
        x += c == 0;
    }
    for (int y = (int)blockIdx.y * GATHER_ROWS; y < height; y += (int)gridDim.y * GATHER_ROWS) {
        unsigned v[GATHER_ROWS][N];
#pragma unroll
        for (int r = 0; r < GATHER_ROWS; r++)
#pragma unroll
            for (int i = 0; i < N; i++)
                v[r][i] =
                    from[i] ? *(const T *)(from[i] + min(y + r, height - 1) * stride[i]) : value[i];
#pragma unroll
        for (int r = 0; r < GATHER_ROWS; r++) {
            unsigned made = v[r][0];
#pragma unroll
            for (int i = 1; i < N; i++)
                made |= v[r][i] << 32 / N * i;
            if (y + r < height)
                ((unsigned *)((char *)args.dst.data + (size_t)(y + r) * args.dst.stride))[word] =
                    made;
        }
    }
}

/* Copies piece x of every row of the block. */
static __device__ __forceinline__ void gather_pieces(const struct sample_gather &args, int x)
{
    const char *from = args.from[0] + x * args.step[0];
    int height = args.dst.height;
    for (int y = (int)blockIdx.y * GATHER_ROWS; y < height; y += (int)gridDim.y * GATHER_ROWS) {
        uint4 v[GATHER_ROWS];
#pragma unroll
        for (int r = 0; r < GATHER_ROWS; r++)
            v[r] = *(const uint4 *)(from + min(y + r, height - 1) * args.stride[0]);
#pragma unroll
        for (int r = 0; r < GATHER_ROWS; r++)
            if (y + r < height)
                *piece_at(args.dst, x, y + r) = v[r];
    }
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    gather_samples(const __grid_constant__ struct sample_gather args, int words)
{
    int word = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (word >= words)
        return;
    if (args.nbytes == 1)
        gather_rows<uint8_t>(args, word);
    else if (args.nbytes == 2)
        gather_rows<uint16_t>(args, word);
    else if (args.nbytes == 4)
        gather_rows<uint32_t>(args, word);
    else
        gather_pieces(args, word);
}

enum gi_status gi_cuda_gather_samples(struct gi_cuda_queue *cu, const struct sample_gather *gather,
                                      struct gi_err *err)
{
    bool pieces = gather->nbytes == PIECE;
    int words = ceil_div((long long)gi_row_nbytes(&gather->dst), pieces ? PIECE : 4);
    dim3 grid = pointwise_grid(
        words, ceil_div(gather->dst.height, pieces ? GATHER_ROWS : GATHER_ROWS * TURNS));
    gather_samples<<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*gather, words);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
