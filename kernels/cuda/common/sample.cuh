/* Samples on the device: functions that fetch a sample as float, inside or outside the image, apply
 * the epilogue, round, and pack. They use explicit intrinsics wherever the output bytes depend on
 * the operation. kernels/rules.h defines the results.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SAMPLE_CUH
#define GI_KERNELS_CUDA_SAMPLE_CUH

#include "kernels/cuda/cuda.h"

static inline int ceil_div(long long a, long long b)
{
    return (int)((a + b - 1) / b);
}

/* A source image as kernel argument. */
struct source {
    const char *data;
    size_t stride; /* bytes */
    int width, height, channels;
    enum gi_type type;
    enum gi_border border;
    bool premultiply; /* whether fetched colours are multiplied by the pixel's alpha */
    float value[GI_MAX_CHANNELS];
};

struct target {
    char *data;
    size_t stride; /* bytes */
};

/* The alpha rule and the epilogue, which turn a filtered value into the value to be rounded. */
struct rule {
    enum gi_alpha_rule alpha;
    struct gi_epilogue epilogue;
    float inverse_sum, full;
    bool plain; /* values are only rounded (alpha rule PLAIN, epilogue STORE, bias 0) */
};

static inline struct source source_of(const struct gi_image *image,
                                      const struct gi_border_spec *border, enum gi_alpha_rule alpha)
{
    struct source s = {(const char *)image->data,
                       image->stride,
                       image->width,
                       image->height,
                       image->channels,
                       image->type,
                       border->mode,
                       gi_has_alpha(image) && alpha != GI_ALPHA_PLAIN,
                       {border->value[0], border->value[1], border->value[2], border->value[3]}};
    return s;
}

static inline struct target target_of(const struct gi_image *image)
{
    struct target t = {(char *)image->data, image->stride};
    return t;
}

/* Returns whether the epilogue is STORE without bias and `settle`, so that only the alpha rule
 * changes values. */
static inline bool epilogue_stores(const struct gi_epilogue *epilogue)
{
    return epilogue->kind == GI_EPILOGUE_STORE && epilogue->bias == 0 && !epilogue->settle;
}

static inline struct rule rule_of(const struct gi_image *image, enum gi_alpha_rule alpha,
                                  const struct gi_epilogue *epilogue, float sum)
{
    if (!gi_has_alpha(image))
        alpha = GI_ALPHA_PLAIN;
    struct rule r = {alpha, *epilogue, 1.0f / sum, gi_type_full_scale(image->type),
                     alpha == GI_ALPHA_PLAIN && epilogue_stores(epilogue)};
    return r;
}

/* Returns the sample of channel c at pixel (x, y), which may be outside the image. */
template <typename T>
static __device__ float source_at(const struct source *src, long long x, long long y, int c)
{
    int xi = gi_border_index(x, src->width, src->border);
    int yi = gi_border_index(y, src->height, src->border);
    int last = src->channels - 1;
    bool weigh = src->premultiply && c != last;
    if (xi < 0 || yi < 0)
        return weigh ? __fmul_rn(src->value[c], src->value[last]) : src->value[c];
    const T *pixel = (const T *)(src->data + (size_t)yi * src->stride) + (size_t)xi * src->channels;
    float v = (float)pixel[c];
    return weigh ? __fmul_rn(v, (float)pixel[last]) : v;
}

/* source_at() for any type. */
static __device__ __forceinline__ float source_sample(const struct source *src, long long x,
                                                      long long y, int c)
{
    return src->type == GI_U8    ? source_at<uint8_t>(src, x, y, c)
           : src->type == GI_U16 ? source_at<uint16_t>(src, x, y, c)
                                 : source_at<float>(src, x, y, c);
}

/* Returns the result of UNSHARP or ABOVE for the filtered value f and the source sample s. */
static __device__ __forceinline__ float epilogue_compared(const struct gi_epilogue *epilogue,
                                                          float f, float s)
{
    float d = __fsub_rn(s, f);
    if (epilogue->kind == GI_EPILOGUE_ABOVE)
        return d > epilogue->threshold ? epilogue->amount : epilogue->bias;
    return fabsf(d) > epilogue->threshold ? __fmaf_rn(epilogue->amount, d, s) : s;
}

/* Applies the alpha rule and the epilogue to a filtered colour f; a is the filtered alpha of the
 * pixel, and s is the source sample. */
static __device__ __forceinline__ float epilogue_color(const struct rule *rule, float f, float a,
                                                       float s)
{
    if (rule->alpha == GI_ALPHA_WEIGH) {
        a = __fmul_rn(a, rule->inverse_sum);
        f = a > 0 ? __fdiv_rn(f, a) : 0.0f;
    } else if (rule->alpha == GI_ALPHA_KEEP) {
        f = __fdiv_rn(f, rule->full);
    }
    if (GI_EPILOGUE_COMPARES(rule->epilogue.kind))
        return epilogue_compared(&rule->epilogue, f, s);
    f = __fadd_rn(rule->epilogue.kind == GI_EPILOGUE_ABS ? fabsf(f) : f, rule->epilogue.bias);
    return rule->epilogue.settle ? gi_settle(f, GI_U8) : f;
}

static __device__ __forceinline__ float epilogue_alpha(const struct rule *rule, float a, float s)
{
    if (GI_EPILOGUE_COMPARES(rule->epilogue.kind) || rule->alpha == GI_ALPHA_KEEP)
        return s;
    if (rule->alpha == GI_ALPHA_WEIGH) {
        a = __fmul_rn(a, rule->inverse_sum);
        a = a > 0 ? a : 0.0f;
    }
    return rule->epilogue.settle ? gi_settle(a, GI_U8) : a;
}

template <typename T> static __device__ __forceinline__ constexpr enum gi_type sample_type()
{
    return sizeof(T) == 1 ? GI_U8 : sizeof(T) == 2 ? GI_U16 : GI_F32;
}

/* Executes a statement with T, the C type of samples of `type`. All threads of a kernel take the
 * same branch, so a kernel is compiled once for all types. */
#define SAMPLE_TYPES(type, ...)                                                                    \
    do {                                                                                           \
        if ((type) == GI_U8) {                                                                     \
            typedef uint8_t T;                                                                     \
            __VA_ARGS__;                                                                           \
        } else if ((type) == GI_U16) {                                                             \
            typedef uint16_t T;                                                                    \
            __VA_ARGS__;                                                                           \
        } else {                                                                                   \
            typedef float T;                                                                       \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)

/* Rounds and stores one sample. __float2int_rn() saturates and turns NaN into 0. In float images
 * every NaN is stored as the canonical NaN. */
static __device__ __forceinline__ void sample_store(uint8_t *p, float v)
{
    *p = (uint8_t)min(max(__float2int_rn(v), 0), 255);
}

static __device__ __forceinline__ void sample_store(uint16_t *p, float v)
{
    *p = (uint16_t)min(max(__float2int_rn(v), 0), 65535);
}

static __device__ __forceinline__ float canonical(float v)
{
    return v != v ? __int_as_float(0x7fc00000) : v;
}

static __device__ __forceinline__ void sample_store(float *p, float v)
{
    *p = canonical(v);
}

/* Returns sample k of samples that are packed in 32-bit words. k must be constant after unrolling.
 * The integer v, placed in the mantissa of the float 2^23, gives the float 2^23 + v; then 2^23 is
 * subtracted. */
template <typename T>
static __device__ __forceinline__ float sample_unpack(const unsigned *words, int k);

#define SAMPLE_2_23 8388608.0f

template <> __device__ __forceinline__ float sample_unpack<uint8_t>(const unsigned *words, int k)
{
    unsigned bits = __byte_perm(words[k >> 2], 0x4b000000u, 0x7440u | (k & 3));
    return __fmaf_rn(__uint_as_float(bits), 1.0f, -SAMPLE_2_23);
}

template <> __device__ __forceinline__ float sample_unpack<uint16_t>(const unsigned *words, int k)
{
    unsigned bits = __byte_perm(words[k >> 1], 0x4b000000u, k & 1 ? 0x7432u : 0x7410u);
    return __fmaf_rn(__uint_as_float(bits), 1.0f, -SAMPLE_2_23);
}

template <> __device__ __forceinline__ float sample_unpack<float>(const unsigned *words, int k)
{
    return __uint_as_float(words[k]);
}

/* Packs two samples, rounded and saturated to 8 bits, in the lower half of a word. The upper half
 * of the word is the lower half of `high`. */
static __device__ __forceinline__ unsigned sample_pack_two(const float *v, unsigned high = 0)
{
    unsigned word;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(word)
        : "r"(__float2int_rn(v[1])), "r"(__float2int_rn(v[0])), "r"(high));
    return word;
}

/* Packs the samples v[0] and following, rounded and saturated, into one 32-bit word. */
template <typename T> static __device__ __forceinline__ unsigned sample_pack(const float *v);

template <> __device__ __forceinline__ unsigned sample_pack<uint8_t>(const float *v)
{
    return sample_pack_two(v, sample_pack_two(v + 2));
}

template <> __device__ __forceinline__ unsigned sample_pack<uint16_t>(const float *v)
{
    unsigned word;
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;"
        : "=r"(word)
        : "r"(__float2int_rn(v[1])), "r"(__float2int_rn(v[0])));
    return word;
}

template <> __device__ __forceinline__ unsigned sample_pack<float>(const float *v)
{
    return __float_as_uint(canonical(v[0]));
}

/* Applies the epilogue to the sum f at sample `at` of row y, and stores the result. a is the
 * filtered alpha of the pixel. Not inlined, to keep kernels with many sums per thread small. */
static __device__ __noinline__ void store_any(const struct source *src, const struct target *dst,
                                              const struct rule *rule, size_t at, int y, float f,
                                              float a)
{
    const char *in = src->data + (size_t)y * src->stride;
    char *out = dst->data + (size_t)y * dst->stride;
    float s = 0;
    if (!rule->plain)
        s = src->type == GI_U8    ? (float)((const uint8_t *)in)[at]
            : src->type == GI_U16 ? (float)((const uint16_t *)in)[at]
                                  : ((const float *)in)[at];
    bool is_alpha = src->channels % 2 == 0 && (at + 1) % src->channels == 0;
    f = is_alpha ? epilogue_alpha(rule, f, s) : epilogue_color(rule, f, a, s);
    if (src->type == GI_U8)
        sample_store((uint8_t *)out + at, f);
    else if (src->type == GI_U16)
        sample_store((uint16_t *)out + at, f);
    else
        sample_store((float *)out + at, f);
}

/* Returns a key; keys are ordered like the samples. */
template <typename T> static __device__ __forceinline__ uint32_t sample_key(T v)
{
    return sizeof(T) < 4 ? (uint32_t)v : gi_float_key(__float_as_uint((float)v));
}

/* Stores WORDS (1, 2 or 4) 32-bit words at an address that is aligned for them. */
template <int WORDS>
static __device__ __forceinline__ void words_store(void *p, const unsigned *words)
{
    if (WORDS == 4)
        *(uint4 *)p = make_uint4(words[0], words[WORDS / 4], words[WORDS / 2], words[WORDS - 1]);
    else if (WORDS == 2)
        *(uint2 *)p = make_uint2(words[0], words[WORDS - 1]);
    else
        *(unsigned *)p = words[0];
}

#endif
