/* Quick ways for small windows, where they give the same bits.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_SMALL_H
#define GI_KERNELS_CPU_SMALL_H

#include "kernels/cpu/cpu.h"

/* Whether separable_small() does this filter, and that: 3, 5 or 7 taps each way, and of images with
 * alpha those of 4 channels, by the rules PLAIN and WEIGH. */
bool GI_CPU(separable_is_small)(const struct gi_image *src, const struct gi_separable *spec);
enum gi_status GI_CPU(separable_small)(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src, const struct gi_separable *spec,
                                       struct gi_err *err);

/* The same of 3 x 3 operators with whole weights on 8 bits. */
bool GI_CPU(separable_is_operator3)(const struct gi_image *src, const struct gi_separable *spec);
enum gi_status GI_CPU(separable_operator3)(struct gi_queue *queue, struct gi_image *dst,
                                           const struct gi_image *src,
                                           const struct gi_separable *spec, struct gi_err *err);
bool GI_CPU(gradient_is_operator3)(const struct gi_image *src, const struct gi_gradient *spec);
enum gi_status GI_CPU(gradient_operator3)(struct gi_queue *queue, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_gradient *spec, struct gi_err *err);

/* The mean of 3 x 3 or 5 x 5, on 8 bits 7 x 7; of four channels of 8 bits, weighed by alpha, 3 x 3
 * to 7 x 7; on 8 bits, k up to 127. */
gi_box_takes_fn GI_CPU(box_small_takes), GI_CPU(box_weighed_takes), GI_CPU(box_narrow_takes);
gi_box_fn GI_CPU(box_small), GI_CPU(box_weighed), GI_CPU(box_narrow);

#endif
