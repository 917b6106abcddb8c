/* Finds the end of the TIFF with which the bytes begin, which is the end of its directories, their
 * values and its strips and tiles. With this end, TIFFs that are one behind the other can be found.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tags.h"
#include "imgio/tiff/tiff.h"

#include <string.h>

enum {
    TAG_FREE = 288, /* unused bytes */
    TAG_FREE_COUNTS = 289,
    TAG_TILE_COUNTS = 325,
    TAG_JPEG = 513, /* of the old style */
    TAG_JPEG_NBYTES = 514,
    DEPTH = 3,        /* directories inside directories: EXIF, then interoperability */
    DIRECTORIES = 64, /* maximum number of them that are followed, of a file, */
    OF_PAGE = 3,      /* and besides of each page: EXIF, GPS and interoperability */
};

/* The end of what was found so far, and the number of directories that may still be followed. */
struct extent {
    const struct gi_tags *tags;
    uint64_t end;
    int left;
    struct gi_tiff_weight weight;
};

/* Adds without overflow. */
static void count(uint64_t *sum, uint64_t n)
{
    *sum = n < UINT64_MAX - *sum ? *sum + n : UINT64_MAX;
}

static void extend(struct extent *extent, uint64_t end)
{
    extent->end = end > extent->end ? end : extent->end;
}

static bool points_to_directories(const struct gi_tag *tag)
{
    return tag->tag == GI_TAG_SUBIFDS || tag->tag == GI_TAG_EXIF || tag->tag == GI_TAG_GPS ||
           tag->tag == GI_TAG_INTEROPERABILITY || tag->type == GI_TAG_IFD ||
           tag->type == GI_TAG_IFD8;
}

static void extend_by_strips(struct extent *extent, const struct gi_tag *places,
                             const struct gi_tag *counts)
{
    uint64_t nbytes = extent->tags->nbytes;
    for (uint64_t i = 0; i < places->count && i < counts->count; i++) {
        uint64_t at = gi_tag_integer(extent->tags, places, i, nbytes);
        uint64_t n = gi_tag_integer(extent->tags, counts, i, 0);
        bool inside = at <= nbytes && n <= nbytes - at;
        if (inside)
            count(&extent->weight.coded, n);
        if (at <
            nbytes) /* a length beyond the end, as some writers leave it, takes all that is left */
            extend(extent, inside ? at + n : nbytes);
    }
}

/* Extends to the end of the directory, its values, its pixels and the directories to which it
 * points. */
static void extend_by(struct extent *extent, uint64_t directory, int depth)
{
    struct gi_tag_walk walk;
    struct gi_tag tag, places = {0}, counts = {0}, others[2] = {{0}}, other_counts[2] = {{0}};
    uint64_t width = 0, height = 0;
    gi_tag_walk_start(&walk, extent->tags, directory);
    while (gi_tag_next(&walk, &tag)) {
        if (tag.broken)
            continue;
        extend(extent, tag.at + tag.nbytes);
        if (tag.tag == GI_TAG_STRIPS || tag.tag == GI_TAG_TILES)
            places = tag;
        else if (tag.tag == GI_TAG_STRIP_NBYTES || tag.tag == TAG_TILE_COUNTS)
            counts = tag;
        else if (tag.tag == TAG_FREE || tag.tag == TAG_JPEG)
            others[tag.tag == TAG_JPEG] = tag;
        else if (tag.tag == TAG_FREE_COUNTS || tag.tag == TAG_JPEG_NBYTES)
            other_counts[tag.tag == TAG_JPEG_NBYTES] = tag;
        else if (tag.tag == GI_TAG_WIDTH || tag.tag == GI_TAG_HEIGHT)
            *(tag.tag == GI_TAG_WIDTH ? &width : &height) =
                gi_tag_integer(extent->tags, &tag, 0, 0);
        for (uint64_t i = 0; i < tag.count && depth && extent->left && points_to_directories(&tag);
             i++, extent->left--)
            extend_by(extent, gi_tag_integer(extent->tags, &tag, i, 0), depth - 1);
    }
    if (walk.at) /* the offset of the next directory follows the entries */
        extend(extent, walk.at + (extent->tags->big ? 8 : 4));
    const struct gi_tiff_weight weight = extent->weight;
    for (int i = 0; i < 2; i++)
        extend_by_strips(extent, &others[i], &other_counts[i]);
    extent->weight = weight;
    extend_by_strips(extent, &places, &counts);
    if (width <= UINT32_MAX && height <= UINT32_MAX)
        count(&extent->weight.pixels, width * height);
}

uint64_t gi_tiff_end(struct gi_tiff_weight *weight, const unsigned char *bytes, size_t nbytes)
{
    struct gi_tiff_walk w;
    struct gi_tags tags;
    struct extent extent = {.tags = &tags, .left = DIRECTORIES};
    gi_tags_open(&tags, bytes, nbytes);
    gi_tiff_walk_start(&w, bytes, nbytes);
    for (; gi_tiff_walk(&w); extent.left += OF_PAGE)
        if (w.entries)
            extend_by(&extent, w.at, DEPTH);
    if (weight)
        *weight = extent.weight;
    return extent.end < nbytes ? extent.end : nbytes;
}

bool gi_tiff_find_next(size_t *at, const unsigned char *bytes, size_t nbytes, uint64_t end)
{
    /* Writers align files to a few bytes, or add zeros. */
    enum { NEAR = 16, ZEROS_MAX = 4096 };
    *at = (size_t)end;
    for (size_t n = 0; *at < nbytes; n++, ++*at) {
        if (gi_format_tiff.probe(bytes + *at, nbytes - *at))
            return true;
        if (n >= NEAR && (bytes[*at] || n == ZEROS_MAX))
            return false;
    }
    return false;
}

/* Returns whether the last `n` bytes are what a writer leaves behind the pages: tifffile a copy of
 * the first page's resolution, and GDAL a copy of a tile's last bytes, as in each of its
 * cloud-optimized files ("BLOCK_TRAILER=LAST_4_BYTES_REPEATED"). */
static bool is_slack(const unsigned char *bytes, size_t nbytes, size_t n)
{
    enum { RESOLUTION = 16, START = 4096, TRAILER = 4 }; /* bytes */
    size_t before = nbytes - n, most = before < START ? before : START;
    if (n == TRAILER && before >= TRAILER)
        return memcmp(bytes + before, bytes + before - TRAILER, TRAILER) == 0;
    return n == RESOLUTION && memmem(bytes, most, bytes + before, n);
}

/* Bytes between those that tags name are not looked for: programs that change tags of a file leave
 * the old directories and values there, as unused space. */
size_t gi_tiff_trailing(const unsigned char *bytes, size_t nbytes, uint64_t end)
{
    size_t n = end < nbytes ? (size_t)(nbytes - end) : 0;
    for (; n && !is_slack(bytes, nbytes, n); n--)
        if (bytes[nbytes - n])
            return n;
    return 0;
}
