/* The march: small neighbourhoods of N x N, one warp a strip of columns, every thread the samples
 * of one texel, going down the rows. Sums of the outputs in flight stay in registers: a new row
 * adds its part to each, and each moves one place on in the same fmaf. The columns next to the left
 * and right edge, whose windows leave the image, march in warps of their own, a thread a sample.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MARCH_CUH
#define GI_KERNELS_CUDA_MARCH_CUH

#include "kernels/cuda/sample.cuh"

enum march_kind { MARCH_SEPARABLE, MARCH_DENSE, MARCH_GRADIENT, MARCH_BOX };

enum {
    MARCH_THREADS = 128,
    MARCH_AHEAD = 6, /* rows that the L2 cache is asked for ahead, where rows are short */
};

/* Rows that a thread at the edge makes: few where the inside is quick, but each warp at the edge
 * takes the place of one inside. */
static __host__ __device__ constexpr int march_edge_rows(int n)
{
    return n <= 5 ? 16 : n <= 9 ? 32 : 64;
}

/* Asks the L2 cache for the row MARCH_AHEAD from `row`, where there is one. */
static __device__ __forceinline__ void march_ahead(const struct source *src, int row, int byte)
{
    if (row >= 0 && row + MARCH_AHEAD < src->height)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(
            src->data + (size_t)(row + MARCH_AHEAD) * src->stride + byte));
}

/* Weights: SEPARABLE row then col; DENSE row by row; GRADIENT the smooth ones; BOX 1 / N^2. They
 * lie with the kernel's arguments in constant memory, at offsets known when compiling. */
template <enum march_kind KIND, int N> struct march_weights {
    float w[KIND == MARCH_DENSE ? N * N : 2 * N];
};

template <enum march_kind KIND, int N> struct march_args {
    cudaTextureObject_t texture;
    struct source src;
    struct target dst;
    struct rule rule;
    bool modes;            /* rows outside come from the texture's address mode */
    int first, end;        /* texels of a row whose windows lie inside */
    int strips, band_rows; /* of the inside: warps across, and rows of each */
    int left, columns;     /* samples at the left edge; at both edges */
    int edge_strips, edge_warps;
    struct march_weights<KIND, N> weights;
};

/* Sums in flight: row j of `acc` has seen j + 1 of its N rows. */
template <enum march_kind KIND, int N, int S> struct march_state {
    float acc[KIND == MARCH_GRADIENT ? 4 : N - 1][S];
};

/* r[s] = the sum over i of weights[i] * w[s + i * CHANNELS]; w is gone through once, so that no
 * more of it than S sums need stays in registers. */
template <enum march_kind KIND, int N, int S, int CHANNELS>
static __device__ __forceinline__ void march_row(float *r, const float *w, const float *weights)
{
#pragma unroll
    for (int s = 0; s < S; s++)
        r[s] = 0;
    if constexpr (KIND == MARCH_BOX) { /* exact, so the window may slide */
#pragma unroll
        for (int s = 0; s < S; s++)
            if (s >= CHANNELS)
                r[s] = r[s - CHANNELS] - w[s - CHANNELS] + w[s + (N - 1) * CHANNELS];
            else
#pragma unroll
                for (int i = 0; i < N; i++)
                    r[s] += w[s + i * CHANNELS];
    } else {
#pragma unroll
        for (int k = 0; k < S + (N - 1) * CHANNELS; k++)
#pragma unroll
            for (int s = 0; s < S; s++)
                if (k >= s && (k - s) % CHANNELS == 0 && (k - s) / CHANNELS < N)
                    r[s] = __fmaf_rn(weights[(k - s) / CHANNELS], w[k], r[s]);
    }
}

/* Both gradients, each a row sum on its way down: acc[0..1] of gx, acc[2..3] of gy. */
template <enum march_kind KIND, int N, int S, int CHANNELS>
static __device__ __forceinline__ void march_gradient(float *f,
                                                      struct march_state<KIND, N, S> *state,
                                                      const float *w, const float *weights)
{
    const float difference[3] = {-1, 0, 1};
    float r[S], d[S];
    march_row<KIND, 3, S, CHANNELS>(r, w, weights);
    march_row<KIND, 3, S, CHANNELS>(d, w, difference);
#pragma unroll
    for (int s = 0; s < S; s++) {
        float gx = __fmaf_rn(weights[2], d[s], state->acc[1][s]);
        float gy = __fmaf_rn(1.0f, r[s], state->acc[3][s]);
        state->acc[1][s] = __fmaf_rn(weights[1], d[s], state->acc[0][s]);
        state->acc[3][s] = __fmaf_rn(0.0f, r[s], state->acc[2][s]);
        state->acc[0][s] = __fmaf_rn(weights[0], d[s], 0.0f);
        state->acc[2][s] = __fmaf_rn(-1.0f, r[s], 0.0f);
        f[s] = __fsqrt_rn(__fmaf_rn(gx, gx, __fmul_rn(gy, gy)));
    }
}

/* One more row: its samples w, CHANNELS apart in a window, give the S finished sums f. */
template <enum march_kind KIND, int N, int S, int CHANNELS>
static __device__ __forceinline__ void march_step(float *f, struct march_state<KIND, N, S> *state,
                                                  const float *w, const float *weights)
{
    if constexpr (KIND == MARCH_GRADIENT) {
        march_gradient<KIND, N, S, CHANNELS>(f, state, w, weights);
    } else {
        float r[S];
        if constexpr (KIND != MARCH_DENSE)
            march_row<KIND, N, S, CHANNELS>(r, w, weights);
#pragma unroll
        for (int s = 0; s < S; s++)
#pragma unroll
            for (int j = N - 1; j >= 0; j--) {
                float sum = j ? state->acc[j - 1][s] : 0.0f;
                if constexpr (KIND == MARCH_BOX) {
                    sum += r[s];
                } else if constexpr (KIND == MARCH_SEPARABLE) {
                    sum = __fmaf_rn(weights[N + j], r[s], sum);
                } else {
#pragma unroll
                    for (int i = 0; i < N; i++)
                        sum = __fmaf_rn(weights[j * N + i], w[s + i * CHANNELS], sum);
                }
                if (j == N - 1)
                    f[s] = sum;
                else
                    state->acc[j][s] = sum;
            }
    }
}

/* The mean as kernels.h has it, from exact sums below 2^24: `f` over the weights `a`, N^2 where no
 * alpha weighs. N^2 is odd, so there are no ties, and one step of correction finds the quotient. */
static __device__ __forceinline__ float box_mean(float f, float n, float inverse)
{
    float q = rintf(f * inverse), rest = __fmaf_rn(-q, n, f);
    return 2.0f * rest > n ? q + 1.0f : -2.0f * rest > n ? q - 1.0f : q;
}

static __device__ __forceinline__ float box_weighed(float f, float a)
{
    unsigned sum = (unsigned)f, n = (unsigned)a;
    return n ? (float)((2 * sum + n) / (2 * n)) : 0.0f;
}

/* S sums f, of which the first is channel 0 of a pixel where there is alpha, to what is stored.
 * What depends on the rule is asked once for all of them. */
template <int S, int CHANNELS>
static __device__ __forceinline__ void march_finish(float *f, const float *source,
                                                    const struct rule *rule)
{
    enum { LAST = CHANNELS - 1, HAS_ALPHA = CHANNELS % 2 == 0 };
    float a[S];
#pragma unroll
    for (int s = 0; s < S; s++)
        a[s] = HAS_ALPHA ? f[s | LAST] : 0.0f;
    if (HAS_ALPHA && rule->alpha == GI_ALPHA_WEIGH) {
#pragma unroll
        for (int s = 0; s < S; s++) {
            a[s] = __fmul_rn(a[s], rule->inverse_sum);
            f[s] = a[s] > 0 ? __fdiv_rn(f[s], a[s]) : 0.0f;
            a[s] = a[s] > 0 ? a[s] : 0.0f;
        }
    } else if (HAS_ALPHA && rule->alpha == GI_ALPHA_KEEP) {
#pragma unroll
        for (int s = 0; s < S; s++) {
            f[s] = __fdiv_rn(f[s], rule->full);
            a[s] = source[s];
        }
    }
    if (rule->finish.kind == GI_FINISH_UNSHARP) {
#pragma unroll
        for (int s = 0; s < S; s++) {
            float d = __fsub_rn(source[s], f[s]);
            f[s] = fabsf(d) > rule->finish.threshold ? __fmaf_rn(rule->finish.amount, d, source[s])
                                                     : source[s];
            a[s] = source[s];
        }
    } else {
        bool absolute = rule->finish.kind == GI_FINISH_ABS;
#pragma unroll
        for (int s = 0; s < S; s++)
            f[s] = __fadd_rn(absolute ? fabsf(f[s]) : f[s], rule->finish.bias);
    }
#pragma unroll
    for (int s = 0; s < S; s++)
        f[s] = HAS_ALPHA && s % CHANNELS == LAST ? a[s] : f[s];
}

template <int S, int CHANNELS, int N>
static __device__ __forceinline__ void box_finish(float *f, bool weigh, float inverse)
{
#pragma unroll
    for (int s = 0; s < S; s++)
        if (CHANNELS % 2 == 0 && weigh && s % CHANNELS != CHANNELS - 1)
            f[s] = box_weighed(f[s], f[s | (CHANNELS - 1)]);
#pragma unroll
    for (int s = 0; s < S; s++)
        if (CHANNELS % 2 || !weigh || s % CHANNELS == CHANNELS - 1)
            f[s] = box_mean(f[s], (float)(N * N), inverse);
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

template <enum march_kind KIND, typename T, int CHANNELS, int N, int WORDS>
static __device__ __forceinline__ void march_inside(const struct march_args<KIND, N> *args,
                                                    int task)
{
    enum {
        S = WORDS * 4 / (int)sizeof(T), /* samples a thread */
        HALO = N / 2 * CHANNELS,        /* samples on each side */
        SIDE = (HALO + S - 1) / S,      /* texels on each side */
        TEXELS = 2 * SIDE + 1,
        SKIP = SIDE * S - HALO, /* samples before the window in the first texel */
        WINDOW = S + 2 * HALO,
    };
    const struct source *src = &args->src;
    int x = args->first + task % args->strips * 32 + (int)(threadIdx.x % 32);
    int y0 = task / args->strips * args->band_rows, y1 = min(y0 + args->band_rows, src->height);
    if (x >= args->end)
        return;
    struct march_state<KIND, N, S> state;
#pragma unroll
    for (int j = 0; j < (int)(sizeof state.acc / sizeof state.acc[0]); j++)
#pragma unroll
        for (int s = 0; s < S; s++)
            state.acc[j][s] = 0;
    int phase = CHANNELS == 3 ? x * S % CHANNELS : 0; /* channel of the window's first sample */
    char *out = args->dst.data + (size_t)y0 * args->dst.stride + (size_t)x * (WORDS * 4);

    unsigned next[TEXELS * WORDS];
    int row = y0 - N / 2; /* of the source, maybe outside */
    int at = args->modes ? row : gi_border_index(row, src->height, src->border);
#pragma unroll
    for (int t = 0; t < TEXELS; t++)
        texel_load<WORDS>(next + t * WORDS, args->texture, x - SIDE + t, at);
    for (int y = y0 - (N - 1); y < y1; y++) {
        float w[WINDOW], f[S];
        struct outside outside[CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            outside[c] = outside_of(!args->modes && at < 0, src->value[(c + phase) % CHANNELS]);
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            w[k] = sample_or_outside<T>(next, SKIP + k, &outside[k % CHANNELS]);
        if (CHANNELS * sizeof(T) < 4)
            march_ahead(src, row, x * (WORDS * 4));
        row++;
        at = args->modes ? row : gi_border_index(row, src->height, src->border);
#pragma unroll
        for (int t = 0; t < TEXELS; t++)
            texel_load<WORDS>(next + t * WORDS, args->texture, x - SIDE + t, at);
        if (CHANNELS % 2 == 0 && src->premultiply) {
#pragma unroll
            for (int k = 0; k < WINDOW; k++)
                if (k % CHANNELS != CHANNELS - 1)
                    w[k] = __fmul_rn(w[k], w[k | (CHANNELS - 1)]);
        }
        march_step<KIND, N, S, CHANNELS>(f, &state, w, args->weights.w);
        if (y < y0)
            continue;
        if (KIND == MARCH_BOX) {
            box_finish<S, CHANNELS, N>(f, args->rule.alpha == GI_ALPHA_WEIGH, args->weights.w[0]);
        } else if (!args->rule.plain) {
            unsigned centre[WORDS];
            float source[S];
            texel_load<WORDS>(centre, args->texture, x, y);
#pragma unroll
            for (int s = 0; s < S; s++)
                source[s] = sample_unpack<T>(centre, s);
            march_finish<S, CHANNELS>(f, source, &args->rule);
            march_store<T, WORDS>(out, f);
            out += args->dst.stride;
            continue; /* so that the plain way below need not move its sums about */
        } else if (sizeof(T) == 4) {
#pragma unroll
            for (int s = 0; s < S; s++) /* -0 becomes 0, but not in alpha */
                f[s] = CHANNELS % 2 == 0 && s % CHANNELS == CHANNELS - 1 ? f[s] : f[s] + 0.0f;
        }
        march_store<T, WORDS>(out, f);
        out += args->dst.stride;
    }
}

/* A window at the edge: sample k of it at at[k] of `row`, or a border value where that is negative
 * or `row` is NULL. */
template <typename T, int N>
static __device__ __forceinline__ void edge_window(float *w, const T *row, const int *at, int add,
                                                   float value)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        w[k] = row && at[k] >= 0 ? (float)row[at[k] + add] : value;
}

/* One column of samples; where alpha weighs, the sums of alpha march beside those of colour. */
template <enum march_kind KIND, typename T, int N>
static __device__ __noinline__ void march_edge(const struct march_args<KIND, N> *args, int task)
{
    const struct source *src = &args->src;
    int i = task % args->edge_strips * 32 + (int)(threadIdx.x % 32);
    int y0 = task / args->edge_strips * march_edge_rows(N);
    int y1 = min(y0 + march_edge_rows(N), src->height);
    if (i >= args->columns)
        return;
    int samples = src->width * src->channels;
    int sample = i < args->left ? i : samples - args->columns + i;
    int x = sample / src->channels, c = sample % src->channels, last = src->channels - 1;
    bool is_alpha = src->channels % 2 == 0 && c == last;
    bool times_alpha = src->premultiply && !is_alpha;
    int at[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        int xi = gi_border_index(x + k - N / 2, src->width, src->border);
        at[k] = xi < 0 ? -1 : xi * src->channels + c;
    }
    struct march_state<KIND, N, 1> colour, alpha;
#pragma unroll
    for (int j = 0; j < (int)(sizeof colour.acc / sizeof colour.acc[0]); j++)
        colour.acc[j][0] = alpha.acc[j][0] = 0;
    for (int y = y0 - (N - 1); y < y1; y++) {
        int yi = gi_border_index(y + N / 2, src->height, src->border);
        const T *row = yi < 0 ? NULL : (const T *)(src->data + (size_t)yi * src->stride);
        float w[N], f, a = 0;
        float s = (float)((const T *)(src->data + (size_t)max(y, 0) * src->stride))[sample];
        march_ahead(src, y + N / 2, sample * (int)sizeof(T));
        edge_window<T, N>(w, row, at, 0, src->value[c]);
        if (times_alpha) {
            float weight[N];
            edge_window<T, N>(weight, row, at, last - c, src->value[last]);
#pragma unroll
            for (int k = 0; k < N; k++)
                w[k] = __fmul_rn(w[k], weight[k]);
            march_step<KIND, N, 1, 1>(&a, &alpha, weight, args->weights.w);
        }
        march_step<KIND, N, 1, 1>(&f, &colour, w, args->weights.w);
        if (y < y0)
            continue;
        float v;
        if (KIND == MARCH_BOX)
            v = times_alpha ? box_weighed(f, a) : box_mean(f, (float)(N * N), args->weights.w[0]);
        else
            v = is_alpha ? finish_alpha(&args->rule, f, s) : finish_colour(&args->rule, f, a, s);
        sample_store((T *)(args->dst.data + (size_t)y * args->dst.stride) + sample, v);
    }
}

template <enum march_kind KIND, typename T, int CHANNELS, int N, int WORDS>
static __global__ void __launch_bounds__(MARCH_THREADS)
    march(const __grid_constant__ struct march_args<KIND, N> args)
{
    int task = (int)(blockIdx.x * (MARCH_THREADS / 32) + threadIdx.x / 32);
    if (task < args.edge_warps)
        march_edge<KIND, T, N>(&args, task);
    else
        march_inside<KIND, T, CHANNELS, N, WORDS>(&args, task - args.edge_warps);
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

/* Fills in the division of work and launches. */
template <enum march_kind KIND, typename T, int CHANNELS, int N, int WORDS>
static enum gi_status march_launch(struct gi_cuda_context *cu, struct gi_image *dst,
                                   const struct gi_image *src, struct march_args<KIND, N> *args,
                                   struct gi_err *err)
{
    enum { S = WORDS * 4 / (int)sizeof(T), HALO = N / 2 * CHANNELS };
    bool zero = true;
    for (int c = 0; c < src->channels; c++)
        zero = zero && args->src.value[c] == 0;
    bool border = args->src.border == GI_BORDER_VALUE && zero;
    args->modes = border || args->src.border == GI_BORDER_CLAMP;
    enum gi_status status =
        gi_cuda_texture(cu, &args->texture, src, WORDS * 4,
                        border ? cudaAddressModeBorder : cudaAddressModeClamp, err);
    if (status)
        return status;
    args->dst = target_of(dst);

    int samples = (int)gi_row_samples(src);
    args->first = ceil_div(HALO, S);
    args->end = samples > HALO ? (samples - HALO) / S : 0;
    args->end = args->end > args->first ? args->end : args->first;
    int inside = args->end - args->first;
    args->left = inside ? args->first * S : samples;
    args->columns = samples - inside * S;
    args->edge_strips = ceil_div(args->columns, 32);
    args->edge_warps = args->edge_strips * ceil_div(src->height, march_edge_rows(N));

    int blocks_per_unit = 1;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks_per_unit, march<KIND, T, CHANNELS, N, WORDS>, MARCH_THREADS, 0));
    int resident = blocks_per_unit * cu->units * (MARCH_THREADS / 32);
    args->strips = ceil_div(inside, 32);
    int room = resident - args->edge_warps; /* one wave for all, so that nobody waits for a place */
    int bands = args->strips && room > args->strips ? room / args->strips : 1;
    args->band_rows = ceil_div(src->height, bands);
    args->band_rows = args->band_rows < 2 * N ? 2 * N : args->band_rows;
    int warps = args->edge_warps + args->strips * ceil_div(src->height, args->band_rows);
    march<KIND, T, CHANNELS, N, WORDS>
        <<<ceil_div(warps, MARCH_THREADS / 32), MARCH_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

#endif
