/* Rules that all primitives share: limits, the treatment of alpha, the epilogue of a filter, the
 * last step (which rounds and stores each result), and the order of floats.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_RULES_H
#define GI_KERNELS_RULES_H

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_TAPS_MAX = 4001, /* maximum taps of a separable kernel along an axis, and maximum k of a box
                           filter: the sum of 4001 x 4001 bytes fits in 32 bits unsigned */
    GI_TAPS_BLOCK = 32, /* taps in one fmaf chain of a separable kernel; longer chains drift */
    GI_WEIGHTS_MAX = 7921, /* maximum weights of a dense kernel, 89 x 89, which fit in the 32764
                              bytes of constant memory for the arguments of a CUDA launch */
};

/* How a primitive that averages pixels treats alpha. Images without alpha always use
 * GI_ALPHA_PLAIN. Let c be a colour sample, a the alpha of its pixel, and c * a one float32
 * multiplication:
 *   PLAIN  Every channel is filtered in the same way.
 *   WEIGH  c * a and a are filtered. Alpha becomes A = (filtered a) * (1 / sum of the weights),
 *          where the reciprocal is computed once in float (1 for a box). Before the epilogue
 *          colour is (filtered c * a) / A. Where A is not > 0, colour and alpha are 0 instead.
 *   KEEP   c * a is filtered and divided by full scale. Alpha is copied from `src`. */
enum gi_alpha_rule { GI_ALPHA_PLAIN, GI_ALPHA_WEIGH, GI_ALPHA_KEEP };

/* What a filter does with a filtered colour value f, after the division of the alpha rule and
 * before the last step. s is the sample of `src` at the same position. Alpha is excluded. */
enum gi_epilogue_kind {
    GI_EPILOGUE_STORE, /* f + bias */
    GI_EPILOGUE_ABS,   /* |f| + bias */
    /* These two copy the alpha of `src`. */
    GI_EPILOGUE_UNSHARP, /* |s - f| > threshold ? fmaf(amount, s - f, s) : s */
    GI_EPILOGUE_ABOVE,   /* s - f > threshold ? amount : bias */
};

/* Returns whether the epilogue reads s. */
#define GI_EPILOGUE_COMPARES(kind) ((kind) >= GI_EPILOGUE_UNSHARP)

struct gi_epilogue {
    enum gi_epilogue_kind kind;
    bool settle; /* STORE and ABS: gi_settle() follows as for GI_U8, also for filtered alpha */
    float bias;  /* sample units */
    float amount, threshold; /* `amount` is a factor for UNSHARP, else in sample units */
};

/* The last step, which ends all primitives. For integers values are rounded half to even; NaN and
 * values below 0 become 0, and values above full scale become full scale. For GI_F32 values are
 * unchanged, except that every NaN becomes 0x7fc00000, because processors make different NaNs (luma
 * of gray copies NaNs). */

/* Settles ties. In float32 a sum with decimal weights, such as 0.1 * 5, is a little off the tie
 * that it is in decimal numbers, and would often be rounded to the other side. Therefore some
 * primitives first round results for GI_U8 to a multiple of 2^-12, half to even: adding 1.5 * 2^11
 * to a float of at most 2^10 leaves so many fraction bits. This gives the results of exact decimal
 * numbers of up to three digits, and 1 in 8,000 other results is rounded to the other side of a
 * tie. Larger floats are above full scale anyway. Other types are unchanged. */
GI_HOST_DEVICE static inline float gi_settle(float v, enum gi_type type)
{
    const float shift = 3072;
    return type == GI_U8 ? (v + shift) - shift : v;
}

/* Returns an integer key. Keys are ordered as their floats are: -inf is lowest, -0 just below +0,
 * +inf highest. In positive floats the sign bit is flipped, in negative floats all bits are.
 * NaNs are above +inf or below -inf. Idea: Herf, "Radix tricks", 2001. */
GI_HOST_DEVICE static inline uint32_t gi_float_key(uint32_t bits)
{
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

GI_HOST_DEVICE static inline uint32_t gi_float_key_bits(uint32_t key)
{
    return key & 0x80000000u ? key & 0x7fffffffu : ~key;
}

/* Common to all primitives, unless a contract says otherwise: the sample types and shapes of
 * kernels/primitives.h are required, images have 1 to 4 channels, and the caller makes the image of
 * the result. Primitives with results in host memory wait. Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY,
 * GI_E_DEVICE. */

#ifdef __cplusplus
}
#endif

#endif
