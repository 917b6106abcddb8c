/* Histograms, and floats as numbers of the same order. Included by kernels/kernels.h, whose rules
 * hold here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_HISTOGRAM_H
#define GI_KERNELS_HISTOGRAM_H

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gi_histogram_key {
    GI_KEY_VALUE, /* GI_U8, GI_U16: the sample itself; nbins is 256 or 65536 */
    GI_KEY_RANGE, /* GI_F32: the bin i with e(i) <= v < e(i + 1), the last one with v == hi too,
                     e(i) = lo + i * ((hi - lo) / nbins) in double and e(nbins) = hi; a sample
                     outside lo..hi or NaN is not counted; 1 <= nbins <= 65536; nothing is
                     counted where hi - lo is negative or not finite */
    GI_KEY_FLOAT_HIGH, /* GI_F32: upper 16 bits of gi_float_key(v), NaN not counted; 65536 bins */
    GI_KEY_FLOAT_LOW,  /* GI_F32: lower 16 bits, only where the upper 16 are one of `prefixes`, NaN
                          not counted; 65536 bins for each prefix */
};

enum { GI_PREFIXES_MAX = 16 };

struct gi_histogram_spec {
    enum gi_histogram_key key;
    int nbins;
    double lo, hi; /* GI_KEY_RANGE */
    /* GI_KEY_FLOAT_LOW: different upper halves, each with a histogram of its own, one behind the
     * other in `counts`. */
    uint16_t prefixes[GI_PREFIXES_MAX];
    int nprefixes; /* 1 to GI_PREFIXES_MAX */
};

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

/* Where floats have 65536 values over 0 to 1, the one of v: that of GI_KEY_RANGE, and for a v
 * outside the nearest; of NaN 0. Times 2^16 is exact. */
GI_HOST_DEVICE static inline int gi_unit_bin(float v)
{
    return v > 0 ? (v < 1 ? (int)(v * 65536.0f) : 65535) : 0;
}

/* counts[c * nbins + bin] += occurrences in channel c; the caller zeroes `counts` (host memory,
 * channels * nbins, that nprefixes times for GI_KEY_FLOAT_LOW) before the first band. */
typedef enum gi_status gi_histogram_fn(struct gi_queue *queue, uint64_t *counts,
                                       const struct gi_image *src,
                                       const struct gi_histogram_spec *spec, struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
