/* The march: small neighbourhoods of N x N, one warp a strip of columns and a band of its rows,
 * every thread WORDS words of samples. Rows come through a ring in shared memory, copied ahead of
 * their use, with their halo; where that leaves the image the warp puts the border's samples there.
 * Sums of the outputs in flight stay in registers: a new row adds its part to each, and each moves
 * one place on in the same fmaf. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MARCH_CUH
#define GI_KERNELS_CUDA_MARCH_CUH

#include <limits.h>

#include "kernels/cuda/common/march_ring.cuh"

template <enum march_kind KIND, int N> struct march_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int row_nbytes, band_rows;
    bool whole; /* GRADIENT: sums below 2^24 are whole numbers */
    float
        unit; /* times this, raw sums are those of samples; not SEPARABLE, where they are already */
    struct march_weights<KIND, N> weights;
};

template <int WORDS>
static __device__ __forceinline__ void words_fetch(unsigned *words, const char *from)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = ((const unsigned *)from)[i];
}

template <typename T, int WORDS>
static __device__ __forceinline__ void march_store(void *out, const float *f)
{
    unsigned words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = sample_pack<T>(f + i * (4 / (int)sizeof(T)));
    words_store<WORDS>(out, words);
}

/* The window of raw samples of `words`, colour times alpha where that is wanted. */
template <typename T, int CHANNELS, int SKIP, int WINDOW>
static __device__ __forceinline__ void march_unpack(float *w, const unsigned *words,
                                                    bool premultiply)
{
    if (CHANNELS % 2 == 0 && premultiply) {
#pragma unroll
        for (int k = 0; k < WINDOW; k += CHANNELS)
            raw_premultiply<T, CHANNELS>(w + k, words, (SKIP + k) / CHANNELS);
    } else {
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            w[k] = raw_unpack<T>(words, SKIP + k);
    }
}

/* A row's sums f to what is stored. centre: the source samples in their place, there if `inside`.
 */
template <enum march_kind KIND, typename T, int CHANNELS, int S, enum march_end END>
static __device__ __forceinline__ void march_round_off(float *f, const char *centre, bool inside,
                                                       const struct rule *rule, float unit)
{
    enum { WORDS = S * (int)sizeof(T) / 4, INTEGER = sizeof(T) != 4 };
    if (KIND == MARCH_GRADIENT)
        march_roots<S, END == MARCH_PLAIN && sizeof(T) == 1>(f);
    if (KIND != MARCH_SEPARABLE && INTEGER) {
#pragma unroll
        for (int s = 0; s < S; s++)
            f[s] = __fmul_rn(f[s], unit);
    }
    bool weigh = END == MARCH_WEIGH || (END == MARCH_ANY && rule->alpha == GI_ALPHA_WEIGH);
    if (CHANNELS % 2 == 0 && weigh)
        march_weigh<S, CHANNELS, INTEGER>(f, rule->inverse_sum);
    if (END == MARCH_ANY) {
        march_finish<S, CHANNELS, INTEGER>(f, rule);
        if (march_wants_source(rule)) {
            unsigned words[WORDS] = {};
            float source[S];
            if (inside)
                words_fetch<WORDS>(words, centre);
#pragma unroll
            for (int s = 0; s < S; s++)
                source[s] = sample_unpack<T>(words, s);
            march_blend<S, CHANNELS>(f, source, rule);
        }
    } else if (!INTEGER) {
#pragma unroll
        for (int s = 0; s < S; s++) /* -0 becomes 0, but not in alpha */
            f[s] = CHANNELS % 2 == 0 && s % CHANNELS == CHANNELS - 1 ? f[s] : f[s] + 0.0f;
    }
}

/* Warps that a multiprocessor is to hold, where that is worth some moves to the compiler. */
static constexpr int march_warps(enum march_kind kind, int n, enum march_end end)
{
    if (kind == MARCH_DENSE)
        return n == 3 && end == MARCH_PLAIN ? 24 : 1;
    return end == MARCH_WEIGH && n == 5 ? 16 : 1;
}

template <enum march_kind KIND, typename T, int CHANNELS, int N, int WORDS, enum march_end END>
static __global__ void __launch_bounds__(32, march_warps(KIND, N, END))
    march(const __grid_constant__ struct march_args<KIND, N> args)
{
    typedef struct march_shape<T, CHANNELS, N, WORDS> shape;
    enum { S = shape::S, HALO = shape::HALO, SIDE = shape::SIDE };
    enum { SLOT = shape::SLOT, PITCH = shape::PITCH, TURN = shape::TURN };
    enum { AHEAD = (MARCH_RING - 1) * MARCH_ROWS };
    static_assert(CHANNELS % 2 == 1 || shape::SKIP % CHANNELS == 0, "a window is whole pixels");
    static_assert(2 * HALO <= 32, "a lane patches one sample of the halo");
    __shared__ __align__(16) char ring[MARCH_RING * TURN];
    const struct source *src = &args.src;
    int lane = (int)threadIdx.x, y0 = (int)blockIdx.y * args.band_rows;
    int start = kept(y0 - N / 2); /* row of the source, maybe outside */
    int last = kept(min(args.band_rows, src->height - y0) + N - 2);
    int strip = (int)blockIdx.x * shape::STRIP, mine = strip + lane * (WORDS * 4); /* bytes */
    int store = kept(mine < args.row_nbytes ? N - 1 : INT_MAX); /* from this row on */
    int edge = kept(strip == 0 || strip + shape::STRIP + SIDE > args.row_nbytes);
    char *out = args.dst.data + ((long long)y0 - (N - 1)) * (long long)args.dst.stride + mine;
    unsigned slots = (unsigned)__cvta_generic_to_shared(ring) + SIDE; /* the strip in slot 0 */
    unsigned window = (unsigned)kept((int)slots + lane * (WORDS * 4));
    const struct march_copy copy =
        march_copy_of<shape::STRIP, SIDE, PITCH>(src, slots, strip, args.row_nbytes);
    struct march_patch patch = {-1, -1, -1, 0};
    if (edge)
        patch = march_patch_of<T, CHANNELS, HALO, SLOT>(src, strip - SIDE);
    /* Turns that begin before this row are copied as they are. */
    int whole = max(min(start + last + 1, src->height - (MARCH_ROWS - 1)), 0);
    unsigned simple = (unsigned)kept(edge && src->border == GI_BORDER_WRAP ? 0 : whole);

    struct march_state<KIND, N, S> state = {};
    int at = TURN, fill = 0; /* bytes of the ring */
    for (int i = kept(-AHEAD); i <= last; i += MARCH_ROWS) {
        __pipeline_wait_prior(MARCH_RING - 2);
        __syncwarp();
        int row = start + i + AHEAD;
        if ((unsigned)row < simple)
            march_copy_turn<PITCH>(&copy, (unsigned)fill, row, src->stride);
        else
            for (int r = 0; r < MARCH_ROWS && i + AHEAD + r <= last; r++)
                march_copy_any<T, CHANNELS, SLOT>(ring + fill + r * PITCH, src, row + r,
                                                  strip - SIDE, args.row_nbytes, patch.word);
        __pipeline_commit();
        fill = at;
        at = at == (MARCH_RING - 1) * TURN ? 0 : at + TURN;
        if (i < 0)
            continue;
        if (edge)
            march_patch_turn<T, PITCH>(ring + fill, &patch);
        unsigned slot = window + fill;
#pragma unroll 1
        for (int r = i; r <= min(i + MARCH_ROWS - 1, last); r++, slot += PITCH) {
            unsigned words[2 * shape::HALO_WORDS + WORDS];
            window_load<-shape::HALO_WORDS, WORDS + shape::HALO_WORDS, WORDS>(words, slot);
            float w[shape::WINDOW], f[S];
            march_unpack<T, CHANNELS, shape::SKIP, shape::WINDOW>(
                w, words, END == MARCH_WEIGH || (END == MARCH_ANY && src->premultiply));
            march_step<KIND, N, S, CHANNELS, sizeof(T) != 4>(f, &state, w, args.weights.w);
            size_t centre = (size_t)(unsigned)(start + r - N / 2) * (unsigned)src->stride;
            march_round_off<KIND, T, CHANNELS, S, END>(f, src->data + centre + mine, r >= store,
                                                       &args.rule, args.unit);
            if (r >= store)
                march_store<T, WORDS>(out, f);
            out += args.dst.stride;
        }
    }
}

/* The least odd size that holds n taps round their anchor in its middle. */
static inline int march_centred(int n, int anchor)
{
    int after = n - 1 - anchor;
    return 2 * (anchor > after ? anchor : after) + 1;
}

/* By how much weights can enlarge a sample; below MARCH_MOST no sum over 16-bit samples times alpha
 * overflows, so zero taps add exactly nothing. */
#define MARCH_MOST 1e20

static inline double march_most(const float *weights, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most += weights[i] < 0 ? -(double)weights[i] : (double)weights[i];
    return most;
}

/* The least that a sum over whole numbers can be but for 0, without its sign: the least weight, or,
 * where they can cancel, its last place. */
static inline double march_least(const float *weights, int n)
{
    double least = INFINITY;
    bool cancel = false;
    for (int i = 0; i < n; i++) {
        if (weights[i] != 0)
            least = fmin(least, fabs(weights[i]));
        cancel = cancel || weights[i] < 0;
    }
    return cancel ? least * 0x1p-24 : least;
}

/* May march_quotient() be used, if it is, where sums are `least` or more, and `most` times a sample
 * or less? Then dividends and divisors are 2^-100 to 2^100 and quotients below 2^126. */
static inline bool march_divides(const struct gi_image *src, enum gi_alpha_rule alpha, double least,
                                 double most, float sum)
{
    if (!gi_has_alpha(src) || alpha == GI_ALPHA_PLAIN || src->type == GI_F32)
        return true;
    double inverse = alpha == GI_ALPHA_WEIGH ? fabs(1 / (double)sum) : 1;
    return least >= 0x1p-86 && most <= 0x1p8 && least * inverse >= 0x1p-86 &&
           most * inverse <= 0x1p84;
}

/* Can the ring hold the border's values? It holds samples of the image's type. */
static inline bool march_holds(const struct gi_image *src, const struct gi_edge *edge)
{
    float full = gi_type_full_scale(src->type);
    if (edge->border == GI_BORDER_VALUE && src->type != GI_F32)
        for (int c = 0; c < src->channels; c++)
            if (!(edge->value[c] >= 0 && edge->value[c] <= full &&
                  edge->value[c] == (float)(int)edge->value[c]))
                return false;
    return true;
}

/* Fills in the division of work and launches. */
template <enum march_kind KIND, typename T, int CHANNELS, int N, int WORDS>
static enum gi_status march_launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                                   const struct gi_image *src, struct march_args<KIND, N> *args,
                                   struct gi_err *err)
{
    typedef struct march_shape<T, CHANNELS, N, WORDS> shape;
    args->dst = target_of(dst);
    args->row_nbytes = (int)gi_row_nbytes(src);
    /* Kernels of their own for what is common. */
    constexpr enum march_end plain =
        sizeof(T) == 1 || (KIND != MARCH_GRADIENT && CHANNELS < 4) ? MARCH_PLAIN : MARCH_ANY;
    /* Dense kernels of more than 5 x 5 are rare with any other end: see convolve_2d.cu. */
    constexpr enum march_end any = KIND == MARCH_DENSE && N > 5 ? plain : MARCH_ANY;
    constexpr enum march_end weigh =
        KIND == MARCH_SEPARABLE && CHANNELS == 4 && sizeof(T) == 1 ? MARCH_WEIGH : any;
    void (*kernel)(struct march_args<KIND, N>) = march<KIND, T, CHANNELS, N, WORDS, any>;
    bool near = KIND != MARCH_GRADIENT || sizeof(T) > 1 || args->whole;
    if (args->rule.plain && near)
        kernel = march<KIND, T, CHANNELS, N, WORDS, plain>;
    else if (args->rule.alpha == GI_ALPHA_WEIGH && finish_stores(&args->rule.finish))
        kernel = march<KIND, T, CHANNELS, N, WORDS, weigh>;
    int warps_per_unit = 1;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&warps_per_unit, kernel, 32, 0));
    int strips = ceil_div(args->row_nbytes, shape::STRIP);
    /* One wave, so that nobody waits for a place; where memory is what takes the time, three, for
     * multiprocessors have different shares of that. Where arithmetic does, 12 warps keep a
     * multiprocessor busy, and longer bands share fewer rows. */
    bool light = KIND == MARCH_SEPARABLE && N * shape::S <= 48;
    bool steady = KIND == MARCH_SEPARABLE && sizeof(T) == 1 && N >= 5 && args->rule.plain;
    int warps = (steady && warps_per_unit > 12 ? 12 : warps_per_unit) * cu->units;
    int bands = (light ? 3 : 1) * warps / strips;
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args->band_rows = ceil_div(src->height, bands);
    args->band_rows = args->band_rows < 2 * N ? 2 * N : args->band_rows;
    dim3 grid(strips, ceil_div(src->height, args->band_rows));
    kernel<<<grid, 32, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

#endif
