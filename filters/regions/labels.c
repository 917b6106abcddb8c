/* Checks and reads label images.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/labels.h"

#include <math.h>

static enum gi_status check_channels(const struct gi_image *labels, struct gi_err *err)
{
    return labels->channels == 1
               ? GI_OK
               : gi_fail(err, GI_E_UNSUPPORTED, "has %d channels: want one, of labels",
                         labels->channels);
}

enum gi_status gi_labels_check(uint32_t *largest, const struct gi_image *labels, struct gi_err *err)
{
    *largest = 0;
    enum gi_status status = check_channels(labels, err);
    for (int y = 0; y < labels->height && !status; y++)
        for (int x = 0; x < labels->width && !status; x++) {
            const void *row = gi_row(labels, y);
            double v = labels->type == GI_U32 ? ((const uint32_t *)row)[x]
                                              : gi_sample(row, (size_t)x, labels->type);
            if (!(v >= 0 && v <= GI_LABEL_MAX && v == floor(v)))
                status = gi_fail(err, GI_E_UNSUPPORTED,
                                 "label %.10g at %d,%d: want whole numbers from 0 to %d", v, x, y,
                                 GI_LABEL_MAX);
            else if (v > *largest)
                *largest = (uint32_t)v;
        }
    return status;
}

enum gi_status gi_labels_fit(const struct gi_image *labels, const struct gi_image *src,
                             struct gi_err *err)
{
    enum gi_status status = check_channels(labels, err);
    if (!status && (labels->width != src->width || labels->height != src->height))
        status = gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: want %d x %d, as the input has",
                         labels->width, labels->height, src->width, src->height);
    return status;
}

enum gi_status gi_labels_to_floats(struct gi_image *labels, struct gi_err *err)
{
    struct gi_image floats;
    enum gi_status status = gi_image_alloc(&floats, labels->width, labels->height, 1, GI_F32, err);
    if (status)
        return status;
    for (int y = 0; y < labels->height; y++) {
        float *row = gi_row(&floats, y);
        for (int x = 0; x < labels->width; x++)
            row[x] = (float)gi_label_at(labels, x, y);
    }
    gi_image_free(labels);
    *labels = floats;
    return GI_OK;
}

void gi_labels_mask(const struct gi_image *mask, const struct gi_image *labels,
                    const struct gi_reals *wanted)
{
    for (int y = 0; y < mask->height; y++) {
        uint8_t *row = gi_row(mask, y);
        for (int x = 0; x < mask->width; x++) {
            uint32_t label = gi_label_at(labels, x, y);
            row[x] = 0;
            for (int i = 0; i < wanted->n; i++)
                row[x] |= label == wanted->v[i] ? 255 : 0;
        }
    }
}
