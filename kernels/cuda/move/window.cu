/* A window: a thread makes 16 bytes of a row. Those that stand in the image are read as the two
 * aligned pieces that hold them, and shifted; all others sample by sample.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/move/move.cuh"

enum { VALUES = 3 /* pieces after which pixels of any size begin at a piece again */ };

struct window_args {
    struct gi_image dst, src;
    struct gi_window spec;
    long long left; /* bytes from dst's first one to that of the image, down to */
    int pixel, row; /* bytes of a pixel of the image, and of a row */
    int pieces;
    uint4 values[VALUES]; /* rows of border values */
};

/* Piece x of a row of dst, a sample at a time. */
template <typename T>
static __device__ uint4 piece_by_samples(const struct window_args &args, const char *row, int x)
{
    enum { N = PIECE / (int)sizeof(T) };
    union {
        uint4 piece;
        T samples[N];
    } made;
    for (int i = 0; i < N; i++) {
        long long at = (long long)x * PIECE + i * (int)sizeof(T);
        long long pixel = at / args.pixel;
        int in = (int)(at - pixel * args.pixel) / (int)sizeof(T);
        int from = gi_border_index(pixel + args.spec.left, args.src.width, args.spec.edge.border);
        made.samples[i] = from < 0 ? ((const T *)args.values)[in]
                                   : ((const T *)(row + (size_t)from * (unsigned)args.pixel))[in];
    }
    return made.piece;
}

template <typename T>
static __global__ void __launch_bounds__(POINT_THREADS) window(struct window_args args)
{
    int x = (int)(blockIdx.x * POINT_THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    bool value = args.spec.edge.border == GI_BORDER_VALUE;
    long long at = (long long)x * PIECE + args.left;
    if (args.spec.edge.border == GI_BORDER_WRAP && (at < 0 || at + PIECE > args.row)) {
        at %= args.row;
        at = at < 0 ? at + args.row : at;
    }
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y) {
        int from = gi_window_row(&args.spec, &args.src, y);
        const char *row = (const char *)args.src.data + (size_t)from * args.src.stride;
        uint4 made;
        if (from < 0 || (value && (at + PIECE <= 0 || at >= args.row)))
            made = args.values[x % VALUES];
        else if (at >= 0 && at + PIECE <= args.row)
            made = bytes_at(row, at);
        else
            made = piece_by_samples<T>(args, row, x);
        *piece_at(args.dst, x, y) = made;
    }
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_window *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct window_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.spec = *spec;
    args.pixel = src->channels * (int)gi_type_nbytes(src->type);
    args.row = (int)gi_row_nbytes(src);
    args.left = (long long)spec->left * args.pixel;
    args.pieces = pieces_of(dst);
    gi_edge_pixel(args.values, &spec->edge, src);
    for (int i = args.pixel; i < VALUES * PIECE; i++)
        ((char *)args.values)[i] = ((char *)args.values)[i - args.pixel];
    dim3 grid = point_grid(args.pieces, dst->height);
    if (src->type == GI_U8)
        window<uint8_t><<<grid, POINT_THREADS, 0, cu->stream>>>(args);
    else if (src->type == GI_U16)
        window<uint16_t><<<grid, POINT_THREADS, 0, cu->stream>>>(args);
    else
        window<uint32_t><<<grid, POINT_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static const struct gi_window_way ways[] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};

const struct gi_ways gi_cuda_window_ways = GI_WAYS(window, GI_SAMPLE_TYPES, ways);

enum gi_status gi_cuda_window(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_window *spec,
                              struct gi_err *err)
{
    GI_WAYS_RUN(gi_cuda_window_ways, ways, queue, src, (queue, src, spec),
                (queue, dst, src, spec, err), err);
}
