/* Helpers of the fuzzers of images that stay coded: the primitive must refuse the scan, or give the
 * samples and the warning of imgio.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "small.h"

#include "filters/pipeline.h"
#include "imgio/coded.h"
#include "imgio/imgio.h"
#include "imgio/metadata/exif.h"
#include "kernels/codec.h"

static inline void coded_tell_nobody(void *arg, const struct gi_image *shape)
{
}

static inline int coded_shrink(void *arg, const struct gi_image *picture)
{
    return *(const int *)arg;
}

/* Loads a file. Its length decides by how much a JPEG is reduced. */
static inline enum gi_status coded_load(struct gi_image *image, const uint8_t *bytes, size_t nbytes,
                                        enum gi_coded_kinds coded, struct gi_err *warning)
{
    int denominator = 1 << nbytes % 4;
    const struct gi_shape_listener listener = {
        .tell = coded_tell_nobody, .arg = &denominator, .shrink = coded_shrink};
    const struct gi_load_options options = {
        .limits = {1 << 20, 1 << 24}, .listener = &listener, .coded = coded};
    return gi_load_memory(image, NULL, NULL, bytes, nbytes, "fuzz", &options, warning, NULL);
}

/* Turns the samples upright, as the pipeline does. */
static inline void coded_turn(struct gi_image *image, int layout)
{
    int orientation = 1;
    while (gi_orientation_layout(orientation) != layout)
        orientation++;
    if (layout && gi_orientation_apply(image, orientation, NULL))
        abort();
}

static inline enum gi_status coded_decode(struct gi_image *image, const struct gi_coded *coded)
{
    struct gi_queue *queue = small_queue();
    const struct gi_image scan = gi_coded_scan(coded);
    return gi_coded_decode(queue, image, &scan, coded, NULL);
}

/* Compares two images of one type. */
static inline void coded_equal(const struct gi_image *a, const struct gi_image *b)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels ||
        a->type != b->type)
        abort();
    for (int y = 0; y < a->height; y++)
        if (memcmp(gi_row(a, y), gi_row(b, y), gi_row_nbytes(a)) != 0)
            abort();
}

/* Compares what the primitive makes of the scan, if it takes it, with the decoded file. */
static inline void coded_compare(const struct gi_image *image, const uint8_t *bytes, size_t nbytes)
{
    const struct gi_coded *coded = image->coded;
    const bool swap = coded->layout & GI_LAYOUT_TRANSPOSE;
    struct gi_image made, want;
    struct gi_err warning = {0};
    if (gi_image_alloc(&made, swap ? image->height : image->width,
                       swap ? image->width : image->height, image->channels, image->type, NULL))
        return;
    if (!coded_decode(&made, coded)) {
        coded_turn(&made, coded->layout);
        if (coded_load(&want, bytes, nbytes, GI_CODED_NONE, &warning) ||
            strcmp(warning.text, coded->warning.text) != 0)
            abort();
        coded_equal(&made, &want);
        gi_image_free(&want);
    }
    gi_image_free(&made);
}
