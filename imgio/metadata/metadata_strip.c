/* Drops metadata: all, EXIF, or what names a place.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/iptc.h"
#include "imgio/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

static void drop_xmp(struct gi_metadata *metadata)
{
    free(metadata->xmp);
    metadata->xmp = NULL;
    metadata->xmp_nbytes = 0;
}

static bool holds_one_of(const void *bytes, size_t nbytes, const char *const *words)
{
    for (; *words; words++)
        if (memmem(bytes, nbytes, *words, strlen(*words)))
            return true;
    return false;
}

/* Returns whether the XMP names a place. Searches for names of properties in the schemas of EXIF,
 * Photoshop and IPTC ("XMP Specification", part 2; "IPTC Photo Metadata Standard"). Text that is
 * not UTF-8 can't be searched. */
static bool xmp_names_place(const struct gi_metadata *metadata)
{
    static const char *const words[] = {"GPS",     "Location", ":City", ":State", ":Country",
                                        "atitude", "ongitude", ":lat",  NULL};
    return metadata->xmp && (memchr(metadata->xmp, 0, metadata->xmp_nbytes) ||
                             holds_one_of(metadata->xmp, metadata->xmp_nbytes, words));
}

/* Returns whether a text may name a place. Raw profiles other than EXIF (IPTC's, Photoshop's) may
 * contain anything. */
static bool text_names_place(const struct gi_text *text)
{
    static const char *const words[] = {"GPS", "Location", NULL};
    return strncmp(text->keyword, GI_RAW_PROFILE, sizeof GI_RAW_PROFILE - 1) == 0 ||
           holds_one_of(text->keyword, strlen(text->keyword), words) ||
           holds_one_of(text->text, strlen(text->text), words);
}

/* Returns whether the part is a segment APP1 of JPEG, as is extended XMP. */
static bool is_more_xmp(const struct gi_part *part)
{
    return part->kind == GI_PART_JPEG_SEGMENT && part->code == 0xe1;
}

static bool part_names_place(const struct gi_part *part)
{
    static const char *const words[] = {"GPS", "Location", NULL};
    if (part->kind == GI_PART_GAIN_MAP) /* in compressed samples words mean nothing */
        return false;
    return part->kind == GI_PART_GEO || part->kind == GI_PART_PHOTOSHOP || is_more_xmp(part) ||
           (part->kind == GI_PART_IPTC && !part->nbytes) ||
           (part->bytes && holds_one_of(part->bytes, part->nbytes, words));
}

/* Further images are no metadata, which --strip removes. */
static bool is_metadata(const struct gi_part *part)
{
    return part->kind != GI_PART_IMAGES;
}

/* Removes gain maps for which has_it() returns true, and the segment that describes one. */
static void remove_gain_maps(struct gi_metadata *metadata, bool (*has_it)(const struct gi_part *))
{
    bool removed = false;
    for (int i = 0; i < metadata->parts.n; i++)
        removed = removed || has_it(&metadata->parts.list[i]);
    gi_parts_remove(&metadata->parts, has_it);
    if (removed)
        gi_parts_remove(&metadata->parts, gi_gain_map_is_description);
}

static void forget_place(struct gi_metadata *metadata)
{
    int kept = 0;
    gi_exif_forget_place(metadata->exif, metadata->exif_nbytes);
    if (xmp_names_place(metadata))
        drop_xmp(metadata);
    for (int i = 0; i < metadata->ntexts; i++) {
        if (text_names_place(&metadata->texts[i]))
            free(metadata->texts[i].keyword);
        else
            metadata->texts[kept++] = metadata->texts[i];
    }
    metadata->ntexts = kept;
    for (int i = 0; i < metadata->parts.n; i++) {
        struct gi_part *part = &metadata->parts.list[i];
        if (part->kind == GI_PART_IPTC && part->bytes)
            part->nbytes = gi_iptc_forget_place(part->bytes, part->nbytes);
    }
    gi_parts_remove(&metadata->parts, part_names_place);
    remove_gain_maps(metadata, gi_gain_map_has_exif);
}

void gi_metadata_strip(struct gi_metadata *metadata, enum gi_strip what)
{
    struct gi_linear_light *light = metadata->light;
    struct gi_jpeg_tables *jpeg = metadata->jpeg;
    if (what == GI_STRIP_ALL) {
        struct gi_parts parts = metadata->parts;
        metadata->light = NULL;
        metadata->jpeg = NULL;
        metadata->parts = (struct gi_parts){0};
        gi_metadata_free(metadata);
        metadata->light = light; /* needed to interpret the samples */
        metadata->jpeg = jpeg;   /* tells how to encode them */
        metadata->parts = parts;
        gi_parts_remove(&metadata->parts, is_metadata);
    } else if (what == GI_STRIP_GPS) {
        forget_place(metadata);
    }
    if (what != GI_STRIP_EXIF)
        return;
    free(metadata->exif);
    metadata->exif = NULL;
    metadata->exif_nbytes = 0;
    drop_xmp(metadata);
    gi_parts_remove(&metadata->parts, is_more_xmp);
    remove_gain_maps(metadata, gi_gain_map_has_exif);
}
