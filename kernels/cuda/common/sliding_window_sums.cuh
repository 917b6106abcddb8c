/* Arithmetic of the sliding window in registers (sliding_window.cuh): adds source rows to the
 * partial sums, and applies alpha rule and epilogue to finished sums. All operations are explicit
 * intrinsics, because kernels/convolution.h defines their order.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SLIDING_WINDOW_SUMS_CUH
#define GI_KERNELS_CUDA_SLIDING_WINDOW_SUMS_CUH

#include "kernels/cuda/common/sliding_window_raw.cuh"

enum sliding_kind { SLIDING_SEPARABLE, SLIDING_DENSE, SLIDING_GRADIENT };

/* Epilogues that kernels are compiled for: PLAIN only rounds, WEIGH also divides colour by alpha,
 * and ANY tests at run time which rule applies. */
enum sliding_end { SLIDING_PLAIN, SLIDING_WEIGH, SLIDING_ANY };

/* The weights. SEPARABLE has row taps, then column taps; DENSE has the weights row by row; GRADIENT
 * has the smoothing taps. Weights are kernel arguments, so they are in constant memory at
 * compile-time offsets. */
template <enum sliding_kind KIND, int N> struct sliding_weights {
    float w[KIND == SLIDING_DENSE ? N * N : 2 * N];
};

/* Partial sums: acc[j] belongs to the output row of which j + 1 source rows have been added so
 * far. */
template <enum sliding_kind KIND, int N, int S> struct sliding_state {
    float acc[KIND == SLIDING_GRADIENT ? 4 : N - 1][S];
};

/* Computes r[s] = sum over i of weights[i] * w[s + i * CHANNELS]. The loop passes over w once, so
 * that only the samples that are needed by S sums occupy registers. */
template <int N, int S, int CHANNELS>
static __device__ __forceinline__ void sliding_row(float *r, const float *w, const float *weights)
{
#pragma unroll
    for (int s = 0; s < S; s++)
        r[s] = 0;
#pragma unroll
    for (int k = 0; k < S + (N - 1) * CHANNELS; k++)
#pragma unroll
        for (int s = 0; s < S; s++)
            if (k >= s && (k - s) % CHANNELS == 0 && (k - s) / CHANNELS < N)
                r[s] = __fmaf_rn(weights[(k - s) / CHANNELS], w[k], r[s]);
}

/* Computes the sum of the squares of both gradients. Each gradient is a row sum that is then summed
 * down the column. acc[0..1] belongs to gx, and acc[2..3] belongs to gy. If samples are FINITE, a
 * product with 0 adds nothing and a product with 1 changes nothing, so differences suffice, and
 * acc[2..3] holds the last two row sums. */
template <enum sliding_kind KIND, int N, int S, int CHANNELS, bool FINITE>
static __device__ __forceinline__ void sliding_gradient(float *f,
                                                        struct sliding_state<KIND, N, S> *state,
                                                        const float *w, const float *weights)
{
    const float difference[3] = {-1, 0, 1};
    float r[S], d[S];
    sliding_row<3, S, CHANNELS>(r, w, weights);
    if (!FINITE)
        sliding_row<3, S, CHANNELS>(d, w, difference);
#pragma unroll
    for (int s = 0; s < S; s++) {
        float gy;
        if (FINITE) {
            d[s] = __fsub_rn(w[s + 2 * CHANNELS], w[s]);
            gy = __fsub_rn(r[s], state->acc[2][s]);
            state->acc[2][s] = state->acc[3][s];
            state->acc[3][s] = r[s];
        } else {
            gy = __fmaf_rn(1.0f, r[s], state->acc[3][s]);
            state->acc[3][s] = __fmaf_rn(0.0f, r[s], state->acc[2][s]);
            state->acc[2][s] = __fmaf_rn(-1.0f, r[s], 0.0f);
        }
        float gx = __fmaf_rn(weights[2], d[s], state->acc[1][s]);
        state->acc[1][s] = __fmaf_rn(weights[1], d[s], state->acc[0][s]);
        state->acc[0][s] = __fmaf_rn(weights[0], d[s], 0.0f);
        f[s] = __fmaf_rn(gx, gx, __fmul_rn(gy, gy));
    }
}

/* Replaces the elements of f by their square roots. NEAR uses approximate roots. If sums are
 * integers below 2^24, approximate roots lead to the same 8-bit result, because a root below 255.5
 * is at least 1 / 2044 away from every k + 1/2. The reason is that an integer is at least 1/4 away
 * from (k + 1/2)^2 = k^2 + k + 1/4. */
template <int S, bool NEAR> static __device__ __forceinline__ void sliding_roots(float *f)
{
#pragma unroll
    for (int s = 0; s < S; s++)
        if (NEAR)
            asm("sqrt.approx.ftz.f32 %0, %0;" : "+f"(f[s]));
        else
            f[s] = __fsqrt_rn(f[s]);
}

/* Adds one source row, whose samples are w, to the partial sums. f becomes the S finished sums. */
template <enum sliding_kind KIND, int N, int S, int CHANNELS, bool FINITE>
static __device__ __forceinline__ void sliding_step(float *f,
                                                    struct sliding_state<KIND, N, S> *state,
                                                    const float *w, const float *weights)
{
    if constexpr (KIND == SLIDING_GRADIENT) {
        sliding_gradient<KIND, N, S, CHANNELS, FINITE>(f, state, w, weights);
    } else {
        float r[S];
        if constexpr (KIND == SLIDING_SEPARABLE)
            sliding_row<N, S, CHANNELS>(r, w, weights);
#pragma unroll
        for (int s = 0; s < S; s++)
#pragma unroll
            for (int j = N - 1; j >= 0; j--) {
                float sum = j ? state->acc[j - 1][s] : 0.0f;
                if constexpr (KIND == SLIDING_SEPARABLE) {
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

/* Returns 1 / a, correctly rounded. Computes the hardware's approximation and one Newton step.
 * Tested for every normal a whose reciprocal is normal. */
static __device__ __forceinline__ float sliding_inverse(float a)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return __fmaf_rn(__fmaf_rn(-a, r, 1.0f), r, r);
}

/* Returns f / a, correctly rounded, given r = 1 / a. Before its last rounding the quotient is wrong
 * by less than 3 * 2^-24 of its last place. So the quotient can be rounded wrongly only if f * 2^24
 * or f * 2^25 is within 6 of an odd multiple of a (with f and a as 24-bit integers). All these
 * cases were tested. sliding_divides() excludes overflow and underflow. After P. Markstein,
 * "Computation of elementary functions on the IBM RISC System/6000 processor", IBM J. Res. Dev.
 * 34(1), 1990. */
static __device__ __forceinline__ float sliding_quotient(float f, float a, float r)
{
    float q = __fmul_rn(f, r);
    return __fmaf_rn(__fmaf_rn(-q, a, f), r, q);
}

/* Applies GI_ALPHA_WEIGH, that is, divides sums of colour times alpha by the sum of alpha. Negative
 * quotients of integer types are kept, because rounding saturates them to 0. */
template <int S, int CHANNELS, bool FINITE>
static __device__ __forceinline__ void sliding_weigh(float *f, float inverse_sum)
{
#pragma unroll
    for (int last = CHANNELS - 1; last < S; last += CHANNELS) {
        float a = __fmul_rn(f[last], inverse_sum), r = a > 0 ? sliding_inverse(a) : 0.0f;
#pragma unroll
        for (int s = last - CHANNELS + 1; s < last; s++)
            f[s] = FINITE ? sliding_quotient(f[s], a, r) : a > 0 ? __fdiv_rn(f[s], a) : 0.0f;
        f[last] = FINITE ? a : a > 0 ? a : 0.0f;
    }
}

/* Applies the alpha rule to S sums f, and the part of the epilogue that needs no source samples. If
 * there is alpha, f[0] must be channel 0 of a pixel. The rule is tested outside the loops. */
template <int S, int CHANNELS, bool FINITE>
static __device__ __forceinline__ void sliding_epilogue(float *f, const struct rule *rule)
{
    enum { HAS_ALPHA = CHANNELS % 2 == 0 };
    const struct gi_epilogue *epilogue = &rule->epilogue;
    if (HAS_ALPHA && rule->alpha == GI_ALPHA_KEEP) {
        float r = sliding_inverse(rule->full);
#pragma unroll
        for (int s = 0; s < S; s++)
            f[s] = FINITE ? sliding_quotient(f[s], rule->full, r) : __fdiv_rn(f[s], rule->full);
    }
    if (!GI_EPILOGUE_COMPARES(epilogue->kind) &&
        (!FINITE || epilogue->kind == GI_EPILOGUE_ABS || epilogue->bias != 0)) {
        bool absolute = epilogue->kind == GI_EPILOGUE_ABS;
#pragma unroll
        for (int s = 0; s < S; s++)
            if (!HAS_ALPHA || s % CHANNELS != CHANNELS - 1)
                f[s] = __fadd_rn(absolute ? fabsf(f[s]) : f[s], epilogue->bias);
    }
    if (!GI_EPILOGUE_COMPARES(epilogue->kind) && epilogue->settle) {
#pragma unroll
        for (int s = 0; s < S; s++) /* an alpha that is kept is copied later */
            f[s] = gi_settle(f[s], GI_U8);
    }
}

static __device__ __forceinline__ bool sliding_wants_source(const struct rule *rule)
{
    return GI_EPILOGUE_COMPARES(rule->epilogue.kind) || rule->alpha == GI_ALPHA_KEEP;
}

/* Applies the part of the epilogue that needs the source: comparisons, and a copy of alpha. */
template <int S, int CHANNELS>
static __device__ __forceinline__ void sliding_blend(float *f, const float *source,
                                                     const struct rule *rule)
{
    enum { HAS_ALPHA = CHANNELS % 2 == 0 };
    const struct gi_epilogue *epilogue = &rule->epilogue;
#pragma unroll
    for (int s = 0; s < S; s++)
        if (HAS_ALPHA && s % CHANNELS == CHANNELS - 1) {
            f[s] = source[s];
        } else if (GI_EPILOGUE_COMPARES(epilogue->kind)) {
            f[s] = epilogue_compared(epilogue, f[s], source[s]);
        }
}

#endif
