/* The luma of an image, for operations that evaluate a colour pixel by one number.
 * SPDX-License-Identifier: MIT */
#include "filters/tone/luma.h"
#include "kernels/kernels.h"

enum gi_status gi_judge_make(struct gi_queue *queue, struct gi_image *judge,
                             const struct gi_image *src, bool by_luma, struct gi_err *err)
{
    *judge = *src;
    if (!by_luma)
        return GI_OK;
    enum gi_status status =
        queue->k->alloc(queue, judge, src->width, src->height, 1, src->type, err);
    if (status)
        return status;
    status = queue->k->luma(queue, judge, src, NULL, err);
    if (status)
        queue->k->release(queue, judge);
    return status;
}

void gi_judge_release(struct gi_queue *queue, struct gi_image *judge, bool by_luma)
{
    if (by_luma)
        queue->k->release(queue, judge);
}
