/* Metadata of an image that is made from several: what all inputs share stays, the rest is named.
 * SPDX-License-Identifier: MIT */
#include "cli/run/common_metadata.h"

#include <stdlib.h>
#include <string.h>

static bool are_equal(const void *a, size_t na, const void *b, size_t nb)
{
    return na == nb && (!na || memcmp(a, b, na) == 0);
}

static bool have_equal_texts(const struct gi_metadata *a, const struct gi_metadata *b)
{
    bool equal = a->ntexts == b->ntexts;
    for (int i = 0; i < a->ntexts && equal; i++)
        equal = strcmp(a->texts[i].keyword, b->texts[i].keyword) == 0 &&
                strcmp(a->texts[i].text, b->texts[i].text) == 0;
    return equal;
}

static bool have_equal_parts(const struct gi_parts *a, const struct gi_parts *b)
{
    bool equal = a->n == b->n;
    for (int i = 0; i < a->n && equal; i++) {
        const struct gi_part *p = &a->list[i], *q = &b->list[i];
        equal = p->fate == q->fate && strcmp(p->name, q->name) == 0 && !p->bytes == !q->bytes &&
                are_equal(p->bytes, p->bytes ? p->nbytes : 0, q->bytes, q->bytes ? q->nbytes : 0);
    }
    return equal;
}

static bool have_equal_resolutions(const struct gi_metadata *a, const struct gi_metadata *b)
{
    return a->dpi_x == b->dpi_x && a->dpi_y == b->dpi_y && a->no_unit == b->no_unit;
}

/* Counts the metadata that is not as in `kept`. */
static void compare(struct gi_common_metadata *common, const struct gi_metadata *kept,
                    const struct gi_metadata *metadata)
{
    common->exif += metadata->exif && !are_equal(metadata->exif, metadata->exif_nbytes, kept->exif,
                                                 kept->exif_nbytes);
    common->xmp += metadata->xmp &&
                   !are_equal(metadata->xmp, metadata->xmp_nbytes, kept->xmp, kept->xmp_nbytes);
    common->icc += metadata->icc &&
                   !are_equal(metadata->icc, metadata->icc_nbytes, kept->icc, kept->icc_nbytes);
    common->color += metadata->color && !are_equal(metadata->color, metadata->color_nbytes,
                                                   kept->color, kept->color_nbytes);
    common->texts += metadata->ntexts && !have_equal_texts(metadata, kept);
    common->parts += metadata->parts.n && !have_equal_parts(&metadata->parts, &kept->parts);
    common->resolution += metadata->dpi_x > 0 && !have_equal_resolutions(metadata, kept);
}

/* Removes from `kept` what the next image has otherwise. */
static void reduce(struct gi_common_metadata *common, struct gi_metadata *kept,
                   const struct gi_metadata *metadata)
{
    if (kept->icc && !are_equal(metadata->icc, metadata->icc_nbytes, kept->icc, kept->icc_nbytes)) {
        free(kept->icc);
        kept->icc = NULL;
        kept->icc_nbytes = 0;
        common->icc += common->n;
    }
    if (kept->color &&
        !are_equal(metadata->color, metadata->color_nbytes, kept->color, kept->color_nbytes)) {
        free(kept->color);
        kept->color = NULL;
        kept->color_nbytes = 0;
        common->color += common->n;
    }
    if (kept->dpi_x > 0 && !have_equal_resolutions(metadata, kept)) {
        kept->dpi_x = kept->dpi_y = 0;
        kept->no_unit = false;
        common->resolution += common->n;
    }
}

void gi_common_metadata_add(struct gi_common_metadata *common, struct gi_metadata *kept,
                            struct gi_metadata *metadata)
{
    bool whole = kept->exif || kept->xmp || kept->ntexts || kept->parts.n;
    if (common->n == 0 && !whole && !kept->icc && !kept->color && !(kept->dpi_x > 0)) {
        kept->icc = metadata->icc;
        kept->icc_nbytes = metadata->icc_nbytes;
        kept->color = metadata->color;
        kept->color_nbytes = metadata->color_nbytes;
        kept->dpi_x = metadata->dpi_x;
        kept->dpi_y = metadata->dpi_y;
        kept->no_unit = metadata->no_unit;
        metadata->icc = metadata->color = NULL;
        metadata->icc_nbytes = metadata->color_nbytes = 0;
        metadata->dpi_x = metadata->dpi_y = 0;
    } else if (common->n && !whole) {
        reduce(common, kept, metadata);
    }
    compare(common, kept, metadata);
    common->n++;
}

void gi_common_metadata_end(const struct gi_common_metadata *common, struct gi_metadata *kept)
{
    const struct {
        int n;
        const char *name;
    } kinds[] = {
        {common->exif, "EXIF"},
        {common->xmp, "XMP"},
        {common->texts, "texts"},
        {common->icc, "the ICC profile"},
        {common->color, "the colour (gAMA, cHRM, cICP)"},
        {common->resolution, "the resolution"},
        {common->parts, "other parts"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n)
            gi_metadata_add_part(
                kept, &(struct gi_part){.kind = GI_PART_METADATA, .fate = GI_PART_DROPPED},
                "%s of %d image%s", kinds[i].name, kinds[i].n, kinds[i].n == 1 ? "" : "s");
}

void gi_common_metadata_share(struct gi_metadata *shared, const struct gi_metadata *metadata,
                              bool name)
{
    struct gi_common_metadata common = {0};
    *shared = (struct gi_metadata){.icc = metadata->icc,
                                   .icc_nbytes = metadata->icc_nbytes,
                                   .color = metadata->color,
                                   .color_nbytes = metadata->color_nbytes,
                                   .dpi_x = metadata->dpi_x,
                                   .dpi_y = metadata->dpi_y,
                                   .no_unit = metadata->no_unit};
    if (name) {
        compare(&common, shared, metadata);
        gi_common_metadata_end(&common, shared);
    }
}

void gi_common_metadata_unshare(struct gi_metadata *shared)
{
    shared->icc = NULL;
    shared->color = NULL;
    gi_metadata_free(shared);
}
