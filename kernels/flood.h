/* Flood fill from the sides of an image, or of enclosed foreground. Included by kernels/kernels.h,
 * whose rules apply here, too.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_FLOOD_H
#define GI_KERNELS_FLOOD_H

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_queue;
struct gi_predicate;

/* Foreground pixels that are connected to a side of the image are reached. The colour samples of
 * these, or with `enclosed` of the other foreground pixels, become `value`; all other pixels, and
 * alpha, are as in `src`. */
struct gi_flood {
    const struct gi_predicate *foreground; /* on an image of the size of `src`, on the backend */
    int connectivity;                      /* 4 or 8 */
    bool enclosed;
    float value; /* sample units, a sample of the type of `src` */
};

typedef enum gi_status gi_flood_fn(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_flood *spec,
                                   struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
