/* Sliding window in registers: N x N neighbourhoods with small N (separable and dense convolution,
 * gradients). All use the kernel sliding_window().
 *
 * Block: one warp. It owns a strip of columns (512 bytes of a row with WORDS = 4) and a band of
 * rows, and moves down the band. Thread l owns WORDS 32-bit words of each row, which are S samples.
 *
 *                strip (STRIP bytes)
 *       SIDE +---------------------+ SIDE
 *       ....:|t0 |t1 |t2 | ... |t31|:....   row y, SLIDING_ROWS rows per step
 *       ....:|   |   |   |     |   |:....
 *            +---------------------+       one step: SLIDING_ROWS rows of PITCH bytes
 *
 * Shared memory: a ring buffer of SLIDING_RING steps (two: double buffering). cp.async fills one
 * step while the warp computes from the other. Exchange: a thread reads its halo of N / 2 pixels on
 * either side from what its neighbours copied. Registers: acc[j] is the partial sum of the output
 * row of which j + 1 source rows have been added so far. A new source row is added to all N sums,
 * and the same fmaf moves acc[j] to acc[j + 1].
 *
 * Phases of a step: load (start copies of the next step), exchange (wait, write border samples into
 * the halo), compute (N x N products per sample), store (epilogue, round, pack).
 *
 * Example: N = 5, 8-bit gray, WORDS = 4. S = 16 samples per thread, HALO = 2 samples, STRIP = 512
 * and SIDE = 16 bytes, a row of 544 bytes at a PITCH of 560; the ring buffer has 2 * 4 * 560 = 4480
 * bytes. A thread loads 24 bytes per row, of which 20 are its window, and keeps 4 x 16 sums.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SLIDING_WINDOW_CUH
#define GI_KERNELS_CUDA_SLIDING_WINDOW_CUH

#include <limits.h>

#include "kernels/cuda/common/sliding_window_ring.cuh"

template <enum sliding_kind KIND, int N> struct sliding_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int row_nbytes, band_rows;
    bool whole; /* GRADIENT: all sums are integers below 2^24 */
    float unit; /* factor from raw sums to sums of samples; SEPARABLE: is part of the weights */
    struct sliding_weights<KIND, N> weights;
};

template <int WORDS>
static __device__ __forceinline__ void words_fetch(unsigned *words, const char *from)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = ((const unsigned *)from)[i];
}

template <typename T, int WORDS>
static __device__ __forceinline__ void sliding_store(void *out, const float *f)
{
    unsigned words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = sample_pack<T>(f + i * (4 / (int)sizeof(T)));
    words_store<WORDS>(out, words);
}

/* Unpacks the raw samples of a thread's window from `words`, and multiplies colour by alpha if
 * `premultiply`. */
template <typename T, int CHANNELS, int SKIP, int WINDOW>
static __device__ __forceinline__ void sliding_unpack(float *w, const unsigned *words,
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

/* Applies the epilogue to the sums f of one row. `centre` points to the source samples at the same
 * position, which may be read if `inside`. */
template <enum sliding_kind KIND, typename T, int CHANNELS, int S, enum sliding_end END>
static __device__ __forceinline__ void sliding_round_off(float *f, const char *centre, bool inside,
                                                         const struct rule *rule, float unit)
{
    enum { WORDS = S * (int)sizeof(T) / 4, INTEGER = sizeof(T) != 4 };
    if (KIND == SLIDING_GRADIENT)
        sliding_roots<S, END == SLIDING_PLAIN && sizeof(T) == 1>(f);
    if (KIND != SLIDING_SEPARABLE && INTEGER) {
#pragma unroll
        for (int s = 0; s < S; s++)
            f[s] = __fmul_rn(f[s], unit);
    }
    bool weigh = END == SLIDING_WEIGH || (END == SLIDING_ANY && rule->alpha == GI_ALPHA_WEIGH);
    if (CHANNELS % 2 == 0 && weigh)
        sliding_weigh<S, CHANNELS, INTEGER>(f, rule->inverse_sum);
    if (END == SLIDING_ANY) {
        sliding_epilogue<S, CHANNELS, INTEGER>(f, rule);
        if (sliding_wants_source(rule)) {
            unsigned words[WORDS] = {};
            float source[S];
            if (inside)
                words_fetch<WORDS>(words, centre);
#pragma unroll
            for (int s = 0; s < S; s++)
                source[s] = sample_unpack<T>(words, s);
            sliding_blend<S, CHANNELS>(f, source, rule);
        }
    } else if (!INTEGER) {
#pragma unroll
        for (int s = 0; s < S; s++) /* -0 becomes +0, except in alpha */
            f[s] = CHANNELS % 2 == 0 && s % CHANNELS == CHANNELS - 1 ? f[s] : f[s] + 0.0f;
    }
}

/* Returns the minimum number of resident warps per multiprocessor for launch bounds. It is 1 where
 * more warps would not be worth the additional register moves. */
static constexpr int sliding_warps(enum sliding_kind kind, int n, enum sliding_end end)
{
    if (kind == SLIDING_DENSE)
        return n == 3 && end == SLIDING_PLAIN ? 24 : 1;
    return end == SLIDING_WEIGH && n == 5 ? 16 : 1;
}

/* Computes the strip and band of the block. `ring` is the ring buffer. */
template <enum sliding_kind KIND, typename T, int CHANNELS, int N, int WORDS, enum sliding_end END>
static __device__ __forceinline__ void sliding_strip(const struct sliding_args<KIND, N> &args,
                                                     char *ring)
{
    typedef struct sliding_shape<T, CHANNELS, N, WORDS> shape;
    enum { S = shape::S, HALO = shape::HALO, SIDE = shape::SIDE };
    enum { SLOT = shape::SLOT, PITCH = shape::PITCH, TURN = shape::TURN };
    enum { AHEAD = (SLIDING_RING - 1) * SLIDING_ROWS };
    static_assert(CHANNELS % 2 == 1 || shape::SKIP % CHANNELS == 0, "a window is whole pixels");
    static_assert(2 * HALO <= 32, "a lane patches one sample of the halo");
    const struct source *src = &args.src;
    int lane = (int)threadIdx.x, y0 = (int)blockIdx.y * args.band_rows;
    int start = kept(y0 - N / 2); /* source row under the first tap; may be outside the image */
    int last = kept(min(args.band_rows, src->height - y0) + N - 2);
    int strip = (int)blockIdx.x * shape::STRIP, mine = strip + lane * (WORDS * 4); /* bytes */
    int store = kept(mine < args.row_nbytes ? N - 1 : INT_MAX); /* first iteration that stores */
    int at_edge = kept(strip == 0 || strip + shape::STRIP + SIDE > args.row_nbytes);
    char *out = args.dst.data + ((long long)y0 - (N - 1)) * (long long)args.dst.stride + mine;
    unsigned slots = (unsigned)__cvta_generic_to_shared(ring) + SIDE; /* of the strip in row 0 */
    unsigned window = (unsigned)kept((int)slots + lane * (WORDS * 4));
    const struct sliding_copy copy =
        sliding_copy_of<shape::STRIP, SIDE, PITCH>(src, slots, strip, args.row_nbytes);
    struct sliding_patch patch = {-1, -1, -1, 0};
    if (at_edge)
        patch = sliding_patch_of<T, CHANNELS, HALO, SLOT>(src, strip - SIDE);
    /* Steps that begin before source row `whole` contain no row outside the image. */
    int whole = max(min(start + last + 1, src->height - (SLIDING_ROWS - 1)), 0);
    unsigned simple = (unsigned)kept(at_edge && src->border == GI_BORDER_WRAP ? 0 : whole);

    struct sliding_state<KIND, N, S> state = {};
    int at = TURN, fill = 0; /* bytes from the start of the ring buffer */
    for (int i = kept(-AHEAD); i <= last; i += SLIDING_ROWS) {
        /* Load: wait for the copies of this step and start the copies of the next step. */
        __pipeline_wait_prior(SLIDING_RING - 2);
        __syncwarp();
        int row = start + i + AHEAD;
        if ((unsigned)row < simple)
            sliding_copy_turn<PITCH>(&copy, (unsigned)fill, row, src->stride);
        else
            for (int r = 0; r < SLIDING_ROWS && i + AHEAD + r <= last; r++)
                sliding_copy_any<T, CHANNELS, SLOT>(ring + fill + r * PITCH, src, row + r,
                                                    strip - SIDE, args.row_nbytes, patch.word);
        __pipeline_commit();
        fill = at;
        at = at == (SLIDING_RING - 1) * TURN ? 0 : at + TURN;
        if (i < 0)
            continue;
        /* Exchange: write the border's samples into the halo. */
        if (at_edge)
            sliding_patch_turn<T, PITCH>(ring + fill, &patch);
        unsigned slot = window + fill;
#pragma unroll 1
        for (int r = i; r <= min(i + SLIDING_ROWS - 1, last); r++, slot += PITCH) {
            /* Compute: unpack the window and add it to the partial sums of N rows. */
            unsigned words[2 * shape::HALO_WORDS + WORDS];
            window_load<-shape::HALO_WORDS, WORDS + shape::HALO_WORDS, WORDS>(words, slot);
            float w[shape::WINDOW], f[S];
            sliding_unpack<T, CHANNELS, shape::SKIP, shape::WINDOW>(
                w, words, END == SLIDING_WEIGH || (END == SLIDING_ANY && src->premultiply));
            sliding_step<KIND, N, S, CHANNELS, sizeof(T) != 4>(f, &state, w, args.weights.w);
            /* Store: epilogue, rounding, one store of WORDS words. */
            size_t centre = (size_t)(unsigned)(start + r - N / 2) * (unsigned)src->stride;
            sliding_round_off<KIND, T, CHANNELS, S, END>(f, src->data + centre + mine, r >= store,
                                                         &args.rule, args.unit);
            if (r >= store)
                sliding_store<T, WORDS>(out, f);
            out += args.dst.stride;
        }
    }
}

/* TYPES: sum of the bytes of the sample types for which the kernel is compiled. All need about as
 * much shared memory, and those of fewer bytes more registers. */
template <enum sliding_kind KIND, int TYPES, int CHANNELS, int N, int WORDS, enum sliding_end END>
static __global__ void __launch_bounds__(32, sliding_warps(KIND, N, END))
    sliding_window(const __grid_constant__ struct sliding_args<KIND, N> args)
{
    enum {
        MOST = TYPES & 1   ? (int)sliding_shape<uint8_t, CHANNELS, N, WORDS>::TURN
               : TYPES & 2 ? (int)sliding_shape<uint16_t, CHANNELS, N, WORDS>::TURN
                           : (int)sliding_shape<float, CHANNELS, N, WORDS>::TURN,
        LAST = TYPES & 4   ? (int)sliding_shape<float, CHANNELS, N, WORDS>::TURN
               : TYPES & 2 ? (int)sliding_shape<uint16_t, CHANNELS, N, WORDS>::TURN
                           : (int)sliding_shape<uint8_t, CHANNELS, N, WORDS>::TURN,
    };
    __shared__ __align__(16) char ring[SLIDING_RING * (MOST > LAST ? (int)MOST : (int)LAST)];
    if constexpr ((TYPES & 1) != 0)
        if (args.src.type == GI_U8)
            sliding_strip<KIND, uint8_t, CHANNELS, N, WORDS, END>(args, ring);
    if constexpr ((TYPES & 2) != 0)
        if (args.src.type == GI_U16)
            sliding_strip<KIND, uint16_t, CHANNELS, N, WORDS, END>(args, ring);
    if constexpr ((TYPES & 4) != 0)
        if (args.src.type == GI_F32)
            sliding_strip<KIND, float, CHANNELS, N, WORDS, END>(args, ring);
}

/* Returns the smallest odd size that holds n taps with their anchor in the middle. */
static inline int sliding_centred(int n, int anchor)
{
    int after = n - 1 - anchor;
    return 2 * (anchor > after ? anchor : after) + 1;
}

/* Upper limit of the sum of the absolute weights. Below this limit, no sum over 16-bit samples
 * times alpha overflows, so padding taps of weight 0 add exactly 0. */
#define SLIDING_MOST 1e20

static inline double sliding_most(const float *weights, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most += weights[i] < 0 ? -(double)weights[i] : (double)weights[i];
    return most;
}

/* Returns a lower bound for a non-zero sum over integer samples. The bound is the smallest absolute
 * weight, or, if weights have both signs and can cancel, the value of the last mantissa bit of that
 * weight. */
static inline double sliding_least(const float *weights, int n)
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

/* Returns whether this alpha rule needs no sliding_quotient(), or sliding_quotient() is exact for
 * it because dividends and divisors are between 2^-100 and 2^100, and quotients are below 2^126.
 * `least` is the minimum of a non-zero sum, and `most` is the sum of absolute weights. */
static inline bool sliding_divides(const struct gi_image *src, enum gi_alpha_rule alpha,
                                   double least, double most, float sum)
{
    if (!gi_has_alpha(src) || alpha == GI_ALPHA_PLAIN || src->type == GI_F32)
        return true;
    double inverse = alpha == GI_ALPHA_WEIGH ? fabs(1 / (double)sum) : 1;
    return least >= 0x1p-86 && most <= 0x1p8 && least * inverse >= 0x1p-86 &&
           most * inverse <= 0x1p84;
}

/* Returns whether the border values are representable as samples, for the ring buffer. */
static inline bool sliding_holds(const struct gi_image *src, const struct gi_border_spec *border)
{
    float full = gi_type_full_scale(src->type);
    if (border->mode == GI_BORDER_VALUE && src->type != GI_F32)
        for (int c = 0; c < src->channels; c++)
            if (!(border->value[c] >= 0 && border->value[c] <= full &&
                  border->value[c] == (float)(int)border->value[c]))
                return false;
    return true;
}

/* Returns whether the plain epilogue, which only rounds, has a kernel of its own. Elsewhere such a
 * kernel would save less than 15 % of the time, or the work is rare. On an H100, k = 15, gray:
 * bytes 102 us instead of 123, 16 bits 120 instead of 128. */
static constexpr bool sliding_plain(enum sliding_kind kind, int nbytes, int channels, int n)
{
    if (kind == SLIDING_SEPARABLE)
        return nbytes == 1 && channels == 1 && n >= 11;
    return (nbytes == 1 && (kind == SLIDING_GRADIENT || channels == 1)) ||
           (kind == SLIDING_DENSE && n > 5);
}

/* Returns the types of TYPES whose plain epilogue has a kernel of its own. */
static constexpr int sliding_plain_types(enum sliding_kind kind, int types, int channels, int n)
{
    int plain = 0;
    for (int nbytes = 1; nbytes <= 4; nbytes *= 2)
        plain |= types & nbytes && sliding_plain(kind, nbytes, channels, n) ? nbytes : 0;
    return plain;
}

template <enum sliding_kind KIND, int N>
using sliding_function = void(struct sliding_args<KIND, N>);

/* Returns the kernel for samples of nbytes bytes. Floats have a kernel of their own where
 * many taps need more registers in that of bytes. */
template <enum sliding_kind KIND, int TYPES, int CHANNELS, int N, int WORDS, enum sliding_end END>
static sliding_function<KIND, N> *sliding_by_type(int nbytes)
{
    constexpr int FLOATS = N > (KIND == SLIDING_DENSE ? 5 : 7) ? TYPES & 4 : 0;
    constexpr int REST = TYPES - FLOATS;
    if constexpr (FLOATS != 0)
        if (nbytes == 4 || REST == 0)
            return sliding_window<KIND, FLOATS, CHANNELS, N, WORDS, END>;
    if constexpr (REST != 0)
        return sliding_window<KIND, REST, CHANNELS, N, WORDS, END>;
    return NULL;
}

/* Chooses the kernel by its epilogue. Dense kernels larger than 5 x 5 are only compiled for the
 * plain one (convolve_2d.cu). */
template <enum sliding_kind KIND, int TYPES, int CHANNELS, int N, int WORDS>
static sliding_function<KIND, N> *sliding_kernel(const struct sliding_args<KIND, N> *args,
                                                 int nbytes)
{
    constexpr int PLAIN = sliding_plain_types(KIND, TYPES, CHANNELS, N);
    const struct rule *rule = &args->rule;
    bool near = KIND != SLIDING_GRADIENT || nbytes > 1 || args->whole;
    if constexpr (KIND == SLIDING_DENSE && N > 5)
        return sliding_by_type<KIND, TYPES, CHANNELS, N, WORDS, SLIDING_PLAIN>(nbytes);
    if constexpr (PLAIN != 0)
        if (PLAIN & nbytes && rule->plain && near)
            return sliding_by_type<KIND, PLAIN, CHANNELS, N, WORDS, SLIDING_PLAIN>(nbytes);
    if constexpr (KIND == SLIDING_SEPARABLE && CHANNELS == 4 && (TYPES & 1) != 0)
        if (nbytes == 1 && rule->alpha == GI_ALPHA_WEIGH && epilogue_stores(&rule->epilogue))
            return sliding_window<KIND, 1, CHANNELS, N, WORDS, SLIDING_WEIGH>;
    if constexpr (KIND != SLIDING_DENSE || N <= 5)
        return sliding_by_type<KIND, TYPES, CHANNELS, N, WORDS, SLIDING_ANY>(nbytes);
    return NULL;
}

/* Divides the work into strips and bands, and launches the kernel. */
template <enum sliding_kind KIND, int TYPES, int CHANNELS, int N, int WORDS>
static enum gi_status sliding_launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                                     const struct gi_image *src, struct sliding_args<KIND, N> *args,
                                     struct gi_err *err)
{
    int nbytes = (int)gi_type_nbytes(src->type), samples = WORDS * 4 / nbytes; /* of a thread */
    args->dst = target_of(dst);
    args->row_nbytes = (int)gi_row_nbytes(src);
    auto *kernel = sliding_kernel<KIND, TYPES, CHANNELS, N, WORDS>(args, nbytes);
    int warps_per_unit = 1;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&warps_per_unit, kernel, 32, 0));
    int strips = ceil_div(args->row_nbytes, 32 * WORDS * 4);
    /* One wave of blocks, so that no block waits for another to end. If memory bandwidth is the
     * limit (`light`), three waves, because multiprocessors get unequal shares of the bandwidth. If
     * arithmetic is the limit (`steady`), 12 warps keep a multiprocessor busy, and longer bands
     * read fewer halo rows twice. */
    bool light = KIND == SLIDING_SEPARABLE && N * samples <= 48;
    bool steady = KIND == SLIDING_SEPARABLE && nbytes == 1 && N >= 5 && args->rule.plain;
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
