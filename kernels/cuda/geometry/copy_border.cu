/* Crop, pad and shift (copy with border). A thread computes 16 bytes of a row. Bytes inside the
 * image are taken from two aligned pieces, shifted; other bytes are computed sample by sample.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/unaligned.cuh"
#include "kernels/geometry.h"

enum { VALUES = 3 /* number of pieces after which pixels of any size begin a piece again */ };

struct copy_border_args {
    struct gi_image dst, src;
    struct gi_copy_border spec;
    long long left;       /* byte offset of the first pixel of `dst` within a row of the image */
    int pixel, row;       /* bytes per pixel; bytes per row of the image */
    int pieces, height;   /* per row of dst; of the image */
    uint4 values[VALUES]; /* pieces of border values */
};

/* Returns piece x of a row of `dst`, made sample by sample. */
template <typename T>
static __device__ uint4 piece_by_samples(const struct copy_border_args &args, const char *row,
                                         int x)
{
    enum { N = PIECE / (int)sizeof(T) };
    union {
        uint4 piece;
        T samples[N];
    } made;
#pragma unroll
    for (int i = 0; i < N; i++) {
        int at = x * PIECE + i * (int)sizeof(T), pixel = at / args.pixel;
        int in = (at - pixel * args.pixel) / (int)sizeof(T);
        int from = gi_border_index((long long)pixel + args.spec.left, args.src.width,
                                   args.spec.border.mode);
        made.samples[i] = from < 0 ? ((const T *)args.values)[in]
                                   : ((const T *)(row + (size_t)from * (unsigned)args.pixel))[in];
    }
    return made.piece;
}

/* Rows per thread; a thread loads all of them before it stores the first. */
enum { COPY_BORDER_ROWS = 4 };

/* Copies piece x of COPY_BORDER_ROWS rows from y on. All of it is inside the image, from byte `at`
 * of row `from` on. */
static __device__ __forceinline__ void copy_pieces(const struct copy_border_args &args, int x,
                                                   int y, int at, int from)
{
    uint4 low[COPY_BORDER_ROWS], high[COPY_BORDER_ROWS];
    unsigned shift = (unsigned)at & 15;
#pragma unroll
    for (int r = 0; r < COPY_BORDER_ROWS; r++) {
        const uint4 *piece = piece_at(args.src, at >> 4, from + r);
        low[r] = piece[0];
        if (shift)
            high[r] = piece[1];
    }
#pragma unroll
    for (int r = 0; r < COPY_BORDER_ROWS; r++)
        *piece_at(args.dst, x, y + r) = shift ? shifted(low[r], high[r], shift) : low[r];
}

/* As copy_pieces(), for any position; `at` may be outside the row. */
template <typename T>
static __device__ __noinline__ void make_pieces(const struct copy_border_args &args, int x, int y,
                                                long long at, bool value)
{
    for (int r = 0; r < COPY_BORDER_ROWS && y + r < args.dst.height; r++) {
        int from = gi_copy_border_row(&args.spec, &args.src, y + r);
        const char *row = (const char *)args.src.data + (size_t)from * args.src.stride;
        uint4 made;
        if (value || from < 0)
            made = args.values[x % VALUES];
        else if (at >= 0 && at + PIECE <= args.row)
            made = bytes_at(row, at);
        else
            made = piece_by_samples<T>(args, row, x);
        *piece_at(args.dst, x, y + r) = made;
    }
}

template <typename T>
static __global__ void __launch_bounds__(POINTWISE_THREADS)
    window(const __grid_constant__ struct copy_border_args args)
{
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    long long at = (long long)x * PIECE + args.left;
    bool value = args.spec.border.mode == GI_BORDER_VALUE && (at + PIECE <= 0 || at >= args.row);
    if (args.spec.border.mode == GI_BORDER_WRAP && (at < 0 || at + PIECE > args.row)) {
        at %= args.row;
        at = at < 0 ? at + args.row : at;
    }
    bool inside = at >= 0 && at + PIECE <= args.row;
    int step = (int)gridDim.y * COPY_BORDER_ROWS;
    for (int y = (int)blockIdx.y * COPY_BORDER_ROWS; y < args.dst.height; y += step) {
        int from = y + args.spec.top; /* of the image */
        if (inside && from >= 0 && from <= args.height - COPY_BORDER_ROWS &&
            y <= args.dst.height - COPY_BORDER_ROWS)
            copy_pieces(args, x, y, (int)at, from - args.spec.src_y);
        else
            make_pieces<T>(args, x, y, at, value);
    }
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_copy_border *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct copy_border_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.spec = *spec;
    args.pixel = src->channels * (int)gi_type_nbytes(src->type);
    args.row = (int)gi_row_nbytes(src);
    args.left = (long long)spec->left * args.pixel;
    args.pieces = pieces_of(dst);
    args.height = spec->image_height ? spec->image_height : src->height;
    gi_border_pixel(args.values, &spec->border, src);
    for (int i = args.pixel; i < VALUES * PIECE; i++)
        ((char *)args.values)[i] = ((char *)args.values)[i - args.pixel];
    dim3 grid = pointwise_grid(args.pieces, ceil_div(dst->height, COPY_BORDER_ROWS));
    if (src->type == GI_U8)
        window<uint8_t><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    else if (src->type == GI_U16)
        window<uint16_t><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    else
        window<uint32_t><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_copy_border_way gi_cuda_copy_border_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};
