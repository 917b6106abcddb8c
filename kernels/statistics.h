/* Contracts of the family statistics: histograms, sums, exact reductions, integral images, and
 * stacks of images. That of correlate is in kernels/correlate.h.
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
    GI_KEY_VALUE, /* GI_U8, GI_U16: bin = sample; nbins is 256 or 65536 */
    GI_KEY_RANGE, /* GI_F32: bin i counts e(i) <= v < e(i + 1), the last bin also v == hi, where
                     e(i) = lo + i * ((hi - lo) / nbins) in double and e(nbins) = hi. Samples
                     outside lo..hi and NaN are not counted; nothing is counted if hi - lo is
                     negative or not finite. 1 <= nbins <= 65536 */
    GI_KEY_FLOAT_HIGH, /* GI_F32: upper half of gi_float_key(v), NaN not counted; 65536 bins */
    GI_KEY_FLOAT_LOW,  /* GI_F32: bin = lower half of gi_float_key(v); a sample counts if it is not
                          NaN and its upper half is one of `prefixes`; 65536 bins per prefix */
};

enum { GI_PREFIXES_MAX = 16 };

struct gi_histogram_spec {
    enum gi_histogram_key key;
    int nbins;
    double lo, hi; /* GI_KEY_RANGE */
    /* GI_KEY_FLOAT_LOW: distinct upper halves of keys. Each upper half has its own histogram. The
     * histograms follow one another in the result. */
    uint16_t prefixes[GI_PREFIXES_MAX];
    int nprefixes; /* 1 to GI_PREFIXES_MAX */
};

/* Returns the bin of v among 65536 equal bins from 0 to 1, as GI_KEY_RANGE defines them. Values
 * outside 0 to 1 get the nearest bin, and NaN gets bin 0. The product with 2^16 is exact. */
GI_HOST_DEVICE static inline int gi_unit_bin(float v)
{
    return v > 0 ? (v < 1 ? (int)(v * 65536.0f) : 65535) : 0;
}

/* histogram: adds the occurrences in channel c to result[c * nbins + bin], in host memory. There
 * are channels * nbins counts, or nprefixes times as many with GI_KEY_FLOAT_LOW. The caller zeroes
 * the counts before the first band. */

/* Sums of quantised samples q. They are integers, so the order of additions does not matter. For
 * integer types q is the sample. For GI_F32 q = rint((v - lo) * ((2^31 - 1) / (hi - lo))) in
 * double, with v clamped to lo..hi; q is 0 if hi <= lo or hi - lo is not finite, and NaN is
 * skipped. At most 2^32 samples. */
struct gi_sums {
    uint64_t n;               /* samples counted */
    uint64_t q;               /* sum of q */
    uint64_t q2_low, q2_high; /* sums of the lower and of the upper 32 bits of q * q */
};

/* sums: adds the sums of channel c to result[c]. */
struct gi_sums_range {
    const float *lo, *hi; /* of each channel */
};

enum { GI_EXACT_WORDS = 10 };

/* A 640-bit integer in two's complement, lowest word first. It can hold any sum of squares of 2^32
 * floats, so nothing is rounded, and the words do not depend on the order of additions. Source: the
 * large superaccumulator of R. Neal, "Fast exact summation using small and large
 * superaccumulators", arXiv:1505.05571, 2015. */
struct gi_exact {
    uint64_t w[GI_EXACT_WORDS];
};

/* Exponents of 2 in the units of exact sums of GI_F32. GI_EXACT_SUM is for sums and magnitudes,
 * GI_EXACT_SQUARES for squares. */
enum { GI_EXACT_SUM = -149, GI_EXACT_SQUARES = -298 };

/* Results of one channel. For GI_F32 everything except the counts of special values refers to
 * finite samples, and -0 counts as +0. */
struct gi_reduction {
    uint64_t n;                             /* number of samples; GI_F32: finite ones */
    uint64_t nan, above, below;             /* numbers of NaN, +infinity and -infinity */
    struct gi_exact sum, magnitude, square; /* sums of samples, of absolute samples and of squares;
                                               GI_F32: in units 2^GI_EXACT_SUM,
                                               2^GI_EXACT_SQUARES */
    float min, max;                         /* 0 where n is 0 */
    uint64_t min_at, max_at; /* y * width + x of the first minimum and maximum; 0 if n is 0 */
};

struct gi_reduce {
    bool sums_only; /* leave out minima, maxima and their positions, which become 0 */
    bool opaque;    /* only pixels with alpha > 0 count; no effect without alpha */
    int y;          /* row of the whole image that is the first row of `src`; bands come top down */
};

/* reduce: adds channel c to result[c], which the caller zeroes before the first band. Fewer than
 * 2^32 pixels. Waits. */

/* Adds value * 2^shift to `to`, or subtracts it from `to` if `minus`. shift < 64 *
 * GI_EXACT_WORDS. */
void gi_exact_add(struct gi_exact *to, uint64_t value, unsigned shift, bool minus);

/* Adds `from` to `to`. The samples of `from` come after the samples of `to`. */
void gi_reduction_add(struct gi_reduction *to, const struct gi_reduction *from);

enum gi_scan_along {
    GI_SCAN_BOTH,    /* sums over rows 0 to y and columns 0 to x: an integral image */
    GI_SCAN_ROWS,    /* over columns 0 to x of row y */
    GI_SCAN_COLUMNS, /* over rows 0 to y of column x */
};

/* Prefix sums of each channel separately, including alpha. dst(y, x) is the sum of v over the
 * positions that `along` selects, where v is the sample, or its square with `squares`. Sums are
 * integers, so their order does not matter. For GI_F32 v is computed in double (0 if the sample is
 * not finite), and v * 2^shift is rounded to an integer (half to even). The sum of these integers
 * is converted to double (rounded to nearest) and multiplied by 2^-shift. The caller ensures that
 * sums fit in 32 or 64 bits unsigned, or for GI_F32 in 63 bits and a sign. */
struct gi_scan {
    enum gi_scan_along along;
    bool squares;
    int words; /* 32-bit words per sum, 1 or 2; GI_F32: 2, sums are doubles */
    int shift; /* GI_F32: -1000 to 1000 */
};

/* scan: `dst` is a GI_U32 image with the channels and rows of `src`, and with `words` times the
 * columns of `src`. Its rows hold uint32_t, uint64_t or double, in the order of the samples of
 * `src`. */

/* Returns the integer that a float contributes to a sum; `scale` is 2^shift. */
GI_HOST_DEVICE static inline int64_t gi_scan_float(float sample, bool square, double scale)
{
    double v = sample - sample == 0 ? sample : 0;
    return (int64_t)rint((square ? v * v : v) * scale);
}

/* How a stack of images is reduced to one image: how s is computed, in float64, from the n samples
 * at one position. */
enum gi_stack_method {
    GI_STACK_MEAN,       /* the sum, added in the order of the images, / n */
    GI_STACK_MEDIAN,     /* gi_stack_median() of the samples in ascending order */
    GI_STACK_MIN,        /* first sample, replaced by each later one that is less */
    GI_STACK_MAX,        /* first sample, replaced by each later one that is greater */
    GI_STACK_SUM,        /* the sum, added in the order of the images, / full scale */
    GI_STACK_SIGMA_CLIP, /* gi_stack_clipped_mean() of the samples in ascending order */
};

enum { GI_STACK_ROUNDS = 5 }; /* of clipping, at most */

struct gi_stack {
    enum gi_stack_method method;
    int images;   /* number of images side by side in `src`, 1 to its width */
    double kappa; /* SIGMA_CLIP: clipping limit in standard deviations */
    /* MEAN, MIN, MAX and SUM can continue earlier calls. Then these members are the GI_U32 result
     * of the last call, on the same backend, and the number of images in it; else they are NULL and
     * 0. */
    const struct gi_image *earlier;
    uint64_t nearlier;
};

/* Returns whether the method reduces image by image, so that a later call can continue it. */
static inline bool gi_stack_continues(const struct gi_stack *spec)
{
    return spec->method != GI_STACK_MEDIAN && spec->method != GI_STACK_SIGMA_CLIP;
}

/* For both backends: whether the way "running" (image by image), or the way "sorted" (all images at
 * once), takes the work. */
static inline bool gi_stack_running_takes(const struct gi_queue *queue, const struct gi_image *src,
                                          const struct gi_stack *spec)
{
    (void)queue, (void)src;
    return gi_stack_continues(spec);
}

static inline bool gi_stack_sorted_takes(const struct gi_queue *queue, const struct gi_image *src,
                                         const struct gi_stack *spec)
{
    return !gi_stack_running_takes(queue, src, spec);
}

/* stack: reduces images of one shape, which are side by side in `src`, to one. With w = src->width
 * / images, rounded down, image k is columns k * w to (k + 1) * w - 1; columns to the right of the
 * last image are ignored. `dst` has w columns, and the rows and channels of `src`. Every channel is
 * reduced separately, including alpha. `dst` has the type of `src`, but GI_F32 for SUM. Integers
 * become floor(s + 0.5); floats become s rounded to nearest. s is NaN if one of the samples is NaN.
 *
 * If gi_stack_continues(), `dst` may instead be GI_U32 with 2 * w columns. Its rows then hold s as
 * double, before the division, and a later call can continue it. */

/* Updates s with the sample v of the next image. */
GI_HOST_DEVICE static inline double gi_stack_join(enum gi_stack_method method, double s, double v)
{
    if (method == GI_STACK_MIN)
        return v < s || v != v ? v : s;
    if (method == GI_STACK_MAX)
        return v > s || v != v ? v : s;
    return s + v;
}

/* The samples at one position as keys in ascending order: key i is keys[i * step]. The key of an
 * integer is the sample itself; the key of a float is its gi_float_key(). */
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

/* Returns the mean of samples from <= i < to, added in this order. */
GI_HOST_DEVICE static inline double gi_stack_mean(struct gi_stack_order order, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += gi_stack_sample(order, i);
    return sum / (to - from);
}

/* Returns the median of samples from <= i < to. The median of an even number of samples is the mean
 * of the middle two. */
GI_HOST_DEVICE static inline double gi_stack_median(struct gi_stack_order order, int from, int to)
{
    int n = to - from, middle = from + n / 2;
    double v = gi_stack_sample(order, middle);
    return n % 2 ? v : (gi_stack_sample(order, middle - 1) + v) / 2;
}

/* Returns the mean of n samples after outliers were removed in at most GI_STACK_ROUNDS rounds. A
 * round removes samples that differ from the median of the remaining samples by more than kappa
 * times the standard deviation of the remaining samples. */
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
 * algorithm M). The last argument is a statement that is executed for pairs i < j and must leave
 * the smaller key at i. The pairs depend only on n, so threads and lanes sort in step. */
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
