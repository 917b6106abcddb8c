/* Local (adaptive) thresholds in one pass: the epilogue for the window sums of strips.cuh, of
 * levels and, if D is needed, of their squares.
 *
 * Bytes: if D is needed, 128 is subtracted from levels. This does not change D and lets k be twice
 * as large. A float prefilter (local_quick.cuh) decides nearly all samples. Other types: squares
 * are summed in two halves, and D is an integer of 64 bits.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/strips.cuh"
#include "kernels/cuda/tone/local_threshold.cuh"
#include "kernels/cuda/tone/local_quick.cuh"

/* The parameters of the epilogue. */
struct local_params {
    int n;          /* k * k */
    long long more; /* with `mean`, level v is above if n * v - sum > more; of integers, an int */
    unsigned flip;  /* ~0 for `invert` */
    bool black;     /* whether a sample is above the threshold if its whole window is 0 */
    struct gi_local spec;
    struct local_quick quick;
};

/* Returns the level of sample s of a thread. */
template <typename T>
static __device__ __forceinline__ unsigned level_of(const struct local_params *args,
                                                    const unsigned *words, int s)
{
    if constexpr (sizeof(T) == 4)
        return gi_local_float(&args->spec, __uint_as_float(words[s]));
    else
        return sample_of<T>(words, s);
}

/* Converts to double without the conversion units, of which there are few. */
static __device__ __forceinline__ double whole_of(unsigned v)
{
    return __hiloint2double(0x43300000, (int)v) - 0x1p52;
}

/* Returns whether level v of a byte is above its threshold, given the sums of its window. N times
 * the sum of squares is below 2^53. */
template <bool SWELL>
static __device__ __noinline__ bool byte_above(const struct local_params *args, int v, unsigned sum,
                                               unsigned square)
{
    double n = args->n, s = whole_of(sum), less = s - 128 * n;
    struct gi_local spec = args->spec;
    if (!SWELL)
        spec.swell = 0;
    return gi_local_above(&spec, n * v - s, s, fma(-less, less, n * whole_of(square)));
}

/* Returns whether level v is above its threshold. The squares are square + (high << HALF); N times
 * their sum is below 2^64. */
template <int HALF>
static __device__ __noinline__ bool level_above(const struct local_params *args, unsigned v,
                                                unsigned sum, unsigned square, unsigned high)
{
    unsigned long long squares = square + ((unsigned long long)high << HALF);
    double n = args->n, s = whole_of(sum);
    double spread = (double)((unsigned)args->n * squares - (unsigned long long)sum * sum);
    return gi_local_above(&args->spec, n * whole_of(v) - s, s, spread);
}

/* The epilogue of local thresholds. MEAN: D is not needed. SWELL: spec has a swell (bytes only). */
template <typename SAMPLE, int COUNT, bool MEAN, bool SWELL> struct local_mask {
    typedef SAMPLE T;
    enum {
        CHANNELS = COUNT,
        COLORS = COUNT == 4 ? 3 : COUNT,
        BYTES = sizeof(T) == 1,
        QUADS = BYTES,
        PIXELS = BYTES && COUNT == 1 ? 16 : 8,
        HALF = sizeof(T) == 4 ? 20 : 16, /* bits of the lower half of a square */
        EACH = MEAN    ? 1
               : BYTES ? 2
                       : 3, /* sums per colour: level, square or its two halves */
        SUMS = COLORS * EACH,
        ROWS = COUNT == 1 && MEAN ? 2 : 1,
        CENTRE = true,
        LARGE = sizeof(T) < 4,
        THREADS = PIXELS == 16 ? 320 : 0, /* 96 registers */
        BLOCKS = THREADS > 0 ? 2 : 1,
        SAMPLES = PIXELS * CHANNELS,
        WORDS = SAMPLES * (int)sizeof(T) / 4,
    };
    static_assert((2 * BLOCK_ROWS + 3LL) * (2 * BLOCK_ROWS + 3) * (GI_LOCAL_LEVELS - 1) >
                      UINT32_MAX,
                  "windows of floats are not large");
    typedef local_mask<SAMPLE, COUNT, MEAN, false> summed;
    struct local_params local;

    summed with_sums() const
    {
        return {local};
    }

    __device__ __forceinline__ unsigned begin() const
    {
        return (unsigned)__shfl_sync(~0u, local.quick.top, (int)threadIdx.x);
    }

    /* Adds byte s of `fresh`, minus 128, and its square to sums. If SUBTRACT, subtracts the same of
     * byte s of `old`: with f and o for the bytes minus 128, the products of (f, o, o) with (1, -1,
     * 0) and with (f, -o - 1, 1) add up to f - o and f * f - o * o. */
    template <bool SUBTRACT>
    static __device__ __forceinline__ void byte_move(unsigned *sums, const unsigned *fresh,
                                                     const unsigned *old, int s)
    {
        unsigned byte = (unsigned)s & 3, f = fresh[s / 4] ^ 0x80808080;
        unsigned o = SUBTRACT ? old[s / 4] ^ 0x80808080 : 0;
        unsigned three = __byte_perm(f, o, byte | (byte + 4) * 0x110);
        sums[0] = dot4_signed(three, 0x0000ff01, sums[0]);
        sums[1] = dot4_signed(three, (three & 0x0000ffff) ^ 0x0001ff00, sums[1]);
    }

    template <bool SUBTRACT>
    __device__ __forceinline__ void move(unsigned *columns, const unsigned *fresh,
                                         const unsigned *old) const
    {
#pragma unroll
        for (int s = 0; s < SAMPLES; s++) {
            unsigned *sums = columns + (s / CHANNELS * COLORS + s % CHANNELS) * EACH;
            if (s % CHANNELS >= COLORS)
                continue;
            if constexpr (BYTES && !MEAN)
                byte_move<SUBTRACT>(sums, fresh, old, s);
            else if constexpr (sizeof(T) < 4)
                sums[0] = column_moved<T>(sums[0], fresh, old, s);
            if (BYTES || (MEAN && sizeof(T) == 2))
                continue;
            unsigned f = level_of<T>(&local, fresh, s);
            unsigned o = SUBTRACT ? level_of<T>(&local, old, s) : 0;
            if (sizeof(T) == 4)
                sums[0] += f - o;
            if constexpr (!MEAN && !BYTES) {
                unsigned long long more = (unsigned long long)f * f;
                unsigned long long less = (unsigned long long)o * o;
                unsigned mask = (1u << HALF) - 1;
                sums[1] += ((unsigned)more & mask) - ((unsigned)less & mask);
                sums[2] += (unsigned)(more >> HALF) - (unsigned)(less >> HALF);
            }
        }
    }

    __device__ __forceinline__ void add(unsigned *columns, const unsigned *bytes, int first) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int s = first + i;
            unsigned *sums = columns + (s / CHANNELS * COLORS + s % CHANNELS) * EACH;
            if (s % CHANNELS >= COLORS)
                continue;
            if (MEAN) {
                sums[0] = dot4_unsigned(bytes[i], 0x01010101, sums[0]);
            } else {
                unsigned v = bytes[i] ^ 0x80808080;
                sums[0] = dot4_signed(v, 0x01010101, sums[0]);
                sums[EACH - 1] = dot4_signed(v, v, sums[EACH - 1]);
            }
        }
    }

    /* Gets the sums of window j, of all rows of a step. */
    static __device__ __forceinline__ void
    window_sums(unsigned *sums, const struct strips_args *args, const unsigned *prefix, int j)
    {
        unsigned low[ROWS * SUMS];
        words_get<ROWS * SUMS>(sums, prefix, args->high[j]);
        words_get<ROWS * SUMS>(low, prefix, args->low[j]);
#pragma unroll
        for (int i = 0; i < ROWS * SUMS; i++)
            sums[i] -= low[i];
    }

    /* Computes the signs again that the prefilter cannot decide. */
    __device__ __forceinline__ void signs_decide(unsigned (*signs)[SAMPLES],
                                                 const struct strips_args *args,
                                                 const unsigned *prefix,
                                                 const unsigned (*words)[WORDS]) const
    {
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            unsigned sums[ROWS * SUMS];
            window_sums(sums, args, prefix, j);
#pragma unroll
            for (int i = 0; i < ROWS * COLORS; i++) {
                int s = j * CHANNELS + i % COLORS, at = i * EACH;
                unsigned *sign = &signs[i / COLORS][s], sum = sums[at] + 128 * (unsigned)local.n;
                int v = (int)sample_of<T>(words[i / COLORS], s);
                if (!quick_doubts(__uint_as_float(*sign)))
                    continue;
                bool above = local.black;
                if (sum > 0)
                    above = byte_above<SWELL>(&local, v, sum, sums[at + 1]);
                *sign = above ? ~0u : 0;
            }
        }
    }

    /* Makes signs[i][s] negative if sample s of row i of a step is above its threshold. */
    __device__ __forceinline__ void signs_spread(unsigned (*signs)[SAMPLES],
                                                 const struct strips_args *args,
                                                 const unsigned *prefix,
                                                 const unsigned (*words)[WORDS], unsigned top) const
    {
        bool doubt = false;
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            unsigned sums[ROWS * SUMS];
            window_sums(sums, args, prefix, j);
#pragma unroll
            for (int i = 0; i < ROWS * COLORS; i++) {
                int s = j * CHANNELS + i % COLORS, at = i * EACH;
                const unsigned *row = words[i / COLORS];
                if (!BYTES) {
                    signs[i / COLORS][s] =
                        level_above<HALF>(&local, level_of<T>(&local, row, s), sums[at],
                                          sums[at + 1], sums[at + EACH - 1])
                            ? ~0u
                            : 0;
                    continue;
                }
                float h = quick_side<SWELL>(&local.quick, quick_sample(row[s / 4], top, s % 4),
                                            (float)(int)sums[at], (float)sums[at + 1]);
                signs[i / COLORS][s] = __float_as_uint(h);
                doubt |= quick_doubts(h);
            }
        }
        if constexpr (BYTES)
            if (doubt)
                signs_decide(signs, args, prefix, words);
    }

    /* Likewise for all rows of a step, by the mean. */
    __device__ __forceinline__ void signs_mean(unsigned (*signs)[SAMPLES],
                                               const struct strips_args *args,
                                               const unsigned *prefix,
                                               const unsigned (*words)[WORDS]) const
    {
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            unsigned high[ROWS * SUMS], low[ROWS * SUMS];
            words_get<ROWS * SUMS>(high, prefix, args->high[j]);
            words_get<ROWS * SUMS>(low, prefix, args->low[j]);
#pragma unroll
            for (int v = 0; v < ROWS * SUMS; v++) {
                int s = j * CHANNELS + v % SUMS;
                unsigned level = level_of<T>(&local, words[v / SUMS], s), sum = high[v] - low[v];
                bool above = sizeof(T) == 4 ? (long long)local.n * level - sum > local.more
                                            : local.n * (int)level - (int)sum > (int)local.more;
                signs[v / SUMS][s] = above ? ~0u : 0;
            }
        }
    }

    __device__ __forceinline__ void make(unsigned (*words)[WORDS], const struct strips_args *args,
                                         const unsigned *prefix, const unsigned (*centre)[WORDS],
                                         unsigned top) const
    {
        unsigned signs[ROWS][SAMPLES] = {};
        if constexpr (MEAN)
            signs_mean(signs, args, prefix, centre);
        else
            signs_spread(signs, args, prefix, centre, top);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            signs_mask<T, WORDS>(words[i], signs[i], local.flip);
#pragma unroll
            for (int w = 0; w < WORDS && CHANNELS == 4; w++) { /* alpha is copied */
                unsigned keep = BYTES ? 0xff000000 : sizeof(T) == 2 ? 0xffff0000 : ~0u;
                if ((w + 1) % (int)sizeof(T) == 0)
                    words[i][w] = (words[i][w] & ~keep) | (centre[i][w] & keep);
            }
        }
    }
};

/* Enqueues the thresholds. If `dst` is NULL, only returns GI_OK if this kernel can compute them. */
template <typename T, int CHANNELS, bool MEAN, bool SWELL>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_local *spec,
                             struct gi_err *err)
{
    struct strips_args args = {};
    struct local_mask<T, CHANNELS, MEAN, SWELL> end = {};
    double n = (double)spec->k * spec->k, more = floor(-spec->shift);
    double full = sizeof(T) == 4 ? GI_LOCAL_LEVELS - 1.0 : gi_type_full_scale(src->type);
    bool fits = sizeof(T) == 1 && !MEAN   ? n * 128 * 128 < 4294967296.0
                : sizeof(T) == 4 || !MEAN ? n * full < 4294967296.0
                                          : n * full <= INT32_MAX;
    if (!fits || !strips_divide<local_mask<T, CHANNELS, MEAN, SWELL>>(&args, cu, src, spec->k))
        return GI_E_UNSUPPORTED;
    if (!dst)
        return GI_OK;
    double limit = sizeof(T) == 4 ? 0x1p40 : INT32_MAX; /* beyond n * v - sum */
    end.local.n = spec->k * spec->k;
    end.local.more = (long long)fmin(fmax(more, -limit - 1), limit);
    end.local.flip = spec->invert ? ~0u : 0;
    end.local.spec = *spec;
    end.local.black = !spec->mean && gi_local_above(spec, 0, 0, 0);
    end.local.quick = local_quick_of(spec);
    return strips_launch(cu, dst, src, &spec->border, &args, &end, err);
}

template <typename T, int CHANNELS>
static enum gi_status launch_any(struct gi_cuda_queue *cu, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_local *spec,
                                 struct gi_err *err)
{
    if (spec->mean)
        return launch<T, CHANNELS, true, false>(cu, dst, src, spec, err);
    return sizeof(T) == 1 && spec->swell != 0
               ? launch<T, CHANNELS, false, sizeof(T) == 1>(cu, dst, src, spec, err)
               : launch<T, CHANNELS, false, false>(cu, dst, src, spec, err);
}

enum gi_status gi_cuda_local_strips(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_local *spec,
                                    struct gi_err *err)
{
    struct gi_cuda_queue *cu = (struct gi_cuda_queue *)queue;
    if (src->channels == 2)
        return GI_E_UNSUPPORTED;
    GI_CUDA_TYPES(src->type, src->channels == 1   ? launch_any<T, 1>(cu, dst, src, spec, err)
                             : src->channels == 3 ? launch_any<T, 3>(cu, dst, src, spec, err)
                                                  : launch_any<T, 4>(cu, dst, src, spec, err));
}

bool gi_cuda_local_strips_takes(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_local *spec)
{
    return gi_cuda_local_strips((struct gi_queue *)queue, NULL, src, spec, NULL) == GI_OK;
}
