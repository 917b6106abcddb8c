/* Describes the samples of an image in the directory of a TIFF that is written.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/directory_write.h"

#include <string.h>

#include "imgio/bands.h"
#include "imgio/integer.h"

enum {
    NO_COMPRESSION = 1, /* values of tags */
    GROUP_4 = 4,
    DEFLATE = 8,
    PREDICT_HORIZONTAL = 2,
    PREDICT_FLOAT = 3,
    ALPHA_UNASSOCIATED = 2,
    FORMAT_UINT = 1,
    FORMAT_FLOAT = 3,
    MINISWHITE = 0,
    MINISBLACK = 1,
    RGB = 2,
    KIND_REDUCED = 1,
};

/* Adds the kinds of the samples besides gray or RGB. */
static void add_extra_samples(struct gi_tiff_directory *d, const struct gi_image *image,
                              uint64_t colors, const struct gi_metadata *metadata)
{
    const struct gi_bands *bands = gi_bands_of(metadata);
    uint64_t n = (uint64_t)image->channels - colors;
    unsigned char *kinds = gi_tiff_add(d, 338, GI_TAG_SHORT, n);
    int alpha = bands->n ? bands->alpha : image->channels - 1;
    const struct gi_part *known =
        metadata ? gi_parts_find(&metadata->parts, GI_PART_EXTRA_SAMPLES, 0) : NULL;
    if (known && known->nbytes == 2 * n)
        memcpy(kinds, known->bytes, known->nbytes);
    if (alpha >= 0) /* the others are 0, unspecified, if nothing else is known */
        gi_put_own(kinds + 2 * ((uint64_t)alpha - colors), 2, ALPHA_UNASSOCIATED);
}

void gi_tiff_add_image(struct gi_tiff_directory *d, const struct gi_tiff_form *form,
                       const struct gi_metadata *metadata)
{
    const struct gi_image *image = form->image;
    uint64_t channels = (uint64_t)image->channels, n = (uint64_t)form->nstrips;
    const struct gi_bands *bands = gi_bands_of(metadata);
    uint64_t colors = (uint64_t)gi_bands_colors(image, bands);
    bool is_float = image->type == GI_F32;
    enum gi_tag_type offset = d->big ? GI_TAG_LONG8 : GI_TAG_LONG;
    unsigned each = gi_tag_type_nbytes(offset);
    if (form->reduced)
        gi_tiff_add_number(d, GI_TAG_KIND, GI_TAG_LONG, 1, KIND_REDUCED);
    gi_tiff_add_number(d, 256, GI_TAG_LONG, 1, (uint64_t)form->width);
    gi_tiff_add_number(d, 257, GI_TAG_LONG, 1, (uint64_t)image->height);
    gi_tiff_add_number(d, 258, GI_TAG_SHORT, channels,
                       form->one_bit ? 1 : 8 * gi_type_nbytes(image->type));
    gi_tiff_add_number(d, 259, GI_TAG_SHORT, 1,
                       form->fax      ? GROUP_4
                       : form->stored ? NO_COMPRESSION
                                      : DEFLATE);
    gi_tiff_add_number(d, 262, GI_TAG_SHORT, 1,
                       form->fax     ? MINISWHITE
                       : colors == 3 ? RGB
                                     : MINISBLACK);
    gi_tiff_add_number(d, 277, GI_TAG_SHORT, 1, channels);
    if (!form->one_bit && !form->stored)
        gi_tiff_add_number(d, 317, GI_TAG_SHORT, 1, is_float ? PREDICT_FLOAT : PREDICT_HORIZONTAL);
    if (form->tiles)
        gi_tiff_add_number(d, 322, GI_TAG_LONG, 1, (uint64_t)form->strip_width);
    gi_tiff_add_number(d, form->tiles ? 323 : 278, GI_TAG_LONG, 1, (uint64_t)form->strip_rows);
    if (channels > colors)
        add_extra_samples(d, image, colors, metadata);
    gi_tiff_add_number(d, 339, GI_TAG_SHORT, channels, is_float ? FORMAT_FLOAT : FORMAT_UINT);
    unsigned char *offsets = gi_tiff_add(d, form->tiles ? GI_TAG_TILES : GI_TAG_STRIPS, offset, n);
    unsigned char *lengths = gi_tiff_add(d, form->tiles ? 325 : GI_TAG_STRIP_NBYTES, offset, n);
    uint64_t at = d->end;
    for (uint64_t i = 0; i < n; i++) {
        gi_put_own(offsets + i * each, each, form->strip_at ? form->strip_at[i] : at);
        gi_put_own(lengths + i * each, each, form->strip_nbytes[i]);
        at += form->strip_nbytes[i];
    }
    if (form->nsmaller) {
        unsigned char *smaller = gi_tiff_add(d, GI_TAG_SUBIFDS, offset, (uint64_t)form->nsmaller);
        for (int i = 0; i < form->nsmaller; i++)
            gi_put_own(smaller + (unsigned)i * each, each, form->smaller[i]);
    }
    if (form->description) { /* precedes that of the metadata */
        size_t nbytes = strlen(form->description) + 1;
        memcpy(gi_tiff_add(d, GI_TAG_DESCRIPTION, GI_TAG_ASCII, nbytes), form->description, nbytes);
    }
    gi_tiff_add_metadata(d, metadata, image);
}
