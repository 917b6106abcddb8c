/* Takes channels out of an image, and joins colours and alpha, on the queue's backend.
 * SPDX-License-Identifier: MIT */
#include "filters/channels_apart.h"

#include "kernels/color.h"
#include "kernels/kernels.h"

enum gi_status gi_channels_take(struct gi_queue *queue, struct gi_image *part,
                                const struct gi_image *src, int first, int channels,
                                struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_permute_channels spec = {.nsources = 1};
    for (int c = 0; c < channels; c++)
        spec.from[c].channel = first + c;
    enum gi_status status =
        k->alloc(queue, part, src->width, src->height, channels, src->type, err);
    if (status)
        return status;
    status = k->permute_channels(queue, part, src, &spec, err);
    if (status)
        k->release(queue, part);
    return status;
}

enum gi_status gi_channels_join_alpha(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image parts[2], int alpha, struct gi_err *err)
{
    struct gi_permute_channels join = {.nsources = 2};
    int last = dst->channels - 1;
    for (int c = 0; c < last; c++)
        join.from[c].channel = c;
    join.from[last].source = 1;
    join.from[last].channel = alpha;
    return queue->k->permute_channels(queue, dst, parts, &join, err);
}
