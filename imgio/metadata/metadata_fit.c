/* Makes the metadata that are written with an image.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/resolution.h"
#include "imgio/metadata/xmp.h"

#include <stdlib.h>

static enum gi_status copy_block(void **block, size_t nbytes, struct gi_err *err)
{
    void *copy = *block ? gi_memory_copy(*block, nbytes) : NULL;
    bool starved = *block && !copy;
    *block = copy;
    return starved ? gi_fail(err, GI_E_MEMORY, "out of memory: EXIF or XMP") : GI_OK;
}

static enum gi_status set_xmp_size(struct gi_metadata *fitted, int width, int height,
                                   struct gi_err *err)
{
    static const char *const names[][2] = {{"exif:PixelXDimension", "exif:PixelYDimension"},
                                           {"tiff:ImageWidth", "tiff:ImageLength"}};
    enum gi_status status = GI_OK;
    for (int i = 0; i < 4 && !status; i++)
        status = gi_xmp_set_integer(&fitted->xmp, &fitted->xmp_nbytes, names[i / 2][i % 2],
                                    (unsigned)(i % 2 ? height : width), err);
    return status;
}

/* Names the samples in EXIF and XMP as those of an image of gray or colours. */
static enum gi_status set_samples(struct gi_metadata *fitted, const struct gi_image *image,
                                  struct gi_err *err)
{
    enum { GRAY = 1, COLORS = 3 }; /* photoshop:ColorMode */
    enum { BLACK_IS_ZERO = 1 };    /* tiff:PhotometricInterpretation, which is 0 or 1 for gray */
    int channels = image->channels;
    if (fitted->bands.n || channels < 1 || channels > GI_MAX_CHANNELS)
        return GI_OK;
    gi_exif_set_samples(fitted->exif, fitted->exif_nbytes, channels,
                        8 * (int)gi_type_nbytes(image->type));
    enum gi_status status = gi_xmp_set_integer(&fitted->xmp, &fitted->xmp_nbytes,
                                               "tiff:SamplesPerPixel", (unsigned)channels, err);
    if (!status)
        status = gi_xmp_set_integer(&fitted->xmp, &fitted->xmp_nbytes, "photoshop:ColorMode",
                                    gi_color_channels(image) == 1 ? GRAY : COLORS, err);
    if (!status && gi_color_channels(image) == 1)
        status = gi_xmp_set_integer(&fitted->xmp, &fitted->xmp_nbytes,
                                    "tiff:PhotometricInterpretation", BLACK_IS_ZERO, err);
    return status;
}

/* Names the colour space in EXIF and XMP. */
static enum gi_status set_color_space(struct gi_metadata *fitted, struct gi_err *err)
{
    enum gi_exif_color space = (enum gi_exif_color)fitted->new_color_space;
    gi_exif_set_color_space(fitted->exif, fitted->exif_nbytes, space);
    enum gi_status status =
        gi_xmp_set_integer(&fitted->xmp, &fitted->xmp_nbytes, "exif:ColorSpace",
                           space == GI_EXIF_SRGB ? GI_EXIF_SRGB : GI_EXIF_OTHER, err);
    const char *name = space == GI_EXIF_SRGB        ? "sRGB IEC61966-2.1"
                       : space == GI_EXIF_ADOBE_RGB ? "Adobe RGB (1998)"
                                                    : "";
    return status ? status
                  : gi_xmp_set_text(&fitted->xmp, &fitted->xmp_nbytes, "photoshop:ICCProfile", name,
                                    err);
}

enum gi_status gi_metadata_fit_image(struct gi_metadata *fitted, const struct gi_metadata *metadata,
                                     const struct gi_image *image, int orientation,
                                     struct gi_err *err)
{
    bool turned = orientation >= 5;
    int width = turned ? image->height : image->width;
    int height = turned ? image->width : image->height;
    *fitted = metadata ? *metadata : (struct gi_metadata){0};
    enum gi_status exif = copy_block(&fitted->exif, fitted->exif_nbytes, err);
    enum gi_status status = copy_block(&fitted->xmp, fitted->xmp_nbytes, err);
    status = exif ? exif : status;
    gi_exif_set_size(fitted->exif, fitted->exif_nbytes, width, height);
    if (!status)
        status = set_xmp_size(fitted, width, height, err);
    if (!status)
        status = set_samples(fitted, image, err);
    if (!status && fitted->new_resolution)
        status = gi_resolution_fit(fitted, err);
    if (!status && fitted->new_color_space)
        status = set_color_space(fitted, err);
    const struct gi_part *map = gi_gain_map_of(fitted);
    if (!status && map)
        status = gi_xmp_set_item_length(&fitted->xmp, &fitted->xmp_nbytes, "GainMap",
                                        (unsigned)map->nbytes, err);
    if (!status && orientation > 1)
        status = gi_exif_orient(&fitted->exif, &fitted->exif_nbytes, orientation, err);
    return status;
}

void gi_metadata_free_fitted(struct gi_metadata *fitted)
{
    free(fitted->exif);
    free(fitted->xmp);
}

static void *copy_of(const void *block, size_t nbytes, struct gi_metadata *copy)
{
    void *made = block ? gi_memory_copy(block, nbytes) : NULL;
    copy->starved = copy->starved || (block && !made);
    return made;
}

enum gi_status gi_metadata_copy(struct gi_metadata *copy, const struct gi_metadata *metadata,
                                struct gi_err *err)
{
    *copy = *metadata;
    copy->parts = (struct gi_parts){0};
    copy->icc = copy_of(metadata->icc, metadata->icc_nbytes, copy);
    copy->color = copy_of(metadata->color, metadata->color_nbytes, copy);
    copy->exif = copy_of(metadata->exif, metadata->exif_nbytes, copy);
    copy->xmp = copy_of(metadata->xmp, metadata->xmp_nbytes, copy);
    for (int i = 0; i < metadata->parts.n; i++)
        gi_metadata_add_part(copy, &metadata->parts.list[i], "%s", metadata->parts.list[i].name);
    return copy->starved ? gi_fail(err, GI_E_MEMORY, "out of memory: metadata") : GI_OK;
}

void gi_metadata_free_copy(struct gi_metadata *copy)
{
    free(copy->icc);
    free(copy->color);
    free(copy->exif);
    free(copy->xmp);
    gi_parts_remove(&copy->parts, NULL);
    *copy = (struct gi_metadata){0};
}
