/* Contracts of the family statistics: histograms, sums, exact reductions, integral images, and
 * stacks of images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_STATISTICS_H
#define GI_KERNELS_STATISTICS_H

#include <math.h>
#include <string.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gi_histogram_key {
    GI_KEY_VALUE, /* GI_U8, GI_U16: the sample itself; nbins is 256 or 65536 */
    GI_KEY_RANGE, /* GI_F32: the bin i with e(i) <= v < e(i + 1), the last one with v == hi too,
                     e(i) = lo + i * ((hi - lo) / nbins) in double and e(nbins) = hi; samples
                     outside lo..hi and NaN are not counted; 1 <= nbins <= 65536; nothing is counted
                     if hi - lo is negative or not finite */
    GI_KEY_FLOAT_HIGH, /* GI_F32: upper 16 bits of gi_float_key(v), NaN not counted; 65536 bins */
    GI_KEY_FLOAT_LOW,  /* GI_F32: lower 16 bits of samples whose upper 16 are one of `prefixes`, NaN
                          not counted; 65536 bins per prefix */
};

enum { GI_PREFIXES_MAX = 16 };

struct gi_histogram_spec {
    enum gi_histogram_key key;
    int nbins;
    double lo, hi; /* GI_KEY_RANGE */
    /* GI_KEY_FLOAT_LOW: different upper halves, each with a histogram of its own, one after another
     * in `counts`. */
    uint16_t prefixes[GI_PREFIXES_MAX];
    int nprefixes; /* 1 to GI_PREFIXES_MAX */
};

/* Returns the bin of v among 65536 bins from 0 to 1, as GI_KEY_RANGE defines it; values outside get
 * the nearest bin, NaN bin 0. The product with 2^16 is exact. */
GI_HOST_DEVICE static inline int gi_unit_bin(float v)
{
    return v > 0 ? (v < 1 ? (int)(v * 65536.0f) : 65535) : 0;
}

/* histogram: result[c * nbins + bin] += occurrences in channel c; the caller zeroes the counts
 * (host memory, channels * nbins, that nprefixes times for GI_KEY_FLOAT_LOW) before the first band.
 */

/* Sums of quantised samples, exact in integers so that no order matters. For GI_F32 q = rint((v -
 * lo) * ((2^31 - 1) / (hi - lo))) in double, v clamped to lo..hi, 0 where hi <= lo or hi - lo is
 * not finite; NaN is left out. q is the sample itself for integer types, which regions have. 2^32
 * samples at most. */
struct gi_sums {
    uint64_t n;               /* samples counted */
    uint64_t q;               /* sum of q */
    uint64_t q2_low, q2_high; /* sum of the lower 32 bits of q * q, and of the upper 32 bits */
};

/* sums: result[c] += the sums of channel c. */
struct gi_sums_range {
    const float *lo, *hi; /* of each channel */
};

enum { GI_EXACT_WORDS = 10 };

/* An integer of 640 bits in two's complement, the lowest word first: it holds any sum of squares of
 * 2^32 floats, so that nothing is rounded and any order gives the same words. After the large
 * superaccumulator of R. Neal, "Fast exact summation using small and large superaccumulators",
 * arXiv:1505.05571, 2015. */
struct gi_exact {
    uint64_t w[GI_EXACT_WORDS];
};

/* The units of sums and magnitudes, and of squares, of GI_F32 are 2 to this power. */
enum { GI_EXACT_SUM = -149, GI_EXACT_SQUARES = -298 };

/* One channel. For GI_F32 everything except the counts is of finite samples, and -0 counts as +0.
 */
struct gi_reduction {
    uint64_t n;                             /* number of samples; for GI_F32 of finite ones */
    uint64_t nan, above, below;             /* samples that are NaN, infinity and minus infinity */
    struct gi_exact sum, magnitude, square; /* of samples, absolute samples and squares; units: 1
                                               for integers, else as above */
    float min, max;                         /* 0 where n is 0 */
    uint64_t min_at, max_at; /* y * width + x of the first in raster order; 0 if n is 0 */
};

struct gi_reduce {
    bool sums_only; /* minima and maxima are not asked for: they and their positions are 0 */
    bool opaque;    /* pixels whose alpha is not > 0 are ignored; no effect without alpha */
    int y; /* row of the whole image that is the first of `src`; bands come from top down */
};

/* reduce: result[c] += what is found of channel c; zeroed before the first band. Fewer than 2^32
 * pixels. Waits. */

/* to += value * 2^shift, or -= where `minus`; shift below 64 * GI_EXACT_WORDS. */
void gi_exact_add(struct gi_exact *to, uint64_t value, unsigned shift, bool minus);

/* to += from; the samples of `from` come after those of `to`. */
void gi_reduction_add(struct gi_reduction *to, const struct gi_reduction *from);

enum gi_scan_along {
    GI_SCAN_BOTH,    /* over rows 0 to y and columns 0 to x: an integral image */
    GI_SCAN_ROWS,    /* over columns 0 to x of row y */
    GI_SCAN_COLUMNS, /* over rows 0 to y of column x */
};

/* Prefix sums: dst(y, x) = the sum of v over the positions that `along` names, each channel
 * separately, alpha included; v is the sample or, with `squares`, its square. The sums are
 * integers, so their order does not matter: for GI_F32 v is a double, 0 if it is not finite, times
 * 2^shift, rounded to the nearest integer (half to even), and the sum as a double (rounded to
 * nearest) times 2^-shift. The caller ensures that sums fit: in 32 or 64 bits unsigned, or in 63
 * bits and a sign. */
struct gi_scan {
    enum gi_scan_along along;
    bool squares;
    int words; /* 32-bit words per sum: 1 or 2; 2 for GI_F32, whose sums are doubles */
    int shift; /* GI_F32: -1000 to 1000 */
};

/* scan: `dst` is a GI_U32 image of as many channels, rows and, times `words`, columns as `src`; its
 * rows hold uint32_t, uint64_t or double, channel by channel, pixel by pixel. */

/* Returns the integer that a float contributes; `scale` is 2^shift. */
GI_HOST_DEVICE static inline int64_t gi_scan_float(float sample, bool square, double scale)
{
    double v = sample - sample == 0 ? sample : 0;
    return (int64_t)rint((square ? v * v : v) * scale);
}

/* How a stack of images becomes one: the n samples at one place, in float64, give s. */
enum gi_stack_method {
    GI_STACK_MEAN,       /* the sum, added in the order of the images, / n */
    GI_STACK_MEDIAN,     /* gi_stack_median() of the samples in ascending order */
    GI_STACK_MIN,        /* the first sample, replaced by each later one that is less */
    GI_STACK_MAX,        /* the first sample, replaced by each later one that is greater */
    GI_STACK_SUM,        /* the sum, added in the order of the images, / full scale */
    GI_STACK_SIGMA_CLIP, /* gi_stack_clipped_mean() of the samples in ascending order */
};

enum { GI_STACK_ROUNDS = 5 }; /* of clipping, at most */

struct gi_stack {
    enum gi_stack_method method;
    int images;   /* number of images side by side in `src`, 1 to its width */
    double kappa; /* SIGMA_CLIP: standard deviations that are kept */
    /* MEAN, MIN, MAX and SUM continue with the GI_U32 result of earlier calls, on the same backend,
     * and the number of their images. NULL and 0: there were none. */
    const struct gi_image *earlier;
    uint64_t nearlier;
};

/* Returns whether a stack is reduced image by image, so that it can be continued. */
static inline bool gi_stack_continues(const struct gi_stack *spec)
{
    return spec->method != GI_STACK_MEDIAN && spec->method != GI_STACK_SIGMA_CLIP;
}

/* stack: reduces images of one shape, side by side in `src`, to one. With w = src->width / images
 * rounded down, image k is columns k * w to (k + 1) * w - 1; columns behind the last image do not
 * count. `dst` has w columns and the rows and channels of `src`; every channel is reduced alone,
 * alpha too. Its type is that of `src`, for SUM GI_F32: integers become floor(s + 0.5), and floats
 * s rounded to nearest. s is NaN if one of the samples is NaN.
 *
 * `dst` may instead be GI_U32 and have 2 * w columns: its rows then hold s as double, before the
 * division, for a call that continues; only where gi_stack_continues(). */

/* Combines s with the sample v of the next image. */
GI_HOST_DEVICE static inline double gi_stack_join(enum gi_stack_method method, double s, double v)
{
    if (method == GI_STACK_MIN)
        return v < s || v != v ? v : s;
    if (method == GI_STACK_MAX)
        return v > s || v != v ? v : s;
    return s + v;
}

/* Samples at one place in ascending order: key i is at keys[i * step]. Keys of integers are the
 * samples themselves, those of floats gi_float_key(). */
struct gi_stack_order {
    const uint32_t *keys;
    size_t step;
    enum gi_type type;
};

GI_HOST_DEVICE static inline double gi_stack_sample(struct gi_stack_order order, int i)
{
    uint32_t key = order.keys[(size_t)i * order.step], bits = gi_float_key_bits(key);
    float v;
    memcpy(&v, &bits, sizeof v);
    return order.type == GI_F32 ? (double)v : (double)key;
}

/* The mean of samples from <= i < to, added in this order. */
GI_HOST_DEVICE static inline double gi_stack_mean(struct gi_stack_order order, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += gi_stack_sample(order, i);
    return sum / (to - from);
}

/* The median of samples from <= i < to: of an even number the mean of the two in the middle. */
GI_HOST_DEVICE static inline double gi_stack_median(struct gi_stack_order order, int from, int to)
{
    int n = to - from, middle = from + n / 2;
    double v = gi_stack_sample(order, middle);
    return n % 2 ? v : (gi_stack_sample(order, middle - 1) + v) / 2;
}

/* The mean of n samples after at most GI_STACK_ROUNDS rounds, each of which leaves out those that
 * are further than kappa standard deviations from the median of the remaining ones. */
GI_HOST_DEVICE static inline double gi_stack_clipped_mean(struct gi_stack_order order, int n,
                                                          double kappa)
{
    int from = 0, to = n;
    for (int round = 0; round < GI_STACK_ROUNDS; round++) {
        double mean = gi_stack_mean(order, from, to), median = gi_stack_median(order, from, to);
        double sum = 0;
        for (int i = from; i < to; i++) {
            double d = gi_stack_sample(order, i) - mean;
            sum += d * d;
        }
        double reach = kappa * sqrt(sum / (to - from));
        int first = from, last = to;
        while (first < last - 1 && median - gi_stack_sample(order, first) > reach)
            first++;
        while (last > first + 1 && gi_stack_sample(order, last - 1) - median > reach)
            last--;
        if (first == from && last == to)
            break;
        from = first;
        to = last;
    }
    return gi_stack_mean(order, from, to);
}

/* Sorts n keys by Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2,
 * algorithm M): executes the statement for pairs i < j, after which key i must not be greater than
 * key j. The pairs depend on n alone, so that threads and vector lanes sort in step. */
#define GI_STACK_SORT(n, i, j, ...)                                                                \
    do {                                                                                           \
        int gi_top_ = 1;                                                                           \
        while (gi_top_ < ((n) + 1) / 2)                                                            \
            gi_top_ *= 2;                                                                          \
        for (int gi_p_ = (n) > 1 ? gi_top_ : 0; gi_p_ > 0; gi_p_ /= 2)                             \
            for (int gi_q_ = gi_top_, gi_r_ = 0, gi_d_ = gi_p_;; gi_q_ /= 2) {                     \
                for (int i = 0; i < (n)-gi_d_; i++)                                                \
                    if ((i & gi_p_) == gi_r_) {                                                    \
                        int j = i + gi_d_;                                                         \
                        __VA_ARGS__;                                                               \
                    }                                                                              \
                if (gi_q_ == gi_p_)                                                                \
                    break;                                                                         \
                gi_d_ = gi_q_ - gi_p_;                                                             \
                gi_r_ = gi_p_;                                                                     \
            }                                                                                      \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
