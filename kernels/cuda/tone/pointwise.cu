/* Point operations except tables: arithmetic with constants or a second image, and thresholds, in
 * one pass. Integers are processed as packed words (SIMD within a register) where that is exact,
 * otherwise in float32.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/tone.h"

/* The operation of gi_kernels.threshold, numbered after those of enum gi_pointwise_op. */
enum { THRESHOLD = GI_POINTWISE_OUTLIER + 1, NOPERATIONS };

struct pointwise_args {
    struct gi_image dst, src, other;
    int pieces;                /* per row */
    float scale[4], offset[4]; /* AFFINE: per channel, repeated for 1 or 2 channels */
    float t, above;
    unsigned least; /* THRESHOLD: smallest foreground value, OUTLIER: t, replicated for every sample
                       of a word */
    unsigned flip;  /* ~0: samples that are not above become full scale */
    unsigned full;  /* bits of full scale */
    unsigned keep[WORDS];
};

/* ---- packed words ---- */

/* a * b / (2^n - 1), rounded as on the CPU. */
template <typename T> static __device__ __forceinline__ unsigned product(unsigned a, unsigned b)
{
    const int n = 8 * (int)sizeof(T);
    unsigned p = a * b + (1u << (n - 1));
    return (p + (p >> n)) >> n;
}

template <typename T> struct words;

template <> struct words<uint8_t> {
    static __device__ __forceinline__ unsigned make(int what, unsigned a, unsigned b,
                                                    const struct pointwise_args &args)
    {
        unsigned word = 0;
        switch (what) {
        case GI_POINTWISE_ADD:
            return __vaddus4(a, b);
        case GI_POINTWISE_SUBTRACT:
            return __vsubus4(a, b);
        case GI_POINTWISE_MINIMUM:
            return __vminu4(a, b);
        case GI_POINTWISE_MAXIMUM:
            return __vmaxu4(a, b);
        case GI_POINTWISE_DIFFERENCE:
            return __vabsdiffu4(a, b);
        case GI_POINTWISE_OUTLIER:
            word = __vcmpgtu4(__vabsdiffu4(a, b), args.least);
            return (b & word) | (a & ~word);
        case GI_POINTWISE_MULTIPLY:
#pragma unroll
            for (int i = 0; i < 32; i += 8)
                word |= product<uint8_t>(a >> i & 255, b >> i & 255) << i;
            return word;
        default:
            return (__vcmpgeu4(a, args.least) ^ args.flip) & args.full;
        }
    }
};

template <> struct words<uint16_t> {
    static __device__ __forceinline__ unsigned make(int what, unsigned a, unsigned b,
                                                    const struct pointwise_args &args)
    {
        unsigned word;
        switch (what) {
        case GI_POINTWISE_ADD:
            return __vaddus2(a, b);
        case GI_POINTWISE_SUBTRACT:
            return __vsubus2(a, b);
        case GI_POINTWISE_MINIMUM:
            return __vminu2(a, b);
        case GI_POINTWISE_MAXIMUM:
            return __vmaxu2(a, b);
        case GI_POINTWISE_DIFFERENCE:
            return __vabsdiffu2(a, b);
        case GI_POINTWISE_OUTLIER:
            word = __vcmpgtu2(__vabsdiffu2(a, b), args.least);
            return (b & word) | (a & ~word);
        case GI_POINTWISE_MULTIPLY:
            return product<uint16_t>(a & 65535, b & 65535) | product<uint16_t>(a >> 16, b >> 16)
                                                                 << 16;
        default:
            return (__vcmpgeu2(a, args.least) ^ args.flip) & args.full;
        }
    }
};

/* ---- in float32 ---- */

static __device__ __forceinline__ float in_float(int what, float a, float b, float scale,
                                                 float offset, const struct pointwise_args &args)
{
    switch (what) {
    case GI_POINTWISE_AFFINE:
        return __fmaf_rn(scale, a, offset);
    case GI_POINTWISE_ADD:
        return __fadd_rn(a, b);
    case GI_POINTWISE_SUBTRACT:
        return __fsub_rn(a, b);
    case GI_POINTWISE_MULTIPLY:
        return __fmul_rn(a, b);
    case GI_POINTWISE_BLEND:
        return __fmaf_rn(args.t, b, __fmaf_rn(-args.t, a, a));
    case GI_POINTWISE_MIDDLE:
        return __fmaf_rn(0.5f, b, __fmul_rn(0.5f, a));
    case GI_POINTWISE_MINIMUM:
        return b != b || a > b ? b : a;
    case GI_POINTWISE_MAXIMUM:
        return b != b || b > a ? b : a;
    case GI_POINTWISE_DIFFERENCE:
        return fabsf(__fsub_rn(a, b));
    case GI_POINTWISE_OUTLIER:
        return fabsf(__fsub_rn(a, b)) > args.t ? b : a;
    default:
        return (a > args.above) != (args.flip != 0) ? 1.0f : 0.0f;
    }
}

/* Word i of a piece, whose channels begin at `first`. */
template <typename T, int PERIOD>
static __device__ __forceinline__ unsigned in_floats(int what, unsigned a, unsigned b, int i,
                                                     const float *scale, const float *offset,
                                                     const struct pointwise_args &args)
{
    enum { S = 4 / (int)sizeof(T) /* samples per word */ };
    float v[S];
#pragma unroll
    for (int s = 0; s < S; s++) {
        int c = (i * S + s) % PERIOD;
        v[s] = in_float(what, sample_unpack<T>(&a, s), sample_unpack<T>(&b, s), scale[c], offset[c],
                        args);
    }
    if (sizeof(T) == 4 && args.keep[i])
        v[0] = __uint_as_float(a);
    unsigned word = sample_pack<T>(v);
    return sizeof(T) == 4 ? word : (word & ~args.keep[i]) | (a & args.keep[i]);
}

/* PERIOD: number of samples after which the channels repeat: 3, or 4 for 1, 2 and 4 channels. */
template <typename T, int WHAT, int PERIOD>
static __global__ void __launch_bounds__(POINTWISE_THREADS) point(struct pointwise_args args)
{
    const bool two = WHAT >= GI_POINTWISE_ADD && WHAT != THRESHOLD;
    const bool floats = sizeof(T) == 4 || WHAT == GI_POINTWISE_AFFINE ||
                        WHAT == GI_POINTWISE_BLEND || WHAT == GI_POINTWISE_MIDDLE;
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
        uint4 a = *piece_at(args.src, x, y), b = two ? *piece_at(args.other, x, y) : a, made;
        const unsigned *as = (const unsigned *)&a, *bs = (const unsigned *)&b;
        unsigned *to = (unsigned *)&made;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            if constexpr (floats)
                to[i] = in_floats<T, PERIOD>(WHAT, as[i], bs[i], i, scale, offset, args);
            else
                to[i] = (words<T>::make(WHAT, as[i], bs[i], args) & ~args.keep[i]) |
                        (as[i] & args.keep[i]);
        }
        *piece_at(args.dst, x, y) = made;
    }
}

/* ---- launchers ---- */

typedef void pointwise_kernel(struct pointwise_args args);

#define EACH_TYPE(what, period)                                                                    \
    {                                                                                              \
        point<uint8_t, what, period>, point<uint16_t, what, period>, point<float, what, period>    \
    }

static pointwise_kernel *const kernels[NOPERATIONS][GI_F32 + 1] = {
    EACH_TYPE(GI_POINTWISE_AFFINE, 4),   {},
    EACH_TYPE(GI_POINTWISE_ADD, 4),      EACH_TYPE(GI_POINTWISE_SUBTRACT, 4),
    EACH_TYPE(GI_POINTWISE_MULTIPLY, 4), EACH_TYPE(GI_POINTWISE_BLEND, 4),
    EACH_TYPE(GI_POINTWISE_MIDDLE, 4),   EACH_TYPE(GI_POINTWISE_MINIMUM, 4),
    EACH_TYPE(GI_POINTWISE_MAXIMUM, 4),  EACH_TYPE(GI_POINTWISE_DIFFERENCE, 4),
    EACH_TYPE(GI_POINTWISE_OUTLIER, 4),  EACH_TYPE(THRESHOLD, 4),
};
static pointwise_kernel *const affine_of_3[GI_F32 + 1] = EACH_TYPE(GI_POINTWISE_AFFINE, 3);

static enum gi_status run(struct gi_queue *queue, struct pointwise_args *args, int what, bool keeps,
                          struct gi_err *err)
{
    const struct gi_image *src = &args->src;
    struct gi_cuda_queue *cu = gi_cuda(queue);
    pointwise_kernel *kernel = src->type <= GI_F32 ? kernels[what][src->type] : NULL;
    if (!kernel)
        return gi_fail(err, GI_E_UNSUPPORTED, "pointwise: operation %d takes no samples of type %d",
                       what, (int)src->type);
    if (what == GI_POINTWISE_AFFINE && src->channels == 3)
        kernel = affine_of_3[src->type];
    args->pieces = pieces_of(src);
    keep_bits(args->keep, src, keeps);
    kernel<<<pointwise_grid(args->pieces, src->height), POINTWISE_THREADS, 0, cu->stream>>>(*args);
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
    args.other = spec->other ? *spec->other : *src;
    args.t = spec->t;
    if (spec->op == GI_POINTWISE_OUTLIER && src->type != GI_F32)
        args.least = (unsigned)fminf(spec->t, gi_type_full_scale(src->type)) *
                     (src->type == GI_U8 ? 0x01010101u : 0x00010001u);
    for (int c = 0; c < 4; c++) {
        args.scale[c] = spec->scale[c % src->channels];
        args.offset[c] = spec->offset[c % src->channels];
    }
    return run(queue, &args, (int)spec->op, !spec->alpha_too, err);
}

/* If no sample can be above, the mask is inverted instead: every sample is >= 0, and `flip` is
 * inverted. */
static enum gi_status threshold_by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_threshold *spec, struct gi_err *err)
{
    float above = spec->above;
    struct pointwise_args args = {};
    bool none = !(above < gi_type_full_scale(src->type));
    args.dst = *dst;
    args.src = args.other = *src;
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
