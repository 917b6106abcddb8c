/* Label images: one channel of integers from 0 to GI_LABEL_MAX, in host memory, of any sample type
 * or GI_U32; 0 is background.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"
#include "imgio/image.h"

enum { GI_LABEL_MAX = (1 << 24) - 1 }; /* all of them are exact in floats */

/* Returns the label of a pixel. The image must have passed gi_labels_check(). */
static inline uint32_t gi_label_at(const struct gi_image *labels, int x, int y)
{
    const void *row = gi_row(labels, y);
    return labels->type == GI_U32 ? ((const uint32_t *)row)[x]
                                  : (uint32_t)gi_sample(row, (size_t)x, labels->type);
}

/* Checks that `labels` is a label image. *largest becomes the maximum of `labels`. Errors:
 * GI_E_UNSUPPORTED, with a message that does not name the image. */
enum gi_status gi_labels_check(uint32_t *largest, const struct gi_image *labels,
                               struct gi_err *err);

/* Checks that the shape of `labels` fits that of `src`. Errors: as gi_labels_check(). */
enum gi_status gi_labels_fit(const struct gi_image *labels, const struct gi_image *src,
                             struct gi_err *err);

/* Replaces a label image, which it frees, by one of GI_F32, which holds all labels exactly. The
 * image must have passed gi_labels_check(). Errors: GI_E_MEMORY; then the image is unchanged. */
enum gi_status gi_labels_to_floats(struct gi_image *labels, struct gi_err *err);

/* Fills `mask`, which is GI_U8 and shaped as `labels`. A sample is 255 where the label is one of
 * `wanted`, else 0. */
void gi_labels_mask(const struct gi_image *mask, const struct gi_image *labels,
                    const struct gi_reals *wanted);
