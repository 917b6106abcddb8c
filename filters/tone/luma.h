/* The luma of an image, for operations that judge a colour pixel by one number.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_LUMA_H
#define GI_FILTERS_LUMA_H

#include "kernels/kernels.h"

/* Returns whether `src` is judged by its luma: if it has colour and channels are not judged
 * separately. */
static inline bool gi_luma_decides(const struct gi_image *src, bool per_channel)
{
    return src->channels > 1 && !per_channel;
}

/* Returns the bytes of the luma of `src`; 0 if `src` has one channel. */
static inline size_t gi_luma_nbytes(const struct gi_image *src)
{
    return src->channels > 1 ? (size_t)gi_image_nbytes(src) / (size_t)src->channels : 0;
}

/* Makes `judge`, the image by which `src` is judged, on the queue's backend: its luma (ITU-R
 * BT.709, without alpha) if `by_luma`, else the image itself. The caller releases it with the
 * counterpart below. Errors: as alloc's and luma's; then nothing is left to release. */
enum gi_status gi_judge_make(struct gi_queue *queue, struct gi_image *judge,
                             const struct gi_image *src, bool by_luma, struct gi_err *err);
void gi_judge_release(struct gi_queue *queue, struct gi_image *judge, bool by_luma);

#endif
