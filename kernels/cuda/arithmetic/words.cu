/* Plain arithmetic of two images: integers are computed as packed words (SIMD within a register)
 * where the result is exact, and otherwise samples as float32.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/arithmetic/words.h"
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/arithmetic.h"

struct words_args {
    struct gi_image dst, src, other;
    int pieces; /* per row */
    float t;
    unsigned most; /* OUTLIER: t rounded down, in each sample of the word */
    unsigned keep[WORDS];
};

/* ---- packed words ---- */

static __device__ __forceinline__ unsigned word_of(enum gi_arithmetic_op op, unsigned a, unsigned b,
                                                   unsigned most, uint8_t)
{
    unsigned word = 0;
    switch (op) {
    case GI_ARITHMETIC_ADD:
        return __vaddus4(a, b);
    case GI_ARITHMETIC_SUBTRACT:
        return __vsubus4(a, b);
    case GI_ARITHMETIC_MINIMUM:
        return __vminu4(a, b);
    case GI_ARITHMETIC_MAXIMUM:
        return __vmaxu4(a, b);
    case GI_ARITHMETIC_DIFFERENCE:
        return __vabsdiffu4(a, b);
    case GI_ARITHMETIC_OUTLIER:
        word = __vcmpgtu4(__vabsdiffu4(a, b), most);
        return (b & word) | (a & ~word);
    default:
#pragma unroll
        for (int i = 0; i < 32; i += 8)
            word |= gi_arithmetic_product(a >> i & 255, b >> i & 255, 8) << i;
        return word;
    }
}

static __device__ __forceinline__ unsigned word_of(enum gi_arithmetic_op op, unsigned a, unsigned b,
                                                   unsigned most, uint16_t)
{
    unsigned word;
    switch (op) {
    case GI_ARITHMETIC_ADD:
        return __vaddus2(a, b);
    case GI_ARITHMETIC_SUBTRACT:
        return __vsubus2(a, b);
    case GI_ARITHMETIC_MINIMUM:
        return __vminu2(a, b);
    case GI_ARITHMETIC_MAXIMUM:
        return __vmaxu2(a, b);
    case GI_ARITHMETIC_DIFFERENCE:
        return __vabsdiffu2(a, b);
    case GI_ARITHMETIC_OUTLIER:
        word = __vcmpgtu2(__vabsdiffu2(a, b), most);
        return (b & word) | (a & ~word);
    default:
        return gi_arithmetic_product(a & 65535, b & 65535, 16) |
               gi_arithmetic_product(a >> 16, b >> 16, 16) << 16;
    }
}

/* ---- the kernel ---- */

template <typename T, enum gi_arithmetic_op OP>
static __device__ __forceinline__ unsigned make(unsigned a, unsigned b, unsigned keep,
                                                const struct words_args &args)
{
    enum { S = 4 / (int)sizeof(T) /* samples per word */ };
    if constexpr (sizeof(T) < 4 && OP != GI_ARITHMETIC_BLEND && OP != GI_ARITHMETIC_MIDDLE) {
        return (word_of(OP, a, b, args.most, (T)0) & ~keep) | (a & keep);
    } else {
        float v[S];
#pragma unroll
        for (int s = 0; s < S; s++)
            v[s] = gi_arithmetic_sample(OP, sample_unpack<T>(&a, s), sample_unpack<T>(&b, s), 0,
                                        args.t);
        return pack_keeping<T>(v, a, keep);
    }
}

template <typename T, enum gi_arithmetic_op OP>
static __global__ void __launch_bounds__(POINTWISE_THREADS) words(struct words_args args)
{
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 a = *piece_at(args.src, x, y), b = *piece_at(args.other, x, y);
        *piece_at(args.dst, x, y) = make_uint4(
            make<T, OP>(a.x, b.x, args.keep[0], args), make<T, OP>(a.y, b.y, args.keep[1], args),
            make<T, OP>(a.z, b.z, args.keep[2], args), make<T, OP>(a.w, b.w, args.keep[3], args));
    }
}

/* ---- launcher ---- */

typedef void words_kernel(struct words_args args);

#define EACH_TYPE(op)                                                                              \
    {                                                                                              \
        words<uint8_t, op>, words<uint16_t, op>, words<float, op>                                  \
    }

static words_kernel *const kernels[GI_ARITHMETIC_LAYER][GI_F32 + 1] = {
    EACH_TYPE(GI_ARITHMETIC_ADD),        EACH_TYPE(GI_ARITHMETIC_SUBTRACT),
    EACH_TYPE(GI_ARITHMETIC_MULTIPLY),   {}, /* DIVIDE */
    EACH_TYPE(GI_ARITHMETIC_DIFFERENCE), EACH_TYPE(GI_ARITHMETIC_BLEND),
    EACH_TYPE(GI_ARITHMETIC_MIDDLE),     EACH_TYPE(GI_ARITHMETIC_MINIMUM),
    EACH_TYPE(GI_ARITHMETIC_MAXIMUM),    EACH_TYPE(GI_ARITHMETIC_OUTLIER),
};

bool gi_cuda_arithmetic_words_takes(const struct gi_queue *queue, const struct gi_image *src,
                                    const struct gi_arithmetic *spec)
{
    (void)queue;
    return spec->op < GI_ARITHMETIC_LAYER && spec->plain && kernels[spec->op][src->type];
}

enum gi_status gi_cuda_arithmetic_words(struct gi_queue *queue, struct gi_image *dst,
                                        const struct gi_image *src,
                                        const struct gi_arithmetic *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct words_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.other = *spec->other;
    args.t = spec->t;
    args.pieces = pieces_of(src);
    if (spec->op == GI_ARITHMETIC_OUTLIER && src->type != GI_F32)
        args.most = (unsigned)fminf(spec->t, gi_type_full_scale(src->type)) *
                    (src->type == GI_U8 ? 0x01010101u : 0x00010001u);
    keep_bits(args.keep, src, !spec->alpha_too);
    kernels[spec->op][src->type]<<<pointwise_grid(args.pieces, src->height), POINTWISE_THREADS, 0,
                                   cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
