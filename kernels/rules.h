/* Rules that all primitives share: limits, the treatment of alpha, the epilogue of a filter, the
 * last step, which rounds and stores each result, and the order of floats.
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
    GI_TAPS_MAX = 4001,    /* taps of one side of a separable kernel, and k of a box: at 8 bits its
                              sum, 255 * 4001^2, fits in 32 bits unsigned */
    GI_TAPS_BLOCK = 32,    /* of a separable kernel in one chain of fmaf: longer ones drift */
    GI_WEIGHTS_MAX = 7921, /* weights of a dense kernel, 89 x 89: with them a CUDA launch stays
                              within the 32764 bytes of constant memory for its arguments */
};

/* How a primitive that averages pixels treats alpha; for images without alpha every primitive uses
 * GI_ALPHA_PLAIN. Let c be a colour sample, a its pixel's alpha, and full the full scale:
 *   PLAIN  every channel is filtered alike.
 *   WEIGH  colour is filtered as c * a, alpha as a; let A = (filtered a) * (1 / sum of the weights)
 *          (the reciprocal computed once in float; 1 for a box). Where A > 0 colour is
 * (filtered c * a) / A, elsewhere 0 (before the epilogue) and alpha 0. Alpha becomes A.
 *   KEEP   colour is filtered as c * a, the result divided by full; alpha is copied from `src`.
 * The product c * a is one float32 multiplication. */
enum gi_alpha_rule { GI_ALPHA_PLAIN, GI_ALPHA_WEIGH, GI_ALPHA_KEEP };

/* Epilogue: the operation on a filtered colour value f (after the alpha rule's division) before it
 * is stored; s is the source sample at its position. No rule applies it to alpha.
 */
enum gi_epilogue_kind {
    GI_EPILOGUE_STORE, /* f + bias */
    GI_EPILOGUE_ABS,   /* |f| + bias */
    /* From here on the result has the alpha of `src`. */
    GI_EPILOGUE_UNSHARP, /* d = s - f; |d| > threshold ? fmaf(amount, d, s) : s */
    GI_EPILOGUE_ABOVE,   /* d = s - f; d > threshold ? amount : bias */
};

/* Whether the epilogue reads the source sample. */
#define GI_EPILOGUE_COMPARES(kind) ((kind) >= GI_EPILOGUE_UNSHARP)

struct gi_epilogue {
    enum gi_epilogue_kind kind;
    float bias;              /* sample units */
    float amount, threshold; /* UNSHARP: a factor, ABOVE: sample units; sample units */
};

/* The last step, the same for all primitives. Integers: round half to even, NaN and values below 0
 * to 0, values above full scale to full scale. GI_F32: unchanged, except that every NaN becomes
 * 0x7fc00000, because processors make different NaNs (only luma of gray copies NaNs). */

/* A number that orders as the float does (-inf lowest, +inf highest, -0 just below +0): the bits
 * with the sign flipped for positive floats, all flipped for negative ones. Idea: Herf, "Radix
 * tricks", 2001. NaNs land above +inf or below -inf. */
GI_HOST_DEVICE static inline uint32_t gi_float_key(uint32_t bits)
{
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

GI_HOST_DEVICE static inline uint32_t gi_float_key_bits(uint32_t key)
{
    return key & 0x80000000u ? key & 0x7fffffffu : ~key;
}

/* Sample types and shapes of every primitive: kernels/primitives.h. The caller makes the image of
 * the result unless said. All take 1 to 4 channels unless said, and those with results in host
 * memory wait. Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY, GI_E_DEVICE. */

#ifdef __cplusplus
}
#endif

#endif
