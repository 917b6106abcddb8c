/* Sets the resolution of an image, which EXIF, XMP and Photoshop's resources repeat.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/resolution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/integer.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/photoshop.h"
#include "imgio/metadata/xmp.h"

enum gi_status gi_resolution_fit(struct gi_metadata *fitted, struct gi_err *err)
{
    enum { PARTS = 10000, INCH = 2 };
    double dpi = fitted->dpi_x;
    bool whole = dpi == (double)(unsigned)dpi;
    unsigned denominator = whole ? 1 : PARTS, numerator = (unsigned)(dpi * denominator + 0.5);
    char ratio[32];
    snprintf(ratio, sizeof ratio, "%u/%u", numerator, denominator);
    gi_exif_set_resolution(fitted->exif, fitted->exif_nbytes, numerator, denominator);
    enum gi_status status =
        gi_xmp_set_ratio(&fitted->xmp, &fitted->xmp_nbytes, "tiff:XResolution", ratio, err);
    if (!status)
        status =
            gi_xmp_set_ratio(&fitted->xmp, &fitted->xmp_nbytes, "tiff:YResolution", ratio, err);
    if (!status)
        status =
            gi_xmp_set_integer(&fitted->xmp, &fitted->xmp_nbytes, "tiff:ResolutionUnit", INCH, err);
    return status;
}

void gi_metadata_set_resolution(struct gi_metadata *metadata, double dpi)
{
    metadata->dpi_x = metadata->dpi_y = dpi;
    metadata->no_unit = false;
    metadata->new_resolution = true;
}

/* Exchanges the resolutions that XMP names. */
static void exchange_xmp(struct gi_metadata *metadata)
{
    char *x = gi_xmp_text(metadata->xmp, metadata->xmp_nbytes, "tiff:XResolution");
    char *y = gi_xmp_text(metadata->xmp, metadata->xmp_nbytes, "tiff:YResolution");
    if (x && y && strcmp(x, y) != 0)
        metadata->starved =
            gi_xmp_set_ratio(&metadata->xmp, &metadata->xmp_nbytes, "tiff:XResolution", y, NULL) ||
            gi_xmp_set_ratio(&metadata->xmp, &metadata->xmp_nbytes, "tiff:YResolution", x, NULL) ||
            metadata->starved;
    free(x);
    free(y);
}

void gi_metadata_exchange_resolutions(struct gi_metadata *metadata)
{
    double dpi_x = metadata->dpi_x;
    metadata->dpi_x = metadata->dpi_y;
    metadata->dpi_y = dpi_x;
    gi_exif_exchange_resolutions(metadata->exif, metadata->exif_nbytes);
    exchange_xmp(metadata);
    const struct gi_part *part = gi_parts_find(&metadata->parts, GI_PART_PHOTOSHOP, 0);
    if (part) /* thumbnails were removed before, so that the length stays */
        gi_photoshop_turn(part->bytes, part->nbytes, true);
}

void gi_resolution_fit_photoshop(void *bytes, size_t nbytes, const struct gi_metadata *metadata)
{
    enum { HALF = GI_RESOURCE_RESOLUTION_NBYTES / 2 };
    unsigned char *at = gi_photoshop_find(bytes, nbytes, GI_RESOURCE_RESOLUTION, 2 * (size_t)HALF);
    if (!at || !metadata->new_resolution || metadata->dpi_x >= 32768)
        return;
    gi_put_big32(at, (uint32_t)(metadata->dpi_x * 65536 + 0.5));
    gi_put_big32(at + HALF, (uint32_t)(metadata->dpi_y * 65536 + 0.5));
}
