/* Sums, extremes and their places of the channels of an image, exact whatever the order. Included
 * by kernels/kernels.h, whose rules hold here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_REDUCE_H
#define GI_KERNELS_REDUCE_H

#include "imgio/image.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GI_EXACT_WORDS = 10 };

/* A whole number of 640 bits in two's complement, the lowest word first: wide enough for the
 * squares of 2^32 floats, so that nothing is ever rounded and any order gives the same words. After
 * the large superaccumulator of R. Neal, "Fast exact summation using small and large
 * superaccumulators", arXiv:1505.05571, 2015. */
struct gi_exact {
    uint64_t w[GI_EXACT_WORDS];
};

/* Units of sums and magnitudes, and of squares, of GI_F32: 2 to this power. */
enum { GI_EXACT_SUM = -149, GI_EXACT_SQUARES = -298 };

/* One channel. For GI_F32 everything except the counts is of finite samples, and -0 counts as +0.
 */
struct gi_reduction {
    uint64_t n;                             /* samples, finite ones */
    uint64_t nan, above, below;             /* samples that are NaN, infinity and minus infinity */
    struct gi_exact sum, magnitude, square; /* of samples, absolute samples and squares; units: 1
                                               for integers, else as above */
    float min, max;                         /* 0 where n is 0 */
    uint64_t min_at, max_at; /* y * width + x of the first in raster order; 0 where n is 0 */
};

struct gi_reduce {
    bool opaque; /* pixels whose alpha is not > 0 are left out; nothing of images without alpha */
    int y;       /* row of the whole image that is the first of `src`; bands come from the top on */
};

/* found[c] += what is found of channel c; zeroed before the first band. Fewer than 2^32 pixels.
 * Waits. */
typedef enum gi_status gi_reduce_fn(struct gi_queue *queue, struct gi_reduction *found,
                                    const struct gi_image *src, const struct gi_reduce *spec,
                                    struct gi_err *err);

/* to += value * 2^shift, or -= where `minus`; shift below 64 * GI_EXACT_WORDS. */
void gi_exact_add(struct gi_exact *to, uint64_t value, unsigned shift, bool minus);

/* to += from; the samples of `from` come after those of `to`. */
void gi_reduction_add(struct gi_reduction *to, const struct gi_reduction *from);

#ifdef __cplusplus
}
#endif
#endif
