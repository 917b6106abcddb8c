/* The luma of an image, for operations that judge colour by it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_LUMA_H
#define GI_FILTERS_LUMA_H

#include "kernels/kernels.h"

/* Is `src` judged by its luma? Where it has several channels, unless each is asked for. */
static inline bool gi_luma_decides(const struct gi_image *src, bool per_channel)
{
    return src->channels > 1 && !per_channel;
}

/* Makes `gray`, of one channel, on the queue's backend: the luma of `src` (ITU-R BT.709, 2 to 4
 * channels; alpha is left out). The caller releases it. Errors: as alloc's and luma's; then nothing
 * is left to release. */
enum gi_status gi_luma_make(struct gi_queue *queue, struct gi_image *gray,
                            const struct gi_image *src, struct gi_err *err);

#endif
