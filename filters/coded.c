/* Decodes images on the device that are uploaded coded, and encodes results before they are
 * downloaded, so that fewer bytes cross the bus.
 * SPDX-License-Identifier: MIT */
#include "filters/execution.h"
#include "kernels/codec.h"
#include "kernels/kernels.h"

/* Replaces an image on the device by the image in another layout. */
static enum gi_status turn(struct gi_queue *queue, struct gi_image *image, int layout,
                           struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image was = *image;
    bool swap = layout & GI_LAYOUT_TRANSPOSE;
    enum gi_status status = k->alloc(queue, image, swap ? was.height : was.width,
                                     swap ? was.width : was.height, was.channels, was.type, err);
    if (!status && (status = k->layout(queue, image, &was, &layout, err)))
        k->release(queue, image);
    k->release(queue, &was);
    return status;
}

enum gi_status gi_coded_decode(struct gi_queue *queue, struct gi_image *image,
                               const struct gi_image *scan, const struct gi_coded *coded,
                               struct gi_err *err)
{
    const struct gi_jpeg_decode jpeg = {&coded->frame, coded->denominator};
    const struct gi_png_decode png = {&coded->png, coded->idats, coded->nidats};
    return coded->is_png ? queue->k->png_decode(queue, image, scan, &png, err)
                         : queue->k->jpeg_decode(queue, image, scan, &jpeg, err);
}

enum gi_status gi_execution_decode(struct gi_queue *queue, struct gi_image *image,
                                   const struct gi_image *host, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_coded *coded = host->coded;
    const struct gi_image scan = gi_coded_scan(coded);
    bool swap = coded->layout & GI_LAYOUT_TRANSPOSE;
    struct gi_image src;
    struct gi_ticket ticket;
    enum gi_status status = k->upload(queue, &src, &scan, &ticket, err);
    if (status)
        return status;
    status = k->alloc(queue, image, swap ? host->height : host->width,
                      swap ? host->width : host->height, host->channels, host->type, err);
    if (!status && (status = gi_coded_decode(queue, image, &src, coded, err)))
        k->release(queue, image);
    if (status) /* the primitive waits for the copy of the scan only if it succeeds, so wait here
                 * before the host frees the scan */
        k->wait(queue, &ticket, NULL);
    k->release(queue, &src);
    return status || !coded->layout ? status : turn(queue, image, coded->layout, err);
}

enum gi_status gi_execution_encode(struct gi_queue *queue, struct gi_encoded *encoded,
                                   const struct gi_image *image, const struct gi_coding *coding,
                                   const struct gi_allocator *allocator, struct gi_err *err)
{
    const struct gi_jpeg_encode jpeg = {&coding->frame, allocator};
    const struct gi_png_encode png = {coding->strip_rows, allocator};
    return coding->strip_rows ? queue->k->png_encode(queue, &encoded->strips, image, &png, err)
                              : queue->k->jpeg_encode(queue, &encoded->scan, image, &jpeg, err);
}

void gi_encoded_free(struct gi_encoded *encoded)
{
    gi_jpeg_scan_free(&encoded->scan);
    gi_png_strips_free(&encoded->strips);
}
