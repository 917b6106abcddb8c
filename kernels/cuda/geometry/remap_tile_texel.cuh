/* Interpolates a result pixel from the texels of a patch in shared memory, and stores runs of
 * pixels.
 *
 * Integer samples are used as raw samples (sliding_window_raw.cuh): the bits of an 8-bit or 16-bit
 * sample in a register, read as a float, have the value of the sample times 2^-149. Products and
 * fused multiply-adds accept a raw sample like any float, so no conversion instruction is needed.
 * The scale is part of a factor that is needed anyway.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_TILE_TEXEL_CUH
#define GI_KERNELS_CUDA_REMAP_TILE_TEXEL_CUH

#include "kernels/cuda/common/quotients.cuh"
#include "kernels/cuda/geometry/remap_tile_patch.cuh"

/* Returns sample c of a texel, in the low bits. */
template <typename T, int C>
static __device__ __forceinline__ unsigned texel_bits(const unsigned *words, int c)
{
    if (sizeof(T) == 4 || C == 1)
        return words[c];
    if (sizeof(T) == 1)
        return __byte_perm(words[0], 0, 0x4440 | c);
    return c % 2 ? words[c / 2] >> 16 : words[c / 2] & 0xffff;
}

/* Loads the samples of a texel. Integers are scaled by 2^-149. If WEIGH, colour is multiplied by
 * alpha. */
template <typename T, int C, bool WEIGH>
static __device__ __forceinline__ void texel_at(float *v, const uint8_t *at)
{
    typedef form<T, C> F;
    unsigned words[F::WORDS];
    texel_words<F::WORDS>(words, at, F::TEXEL);
#pragma unroll
    for (int c = 0; c < C; c++)
        v[c] = __uint_as_float(texel_bits<T, C>(words, c));
    if (!WEIGH)
        return;
    unsigned last = texel_bits<T, C>(words, C - 1);
    float alpha = sizeof(T) == 4 ? __uint_as_float(last) : remap_float((uint16_t)last);
#pragma unroll
    for (int c = 0; c < C - 1; c++)
        v[c] = __fmul_rn(v[c], alpha);
}

/* The fraction of a coordinate. */
static __device__ __forceinline__ float part_of(unsigned place)
{
    return __fmul_rn(__uint_as_float(place & ((1u << GI_PLACE_BITS) - 1)), 0x1p126f);
}

/* Interpolates linearly between two samples. The result of integers is scaled by 2^-23. */
template <typename T> static __device__ __forceinline__ float lerp(float a, float b, float t)
{
    if (sizeof(T) == 4)
        return remap_lerp<float>(a, b, t);
    float from = __fmul_rn(a, 0x1p126f);
    return __fmaf_rn(t, __fmaf_rn(b, 0x1p126f, -from), from);
}

/* Bilinear interpolation at (x, y), which are fractions of GI_PLACE_BITS bits. The upper left tap
 * is at `at`. Results of integers are scaled by 2^-23. */
template <typename T, int C, bool WEIGH>
static __device__ __forceinline__ void linear_at(float *f, const uint8_t *at, unsigned x,
                                                 unsigned y)
{
    typedef form<T, C> F;
    float t = part_of(x), u = part_of(y), v[4][C];
    texel_at<T, C, WEIGH>(v[0], at);
    texel_at<T, C, WEIGH>(v[1], at + F::TEXEL);
    texel_at<T, C, WEIGH>(v[2], at + F::PITCH);
    texel_at<T, C, WEIGH>(v[3], at + F::PITCH + F::TEXEL);
#pragma unroll
    for (int c = 0; c < C; c++) {
        float r = lerp<T>(v[0][c], v[1][c], t), s = lerp<T>(v[2][c], v[3][c], t);
        f[c] = sizeof(T) == 4 ? remap_lerp<float>(r, s, u) : __fmaf_rn(u, __fsub_rn(s, r), r);
    }
}

/* Bicubic interpolation, as linear_at(). For integers products of weights must be 0 or at
 * least 2^-100, so that none underflows. */
template <typename T, int C, bool WEIGH>
static __device__ __forceinline__ void
cubic_at(float *f, const uint8_t *at, const struct gi_cubic *cubic, unsigned x, unsigned y)
{
    typedef form<T, C> F;
    float wx[4], wy[4];
    gi_cubic_weights(wx, cubic, part_of(x));
    gi_cubic_weights(wy, cubic, part_of(y));
#pragma unroll
    for (int k = 0; k < 4; k++)
        wx[k] = sizeof(T) == 4 ? wx[k] : __fmul_rn(wx[k], 0x1p126f);
    at -= F::PITCH + F::TEXEL;
#pragma unroll
    for (int j = 0; j < 4; j++, at += F::PITCH) {
        float r[C];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float v[C];
            texel_at<T, C, WEIGH>(v, at + k * F::TEXEL);
#pragma unroll
            for (int c = 0; c < C; c++)
                r[c] = sizeof(T) == 4 ? remap_tap<T>(wx[k], v[c], k ? r[c] : 0.0f)
                       : k            ? __fmaf_rn(wx[k], v[c], r[c])
                                      : __fmul_rn(wx[k], v[c]);
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            f[c] = sizeof(T) == 4 ? remap_tap<T>(wy[j], r[c], j ? f[c] : 0.0f)
                   : j            ? __fmaf_rn(wy[j], r[c], f[c])
                                  : __fmul_rn(wy[j], r[c]);
    }
}

template <typename T, int C, int HOW, bool WEIGH>
static __device__ __forceinline__ void
pixel_at(float *f, const uint8_t *at, const struct gi_cubic *cubic, unsigned x, unsigned y)
{
    if (HOW == GI_LINEAR)
        linear_at<T, C, WEIGH>(f, at, x, y);
    else
        cubic_at<T, C, WEIGH>(f, at, cubic, x, y);
    if (!WEIGH)
        return;
    float alpha = f[C - 1]; /* scaled like the colours, so that quotients are unscaled */
    divide<T, C - 1>(f, alpha);
    /* The quotient of two rounded sums may exceed the range of the type, by far if alphas nearly
     * cancel. The quotient is never negative, because a rounded difference b - a is at least -a. */
    constexpr float FULL = sizeof(T) == 1 ? 255.0f : 65535.0f;
#pragma unroll
    for (int c = 0; c < C - 1 && HOW == GI_LINEAR && sizeof(T) < 4; c++)
        f[c] = fminf(f[c], FULL);
    f[C - 1] = alpha > 0 ? sizeof(T) == 4 ? alpha : __fmul_rn(alpha, 0x1p23f) : 0.0f;
}

/* Multiplies v by `scale`, rounds, and packs one word of samples. Bilinear results are not
 * saturated here, so they must be in the range of the type. */
template <typename T, int HOW>
static __device__ __forceinline__ unsigned pack(float v0, float v1, float v2, float v3, float scale)
{
    float v[4] = {v0, v1, v2, v3};
    unsigned u[4];
#pragma unroll
    for (int i = 0; i < 4 && sizeof(T) < 4; i++) {
        u[i] = __float_as_uint(__fmaf_rn(v[i], scale, 12582912.0f));
        v[i] = __fmul_rn(v[i], scale);
    }
    if (HOW == GI_CUBIC || sizeof(T) == 4)
        return sample_pack<T>(v);
    if (sizeof(T) == 2)
        return __byte_perm(u[0], u[1], 0x5410);
    return __byte_perm(__byte_perm(u[0], u[1], 0x40), __byte_perm(u[2], u[3], 0x40), 0x5410);
}

/* Returns v as a value that the compiler keeps in a register. It would compute values that depend
 * on the thread alone again for each run, which takes a tenth of a run's instructions. */
template <typename V> static __device__ __forceinline__ V kept(V v)
{
    return __shfl_sync(ALL_LANES, v, threadIdx.x % WARP);
}

/* Transposes 4 x 4 bytes across four lanes: byte i of lane j becomes byte j of lane i. `selectors`
 * comes from transpose_selectors(). */
static __device__ __forceinline__ unsigned transpose(unsigned v, uint2 selectors)
{
    v = __byte_perm(v, __shfl_xor_sync(ALL_LANES, v, 1), selectors.x);
    return __byte_perm(v, __shfl_xor_sync(ALL_LANES, v, 2), selectors.y);
}

static __device__ __forceinline__ uint2 transpose_selectors(void)
{
    return make_uint2(kept(threadIdx.x & 1 ? 0x3715u : 0x6240u),
                      kept(threadIdx.x & 2 ? 0x3276u : 0x5410u));
}

/* Transposes the 16-bit halves of two words in the same way. */
static __device__ __forceinline__ uint2 transpose(uint2 v)
{
    unsigned odd = threadIdx.x & 1, high = threadIdx.x & 2;
    unsigned other = __shfl_xor_sync(ALL_LANES, high ? v.x : v.y, 2);
    v = high ? make_uint2(other, v.y) : make_uint2(v.x, other);
    other = __shfl_xor_sync(ALL_LANES, __byte_perm(v.x, v.y, odd ? 0x5410 : 0x7632), 1);
    return make_uint2(__byte_perm(v.x, other, odd ? 0x3254 : 0x5410),
                      __byte_perm(v.y, other, odd ? 0x3276 : 0x7610));
}

/* What a lane stores of a run. If CHANGES, it stores four neighbouring pixels, else the pixels that
 * it computed. */
template <class F> struct run {
    unsigned words[F::OUT]; /* REMAP_ACROSS * OUT bytes */
};

template <typename T, int C, int HOW>
static __device__ __forceinline__ run<form<T, C>> run_of(const float (*f)[C], float scale,
                                                         uint2 selectors)
{
    typedef form<T, C> F;
    struct run<F> run;
    unsigned *out = run.words;
    constexpr int L = C - 1;
    if constexpr (F::OUT == 1) {
        out[0] = transpose(pack<T, HOW>(f[0][0], f[1][0], f[2][0], f[3][0], scale), selectors);
    } else if constexpr (F::OUT == 2) {
        uint2 v = transpose(
            sizeof(T) == 2 ? make_uint2(pack<T, HOW>(f[0][0], f[1][0], 0, 0, scale),
                                        pack<T, HOW>(f[2][0], f[3][0], 0, 0, scale))
                           : make_uint2(pack<T, HOW>(f[0][0], f[0][L], f[1][0], f[1][L], scale),
                                        pack<T, HOW>(f[2][0], f[2][L], f[3][0], f[3][L], scale)));
        out[0] = v.x;
        out[1] = v.y;
    } else if constexpr (F::OUT == 3) {
        unsigned v[3];
#pragma unroll
        for (int c = 0; c < 3; c++)
            v[c] = transpose(pack<T, HOW>(f[0][c], f[1][c], f[2][c], f[3][c], scale), selectors);
        unsigned low = __byte_perm(v[0], v[1], 0x5140), high = __byte_perm(v[0], v[1], 0x7362);
        out[0] = __byte_perm(low, v[2], 0x2410);
        out[1] = __byte_perm(__byte_perm(low, v[2], 0x53), high, 0x5410);
        out[2] = __byte_perm(high, v[2], 0x7326);
    } else if constexpr (F::OUT == 6) {
        uint2 v[3];
#pragma unroll
        for (int c = 0; c < 3; c++)
            v[c] = transpose(make_uint2(pack<T, HOW>(f[0][c], f[1][c], 0, 0, scale),
                                        pack<T, HOW>(f[2][c], f[3][c], 0, 0, scale)));
        out[0] = __byte_perm(v[0].x, v[1].x, 0x5410);
        out[1] = __byte_perm(v[2].x, v[0].x, 0x7610);
        out[2] = __byte_perm(v[1].x, v[2].x, 0x7632);
        out[3] = __byte_perm(v[0].y, v[1].y, 0x5410);
        out[4] = __byte_perm(v[2].y, v[0].y, 0x7610);
        out[5] = __byte_perm(v[1].y, v[2].y, 0x7632);
    } else {
        constexpr int EACH = F::OUT / 4, PER = 4 / (int)sizeof(T);
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS * EACH; i++) {
            const float *p = f[i / EACH];
            const int c = i % EACH * PER;
            out[i] = pack<T, HOW>(p[c], p[PER > 1 ? c + 1 : c], p[PER > 2 ? c + 2 : c],
                                  p[PER > 2 ? c + 3 : c], scale);
        }
    }
    return run;
}

template <class F>
static __device__ __noinline__ void store_some(uint8_t *out, struct run<F> run, int nbytes)
{
#pragma unroll
    for (int i = 0; i < F::OUT; i++)
        for (int k = 0; k < 4 && 4 * i + k < nbytes; k++)
            out[4 * i + k] = (uint8_t)(run.words[i] >> 8 * k);
}

/* Stores at `out` the pixels of a run that are among the first n pixels, n > 0. */
template <class F>
static __device__ __forceinline__ void store_run(uint8_t *out, const struct run<F> &run, int n)
{
    if constexpr (F::CHANGES) {
        if (n >= REMAP_ACROSS)
            store_words<F::OUT>(out, run.words);
        else
            store_some<F>(out, run, n * F::OUT);
    } else {
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++)
            if (APART * i < n)
                store_words<F::OUT / 4>(out + i * APART * F::OUT, run.words + i * F::OUT / 4);
    }
}

#endif
