/* Local (adaptive) thresholds of gray integers in one pass: the epilogue for the window sums of
 * strips.cuh, of levels and, if D is needed, of their squares. Before levels are squared, 128 is
 * subtracted from them. This does not change D and lets k be twice as large.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/strips.cuh"
#include "kernels/cuda/tone/local_threshold.cuh"
#include "kernels/cuda/tone/local_quick.cuh"

enum {
    VALUES = 2, /* sums per pixel and step: for two rows, or of samples and squares of one row */
    SPREAD_THREADS = 512,
};

/* The parameters of the epilogue. */
struct local_params {
    int n, more;   /* n is k * k; with `mean`, level v is above if n * v - sum > more */
    unsigned flip; /* ~0 for `invert` */
    struct gi_local spec;
    struct local_quick quick;
};

/* Sample j of a thread. */
template <typename T> static __device__ __forceinline__ int sample_of(const unsigned *words, int j)
{
    return sizeof(T) == 1 ? (int)__byte_perm(words[j / 4], 0, 0x4440u | (j & 3))
                          : (int)__byte_perm(words[j / 2], 0, j & 1 ? 0x4432u : 0x4410u);
}

/* Converts to double without the conversion units, of which there are few. */
static __device__ __forceinline__ double whole_of(unsigned v)
{
    return __hiloint2double(0x43300000, (int)v) - 0x1p52;
}

/* Returns whether sample v is above its threshold, given the sums of its window. N times the sum of
 * squares is below 2^53. */
template <bool SWELL>
static __device__ __noinline__ bool above_of(const struct local_params *args, int v, unsigned sum,
                                             unsigned square)
{
    double n = args->n, s = whole_of(sum), less = s - 128 * n;
    struct gi_local spec = args->spec;
    if (!SWELL)
        spec.swell = 0;
    return gi_local_above(&spec, n * v - s, s, fma(-less, less, n * whole_of(square)));
}

/* Makes signs[j] negative if sample j of `words` is above its threshold. The sums of its window are
 * differences of prefix sums. */
template <bool SWELL>
static __device__ __forceinline__ void
signs_of(unsigned *signs, const struct local_params *args, unsigned top, const unsigned *words,
         const unsigned (*high)[VALUES], const unsigned (*low)[VALUES])
{
    bool doubt = false;
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        float s = (float)(high[j][0] - low[j][0]), q = (float)(high[j][1] - low[j][1]);
        float h = quick_side<SWELL>(&args->quick, quick_sample(words[j / 4], top, j % 4), s, q);
        signs[j] = __float_as_uint(h);
        doubt |= quick_doubts(h, s + args->quick.sure);
    }
    if (!doubt)
        return;
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        unsigned sum = high[j][0] - low[j][0], square = high[j][1] - low[j][1];
        if (quick_doubts(__uint_as_float(signs[j]), (float)sum + args->quick.sure))
            signs[j] = above_of<SWELL>(args, sample_of<uint8_t>(words, j), sum, square) ? ~0u : 0;
    }
}

/* Loads the prefix sums at both ends of a thread's windows. */
static __device__ __forceinline__ void ends_get(unsigned (*high)[VALUES], unsigned (*low)[VALUES],
                                                const struct strips_args *args,
                                                const unsigned *prefix)
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        words_get<VALUES>(high[j], prefix + args->high[j]);
        words_get<VALUES>(low[j], prefix + args->low[j]);
    }
}

/* Like signs_of(), for thresholds by the mean; i is the row, 0 or 1. */
template <typename T>
static __device__ __forceinline__ void
signs_mean(unsigned *signs, const struct local_params *args, int i, const unsigned *words,
           const unsigned (*high)[VALUES], const unsigned (*low)[VALUES])
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        int rest = args->n * sample_of<T>(words, j) - (int)(high[j][i] - low[j][i]);
        signs[j] = rest > args->more ? ~0u : 0;
    }
}

/* The epilogue of local thresholds; MEAN: D is not needed. */
template <typename SAMPLE, bool MEAN, bool SWELL> struct local_mask {
    typedef SAMPLE T;
    enum {
        CHANNELS = 1,
        WEIGH = false,
        ROWS = MEAN ? 2 : 1,
        VALUES = ::VALUES,
        SQUARES = !MEAN,
        CENTRE = true,
        THREADS = MEAN ? (int)MOST_THREADS : (int)SPREAD_THREADS,
        BLOCKS = MEAN ? 1 : 2,
        WORDS = PIXELS * (int)sizeof(T) / 4,
    };
    struct local_params local;

    __device__ __forceinline__ unsigned begin() const
    {
        return (unsigned)__shfl_sync(~0u, local.quick.top, (int)threadIdx.x);
    }

    __device__ __forceinline__ void make(unsigned (*words)[WORDS], const struct strips_args *args,
                                         const unsigned *prefix, const unsigned (*centre)[WORDS],
                                         unsigned top) const
    {
        unsigned high[PIXELS][VALUES], low[PIXELS][VALUES];
        ends_get(high, low, args, prefix);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            unsigned signs[PIXELS];
            if (MEAN)
                signs_mean<T>(signs, &local, i, centre[i], high, low);
            else
                signs_of<SWELL>(signs, &local, top, centre[i], high, low);
            signs_mask<T, WORDS>(words[i], signs, local.flip);
        }
    }
};

/* Divides the work. Returns false if this kernel cannot do it. */
static bool divide(struct strips_args *args, const struct gi_cuda_queue *cu,
                   const struct gi_image *src, const struct gi_local *spec)
{
    double n = (double)spec->k * spec->k, full = gi_type_full_scale(src->type);
    bool fits = spec->mean ? n * full <= INT32_MAX : n * 128 * 128 < 4294967296.0;
    return src->channels == 1 && src->type != GI_F32 && fits &&
           (spec->mean || src->type == GI_U8) &&
           strips_divide(args, cu, src, spec->k, VALUES,
                         spec->mean ? (int)MOST_THREADS : (int)SPREAD_THREADS);
}

template <typename T, bool MEAN, bool SWELL>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_local *spec,
                             struct gi_err *err)
{
    struct strips_args args = {};
    struct local_mask<T, MEAN, SWELL> end = {};
    double more = floor(-spec->shift);
    end.local.n = spec->k * spec->k;
    end.local.more = (int)(more > INT32_MAX ? INT32_MAX : more > INT32_MIN ? more : INT32_MIN);
    end.local.flip = spec->invert ? ~0u : 0;
    end.local.spec = *spec;
    end.local.quick = local_quick_of(spec);
    divide(&args, cu, src, spec);
    return strips_launch(cu, dst, src, &spec->border, &args, &end, err);
}

bool gi_cuda_local_strips_takes(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_local *spec)
{
    struct strips_args args = {};
    return divide(&args, (const struct gi_cuda_queue *)queue, src, spec);
}

enum gi_status gi_cuda_local_strips(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_local *spec,
                                    struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    if (!spec->mean)
        return spec->swell != 0 ? launch<uint8_t, false, true>(cu, dst, src, spec, err)
                                : launch<uint8_t, false, false>(cu, dst, src, spec, err);
    return src->type == GI_U8 ? launch<uint8_t, true, false>(cu, dst, src, spec, err)
                              : launch<uint16_t, true, false>(cu, dst, src, spec, err);
}
