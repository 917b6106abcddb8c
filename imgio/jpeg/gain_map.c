/* Finds the gain map of a JPEG, and writes the index of a JPEG and its gain map.
 *
 * The index is a TIFF block behind "MPF" and a zero byte. Its directory has the tag MPEntry with 16
 * bytes per image: attributes, size, offset, and two numbers of images on which the image depends.
 * Offsets count from the TIFF block, except that of the first image, the picture, which is 0 (CIPA
 * DC-007-2009, 5.2.3).
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/gain_map.h"

#include <string.h>

#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/jpeg/jpeg_markers.h"
#include "imgio/jpeg/jpeg_write.h"

enum {
    APP1 = 0xe1,
    APP2 = 0xe2,
    FILL = 0xff,
    MPF_HEAD = 4,   /* "MPF" and a zero byte */
    FIRST = 8,      /* offset of the directory in the TIFF block that is written */
    DIRECTORY = 42, /* bytes of a directory of three tags */
    ENTRY = 16,     /* bytes per image */
    ENTRIES_AT = FIRST + DIRECTORY,
    TAG_VERSION = 0xb000,
    TAG_IMAGES = 0xb001,
    TAG_ENTRIES = 0xb002,
    TYPE_LONG = 4,
    TYPE_UNDEFINED = 7,
    PRIMARY = 0x030000, /* attributes of the picture; 0 means that a map has no kind (5.2.3.3) */
};

/* A walk along the segments of a JPEG in memory. */
struct walk {
    const unsigned char *bytes;
    size_t nbytes, at; /* `at`: offset of the next marker */
    /* The segment that was found: */
    int marker;
    const unsigned char *data;
    size_t n;
};

static struct walk walk_of(const unsigned char *bytes, size_t nbytes)
{
    return (struct walk){.bytes = bytes, .nbytes = nbytes, .at = 2};
}

/* Moves over entropy-coded data to the next marker, except restart markers (ITU-T T.81,
 * B.1.1.5). */
static void pass_scan(struct walk *walk)
{
    const unsigned char *p = walk->bytes + walk->at, *last = walk->bytes + walk->nbytes - 1;
    while (p < last && (p = memchr(p, 0xff, (size_t)(last - p)))) {
        if (p[1] && (p[1] < GI_JPEG_RST0 || p[1] >= GI_JPEG_SOI)) {
            walk->at = (size_t)(p - walk->bytes);
            return;
        }
        p += 2;
    }
    walk->at = walk->nbytes;
}

/* Finds the next segment, or EOI, which is the last one. Returns false at the end and at damage. */
static bool next(struct walk *walk)
{
    if (walk->marker == GI_JPEG_SOS)
        pass_scan(walk);
    while (walk->nbytes - walk->at >= 2 && walk->bytes[walk->at] == 0xff) {
        const unsigned char *head = walk->bytes + walk->at;
        size_t left = walk->nbytes - walk->at - 2;
        walk->marker = head[1];
        walk->at += walk->marker == FILL ? 1 : 2;
        if (walk->marker == GI_JPEG_EOI)
            return true;
        if (walk->marker == FILL || walk->marker == GI_JPEG_TEM ||
            (walk->marker >= GI_JPEG_RST0 && walk->marker <= GI_JPEG_SOI))
            continue;
        size_t n = left >= 2 ? gi_big16(head + 2) : 0;
        if (n < 2 || n > left)
            return false;
        walk->data = head + 4;
        walk->n = n - 2;
        walk->at += n;
        return true;
    }
    return false;
}

/* As next(), but only to segments before the first scan. */
static bool next_in_head(struct walk *walk)
{
    return next(walk) && walk->marker != GI_JPEG_SOS && walk->marker != GI_JPEG_EOI;
}

static bool starts(const struct walk *walk, int marker, const char *head, size_t n)
{
    return walk->marker == marker && walk->n >= n && memcmp(walk->data, head, n) == 0;
}

static bool xmp_has(const struct walk *walk, const char *text)
{
    return starts(walk, APP1, GI_XMP_HEAD, sizeof GI_XMP_HEAD) &&
           memmem(walk->data, walk->n, text, strlen(text));
}

/* Returns whether the JPEG says that it is a gain map, and is whole. Zeros may follow it. */
static bool is_gain_map(const unsigned char *bytes, size_t nbytes)
{
    struct walk walk = walk_of(bytes, nbytes);
    bool is = false;
    while (next_in_head(&walk))
        is = is || starts(&walk, APP2, GI_ISO_GAIN_MAP_HEAD, sizeof GI_ISO_GAIN_MAP_HEAD) ||
             xmp_has(&walk, "http://ns.adobe.com/hdr-gain-map/1.0/") ||
             xmp_has(&walk, "urn:com:apple:photo:2020:aux:hdrgainmap");
    while (is && walk.marker != GI_JPEG_EOI)
        is = next(&walk);
    for (size_t i = walk.at; i < nbytes && is; i++)
        is = bytes[i] == 0;
    return is;
}

/* ---- the index ---- */

/* The TIFF block of an index. */
struct block {
    const unsigned char *at;
    size_t n;
    bool little; /* the byte order */
};

static uint32_t long_at(const struct block *block, size_t at)
{
    return block->little ? gi_little32(block->at + at) : gi_big32(block->at + at);
}

static unsigned short_at(const struct block *block, size_t at)
{
    return block->little ? gi_little16(block->at + at) : gi_big16(block->at + at);
}

static bool find_block(struct block *block, const unsigned char *bytes, size_t nbytes)
{
    struct walk walk = walk_of(bytes, nbytes);
    while (next_in_head(&walk))
        if (starts(&walk, APP2, "MPF", MPF_HEAD) && walk.n >= MPF_HEAD + FIRST) {
            *block = (struct block){walk.data + MPF_HEAD, walk.n - MPF_HEAD,
                                    memcmp(walk.data + MPF_HEAD, "II*", 4) == 0};
            return block->little || memcmp(block->at, "MM\0*", 4) == 0;
        }
    return false;
}

/* Returns the number of images, and sets *at to the offset of their entries in the block. Returns 0
 * if the index is damaged. */
static size_t find_entries(size_t *at, const struct block *block)
{
    size_t first = long_at(block, 4), n = block->n;
    unsigned ntags = first <= n - 2 ? short_at(block, first) : 0;
    for (size_t tag = first + 2; ntags && tag <= n && n - tag >= 12; ntags--, tag += 12) {
        size_t nbytes = long_at(block, tag + 4);
        *at = long_at(block, tag + 8);
        if (short_at(block, tag) == TAG_ENTRIES && short_at(block, tag + 2) == TYPE_UNDEFINED)
            return *at <= n && nbytes <= n - *at ? nbytes / ENTRY : 0;
    }
    return 0;
}

struct gi_gain_map gi_gain_map_find(const unsigned char *bytes, size_t n, size_t end)
{
    struct block block;
    size_t entry = 0, count = 0;
    if (find_block(&block, bytes, n))
        count = find_entries(&entry, &block);
    for (size_t i = 1; i < count; i++) {
        size_t nbytes = long_at(&block, entry + i * ENTRY + 4);
        size_t at = (size_t)(block.at - bytes) + long_at(&block, entry + i * ENTRY + 8);
        /* Images of which none overlaps another one take no more work than the file has bytes. */
        if (at < end || at > n || nbytes < 4 || nbytes > n - at ||
            !gi_format_jpeg.probe(bytes + at, nbytes))
            continue;
        end = at + nbytes;
        if (is_gain_map(bytes + at, nbytes))
            return (struct gi_gain_map){at, nbytes};
    }
    return (struct gi_gain_map){0, 0};
}

static unsigned char *put_tag(unsigned char *p, uint16_t tag, uint16_t type, uint32_t n,
                              uint32_t value)
{
    gi_put_big16(p, tag);
    gi_put_big16(p + 2, type);
    gi_put_big32(p + 4, n);
    gi_put_big32(p + 8, value);
    return p + 12;
}

void gi_mpf_make(unsigned char segment[GI_MPF_NBYTES])
{
    static const unsigned char head[] = {'M', 'P', 'F', 0, 'M', 'M', 0, '*', 0, 0, 0, FIRST, 0, 3};
    unsigned char *p = segment + sizeof head;
    memset(segment, 0, GI_MPF_NBYTES);
    memcpy(segment, head, sizeof head);
    p = put_tag(p, TAG_VERSION, TYPE_UNDEFINED, 4, 0x30313030); /* "0100" */
    p = put_tag(p, TAG_IMAGES, TYPE_LONG, 1, 2);
    put_tag(p, TAG_ENTRIES, TYPE_UNDEFINED, 2 * ENTRY, ENTRIES_AT);
    gi_put_big32(segment + MPF_HEAD + ENTRIES_AT, PRIMARY);
}

enum gi_status gi_mpf_set(unsigned char *picture, size_t n, size_t map_nbytes, struct gi_err *err)
{
    struct block block;
    if (n > UINT32_MAX || map_nbytes > UINT32_MAX || !find_block(&block, picture, n))
        return gi_fail(err, GI_E_UNSUPPORTED, "has %zu bytes, too many for a JPEG with a gain map",
                       n);
    unsigned char *entries = picture + (block.at - picture) + ENTRIES_AT;
    gi_put_big32(entries + 4, (uint32_t)n);
    gi_put_big32(entries + ENTRY + 4, (uint32_t)map_nbytes);
    gi_put_big32(entries + ENTRY + 8, (uint32_t)(n - (size_t)(block.at - picture)));
    return GI_OK;
}

/* ---- the parts ---- */

bool gi_gain_map_is_description(const struct gi_part *part)
{
    return part->kind == GI_PART_JPEG_SEGMENT && part->code == APP2 && part->bytes &&
           part->nbytes >= sizeof GI_ISO_GAIN_MAP_HEAD &&
           memcmp(part->bytes, GI_ISO_GAIN_MAP_HEAD, sizeof GI_ISO_GAIN_MAP_HEAD) == 0;
}

const struct gi_part *gi_gain_map_of(const struct gi_metadata *metadata)
{
    const struct gi_part *part =
        metadata ? gi_parts_find(&metadata->parts, GI_PART_GAIN_MAP, 0) : NULL;
    return part && !part->place ? part : NULL;
}

void gi_gain_map_turn(struct gi_metadata *metadata, int layout)
{
    struct gi_part *part = (struct gi_part *)gi_parts_find(&metadata->parts, GI_PART_GAIN_MAP, 0);
    if (part)
        part->place = gi_layout_join(part->place, layout);
}

void gi_gain_map_drop(struct gi_metadata *metadata, const char *why)
{
    for (int i = 0; i < metadata->parts.n; i++) {
        struct gi_part *part = &metadata->parts.list[i];
        if (part->fate != GI_PART_CARRIED ||
            (part->kind != GI_PART_GAIN_MAP && !gi_gain_map_is_description(part)))
            continue;
        part->fate = GI_PART_DROPPED;
        part->why = why;
    }
}

bool gi_gain_map_has_exif(const struct gi_part *part)
{
    if (part->kind != GI_PART_GAIN_MAP || !part->bytes)
        return false;
    struct walk walk = walk_of(part->bytes, part->nbytes);
    while (next_in_head(&walk))
        if (starts(&walk, APP1, "Exif\0", 6) || xmp_has(&walk, "GPS") || xmp_has(&walk, "Location"))
            return true;
    return false;
}
