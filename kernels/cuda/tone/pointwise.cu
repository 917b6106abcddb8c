/* Point operations of one image except tables: affine maps in float32, and thresholds. Thresholds
 * of integers work on packed words (SIMD within a register).
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/tone.h"

/* The operation of gi_kernels.threshold, with a number after the numbers of enum
 * gi_pointwise_op. */
enum { THRESHOLD = GI_POINTWISE_TABLE + 1 };

struct pointwise_args {
    struct gi_image dst, src;
    int pieces;                /* per row */
    float scale[4], offset[4]; /* AFFINE: per channel, repeated for 1 or 2 channels */
    float above;
    unsigned least; /* THRESHOLD: a word of samples, all with the smallest foreground value */
    unsigned flip;  /* ~0 if samples that are not above become full scale */
    unsigned full;  /* bits of full scale */
    unsigned keep[WORDS];
};

/* Compares a word of samples with the threshold. */
static __device__ __forceinline__ unsigned compare(unsigned a, const struct pointwise_args &args,
                                                   uint8_t)
{
    return (__vcmpgeu4(a, args.least) ^ args.flip) & args.full;
}

static __device__ __forceinline__ unsigned compare(unsigned a, const struct pointwise_args &args,
                                                   uint16_t)
{
    return (__vcmpgeu2(a, args.least) ^ args.flip) & args.full;
}

/* Word i of a piece, whose first sample has scale[0] and offset[0]. */
template <typename T, int PERIOD>
static __device__ __forceinline__ unsigned in_floats(int what, unsigned a, int i,
                                                     const float *scale, const float *offset,
                                                     const struct pointwise_args &args)
{
    enum { S = 4 / (int)sizeof(T) /* samples per word */ };
    float v[S];
#pragma unroll
    for (int s = 0; s < S; s++) {
        int c = (i * S + s) % PERIOD;
        float f = sample_unpack<T>(&a, s);
        v[s] = what == GI_POINTWISE_AFFINE            ? __fmaf_rn(scale[c], f, offset[c])
               : (f > args.above) != (args.flip != 0) ? 1.0f
                                                      : 0.0f;
    }
    return pack_keeping<T>(v, a, args.keep[i]);
}

/* PERIOD: number of samples after which the channels repeat: 3, or 4 for 1, 2 and 4 channels. */
template <typename T, int WHAT, int PERIOD>
static __device__ __forceinline__ void rows_make(const struct pointwise_args &args)
{
    const bool floats = sizeof(T) == 4 || WHAT == GI_POINTWISE_AFFINE;
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    float scale[PERIOD], offset[PERIOD];
    int first = PERIOD == 3 ? x % 3 * (PIECE / (int)sizeof(T)) % 3 : 0;
#pragma unroll
    for (int c = 0; c < PERIOD; c++) {
        int from = PERIOD == 3 && first + c >= 3 ? first + c - 3 : first + c;
        scale[c] = args.scale[from];
        offset[c] = args.offset[from];
    }
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 a = *piece_at(args.src, x, y), made;
        const unsigned *as = (const unsigned *)&a;
        unsigned *to = (unsigned *)&made;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            if constexpr (floats)
                to[i] = in_floats<T, PERIOD>(WHAT, as[i], i, scale, offset, args);
            else
                to[i] = (compare(as[i], args, (T)0) & ~args.keep[i]) | (as[i] & args.keep[i]);
        }
        *piece_at(args.dst, x, y) = made;
    }
}

template <int WHAT>
static __global__ void __launch_bounds__(POINTWISE_THREADS)
    point(const __grid_constant__ struct pointwise_args args)
{
    if (WHAT == GI_POINTWISE_AFFINE && args.src.channels == 3)
        SAMPLE_TYPES(args.src.type, rows_make<T, WHAT, 3>(args));
    else
        SAMPLE_TYPES(args.src.type, rows_make<T, WHAT, 4>(args));
}

/* ---- launchers ---- */

static enum gi_status run(struct gi_queue *queue, struct pointwise_args *args, int what, bool keeps,
                          struct gi_err *err)
{
    const struct gi_image *src = &args->src;
    struct gi_cuda_queue *cu = gi_cuda(queue);
    if (src->type > GI_F32)
        return gi_fail(err, GI_E_UNSUPPORTED, "pointwise: operation %d takes no samples of type %d",
                       what, (int)src->type);
    args->pieces = pieces_of(src);
    keep_bits(args->keep, src, keeps);
    dim3 grid = pointwise_grid(args->pieces, src->height);
    if (what == THRESHOLD)
        point<THRESHOLD><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*args);
    else
        point<GI_POINTWISE_AFFINE><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status pointwise_by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_pointwise *spec, struct gi_err *err)
{
    struct pointwise_args args = {};
    args.dst = *dst;
    args.src = *src;
    for (int c = 0; c < 4; c++) {
        args.scale[c] = spec->scale[c % src->channels];
        args.offset[c] = spec->offset[c % src->channels];
    }
    return run(queue, &args, (int)spec->op, !spec->alpha_too, err);
}

/* If no sample can be above the threshold, the threshold becomes 0, which every sample reaches, and
 * `flip` is inverted. */
static enum gi_status threshold_by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_threshold *spec, struct gi_err *err)
{
    float above = spec->above;
    struct pointwise_args args = {};
    bool none = !(above < gi_type_full_scale(src->type));
    args.dst = *dst;
    args.src = *src;
    args.above = above;
    args.least = none || above < 0 ? 0 : (unsigned)above + 1;
    args.least *= src->type == GI_U8 ? 0x01010101u : 0x00010001u;
    args.flip = (none && src->type != GI_F32) != spec->invert ? ~0u : 0;
    args.full = ~0u;
    return run(queue, &args, THRESHOLD, true, err);
}

static bool looks_up(const struct gi_queue *queue, const struct gi_image *src,
                     const struct gi_pointwise *spec)
{
    return spec->op == GI_POINTWISE_TABLE;
}

static bool computes(const struct gi_queue *queue, const struct gi_image *src,
                     const struct gi_pointwise *spec)
{
    return spec->op != GI_POINTWISE_TABLE;
}

const struct gi_pointwise_way gi_cuda_pointwise_ways[GI_WAYS_MAX] = {
    {{"table", "look-up tables"}, looks_up, gi_cuda_pointwise_table},
    {{"pieces", "all other operations"}, computes, pointwise_by_pieces},
};

const struct gi_threshold_way gi_cuda_threshold_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, threshold_by_pieces},
};
