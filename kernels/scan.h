/* Running sums of the samples of an image, exact. Included by kernels/kernels.h, whose rules hold
 * here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_SCAN_H
#define GI_KERNELS_SCAN_H

#include <math.h>

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    int words; /* of 32 bits that a sum takes: 1 or 2, of GI_F32, where it is a double, 2 */
    int shift; /* GI_F32: -1000 to 1000 */
};

/* `dst` is a GI_U32 image of as many channels, rows and, times `words`, columns as `src`; its rows
 * hold uint32_t, uint64_t or double, channel by channel, pixel by pixel. */
typedef enum gi_status gi_scan_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_scan *spec,
                                  struct gi_err *err);

/* The whole number that a float counts for; `scale` is 2^shift. */
GI_HOST_DEVICE static inline int64_t gi_scan_float(float sample, bool square, double scale)
{
    double v = sample - sample == 0 ? sample : 0;
    return (int64_t)rint((square ? v * v : v) * scale);
}

#ifdef __cplusplus
}
#endif
#endif
