/* What is joined to a side of an image, or enclosed, given a value. Included by kernels/kernels.h,
 * whose rules hold here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_FLOOD_H
#define GI_KERNELS_FLOOD_H

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_queue;
struct gi_predicate;

/* Of the foreground, the pixels that a path of its pixels joins to a side of the image are reached.
 * The colour samples of these, or where `enclosed` of the foreground's others, become `value`; all
 * other pixels, and alpha, are as in `src`. */
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
