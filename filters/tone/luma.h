/* The luma of an image, for operations that evaluate a colour pixel by one number.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/device.h"

/* Returns whether `src` is evaluated by its luma. This is so if it has colour and `per_channel` is
 * not set. */
static inline bool gi_luma_decides(const struct gi_image *src, bool per_channel)
{
    return src->channels > 1 && !per_channel;
}

/* Returns the size of the luma of `src` in bytes, or 0 if `src` has one channel. */
static inline size_t gi_luma_nbytes(const struct gi_image *src)
{
    return src->channels > 1 ? (size_t)gi_image_nbytes(src) / (size_t)src->channels : 0;
}

/* Makes `judge`, the image by which `src` is evaluated, on the queue's backend. If `by_luma` is
 * set, `judge` is the luma of `src` (ITU-R BT.709, without alpha), else `src` itself. The caller
 * releases `judge` with gi_judge_release(). Errors: those of alloc and luma. After an error there
 * is nothing to release. */
enum gi_status gi_judge_make(struct gi_queue *queue, struct gi_image *judge,
                             const struct gi_image *src, bool by_luma, struct gi_err *err);
void gi_judge_release(struct gi_queue *queue, struct gi_image *judge, bool by_luma);
