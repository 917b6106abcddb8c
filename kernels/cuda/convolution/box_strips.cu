/* Box filter (mean of k x k) in one pass: the epilogue that divides the window sums of strips.cuh.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/strips.cuh"
#include "kernels/convolution.h"

enum {
    FEW_ROWS = 2, /* rows per step for gray, so that each barrier serves two rows */
};

/* How sums become means. */
struct division {
    unsigned n, half;            /* k * k; half of it rounded down */
    unsigned magic, shift, byte; /* 8 bits: v / n = v * magic >> 32 >> shift >> 8 * byte */
};

/* The terms of a sum: samples, or products of colours and alpha, which, if their sums need more
 * than 32 bits, are summed in two halves. Alpha is the last sum. */
enum weighing { PLAIN, PRODUCTS, HALVES };

template <typename T, int CHANNELS, weighing BY> struct sums_of {
    enum { N = BY == HALVES ? 2 * CHANNELS - 1 : CHANNELS, HALF = 8 * (int)sizeof(T) };
};

/* Returns a lower bound of 1 / n, which is too small by at most one part in 2^20. */
static __device__ __forceinline__ float reciprocal(unsigned n)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"((float)n));
    return __fmul_rn(r, 1 - 0x1p-21f);
}

/* Returns (2 * sum + n) / (2 * n) rounded down, or 0 if n is 0, as sum then is. The quotient has at
 * most 16 bits, and sum + n / 2 at most 32. Computed in float, it is right or too small by 1: the
 * sum of a product and 2^23, rounded towards 0, ends in the integer part of the product. */
static __device__ __forceinline__ unsigned window_quotient(unsigned sum, unsigned n)
{
    unsigned whole = max(n, 1), t = sum + whole / 2;
    float q = __fmaf_rz(__uint2float_rz(t), reciprocal(whole), 0x1p23f);
    unsigned quotient = __float_as_uint(q) - 0x4b000000;
    return t - quotient * whole >= whole ? quotient + 1 : quotient;
}

/* Likewise, for a sum that needs more than 32 bits. */
static __device__ __forceinline__ unsigned window_quotient(unsigned long long sum, unsigned n)
{
    unsigned whole = max(n, 1);
    unsigned long long t = sum + whole / 2;
    float f =
        __fmaf_rz(__uint2float_rz((unsigned)(t >> 32)), 0x1p32f, __uint2float_rz((unsigned)t));
    float q = __fmaf_rz(f, reciprocal(whole), 0x1p23f);
    unsigned quotient = __float_as_uint(q) - 0x4b000000;
    return t - (unsigned long long)quotient * whole >= whole ? quotient + 1 : quotient;
}

/* Returns the mean of a window from the sums of a pixel. At 8 bits the mean may be in a higher byte
 * of the returned word, and means_pack() selects that byte. */
template <typename T, int CHANNELS, weighing BY>
static __device__ __forceinline__ unsigned window_mean(const struct division *args,
                                                       const unsigned *sums, int c)
{
    enum { ALPHA = sums_of<T, CHANNELS, BY>::N - 1, HALF = sums_of<T, CHANNELS, BY>::HALF };
    bool alpha = BY != PLAIN && c == CHANNELS - 1;
    if (BY == HALVES && !alpha)
        return window_quotient(sums[2 * c] + ((unsigned long long)sums[2 * c + 1] << HALF),
                               sums[ALPHA]);
    if (BY == PRODUCTS && !alpha)
        return window_quotient(sums[c], sums[ALPHA]);
    unsigned sum = sums[alpha ? (int)ALPHA : c];
    if (sizeof(T) == 2)
        return window_quotient(sum, args->n);
    unsigned v = __umulhi(sum + args->half, args->magic);
    return BY == PLAIN ? v : v >> args->shift >> 8 * args->byte;
}

/* Packs N means into words of samples. */
template <typename T, int N, weighing BY>
static __device__ __forceinline__ void means_pack(unsigned *words, unsigned *means,
                                                  const struct division *args)
{
    if (sizeof(T) == 2) {
#pragma unroll
        for (int i = 0; i < N / 2; i++)
            words[i] = __byte_perm(means[2 * i], means[2 * i + 1], 0x5410);
        return;
    }
    if (BY == PLAIN && args->shift)
#pragma unroll
        for (int i = 0; i < N; i++)
            means[i] >>= args->shift;
    unsigned pick = BY != PLAIN ? 0x40 : 0x40 + args->byte * 0x11;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        unsigned *m = means + 4 * i;
        words[i] =
            __byte_perm(__byte_perm(m[0], m[1], pick), __byte_perm(m[2], m[3], pick), 0x5410);
    }
}

/* The epilogue of the box filter. */
template <typename SAMPLE, int COUNT, weighing BY> struct box_mean {
    typedef SAMPLE T;
    enum {
        CHANNELS = COUNT,
        QUADS = sizeof(T) == 1 && BY != HALVES,
        PIXELS = CHANNELS == 1 && sizeof(T) == 1 ? 16 : 8,
        SUMS = sums_of<T, CHANNELS, BY>::N,
        HALF = sums_of<T, CHANNELS, BY>::HALF,
        ROWS = CHANNELS == 1 ? FEW_ROWS : 1,
        VALUES = ROWS * SUMS,
        CENTRE = false,
        LARGE = true,
        THREADS = PIXELS == 16 ? 320 : 0, /* 96 registers */
        BLOCKS = THREADS > 0 ? 2 : 1,
        SAMPLES = PIXELS * CHANNELS,
        WORDS = SAMPLES * (int)sizeof(T) / 4,
    };
    typedef box_mean summed;
    struct division division;

    const summed &with_sums() const
    {
        return *this;
    }

    __device__ __forceinline__ unsigned begin() const
    {
        return 0;
    }

    template <bool SUBTRACT>
    __device__ __forceinline__ void move(unsigned *columns, const unsigned *fresh,
                                         const unsigned *old) const
    {
#pragma unroll
        for (int s = 0; s < SAMPLES; s++) {
            int c = s % CHANNELS, alpha = s - c + CHANNELS - 1;
            unsigned *sum = columns + s / CHANNELS * SUMS + c;
            if (BY == PLAIN || c == CHANNELS - 1) {
                sum[SUMS - CHANNELS] = column_moved<T>(sum[SUMS - CHANNELS], fresh, old, s);
                continue;
            }
            unsigned f = sample_of<T>(fresh, s) * sample_of<T>(fresh, alpha);
            if (BY == PRODUCTS) { /* two multiply-adds */
                unsigned minus = 0 - sample_of<T>(old, alpha);
                *sum += f + (SUBTRACT ? sample_of<T>(old, s) * minus : 0);
            } else {
                unsigned o = SUBTRACT ? sample_of<T>(old, s) * sample_of<T>(old, alpha) : 0;
                unsigned mask = (1u << HALF) - 1;
                sum[c] += (f & mask) - (o & mask);
                sum[c + 1] += (f >> HALF) - (o >> HALF);
            }
        }
    }

    __device__ __forceinline__ void add(unsigned *columns, const unsigned *bytes, int first) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int s = first + i, c = s % CHANNELS;
            unsigned factors = BY == PRODUCTS && c < CHANNELS - 1 ? bytes[3] : 0x01010101;
            unsigned *sum = columns + s / CHANNELS * SUMS + c;
            *sum = dot4_unsigned(bytes[i], factors, *sum);
        }
    }

    __device__ __forceinline__ void make(unsigned (*words)[WORDS], const struct strips_args *args,
                                         const unsigned *prefix, const unsigned (*)[WORDS],
                                         unsigned) const
    {
        unsigned means[ROWS][SAMPLES];
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            unsigned high[VALUES], low[VALUES];
            words_get<VALUES>(high, prefix, args->high[j]);
            words_get<VALUES>(low, prefix, args->low[j]);
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                high[v] -= low[v];
#pragma unroll
            for (int v = 0; v < ROWS * CHANNELS; v++)
                means[v / CHANNELS][j * CHANNELS + v % CHANNELS] = window_mean<T, CHANNELS, BY>(
                    &division, high + v / CHANNELS * SUMS, v % CHANNELS);
        }
        means_pack<T, ROWS * SAMPLES, BY>(words[0], means[0], &division);
    }
};

/* Finds magic, shift and byte for 8-bit means. With b = 32 + shift + 8 * byte, v * magic / 2^b
 * exceeds v / n by v * rest / (n * 2^b). v is below 256 * n. As long as v * rest < 2^b, the excess
 * is less than 1 / n, so the next integer is not reached. A few large n have no solution. */
static bool division_of(struct division *args)
{
    uint64_t n = args->n;
    for (unsigned i = 0; i < 48; i++) { /* whole bytes first, because they need no shift */
        unsigned down = i < 24 ? i / 8 * 8 : i - 24;
        uint64_t power = 1ull << (32 + down), magic = (power + n - 1) / n, rest = magic * n - power;
        args->magic = (unsigned)magic;
        args->shift = down % 8;
        args->byte = down / 8;
        if (magic <= UINT32_MAX && rest * 256 * n <= power)
            return true;
    }
    return false;
}

/* Fills `division`, and `args` except the images. Returns false if this kernel cannot compute the
 * filter. */
template <typename T, int CHANNELS, weighing BY>
static bool divide(struct strips_args *args, struct division *division,
                   const struct gi_cuda_queue *cu, const struct gi_image *src,
                   const struct gi_box *spec)
{
    typedef struct box_mean<T, CHANNELS, BY> end;
    bool u8 = sizeof(T) == 1;
    double most = BY == PRODUCTS ? 255.0 * 255.0 : gi_type_full_scale(src->type); /* of a sum */
    division->n = (unsigned)(spec->k * spec->k);
    division->half = division->n / 2;
    return spec->k > 1 && (most + 0.5) * division->n < 4294967296.0 &&
           (!u8 || division_of(division)) && strips_divide<end>(args, cu, src, spec->k);
}

/* Enqueues the filter. If `dst` is NULL, only returns GI_OK if this kernel can compute it. */
template <typename T, int CHANNELS, weighing BY>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_box *spec,
                             struct gi_err *err)
{
    struct strips_args args = {};
    struct box_mean<T, CHANNELS, BY> end = {};
    if (!divide<T, CHANNELS, BY>(&args, &end.division, cu, src, spec))
        return GI_E_UNSUPPORTED;
    return dst ? strips_launch(cu, dst, src, &spec->border, &args, &end, err) : GI_OK;
}

template <typename T>
static enum gi_status launch_any(struct gi_cuda_queue *cu, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_box *spec,
                                 struct gi_err *err)
{
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    bool halves = sizeof(T) == 2 || spec->k > 257; /* of products */
    switch (src->channels) {
    case 1:
        return launch<T, 1, PLAIN>(cu, dst, src, spec, err);
    case 3:
        return launch<T, 3, PLAIN>(cu, dst, src, spec, err);
    case 4:
        return !weigh   ? launch<T, 4, PLAIN>(cu, dst, src, spec, err)
               : halves ? launch<T, 4, HALVES>(cu, dst, src, spec, err)
                        : launch < T,
               4, sizeof(T) == 1 ? PRODUCTS : HALVES > (cu, dst, src, spec, err);
    default:
        return GI_E_UNSUPPORTED;
    }
}

enum gi_status gi_cuda_box_strips(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_box *spec,
                                  struct gi_err *err)
{
    struct gi_cuda_queue *cu = (struct gi_cuda_queue *)queue;
    return src->type == GI_U8 ? launch_any<uint8_t>(cu, dst, src, spec, err)
                              : launch_any<uint16_t>(cu, dst, src, spec, err);
}

bool gi_cuda_box_strips_takes(const struct gi_queue *queue, const struct gi_image *src,
                              const struct gi_box *spec)
{
    return gi_cuda_box_strips((struct gi_queue *)queue, NULL, src, spec, NULL) == GI_OK;
}
