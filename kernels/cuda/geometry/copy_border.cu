/* Crop, pad and shift (copy with border): a thread computes pieces of 16 bytes of a row. Pieces
 * inside the image are loaded as two aligned pieces and shifted, four rows per thread. The columns
 * of pieces that are not completely inside the image are computed by the first blocks of the grid,
 * one piece per thread, because a piece that is determined sample by sample takes so long that four
 * such pieces per thread would delay a whole block.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/unaligned.cuh"
#include "kernels/geometry.h"

enum { VALUES = 3 /* pieces after which a piece begins with a whole pixel again */ };

struct copy_border_args {
    struct gi_image dst, src;
    struct gi_copy_border spec;
    long long left;       /* byte offset in an image row of the first pixel of dst */
    int pixel, row;       /* bytes per pixel; bytes per image row */
    int pieces, height;   /* per row of dst; of the image */
    int first, last;      /* pieces first to last - 1 of a row are inside the image's columns */
    unsigned end_blocks;  /* number of blocks for the pieces that are not inside */
    uint4 values[VALUES]; /* pieces of border values */
};

/* Computes piece x of a row of dst, sample by sample. */
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

/* Rows per thread. A thread loads all its rows before it stores the first one. */
enum { COPY_BORDER_ROWS = 4 };

/* Computes piece x, the 16 bytes from byte 16 * x on, of the COPY_BORDER_ROWS rows of dst that
 * begin with row y. The source bytes are
 * all inside the image, and the first of them is byte `at` of image row `from`. */
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

/* Like copy_pieces(), for one row, and for any position inside or outside the image. */
static __device__ __noinline__ void make_piece(const struct copy_border_args &args, int x, int y)
{
    long long at = (long long)x * PIECE + args.left; /* may be outside the row */
    bool value = args.spec.border.mode == GI_BORDER_VALUE && (at + PIECE <= 0 || at >= args.row);
    if (args.spec.border.mode == GI_BORDER_WRAP && (at < 0 || at + PIECE > args.row)) {
        at %= args.row;
        at = at < 0 ? at + args.row : at;
    }
    int from = gi_copy_border_row(&args.spec, &args.src, y);
    const char *row = (const char *)args.src.data + (size_t)from * args.src.stride;
    uint4 made;
    if (value || from < 0)
        made = args.values[x % VALUES];
    else if (at >= 0 && at + PIECE <= args.row)
        made = bytes_at(row, at);
    else
        made = args.src.type == GI_U8    ? piece_by_samples<uint8_t>(args, row, x)
               : args.src.type == GI_U16 ? piece_by_samples<uint16_t>(args, row, x)
                                         : piece_by_samples<uint32_t>(args, row, x);
    *piece_at(args.dst, x, y) = made;
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    copy_border(const __grid_constant__ struct copy_border_args args)
{
    unsigned ends = (unsigned)(args.pieces - (args.last - args.first));
    if (blockIdx.x < args.end_blocks) {
        long long i = (long long)blockIdx.x * POINTWISE_THREADS + threadIdx.x;
        int y = (int)(i / ends), x = (int)(i % ends);
        if (y < args.dst.height)
            make_piece(args, x < args.first ? x : x - args.first + args.last, y);
        return;
    }
    unsigned across = (unsigned)(args.pieces + POINTWISE_THREADS - 1) / POINTWISE_THREADS;
    unsigned block = blockIdx.x - args.end_blocks;
    int x = (int)(block % across * POINTWISE_THREADS + threadIdx.x);
    int y = (int)(block / across) * COPY_BORDER_ROWS, from = y + args.spec.top; /* of the image */
    if (x < args.first || x >= args.last)
        return;
    if (from >= 0 && from <= args.height - COPY_BORDER_ROWS &&
        y <= args.dst.height - COPY_BORDER_ROWS)
        copy_pieces(args, x, y, x * PIECE + (int)args.left, from - args.spec.src_y);
    else
        for (int r = 0; r < COPY_BORDER_ROWS && y + r < args.dst.height; r++)
            make_piece(args, x, y + r);
}

/* Sets the range of pieces that are completely inside the image's columns. */
static void find_ends(struct copy_border_args *args)
{
    long long first = args->left < 0 ? (-args->left + PIECE - 1) / PIECE : 0;
    long long last = args->row - args->left < 0 ? 0 : (args->row - args->left) / PIECE;
    args->first = first < args->pieces ? (int)first : args->pieces;
    args->last = last < args->first ? args->first : last < args->pieces ? (int)last : args->pieces;
    long long ends = args->pieces - (args->last - args->first);
    args->end_blocks = (unsigned)ceil_div(ends * args->dst.height, POINTWISE_THREADS);
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
    find_ends(&args);
    unsigned grid = args.end_blocks + (unsigned)ceil_div(args.pieces, POINTWISE_THREADS) *
                                          (unsigned)ceil_div(dst->height, COPY_BORDER_ROWS);
    copy_border<<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_copy_border_way gi_cuda_copy_border_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};
