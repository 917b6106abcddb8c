/* Flips: a thread makes whole pixels, 16 or 48 bytes of a row, from those at the other end.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/move/move.cuh"
#include "kernels/cuda/move/turn.cuh"

struct flip_args {
    struct gi_image dst, src;
    int turn;
    int row;    /* bytes */
    int groups; /* of a row */
};

/* A group of the row whose bytes begin at `at`, byte by byte: it is not whole. */
template <int PIXEL, int PIECES>
static __device__ void mirror_rest(uint4 *made, const char *row, int at, int nbytes)
{
    uint8_t *to = (uint8_t *)made;
    for (int i = 0; i < PIECES * PIECE && at + i < nbytes; i++) {
        int pixel = (at + i) / PIXEL, in = (at + i) % PIXEL;
        to[i] = (uint8_t)row[nbytes - (pixel + 1) * PIXEL + in];
    }
}

template <int PIXEL, int PIECES>
static __global__ void __launch_bounds__(POINT_THREADS) mirror(struct flip_args args)
{
    enum { NBYTES = PIECES * PIECE };
    int x = (int)(blockIdx.x * POINT_THREADS + threadIdx.x), at = x * NBYTES;
    if (x >= args.groups)
        return;
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y) {
        int from = args.turn & GI_TURN_MIRROR_Y ? args.src.height - 1 - y : y;
        const char *row = (const char *)args.src.data + (size_t)from * args.src.stride;
        uint4 in[PIECES], out[PIECES] = {};
        if (at + NBYTES <= args.row) {
#pragma unroll
            for (int i = 0; i < PIECES; i++)
                in[i] = bytes_at(row, args.row - at - NBYTES + i * PIECE);
#pragma unroll
            for (int i = 0; i < NBYTES / 4; i++) {
                int b[4];
#pragma unroll
                for (int k = 0; k < 4; k++)
                    b[k] = NBYTES - ((4 * i + k) / PIXEL + 1) * PIXEL + (4 * i + k) % PIXEL;
                ((unsigned *)out)[i] = gather((const unsigned *)in, b[0], b[1], b[2], b[3]);
            }
        } else {
            mirror_rest<PIXEL, PIECES>(out, row, at, args.row);
        }
#pragma unroll
        for (int i = 0; i < PIECES; i++)
            if (at + i * PIECE < args.row)
                *piece_at(args.dst, x * PIECES + i, y) = out[i];
    }
}

static __global__ void __launch_bounds__(POINT_THREADS) upside_down(struct flip_args args)
{
    int x = (int)(blockIdx.x * POINT_THREADS + threadIdx.x);
    if (x >= args.groups)
        return;
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y) {
        int from = args.turn & GI_TURN_MIRROR_Y ? args.src.height - 1 - y : y;
        *piece_at(args.dst, x, y) = *piece_at(args.src, x, from);
    }
}

template <int PIXEL> static void launch(struct gi_cuda_queue *cu, struct flip_args *args)
{
    enum { PIECES = PIECE % PIXEL == 0 ? 1 : 3 };
    args->groups = ceil_div(args->row, PIECES * PIECE);
    mirror<PIXEL, PIECES>
        <<<point_grid(args->groups, args->dst.height), POINT_THREADS, 0, cu->stream>>>(*args);
}

enum gi_status gi_cuda_turn_rows(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, int turn, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct flip_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.turn = turn;
    args.row = (int)gi_row_nbytes(src);
    if (turn & GI_TURN_MIRROR_X) {
        TURN_PIXELS(src, launch<PIXEL>(cu, &args));
    } else {
        args.groups = pieces_of(src);
        upside_down<<<point_grid(args.groups, dst->height), POINT_THREADS, 0, cu->stream>>>(args);
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
