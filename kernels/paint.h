/* Regions given a value. Included by kernels/kernels.h, whose rules hold here too.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_PAINT_H
#define GI_KERNELS_PAINT_H

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_queue;

/* Pixels whose label l is marked get the colour samples `value`; all others, and alpha, are as in
 * `src`. */
struct gi_paint {
    const struct gi_image *labels; /* GI_U32, of the shape of `src`, on the backend */
    const uint8_t *marked;         /* not 0: [l - 1] is marked; host memory, read before the
                                      primitive returns */
    uint32_t n;                    /* entries: no label is greater; 0 is none */
    float value;                   /* sample units, a sample of the type */
};

typedef enum gi_status gi_paint_fn(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_paint *spec,
                                   struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
