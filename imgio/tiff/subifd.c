/* Finds the full picture of a page, which may be in one of its SubIFDs, and the page of a picture
 * (Adobe's Supplement 1 to TIFF 6.0). DNG and the raw files of cameras have a small version in the
 * page, and pyramids have small versions in the SubIFDs.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/metadata.h"
#include "imgio/tiff/tags.h"
#include "imgio/tiff/tiff.h"

enum {
    SUBIFDS_MAX = 64,
    REDUCED_OR_MASK = 1 | 4, /* bits of NewSubfileType */
};

/* Returns the number of pixels that the directory names. */
static uint64_t pixels_of(const struct gi_tags *tags, uint64_t directory)
{
    uint64_t width = gi_tag_integer_of(tags, directory, GI_TAG_WIDTH, 0),
             height = gi_tag_integer_of(tags, directory, GI_TAG_HEIGHT, 0);
    return width <= UINT32_MAX && height <= UINT32_MAX ? width * height : 0;
}

uint64_t gi_tiff_full(const struct gi_tiff_walk *w, bool *own)
{
    const struct gi_tags *tags = &w->tags;
    struct gi_tag subs;
    uint64_t best = w->at, most = *own ? pixels_of(tags, w->at) : 0;
    if (!gi_tag_find(&subs, tags, w->at, GI_TAG_SUBIFDS))
        return w->at;
    for (uint64_t i = 0; i < subs.count && i < SUBIFDS_MAX; i++) {
        uint64_t at = gi_tag_integer(tags, &subs, i, 0), pixels = pixels_of(tags, at);
        if (gi_tag_integer_of(tags, at, GI_TAG_KIND, 0) & REDUCED_OR_MASK || pixels <= most)
            continue;
        best = at;
        most = pixels;
        *own = true;
    }
    return best;
}

int gi_tiff_smaller(const unsigned char *bytes, size_t nbytes, uint64_t directory)
{
    struct gi_tags tags;
    struct gi_tag subs;
    gi_tags_open(&tags, bytes, nbytes);
    if (!gi_tag_find(&subs, &tags, directory, GI_TAG_SUBIFDS) || subs.count > SUBIFDS_MAX)
        return 0;
    for (uint64_t i = 0; i < subs.count; i++) {
        uint64_t at = gi_tag_integer(&tags, &subs, i, 0);
        if (!(gi_tag_integer_of(&tags, at, GI_TAG_KIND, 0) & REDUCED_OR_MASK))
            return 0;
    }
    return (int)subs.count;
}

bool gi_tiff_find_page_of(struct gi_tiff_walk *page, const struct gi_decode *decode,
                          uint64_t directory)
{
    enum { PAGES_MAX = 256 };
    gi_tiff_walk_start(page, decode->bytes, decode->nbytes);
    for (int i = 0; i < PAGES_MAX && gi_tiff_walk(page) && page->full != page->at; i++)
        if (page->full == directory)
            return true;
    return false;
}

/* Sets decode->orientation to that of a directory that has one, valid or not: an invalid one counts
 * as 1. */
static bool has_orientation(struct gi_decode *decode, const struct gi_tags *tags,
                            uint64_t directory)
{
    struct gi_tag_walk walk;
    struct gi_tag tag;
    gi_tag_walk_start(&walk, tags, directory);
    while (gi_tag_next(&walk, &tag)) {
        if (tag.tag != GI_TAG_ORIENTATION)
            continue;
        uint64_t v = gi_tag_integer(tags, &tag, 0, 1);
        decode->orientation = v >= 1 && v <= 8 ? (int)v : 1;
        return true;
    }
    return false;
}

void gi_tiff_find_orientation(struct gi_decode *decode, uint64_t directory)
{
    struct gi_metadata *metadata = decode->metadata;
    struct gi_tags tags;
    struct gi_tag xmp;
    struct gi_tiff_walk page;
    uint64_t first = gi_tags_open(&tags, decode->bytes, decode->nbytes);
    directory = directory ? directory : first;
    if (has_orientation(decode, &tags, directory) ||
        gi_tag_find(&xmp, &tags, directory, GI_TAG_XMP) ||
        !gi_tiff_find_page_of(&page, decode, directory))
        return;
    if (!has_orientation(decode, &tags, page.at) && gi_tag_find(&xmp, &tags, page.at, GI_TAG_XMP))
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, tags.bytes + xmp.at,
                         xmp.nbytes);
}
