/* Elementary functions of floats, for both backends: the same operations in the same order give the
 * same bytes on the CPU and on CUDA. They are computed in double by Taylor series and rounded once
 * to float, so a result is at most 0.51 ulp from the exact value (`gpuimg help calc` states it,
 * tests/filters/calc_oracle.py measures it). There are no branches, so compilers vectorise loops
 * over them. Double costs half the lanes of a vector, but needs no pairs of floats to carry the
 * bits that pow() and reduced arguments need.
 *
 * Sources: W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980 (argument
 * reduction); ISO C11, annex F.10 (special values).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_ELEMENTARY_H
#define GI_KERNELS_ELEMENTARY_H

#include <math.h>
#include <string.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inlined always, because a call inside a loop keeps the loop from being vectorised. */
#define GI_ELEMENTARY GI_HOST_DEVICE static inline __attribute__((always_inline))

#define GI_LN2          0x1.62e42fefa39efp-1
#define GI_LOG2_E       0x1.71547652b82fep0
#define GI_LOG10_E      0x1.bcb7b1526e50ep-2
#define GI_LOG10_2      0x1.34413509f79ffp-2
#define GI_PI           0x1.921fb54442d18p1
#define GI_ROUND_DOUBLE 0x1.8p52 /* added and subtracted, it rounds to an integer, half to even */

/* The largest argument of sine, cosine and tangent, up to which the product of the number of
 * quarter turns and GI_PI_HALF_HIGH is exact. */
#define GI_ANGLE_MAX 0x1p20f
/* pi / 2 as a sum: 33 bits, and the rest rounded to double. */
#define GI_PI_HALF_HIGH 0x1.921fb544p0
#define GI_PI_HALF_LOW  0x1.0b4611a626331p-34

GI_ELEMENTARY uint64_t gi_double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

GI_ELEMENTARY double gi_double_from(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- powers of 2 and e ---- */

/* Returns 2^t as a double. t is limited to -200 to 200, where every float is infinite or 0. With k
 * = t rounded and r = (t - k) ln 2 this is 2^k e^r, |r| < 0.347. The series of e^r ends with r^11 /
 * 11!; the first omitted term is below 2^-47. */
GI_ELEMENTARY double gi_exp2_double(double t)
{
    t = t > 200.0 ? 200.0 : t;
    t = t < -200.0 ? -200.0 : t;
    double shifted = t + GI_ROUND_DOUBLE, r = (t - (shifted - GI_ROUND_DOUBLE)) * GI_LN2;
    double p = 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    /* The low bits of `shifted` are k, so these are the bits of 2^k. */
    return p * gi_double_from((gi_double_bits(shifted) + 1023) << 52);
}

GI_ELEMENTARY float gi_exp(float x)
{
    return (float)gi_exp2_double((double)x * GI_LOG2_E);
}

/* ---- logarithms ---- */

/* A positive finite double is 2^e m with m between sqrt(1/2) and sqrt(2), whose bits are the lower
 * limit plus the bits of the fraction of this sum. */
#define GI_SQRT_HALF_BITS 0x3fe6a09e667f3bcdull
GI_ELEMENTARY uint64_t gi_log_bits(double x)
{
    return gi_double_bits(x) + (0x3ff0000000000000ull - GI_SQRT_HALF_BITS);
}

/* Returns e. The bits of the double 2^52 + n are those of 2^52 or n. */
GI_ELEMENTARY double gi_log_exponent(double x)
{
    return gi_double_from(gi_log_bits(x) >> 52 | 0x4330000000000000ull) - (0x1p52 + 1023.0);
}

/* Returns ln m = 2 artanh s = 2 (s + s^3 / 3 + ...) with s = (m - 1) / (m + 1), |s| < 0.172. The
 * first omitted term is s^19 / 19, which is below 2^-49 of the sum. */
GI_ELEMENTARY double gi_log_mantissa(double x)
{
    double m = gi_double_from((gi_log_bits(x) & 0x000fffffffffffffull) + GI_SQRT_HALF_BITS);
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    p = p * z + 1.0;
    return (s + s) * p;
}

/* Returns the logarithm `of` x if x is positive and finite, and else its limit or NaN. */
GI_ELEMENTARY double gi_log_special(double x, double of)
{
    double other = x == 0 ? -(double)INFINITY : (double)NAN;
    double finite = x < (double)INFINITY ? of : x;
    return x > 0 ? finite : other;
}

/* The logarithm of x to a base b, where `of_e` = log_b e and `of_2` = log_b 2. */
GI_ELEMENTARY double gi_log_double(double x, double of_e, double of_2)
{
    return gi_log_special(x, gi_log_exponent(x) * of_2 + gi_log_mantissa(x) * of_e);
}

GI_ELEMENTARY float gi_log(float x)
{
    return (float)gi_log_double((double)x, 1.0, GI_LN2);
}

GI_ELEMENTARY float gi_log2(float x)
{
    return (float)gi_log_double((double)x, GI_LOG2_E, 1.0);
}

GI_ELEMENTARY float gi_log10(float x)
{
    return (float)gi_log_double((double)x, GI_LOG10_E, GI_LOG10_2);
}

/* x^y = 2^(y log2 |x|), negative for a negative x and an odd integer y, and NaN for a negative x
 * and a y that is no integer. 1^y and x^0 are 1, also for NaN. */
GI_ELEMENTARY float gi_pow(float x, float y)
{
    double size = fabs((double)x), to = (double)y;
    float power = (float)gi_exp2_double(to * gi_log_double(size, GI_LOG2_E, 1.0));
    bool whole = floorf(y) == y, odd = whole & (floorf(y * 0.5f) != y * 0.5f);
    power = ((size == 1.0) | (y == 0)) ? 1.0f : power;
    float signed_power = odd ? copysignf(power, x) : power;
    float result = ((x < 0) & !whole & (size < (double)INFINITY)) ? (float)NAN : signed_power;
    bool nan = (x != x) & (y != 0);
    nan = nan | ((y != y) & (x != 1));
    return nan ? (float)NAN : result;
}

/* For |x| below 0.001 it is x - x^3 / 6; the next term is below 2^-43 of the sum. */
GI_ELEMENTARY float gi_asinh(float x)
{
    double size = fabs((double)x), sum = size + sqrt(size * size + 1.0);
    double of = size < 0.001 ? size * (1.0 - size * size * (1.0 / 6.0))
                             : gi_log_exponent(sum) * GI_LN2 + gi_log_mantissa(sum);
    return copysignf((float)(size < (double)INFINITY ? of : size), x);
}

/* ---- angles, in radians ---- */

/* Returns x * 2 / pi plus GI_ROUND_DOUBLE, whose low bits are the number of quarter turns. */
GI_ELEMENTARY double gi_quarters(float x)
{
    return (double)x * (2.0 / GI_PI) + GI_ROUND_DOUBLE;
}

/* Returns the angle that is left, between -pi / 4 and pi / 4. */
GI_ELEMENTARY double gi_angle_rest(float x)
{
    double k = gi_quarters(x) - GI_ROUND_DOUBLE;
    return ((double)x - k * GI_PI_HALF_HIGH) - k * GI_PI_HALF_LOW;
}

/* The series up to r^15 / 15!; the first omitted term is below 2^-54. */
GI_ELEMENTARY double gi_sin_rest(double r)
{
    double z = r * r, p = -1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return r + r * z * p;
}

/* The series up to r^14 / 14!; the first omitted term is below 2^-49. */
GI_ELEMENTARY double gi_cos_rest(double r)
{
    double z = r * r, p = -1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    p = p * z - 0.5;
    return p * z + 1.0;
}

/* Returns the sine of x + `ahead` quarter turns as a double, or NaN if |x| is above
 * GI_ANGLE_MAX. */
GI_ELEMENTARY double gi_sin_double(float x, uint64_t ahead)
{
    uint64_t quarter = gi_double_bits(gi_quarters(x)) + ahead;
    double r = gi_angle_rest(x);
    double v = (quarter & 1) != 0 ? gi_cos_rest(r) : gi_sin_rest(r);
    v = (quarter & 2) != 0 ? -v : v;
    return fabsf(x) <= GI_ANGLE_MAX ? v : (double)NAN;
}

GI_ELEMENTARY float gi_sin(float x)
{
    return (float)gi_sin_double(x, 0);
}

GI_ELEMENTARY float gi_cos(float x)
{
    return (float)gi_sin_double(x, 1);
}

GI_ELEMENTARY float gi_tan(float x)
{
    return (float)(gi_sin_double(x, 0) / gi_sin_double(x, 1));
}

/* Returns the angle of the point (x, y), which is atan(y / x) in all four quadrants. With t = the
 * lesser of |x| and |y| / the greater one, atan t is computed by its series in u = t, or if t >
 * tan(pi / 8) in u = (t - 1) / (t + 1), plus pi / 4. The series ends with u^31 / 31; the first
 * omitted term is below 2^-45 of the sum. */
GI_ELEMENTARY float gi_atan2(float y, float x)
{
    double ax = fabs((double)x), ay = fabs((double)y);
    double hi = ay > ax ? ay : ax, lo = ay > ax ? ax : ay;
    double ratio = lo / (hi == 0 ? 1.0 : hi), t = lo < (double)INFINITY ? ratio : 1.0;
    double turned = (t - 1.0) / (t + 1.0);
    double u = t > 0x1.a827999fcef32p-2 ? turned : t, z = u * u;
    double p = -1.0 / 31.0;
    p = p * z + 1.0 / 29.0;
    p = p * z - 1.0 / 27.0;
    p = p * z + 1.0 / 25.0;
    p = p * z - 1.0 / 23.0;
    p = p * z + 1.0 / 21.0;
    p = p * z - 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z - 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z - 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z - 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z - 1.0 / 3.0;
    double angle = u + u * z * p;
    angle = t > 0x1.a827999fcef32p-2 ? angle + GI_PI / 4 : angle;
    angle = ay > ax ? GI_PI / 2 - angle : angle;
    angle = copysignf(1.0f, x) < 0 ? GI_PI - angle : angle;
    float result = copysignf((float)angle, y);
    return ((x != x) | (y != y)) ? (float)NAN : result;
}

/* The square root of x^2 + y^2, without overflow of the squares. */
GI_ELEMENTARY float gi_hypot(float x, float y)
{
    return (float)sqrt((double)x * (double)x + (double)y * (double)y);
}

#ifdef __cplusplus
}
#endif
#endif
