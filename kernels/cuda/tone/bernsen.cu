/* Bernsen's local threshold: halfway between the local minimum and maximum, which two min/max
 * filters have computed. A thread computes 16 bytes of every gridDim.y-th row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/tone.h"

struct bernsen_args {
    struct gi_image dst, src, least, greatest;
    double contrast, more;
    bool invert;
    int pieces; /* per row */
    unsigned keep[WORDS];
};

template <typename T>
static __device__ __forceinline__ void rows_make(const struct bernsen_args &args)
{
    enum { EACH = PIECE / (int)sizeof(T) };
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    const struct gi_bernsen spec = {NULL, NULL, args.contrast, args.more, args.invert};
    const T full = sizeof(T) == 1 ? (T)255 : sizeof(T) == 2 ? (T)65535 : (T)1;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 v = *piece_at(args.src, x, y), l = *piece_at(args.least, x, y);
        uint4 g = *piece_at(args.greatest, x, y), made;
        const T *vs = (const T *)&v, *ls = (const T *)&l, *gs = (const T *)&g;
        T *to = (T *)&made;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            bool above =
                gi_bernsen_above(&spec, (double)full, (double)vs[i], (double)ls[i], (double)gs[i]);
            to[i] = above != args.invert ? full : (T)0;
        }
        unsigned *words = (unsigned *)&made;
        const unsigned *kept = (const unsigned *)&v;
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words[i] = (words[i] & ~args.keep[i]) | (kept[i] & args.keep[i]);
        *piece_at(args.dst, x, y) = made;
    }
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    bernsen(const __grid_constant__ struct bernsen_args args)
{
    SAMPLE_TYPES(args.src.type, rows_make<T>(args));
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_bernsen *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct bernsen_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.least = *spec->least;
    args.greatest = *spec->greatest;
    args.contrast = spec->contrast;
    args.more = spec->more;
    args.invert = spec->invert;
    args.pieces = pieces_of(src);
    keep_bits(args.keep, src, true);
    bernsen<<<pointwise_grid(args.pieces, src->height), POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_bernsen_way gi_cuda_bernsen_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};
