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

/* Returns the mean of a window from its sum and, if weighted, the sum of alpha. At 8 bits the mean
 * may be in a higher byte of the returned word, and means_pack() selects that byte. */
template <typename T, int CHANNELS, bool WEIGH>
static __device__ __forceinline__ unsigned window_mean(const struct division *args,
                                                       const unsigned *sums, int c)
{
    if (WEIGH && c != CHANNELS - 1)
        return box_quotient(sums[c], sums[CHANNELS - 1]);
    if (sizeof(T) == 2)
        return box_quotient(sums[c], args->n);
    unsigned v = __umulhi(sums[c] + args->half, args->magic);
    return WEIGH ? v >> args->shift >> 8 * args->byte : v;
}

/* Packs N means into words of samples. */
template <typename T, int N, bool WEIGH>
static __device__ __forceinline__ void means_pack(unsigned *words, unsigned *means,
                                                  const struct division *args)
{
    if (sizeof(T) == 2) {
#pragma unroll
        for (int i = 0; i < N / 2; i++)
            words[i] = __byte_perm(means[2 * i], means[2 * i + 1], 0x5410);
        return;
    }
    if (!WEIGH && args->shift)
#pragma unroll
        for (int i = 0; i < N; i++)
            means[i] >>= args->shift;
    unsigned pick = WEIGH ? 0x40 : 0x40 + args->byte * 0x11;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        unsigned *m = means + 4 * i;
        words[i] =
            __byte_perm(__byte_perm(m[0], m[1], pick), __byte_perm(m[2], m[3], pick), 0x5410);
    }
}

/* The epilogue of the box filter. */
template <typename SAMPLE, int COUNT, bool BY_ALPHA> struct box_mean {
    typedef SAMPLE T;
    enum {
        CHANNELS = COUNT,
        WEIGH = BY_ALPHA,
        ROWS = CHANNELS == 1 ? FEW_ROWS : 1,
        VALUES = ROWS * CHANNELS,
        SQUARES = false,
        CENTRE = false,
        THREADS = CHANNELS == 1 ? MOST_THREADS : MOST_THREADS / 2,
        BLOCKS = 1,
        SAMPLES = PIXELS * CHANNELS,
        WORDS = SAMPLES * (int)sizeof(T) / 4,
    };
    struct division division;

    __device__ __forceinline__ unsigned begin() const
    {
        return 0;
    }

    __device__ __forceinline__ void make(unsigned (*words)[WORDS], const struct strips_args *args,
                                         const unsigned *prefix, const unsigned (*)[WORDS],
                                         unsigned) const
    {
        unsigned means[ROWS][SAMPLES];
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            unsigned high[VALUES], low[VALUES];
            words_get<VALUES>(high, prefix + args->high[j]);
            words_get<VALUES>(low, prefix + args->low[j]);
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                high[v] -= low[v];
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                means[v / CHANNELS][j * CHANNELS + v % CHANNELS] = window_mean<T, CHANNELS, WEIGH>(
                    &division, high + v / CHANNELS * CHANNELS, v % CHANNELS);
        }
        means_pack<T, ROWS * SAMPLES, WEIGH>(words[0], means[0], &division);
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
static bool divide(struct strips_args *args, struct division *division,
                   const struct gi_cuda_queue *cu, const struct gi_image *src,
                   const struct gi_box *spec)
{
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH, u8 = src->type == GI_U8;
    int gray = src->channels == 1, values = gray ? (int)FEW_ROWS : src->channels;
    double most = gi_type_full_scale(src->type) * (weigh ? 255.0 : 1.0) + 0.5;
    division->n = (unsigned)(spec->k * spec->k);
    division->half = division->n / 2;
    return spec->k > 1 && src->channels != 2 && most * division->n < 4294967296.0 &&
           (u8 || !weigh) && (!u8 || division_of(division)) &&
           strips_divide(args, cu, src, spec->k, values, gray ? MOST_THREADS : MOST_THREADS / 2);
}

template <typename T, int CHANNELS, bool WEIGH>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_box *spec,
                             struct gi_err *err)
{
    struct strips_args args = {};
    struct box_mean<T, CHANNELS, WEIGH> end = {};
    divide(&args, &end.division, cu, src, spec);
    return strips_launch(cu, dst, src, &spec->border, &args, &end, err);
}

bool gi_cuda_box_strips_takes(const struct gi_queue *queue, const struct gi_image *src,
                              const struct gi_box *spec)
{
    struct strips_args args = {};
    struct division division = {};
    return divide(&args, &division, (const struct gi_cuda_queue *)queue, src, spec);
}

enum gi_status gi_cuda_box_strips(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_box *spec,
                                  struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH, u8 = src->type == GI_U8;
    if (src->channels == 1)
        return u8 ? launch<uint8_t, 1, false>(cu, dst, src, spec, err)
                  : launch<uint16_t, 1, false>(cu, dst, src, spec, err);
    if (src->channels == 3)
        return u8 ? launch<uint8_t, 3, false>(cu, dst, src, spec, err)
                  : launch<uint16_t, 3, false>(cu, dst, src, spec, err);
    if (weigh)
        return launch<uint8_t, 4, true>(cu, dst, src, spec, err);
    return u8 ? launch<uint8_t, 4, false>(cu, dst, src, spec, err)
              : launch<uint16_t, 4, false>(cu, dst, src, spec, err);
}
