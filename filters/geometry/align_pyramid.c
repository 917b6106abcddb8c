/* Image pyramids for registration.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align_pyramid.h"

#include <stdlib.h>
#include <string.h>

#include "filters/geometry/halve.h"
#include "kernels/kernels.h"

enum {
    SIDE_MIN = 64,  /* levels are halved while the shorter side has twice as many pixels, */
    LONG_MIN = 128, /* or the longer one has twice as many as this, and the shorter one */
    SHORT_MIN = 16, /* twice as many as this */
};

void gi_align_pyramid_free(struct gi_align_pyramid *pyramid)
{
    for (int i = 0; i < pyramid->n; i++)
        gi_image_free(&pyramid->levels[i]);
    pyramid->n = 0;
}

/* Makes the gray float version of an image on the device, and releases it there. */
static enum gi_status make_gray(struct gi_queue *queue, struct gi_image *host,
                                const struct gi_image *src, struct gi_err *err)
{
    struct gi_image gray, real;
    enum gi_status status =
        queue->k->alloc(queue, &gray, src->width, src->height, 1, src->type, err);
    if (status)
        return status;
    status = queue->k->luma(queue, &gray, src, NULL, err);
    if (!status && src->type == GI_F32)
        return queue->k->download(queue, host, &gray, NULL, err);
    if (!status)
        status = queue->k->alloc(queue, &real, src->width, src->height, 1, GI_F32, err);
    if (!status) {
        status = queue->k->convert(queue, &real, &gray, NULL, err);
        if (!status)
            status = queue->k->download(queue, host, &real, NULL, err);
        else
            queue->k->release(queue, &real);
    }
    queue->k->release(queue, &gray);
    return status;
}

enum gi_status gi_align_smooth(const struct gi_image *level, struct gi_err *err)
{
    size_t n = (size_t)level->width;
    float *above = malloc(2 * n * sizeof *above), *here = above + n;
    if (!above)
        return gi_fail(err, GI_E_MEMORY, "out of memory: rows of an image");
    memcpy(above, gi_row(level, 0), n * sizeof *above);
    for (int y = 0; y < level->height; y++) {
        float *row = gi_row(level, y);
        const float *below = y + 1 < level->height ? gi_row(level, y + 1) : row;
        memcpy(here, row, n * sizeof *here);
        for (size_t x = 0; x < n; x++)
            above[x] = 0.25f * (above[x] + 2 * here[x] + (below == row ? here[x] : below[x]));
        for (size_t x = 0; x < n; x++)
            row[x] = 0.25f * (above[x ? x - 1 : 0] + 2 * above[x] + above[x + 1 < n ? x + 1 : x]);
        memcpy(above, here, n * sizeof *above);
    }
    free(above);
    return GI_OK;
}

enum gi_status gi_align_pyramid_make(struct gi_queue *queue, struct gi_align_pyramid *pyramid,
                                     const struct gi_image *src, struct gi_err *err)
{
    pyramid->n = 0;
    enum gi_status status = make_gray(queue, &pyramid->levels[0], src, err);
    pyramid->n = !status;
    while (!status) {
        const struct gi_image *last = &pyramid->levels[pyramid->n - 1];
        int width = last->width / 2, height = last->height / 2; /* whole means only */
        struct gi_image *half = &pyramid->levels[pyramid->n];
        int shorter = width < height ? width : height, longer = width + height - shorter;
        if (shorter < SIDE_MIN && (longer < LONG_MIN || shorter < SHORT_MIN))
            break;
        status = gi_image_alloc(half, width, height, 1, GI_F32, err);
        pyramid->n += !status;
        for (int y = 0; y < height && !status; y++)
            gi_halve_row(gi_row(half, y), gi_row(last, 2 * y), gi_row(last, 2 * y + 1), 2 * width,
                         1, GI_F32);
    }
    for (int i = 0; i < pyramid->n && !status; i++)
        status = gi_align_smooth(&pyramid->levels[i], err);
    return status;
}
