/* Contract of canny, of the family convolution: the gradient and the non-maximum suppression of
 * Canny's edge detector (J. Canny, A computational approach to edge detection, IEEE Trans. PAMI
 * 8(6), 1986). Hysteresis follows by the
 * primitive hysteresis or reconstruct.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CANNY_H
#define GI_KERNELS_CANNY_H

#include <math.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* canny: `dst` has one channel. A sample is 0 where there is no edge, 1 at a weak and 2 at a strong
 * edge, whatever the type.
 *
 * Gradient: gx is the kernel D along rows, then S along columns; gy is S along rows, then D along
 * columns. D and S are those of gi_canny_taps(). Outside the image the nearest pixel is used. With
 * integer samples the sums are exact. Float samples are summed as in gi_separable. With size 7 a
 * gradient is divided by 16; integers are then rounded half to even. The magnitude m is |gx| +
 * |gy|, with `squared` gx^2 + gy^2 (floats: fmaf(gx, gx, gy * gy)), with `interpolated` the root of
 * this float. A colour pixel has the gradient and magnitude of its first channel, unless those of a
 * later channel have a magnitude that is > that of the channels before it. Alpha is ignored.
 * Outside the image the magnitude is 0.
 *
 * Edges: gi_canny_class() and gi_canny_class_float(). With `interpolated`, which is for GI_F32, the
 * outermost rows and columns are no edges. */
struct gi_canny {
    int size; /* 3, 5 or 7, with `interpolated` 3 */
    bool squared, interpolated;
    /* Compared with m: m > low, with `interpolated` m >= low. Whole numbers from 0 to 2^53 for
     * integer samples, else floats. low <= high. */
    double low, high;
};

/* ---- the definition, for both backends ---- */

enum { GI_CANNY_SIZE_MAX = 7 };

/* Sets smooth[0..size) to S and difference[0..size) to D (OpenCV's Sobel kernels). */
GI_HOST_DEVICE static inline void gi_canny_taps(int *smooth, int *difference, int size)
{
    const int s[3][7] = {{1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
    const int d[3][7] = {{-1, 0, 1}, {-1, -2, 0, 2, 1}, {-1, -4, -5, 0, 5, 4, 1}};
    for (int i = 0; i < size; i++) {
        smooth[i] = s[size / 2 - 1][i];
        difference[i] = d[size / 2 - 1][i];
    }
}

/* Returns v / 16, rounded half to even. */
GI_HOST_DEVICE static inline int32_t gi_canny_sixteenth(int32_t v)
{
    int32_t whole = v >> 4, rest = v & 15;
    return whole + (rest > 8 || (rest == 8 && (whole & 1)));
}

/* The direction of a gradient, after OpenCV: the tangent of 22.5 degrees is 13573 / 2^15. */
enum gi_canny_direction { GI_CANNY_ACROSS, GI_CANNY_DOWN, GI_CANNY_FALLING, GI_CANNY_RISING };

/* Defines gi_canny_direction##SUFFIX() with products of the type WIDE. */
#define GI_CANNY_DIRECTION(SUFFIX, WIDE)                                                           \
    GI_HOST_DEVICE static inline enum gi_canny_direction gi_canny_direction##SUFFIX(int32_t gx,    \
                                                                                    int32_t gy)    \
    {                                                                                              \
        WIDE x = gx < 0 ? -(WIDE)gx : gx, y = (gy < 0 ? -(WIDE)gy : gy) << 15;                     \
        WIDE low = x * 13573, high = low + (x << 16);                                              \
        if (y < low)                                                                               \
            return GI_CANNY_ACROSS;                                                                \
        if (y > high)                                                                              \
            return GI_CANNY_DOWN;                                                                  \
        return (gx ^ gy) < 0 ? GI_CANNY_RISING : GI_CANNY_FALLING;                                 \
    }

GI_CANNY_DIRECTION(, int64_t)
/* For gradients of bytes, which are at most 12240: 12240 * (13573 + 2^16) < 2^31. */
GI_CANNY_DIRECTION(_bytes, int32_t)

/* As gi_canny_direction(). Both factors are exact in float. */
GI_HOST_DEVICE static inline enum gi_canny_direction gi_canny_direction_float(float gx, float gy)
{
    float x = fabsf(gx), y = fabsf(gy);
    if (y < x * (13573 / 32768.0f))
        return GI_CANNY_ACROSS;
    if (y > x * (79109 / 32768.0f))
        return GI_CANNY_DOWN;
    return (gx < 0) != (gy < 0) ? GI_CANNY_RISING : GI_CANNY_FALLING;
}

/* Returns 0, 1 or 2 for a pixel. above[i], own[i] and below[i] are the magnitudes of the row above,
 * its row and the row below, at column x - 1 + i. In ties across and down the first of equal
 * neighbours is the edge, as in OpenCV. A macro for two types of magnitudes. */
#define GI_CANNY_SUPPRESS(m, above, own, below, direction, low, high)                              \
    do {                                                                                           \
        bool ridge_ = false;                                                                       \
        if (!((m) > (low)))                                                                        \
            return 0;                                                                              \
        switch (direction) {                                                                       \
        case GI_CANNY_ACROSS:                                                                      \
            ridge_ = (m) > (own)[0] && (m) >= (own)[2];                                            \
            break;                                                                                 \
        case GI_CANNY_DOWN:                                                                        \
            ridge_ = (m) > (above)[1] && (m) >= (below)[1];                                        \
            break;                                                                                 \
        case GI_CANNY_FALLING:                                                                     \
            ridge_ = (m) > (above)[0] && (m) > (below)[2];                                         \
            break;                                                                                 \
        case GI_CANNY_RISING:                                                                      \
            ridge_ = (m) > (above)[2] && (m) > (below)[0];                                         \
            break;                                                                                 \
        }                                                                                          \
        return !ridge_ ? 0 : (m) > (high) ? 2 : 1;                                                 \
    } while (0)

GI_HOST_DEVICE static inline int gi_canny_class(int32_t gx, int32_t gy, const int64_t *above,
                                                const int64_t *own, const int64_t *below,
                                                int64_t low, int64_t high)
{
    GI_CANNY_SUPPRESS(own[1], above, own, below, gi_canny_direction(gx, gy), low, high);
}

/* The same for bytes, whose magnitudes are at most 2 * 12240^2 < 2^31. */
GI_HOST_DEVICE static inline int gi_canny_class_bytes(int32_t gx, int32_t gy, const int32_t *above,
                                                      const int32_t *own, const int32_t *below,
                                                      int32_t low, int32_t high)
{
    GI_CANNY_SUPPRESS(own[1], above, own, below, gi_canny_direction_bytes(gx, gy), low, high);
}

GI_HOST_DEVICE static inline int gi_canny_class_float(float gx, float gy, const float *above,
                                                      const float *own, const float *below,
                                                      float low, float high)
{
    GI_CANNY_SUPPRESS(own[1], above, own, below, gi_canny_direction_float(gx, gy), low, high);
}

/* As gi_canny_class_float() with `interpolated`, after scikit-image: the magnitude must not be less
 * than those on both sides along the gradient, which are interpolated linearly between the two
 * nearest neighbours. With a the greater and b the lesser one of |gx| and |gy|, the comparison of
 * the interpolated magnitude (n (a - b) + d b) / a with m is that of fmaf(d, b, n * (a - b)) with
 * m * a. */
GI_HOST_DEVICE static inline int gi_canny_class_interpolated(float gx, float gy, const float *above,
                                                             const float *own, const float *below,
                                                             float low, float high)
{
    float x = fabsf(gx), y = fabsf(gy), m = own[1];
    if (!(m > 0 && m >= low))
        return 0;
    bool steep = y >= x, falling = (gx >= 0 && gy >= 0) || (gx <= 0 && gy <= 0);
    float a = steep ? y : x, b = steep ? x : y, most = m * a;
    float before = steep ? above[1] : own[0], after = steep ? below[1] : own[2];
    float diagonal_before = falling ? above[0] : steep ? above[2] : below[0];
    float diagonal_after = falling ? below[2] : steep ? below[0] : above[2];
    bool ridge = fmaf(diagonal_before, b, before * (a - b)) <= most &&
                 fmaf(diagonal_after, b, after * (a - b)) <= most;
    return !ridge ? 0 : m >= high ? 2 : 1;
}

#ifdef __cplusplus
}
#endif

#endif
