/* The luma of an image, for operations that judge colour by it.
 * SPDX-License-Identifier: MIT */
#include "filters/tone/luma.h"

enum gi_status gi_luma_make(struct gi_queue *queue, struct gi_image *gray,
                            const struct gi_image *src, struct gi_err *err)
{
    enum gi_status status =
        queue->k->alloc(queue, gray, src->width, src->height, 1, src->type, err);
    if (status)
        return status;
    status = queue->k->luma(queue, gray, src, err);
    if (status)
        queue->k->release(queue, gray);
    return status;
}
