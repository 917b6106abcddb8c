/* Copies of images between a backend and host memory.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/host_image.h"

#include "filters/tone/luma.h"
#include "kernels/color.h"
#include "kernels/kernels.h"

/* Downloads `made`, which an earlier call has filled if `status` is GI_OK, or else releases it. */
static enum gi_status fetch(struct gi_queue *queue, struct gi_image *host, struct gi_image *made,
                            enum gi_status status, struct gi_err *err)
{
    if (!status)
        return queue->k->download(queue, host, made, NULL, err);
    queue->k->release(queue, made);
    return status;
}

enum gi_status gi_host_copy(struct gi_queue *queue, struct gi_image *host,
                            const struct gi_image *src, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image made;
    enum gi_status status =
        k->alloc(queue, &made, src->width, src->height, src->channels, src->type, err);
    return status ? status : fetch(queue, host, &made, k->copy(queue, &made, src, err), err);
}

enum gi_status gi_host_judge(struct gi_queue *queue, struct gi_image *host,
                             const struct gi_image *src, struct gi_err *err)
{
    struct gi_image judge;
    if (!gi_luma_decides(src, false))
        return gi_host_copy(queue, host, src, err);
    enum gi_status status = gi_judge_make(queue, &judge, src, true, err);
    return status ? status : queue->k->download(queue, host, &judge, NULL, err);
}

enum gi_status gi_host_alpha(struct gi_queue *queue, struct gi_image *host,
                             const struct gi_image *src, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_permute_channels last = {.from = {{0, src->channels - 1}}, .nsources = 1};
    struct gi_image made;
    enum gi_status status = k->alloc(queue, &made, src->width, src->height, 1, src->type, err);
    return status
               ? status
               : fetch(queue, host, &made, k->permute_channels(queue, &made, src, &last, err), err);
}

enum gi_status gi_host_store(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *host, struct gi_err *err)
{
    struct gi_image uploaded;
    enum gi_status status = queue->k->upload(queue, &uploaded, host, NULL, err);
    if (status)
        return status;
    status = queue->k->copy(queue, dst, &uploaded, err);
    queue->k->release(queue, &uploaded);
    return status;
}
