/* Fully transparent pixels, kept from being picked. Included by kernels/kernels.h, whose rules hold
 * here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_VEIL_H
#define GI_KERNELS_VEIL_H

#include "imgio/image.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pixel counts whose alpha is > 0.
 *
 * Without `picked` the veil is put on: all samples of a pixel that does not count become `hidden`,
 * alpha of one that does `shown`, its colour stays. So what picks the extreme samples of each
 * channel of a window, alpha too, leaves `hidden` in alpha where none of its pixels counts, if it
 * picks `hidden` after everything else.
 *
 * With `picked`, which was made like that, the veil is taken off: alpha is that of `src`, and so is
 * the colour where the alpha of `picked` is `hidden`; elsewhere the colour is that of `picked`. */
struct gi_veil {
    const struct gi_image *picked; /* of the shape of `src`, on the backend; NULL: none yet */
    float hidden, shown;           /* two different samples of the type, no NaN */
};

/* `src` has alpha; `dst` may be spec->picked. Samples that stay do so to the bit. */
typedef enum gi_status gi_veil_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_veil *spec,
                                  struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
