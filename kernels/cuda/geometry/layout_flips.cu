/* Flips: horizontal, vertical, or both (half turn). A thread computes a group of whole pixels, 16
 * or 48 bytes of a row, from the group at the opposite end of the source row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/unaligned.cuh"
#include "kernels/cuda/geometry/layout.cuh"

struct flip_args {
    struct gi_image dst, src;
    int layout;
    int row;    /* bytes per row */
    int groups; /* per row */
};

/* Copies the last, incomplete group of a row, byte by byte. */
template <int PIXEL>
static __device__ __noinline__ void mirror_rest(const struct flip_args &args, int y, int from,
                                                int at)
{
    char *to = (char *)args.dst.data + (size_t)y * args.dst.stride;
    const char *row = (const char *)args.src.data + (size_t)from * args.src.stride;
    for (; at < args.row; at++)
        to[at] = row[args.row - (at / PIXEL + 1) * PIXEL + at % PIXEL];
}

/* Reverses the order of the pixels in a whole group. */
template <int PIXEL, int PIECES>
static __device__ __forceinline__ void mirror_group(uint4 *out, const uint4 *in)
{
    enum { NBYTES = PIECES * PIECE };
#pragma unroll
    for (int i = 0; i < NBYTES / 4; i++) {
        int b[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            b[k] = NBYTES - ((4 * i + k) / PIXEL + 1) * PIXEL + (4 * i + k) % PIXEL;
        ((unsigned *)out)[i] = gather((const unsigned *)in, b[0], b[1], b[2], b[3]);
    }
}

/* Aligns a group that begins with byte `shift` of p[0] in the pieces p[0] to p[PIECES]. */
template <int PIECES>
static __device__ __forceinline__ void shift_group(uint4 *in, const uint4 *p, unsigned shift)
{
#pragma unroll
    for (int i = 0; i < PIECES; i++)
        in[i] = shift ? shifted(p[i], p[i + 1], shift) : p[i];
}

/* A thread loads FLIP_ROWS rows before it stores the first. */
template <int PIXEL, int PIECES>
static __global__ void __launch_bounds__(POINTWISE_THREADS)
    mirror(const __grid_constant__ struct flip_args args)
{
    enum { NBYTES = PIECES * PIECE, FLIP_ROWS = PIECES == 1 ? 4 : 2 };
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x), at = x * NBYTES;
    int from = args.row - at - NBYTES, height = args.dst.height;
    unsigned shift = (unsigned)from & 15;
    if (x >= args.groups)
        return;
    for (int y = (int)blockIdx.y * FLIP_ROWS; y < height; y += (int)gridDim.y * FLIP_ROWS) {
        uint4 p[FLIP_ROWS][PIECES + 1], in[PIECES], out[PIECES];
#pragma unroll
        for (int r = 0; r < FLIP_ROWS; r++) {
            int row = args.layout & GI_LAYOUT_MIRROR_Y ? height - 1 - y - r : y + r;
#pragma unroll
            for (int i = 0; i <= PIECES; i++)
                if (from >= 0 && y + r < height && (i < PIECES || shift))
                    p[r][i] = *piece_at(args.src, (from >> 4) + i, row);
        }
#pragma unroll
        for (int r = 0; r < FLIP_ROWS; r++) {
            int row = args.layout & GI_LAYOUT_MIRROR_Y ? height - 1 - y - r : y + r;
            if (y + r >= height)
                break;
            if (from < 0) {
                mirror_rest<PIXEL>(args, y + r, row, at);
                continue;
            }
            shift_group<PIECES>(in, p[r], shift);
            mirror_group<PIXEL, PIECES>(out, in);
#pragma unroll
            for (int i = 0; i < PIECES; i++)
                *piece_at(args.dst, x * PIECES + i, y + r) = out[i];
        }
    }
}

static __global__ void __launch_bounds__(POINTWISE_THREADS) upside_down(struct flip_args args)
{
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.groups)
        return;
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y) {
        int from = args.layout & GI_LAYOUT_MIRROR_Y ? args.src.height - 1 - y : y;
        *piece_at(args.dst, x, y) = *piece_at(args.src, x, from);
    }
}

template <int PIXEL> static void launch(struct gi_cuda_queue *cu, struct flip_args *args)
{
    enum { PIECES = PIECE % PIXEL == 0 ? 1 : 3 };
    args->groups = ceil_div(args->row, PIECES * PIECE);
    mirror<PIXEL, PIECES>
        <<<pointwise_grid(args->groups, ceil_div(args->dst.height, PIECES == 1 ? 4 : 2)),
           POINTWISE_THREADS, 0, cu->stream>>>(*args);
}

static struct flip_args args_of(struct gi_image *dst, const struct gi_image *src, int layout)
{
    struct flip_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.layout = layout;
    args.row = (int)gi_row_nbytes(src);
    return args;
}

enum gi_status gi_cuda_layout_mirror(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const int *layout,
                                     struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct flip_args args = args_of(dst, src, *layout);
    LAYOUT_PIXELS(src, launch<PIXEL>(cu, &args));
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_layout_rows(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const int *layout,
                                   struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct flip_args args = args_of(dst, src, *layout);
    args.groups = pieces_of(src);
    upside_down<<<pointwise_grid(args.groups, dst->height), POINTWISE_THREADS, 0, cu->stream>>>(
        args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
