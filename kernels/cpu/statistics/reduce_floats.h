/* Exact sums of floats. A float with exponent field e is an integer of 24 bits times 2^(e - 150).
 *
 * By block: if the exponent fields of a block are from `bottom` to `top`, at most WINDOW apart, 2^8
 * samples per lane are summed exactly in doubles: |v| < 2^(top - 126) in units of 2^(bottom - 150)
 * needs 24 + 20 + 8 of the 53 bits. Sums of squares q need two doubles. `high` begins as 1.5 * 2^k,
 * k = 2 top - 242, and remains in [2^k, 2^(k + 1)). Adding q to it therefore rounds q to 2^(k -
 * 52), and (high + q) - high is exact (the idea of ExtractScalar by T. Ogita, S. Rump and S. Oishi,
 * SIAM J. Sci. Comput. 31(1), 2008). The remainder, at most 2^(k - 53) in units of 2^(2 bottom -
 * 300), needs 2 * 20 + 13 bits per lane.
 *
 * By exponent, for other blocks: the integers of each exponent field have a sum of their own.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/bit_rows.h"

enum {
    FLOAT_LANES = 24,          /* a multiple of 1, 2, 3 and 4 channels, and of 8 */
    BLOCK = FLOAT_LANES * 256, /* samples */
    WINDOW = 20,
    FIELD = 23, /* bits below the exponent field */
};

/* Sums of the 24-bit integers of samples, one sum per exponent field e (field 0 counts as 1). */
struct by_exponent {
    uint64_t plus[255], minus[255], square_low[255], square_high[255];
};

static inline void note_ends(struct gi_reduction *found, float min, float max, uint64_t min_at,
                             uint64_t max_at)
{
    if (!found->n || min < found->min) {
        found->min = min + 0.0f; /* -0 becomes +0 */
        found->min_at = min_at;
    }
    if (!found->n || max > found->max) {
        found->max = max + 0.0f;
        found->max_at = max_at;
    }
}

static inline void float_add(struct gi_reduction *found, struct by_exponent *odd, float v,
                             uint64_t place)
{
    uint32_t bits = float_bits(v), field = bits >> FIELD & 255, whole = bits & ((1u << FIELD) - 1);
    if (field == 255) {
        *(whole ? &found->nan : v > 0 ? &found->above : &found->below) += 1;
        return;
    }
    note_ends(found, v, v, place, place);
    found->n++;
    if (field)
        whole |= 1u << FIELD;
    else
        field = 1;
    uint64_t square = (uint64_t)whole * whole;
    (bits >> 31 ? odd->minus : odd->plus)[field] += whole;
    odd->square_low[field] += (uint32_t)square;
    odd->square_high[field] += square >> 32;
}

static void by_exponent_fold(struct gi_reduction *found, const struct by_exponent *odd)
{
    for (unsigned field = 1; field < 255; field++) {
        unsigned shift = field - 1; /* from 2^(field - 150) to the unit of GI_EXACT_SUM */
        if (!(odd->square_low[field] | odd->square_high[field]))
            continue;
        gi_exact_add(&found->sum, odd->plus[field], shift, false);
        gi_exact_add(&found->sum, odd->minus[field], shift, true);
        gi_exact_add(&found->magnitude, odd->plus[field], shift, false);
        gi_exact_add(&found->magnitude, odd->minus[field], shift, false);
        gi_exact_add(&found->square, odd->square_low[field], 2 * shift, false);
        gi_exact_add(&found->square, odd->square_high[field], 2 * shift + 32, false);
    }
}

/* Adds d, a multiple of 2^unit that is 0 or a normal number, to `to`. */
static inline void exact_add_double(struct gi_exact *to, double d, int unit)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    int shift = (int)(bits >> 52 & 0x7ff) - 1075 - unit;
    uint64_t whole = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    if (d == 0)
        return;
    if (shift < 0) {
        whole >>= -shift; /* only zeros are shifted out */
        shift = 0;
    }
    gi_exact_add(to, whole, (unsigned)shift, d < 0);
}

/* Minimum and maximum of a block, per lane of neighbouring samples. */
struct float_ends {
    float min[FLOAT_LANES], max[FLOAT_LANES];
    uint32_t least[FLOAT_LANES], most[FLOAT_LANES]; /* bits of |v|; least: minus 1, skips 0 */
};

static inline void ends_of(struct float_ends *ends, const float *row, size_t n)
{
    for (size_t l = 0; l < n; l++) {
        float v = row[l];
        uint32_t size;
        memcpy(&size, &v, sizeof size);
        size &= 0x7fffffff;
        ends->min[l] = v < ends->min[l] ? v : ends->min[l];
        ends->max[l] = v > ends->max[l] ? v : ends->max[l];
        ends->least[l] = size - 1 < ends->least[l] ? size - 1 : ends->least[l];
        ends->most[l] = size > ends->most[l] ? size : ends->most[l];
    }
}

struct float_sums {
    double sum[FLOAT_LANES], magnitude[FLOAT_LANES], high[FLOAT_LANES], low[FLOAT_LANES];
};

static inline void sums_of(struct float_sums *sums, const float *row, size_t n)
{
    for (size_t l = 0; l < n; l++) {
        double d = (double)row[l], q = d * d, high = sums->high[l], t = high + q;
        sums->sum[l] += d;
        sums->magnitude[l] += fabs(d);
        sums->low[l] += q - (t - high);
        sums->high[l] = t;
    }
}

/* Returns whether exponent fields are at most WINDOW apart, and sets *high to the initial sum of
 * squares. */
static bool fits_window(double *high, const struct float_ends *ends)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (int l = 0; l < FLOAT_LANES; l++) {
        least = ends->least[l] < least ? ends->least[l] : least;
        most = ends->most[l] > most ? ends->most[l] : most;
    }
    int top = (int)(most >> FIELD), bottom = most ? (int)((least + 1) >> FIELD) : top;
    top = top < 1 ? 1 : top;
    bottom = bottom < 1 ? 1 : bottom;
    *high = ldexp(1.5, 2 * top - 242);
    return top < 255 && top - bottom <= WINDOW;
}

static void fold_ends(struct gi_reduction *found, const struct float_ends *ends, const float *row,
                      size_t channels, uint64_t place)
{
    for (size_t c = 0; c < channels; c++) {
        float min = ends->min[c], max = ends->max[c];
        size_t i = c, j = c;
        for (size_t l = c; l < FLOAT_LANES; l += channels) {
            min = ends->min[l] < min ? ends->min[l] : min;
            max = ends->max[l] > max ? ends->max[l] : max;
        }
        if (!found[c].n || min < found[c].min)
            while (row[i] < min || row[i] > min)
                i += channels;
        if (!found[c].n || max > found[c].max)
            while (row[j] < max || row[j] > max)
                j += channels;
        note_ends(&found[c], min, max, place + i / channels, place + j / channels);
    }
}

/* Adds up to BLOCK samples, which are whole pixels. The first sample is at `place`. */
static void floats(struct gi_reduction *found, struct by_exponent *odd, const float *row, size_t n,
                   size_t channels, uint64_t place)
{
    struct float_ends ends;
    struct float_sums sums = {0};
    double high;
    for (int l = 0; l < FLOAT_LANES; l++) {
        ends.min[l] = INFINITY;
        ends.max[l] = -INFINITY;
        ends.least[l] = UINT32_MAX;
        ends.most[l] = 0;
    }
    size_t whole = n / FLOAT_LANES * FLOAT_LANES;
    for (size_t at = 0; at < whole; at += FLOAT_LANES) {
        prefetch_ahead(row + at, FLOAT_LANES * sizeof *row);
        ends_of(&ends, row + at, FLOAT_LANES);
    }
    ends_of(&ends, row + whole, n - whole);
    if (!fits_window(&high, &ends)) {
        for (size_t i = 0; i < n; i++)
            float_add(&found[i % channels], &odd[i % channels], row[i], place + i / channels);
        return;
    }
    fold_ends(found, &ends, row, channels, place);
    for (int l = 0; l < FLOAT_LANES; l++)
        sums.high[l] = high;
    for (size_t at = 0; at < whole; at += FLOAT_LANES)
        sums_of(&sums, row + at, FLOAT_LANES);
    sums_of(&sums, row + whole, n - whole);
    for (size_t l = 0; l < FLOAT_LANES; l++) {
        struct gi_reduction *to = &found[l % channels];
        exact_add_double(&to->sum, sums.sum[l], GI_EXACT_SUM);
        exact_add_double(&to->magnitude, sums.magnitude[l], GI_EXACT_SUM);
        exact_add_double(&to->square, sums.high[l] - high, GI_EXACT_SQUARES);
        exact_add_double(&to->square, sums.low[l], GI_EXACT_SQUARES);
    }
    for (size_t c = 0; c < channels; c++)
        found[c].n += n / channels;
}
