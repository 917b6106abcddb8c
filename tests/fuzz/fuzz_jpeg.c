/* Fuzzes JPEGs that stay coded, with the primitive that decodes their scans. It must refuse the
 * file or give the samples and the warning of libjpeg-turbo. Then turns and crops the file without
 * decoding it; the result must be a JPEG of the announced size.
 * Sources: imgio/jpeg/jpeg* imgio/jpeg/lossless* codec kernels/jpeg_decode.h
 * SPDX-License-Identifier: MIT */
#include "small.h"

#include "imgio/coded.h"
#include "imgio/metadata/exif.h"
#include "imgio/imgio.h"
#include "imgio/lossless.h"
#include "kernels/codec.h"
#include "kernels/kernels.h"

static void tell_nobody(void *arg, const struct gi_image *shape)
{
}

static int shrink_by(void *arg, const struct gi_image *picture)
{
    return *(const int *)arg;
}

/* The length of the file decides by how much the image is reduced. */
static enum gi_status load(struct gi_image *image, const uint8_t *bytes, size_t nbytes, bool coded,
                           struct gi_err *warning)
{
    int denominator = 1 << nbytes % 4;
    const struct gi_shape_listener listener = {
        .tell = tell_nobody, .arg = &denominator, .shrink = shrink_by};
    const struct gi_load_options options = {.limits = {1 << 20, 1 << 24},
                                            .listener = &listener,
                                            .coded = coded ? GI_CODED_JPEG : GI_CODED_NONE};
    return gi_load_memory(image, NULL, NULL, bytes, nbytes, "fuzz", &options, warning, NULL);
}

/* Turns the samples upright, as the pipeline does. */
static void turn(struct gi_image *image, int layout)
{
    int orientation = 1;
    while (gi_orientation_layout(orientation) != layout)
        orientation++;
    if (layout && gi_orientation_apply(image, orientation, NULL))
        abort();
}

/* Compares what the primitive makes of the scan, if it takes it, with the decoded file. */
static void compare(const struct gi_image *coded, const uint8_t *bytes, size_t nbytes)
{
    struct gi_queue *queue = small_queue();
    const struct gi_image scan = gi_coded_scan(coded->coded);
    const struct gi_jpeg_decode spec = {&coded->coded->frame, coded->coded->denominator};
    const bool swap = coded->coded->layout & GI_LAYOUT_TRANSPOSE;
    struct gi_image made, want;
    struct gi_err warning = {0};
    if (gi_image_alloc(&made, swap ? coded->height : coded->width,
                       swap ? coded->width : coded->height, coded->channels, GI_U8, NULL))
        return;
    if (!queue->k->jpeg_decode(queue, &made, &scan, &spec, NULL)) {
        turn(&made, coded->coded->layout);
        if (load(&want, bytes, nbytes, false, &warning) || want.width != made.width ||
            want.height != made.height || want.channels != made.channels ||
            strcmp(warning.text, coded->coded->warning.text) != 0)
            abort();
        for (int y = 0; y < made.height; y++)
            if (memcmp(gi_row(&made, y), gi_row(&want, y), gi_row_nbytes(&made)) != 0)
                abort();
        gi_image_free(&want);
    }
    gi_image_free(&made);
}

/* Mirrors or transposes the picture, and crops it by 3 pixels if it is large enough. The length of
 * the file decides how. */
static enum gi_status place(void *self, struct gi_lossless_place *place,
                            const struct gi_image *shape, struct gi_err *err)
{
    size_t how = *(const size_t *)self;
    bool swap = how & 4;
    int width = swap ? shape->height : shape->width, height = swap ? shape->width : shape->height;
    int cut = width > 3 && height > 3 && how & 8 ? 3 : 0;
    double x = how & 1 ? -1 : 1, y = how & 2 ? -1 : 1;
    *place = (struct gi_lossless_place){.width = width - cut, .height = height - cut};
    place->map[swap ? 1 : 0] = x;
    place->map[swap ? 3 : 4] = y;
    place->map[2] = x < 0 ? shape->width : cut;
    place->map[5] = y < 0 ? shape->height : cut;
    return GI_OK;
}

static void turn_lossless(const uint8_t *bytes, size_t nbytes)
{
    struct gi_load_options options = {.limits = {1 << 20, 1 << 24}, .allow_partial = nbytes & 16};
    struct gi_lossless lossless = {.load = &options,
                                   .place = place,
                                   .self = &nbytes,
                                   .trim = nbytes & 32,
                                   .progressive = nbytes & 64 ? GI_JPEG_YES : GI_JPEG_AUTO};
    struct gi_image image = {0};
    if (!gi_lossless_make(&lossless, "fuzz", bytes, nbytes, &(struct gi_err){0})) {
        options.header_only = true;
        if (gi_load_memory(&image, NULL, NULL, lossless.bytes, lossless.nbytes, "made", &options,
                           NULL, NULL) ||
            image.width != lossless.width || image.height != lossless.height)
            abort();
    }
    free(lossless.bytes);
    gi_metadata_free(&lossless.metadata);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    struct gi_image image;
    if (nbytes < 4 || bytes[0] != 0xff || bytes[1] != 0xd8)
        return 0;
    if (!load(&image, bytes, nbytes, true, NULL) && image.coded)
        compare(&image, bytes, nbytes);
    gi_image_free(&image);
    turn_lossless(bytes, nbytes);
    return 0;
}
