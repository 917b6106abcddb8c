/* Fuzzes JPEGs that stay coded, with the primitive that decodes their scans. It must refuse the
 * file or give the samples and the warning of libjpeg-turbo. Then turns and crops the file without
 * decoding it; the result must be a JPEG of the announced size.
 * Sources: imgio/jpeg/jpeg* imgio/jpeg/lossless* codec kernels/jpeg_decode.h
 * SPDX-License-Identifier: MIT */
#include "coded.h"

#include "imgio/lossless.h"

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
    if (!coded_load(&image, bytes, nbytes, GI_CODED_JPEG, NULL) && image.coded)
        coded_compare(&image, bytes, nbytes);
    gi_image_free(&image);
    turn_lossless(bytes, nbytes);
    return 0;
}
