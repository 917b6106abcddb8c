/* Fuzzes every decoder of images, with seeds of each format.
 * Sources: imgio
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "imgio/metadata/metadata.h"
#include "imgio/pages.h"

/* What the samples add up to, so that they are read. */
static volatile unsigned total;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

/* Reads every sample and every byte of metadata, so that a sanitizer detects uninitialized memory.
 */
static unsigned touch(const struct gi_image *image, const struct gi_metadata *metadata)
{
    unsigned sum = 0;
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_nbytes(image); i++)
            sum += ((const uint8_t *)gi_row(image, y))[i];
    for (size_t i = 0; i < metadata->icc_nbytes; i++)
        sum += ((const uint8_t *)metadata->icc)[i];
    for (size_t i = 0; i < metadata->exif_nbytes; i++)
        sum += ((const uint8_t *)metadata->exif)[i];
    for (size_t i = 0; i < metadata->xmp_nbytes; i++)
        sum += ((const uint8_t *)metadata->xmp)[i];
    for (size_t i = 0; i < metadata->color_nbytes; i++)
        sum += ((const uint8_t *)metadata->color)[i];
    for (int i = 0; i < metadata->ntexts; i++)
        sum +=
            (unsigned)(strlen(metadata->texts[i].keyword) + strlen(metadata->texts[i].text) +
                       strlen(metadata->texts[i].language) + strlen(metadata->texts[i].translated));
    return sum + gi_metadata_is_srgb(metadata);
}

/* Reads the first pages of a file of several pages. */
static unsigned read_pages(const uint8_t *bytes, size_t nbytes)
{
    const struct gi_load_options options = {
        .limits = {1 << 20, 1 << 24}, .allow_partial = true, .together = true};
    struct gi_pages *pages;
    unsigned sum = 0;
    if (gi_pages_open_memory(&pages, bytes, nbytes, true, "fuzz", &options, NULL, NULL))
        return 0;
    for (int i = 0; i < gi_pages_n(pages) && i < 4; i++) {
        struct gi_image image;
        struct gi_metadata metadata;
        if (!gi_pages_load(&image, &metadata, NULL, pages, i, "fuzz", &options, NULL, NULL))
            sum += touch(&image, &metadata);
        gi_image_free(&image);
        gi_metadata_free(&metadata);
    }
    gi_pages_close(&pages, NULL);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    for (int way = 0; way < 3; way++) {
        struct gi_load_options options = {.limits = {1 << 20, 1 << 24},
                                          .allow_partial = way == 1,
                                          .labels = way == 1,
                                          .linear = way == 2};
        struct gi_image image;
        struct gi_metadata metadata;
        struct gi_file_info info;
        struct gi_err warning, err = {0};
        enum gi_status status = gi_load_memory(&image, &metadata, &info, bytes, nbytes, "fuzz",
                                               &options, &warning, &err);
        if (status != err.status || (status && image.data) || (!status && !image.data))
            abort();
        if (!status)
            total += touch(&image, &metadata);
        gi_metadata_strip(&metadata, GI_STRIP_GPS);
        gi_image_free(&image);
        gi_metadata_free(&metadata);
    }
    total += gi_pages_starts(bytes, nbytes) ? read_pages(bytes, nbytes) : 0;
    return 0;
}
