/* Accounts for every segment of a JPEG (ITU-T T.81, B.1.1.3 and B.2.4): application segments (APPn)
 * that libjpeg or read_metadata() in jpeg.c do not use are carried, dropped or named.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/jpeg_segments.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/codecs.h"
#include "imgio/image_stream.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/jpeg/jpeg_markers.h"
#include "imgio/jpeg/jpeg_write.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/photoshop.h"
#include "imgio/metadata/resolution.h"

enum {
    SEGMENT_MAX = 65533, /* bytes of a segment after its length */
    APP0 = 0xe0,
    APP1 = 0xe1,
    APP2 = 0xe2,
    APP11 = 0xeb,
    APP13 = 0xed,
    APP14 = 0xee,
    APP15 = 0xef,
    JFIF_HEAD = 14,
    ADOBE_HEAD = 12,
};

/* How a segment begins, and what becomes of segments that begin so. The first row that fits
 * counts. */
static const struct kind {
    int marker;
    unsigned n; /* bytes of `head` */
    const char *head;
    bool used; /* by the decoder */
    enum gi_part_fate fate;
    const char *name, *why;
} kinds[] = {
    {APP0, 5, "JFIF", true, GI_PART_CARRIED, NULL, NULL},
    {APP0, 5, "JFXX", false, GI_PART_DROPPED, "thumbnail (JFXX)", GI_OLD_PICTURE},
    {APP1, 6, "Exif\0", true, GI_PART_CARRIED, NULL, NULL},
    {APP1, sizeof GI_XMP_HEAD, GI_XMP_HEAD, true, GI_PART_CARRIED, NULL, NULL},
    {APP1, sizeof GI_JPEG_MORE_XMP_HEAD, GI_JPEG_MORE_XMP_HEAD, false, GI_PART_CARRIED,
     "extended XMP", NULL},
    {APP2, 12, "ICC_PROFILE", true, GI_PART_CARRIED, NULL, NULL},
    {APP2, 4, "MPF", true, GI_PART_DROPPED, "index of further images (MPF)",
     "the images are not kept"}, /* used if it names a gain map */
    {APP2, sizeof GI_ISO_GAIN_MAP_HEAD, GI_ISO_GAIN_MAP_HEAD, false, GI_PART_CARRIED,
     "description of a gain map", NULL},
    {APP11, 2, "JP", false, GI_PART_DROPPED, "JUMBF (C2PA)", "signs the old pixels"},
    {APP14, 5, "Adobe", true, GI_PART_CARRIED, NULL, NULL},
};

static const struct kind *kind_of(int marker, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (marker == kinds[i].marker && n >= kinds[i].n &&
            memcmp(bytes, kinds[i].head, kinds[i].n) == 0)
            return &kinds[i];
    return NULL;
}

/* A walk along the segments. */
struct walk {
    struct gi_decode *decode;
    int exifs, xmps, indexes; /* segments so far */
    size_t stray;             /* bytes between the segments before the first scan */
    unsigned char *photoshop; /* the data of all segments of Photoshop, from malloc() */
    size_t photoshop_nbytes;
};

static void add(struct walk *walk, int marker, const struct kind *kind, const void *bytes, size_t n)
{
    const struct gi_part part = {.kind = GI_PART_JPEG_SEGMENT,
                                 .fate = kind ? kind->fate : GI_PART_CARRIED,
                                 .code = (uint32_t)marker,
                                 .why = kind ? kind->why : NULL,
                                 .nbytes = n,
                                 .bytes = (void *)bytes};
    if (kind)
        gi_decode_add_part(walk->decode, &part, "%s", kind->name);
    else
        gi_decode_add_part(walk->decode, &part, "segment APP%d", marker - APP0);
}

static void add_lost(struct walk *walk, int marker, const char *name, size_t n)
{
    const struct gi_part part = {
        .kind = GI_PART_JPEG_SEGMENT, .fate = GI_PART_LOST, .code = (uint32_t)marker, .nbytes = n};
    gi_decode_add_part(walk->decode, &part, "%s", name);
}

static void collect_photoshop(struct walk *walk, const unsigned char *bytes, size_t n)
{
    unsigned char *grown = realloc(walk->photoshop, walk->photoshop_nbytes + n + 1);
    if (!grown) {
        walk->decode->metadata->starved = true;
        return;
    }
    memcpy(grown + walk->photoshop_nbytes, bytes, n);
    walk->photoshop = grown;
    walk->photoshop_nbytes += n;
}

/* Adds a segment that the decoder uses, if it holds more than that. */
static void add_rest_of_used(struct walk *walk, int marker, const struct kind *kind,
                             const unsigned char *bytes, size_t n)
{
    const struct gi_metadata *metadata = walk->decode->metadata;
    if (marker == APP0 && n > JFIF_HEAD && bytes[12] && bytes[13])
        add_lost(walk, marker, "thumbnail (JFIF)", n - JFIF_HEAD);
    else if (marker == APP0 && n > JFIF_HEAD)
        add_lost(walk, marker, "end of JFIF's segment", n - JFIF_HEAD);
    else if (marker == APP14 && n > ADOBE_HEAD)
        add_lost(walk, marker, "end of Adobe's segment", n - ADOBE_HEAD);
    else if (marker == APP1 && bytes[0] == 'E' && (walk->exifs++ || !metadata->exif))
        add_lost(walk, marker, "further EXIF", n);
    else if (marker == APP1 && bytes[0] == 'h' && (walk->xmps++ || !metadata->xmp))
        add_lost(walk, marker, "further XMP", n);
    else if (marker == APP2 && bytes[0] == 'M' && walk->indexes++)
        add_lost(walk, marker, "further index of images (MPF)", n);
    else if (marker == APP2 && bytes[0] == 'M')
        add(walk, marker, kind, bytes, n);
    else if (marker == APP2 && !metadata->icc && !walk->decode->profile_used)
        add_lost(walk, marker, "a part of an ICC profile", n);
}

static void account(struct walk *walk, int marker, const unsigned char *bytes, size_t n)
{
    const struct kind *kind = kind_of(marker, bytes, n);
    if (marker == GI_JPEG_COM && !gi_decode_add_comment(walk->decode, bytes, n))
        add_lost(walk, GI_JPEG_COM, "comment (more text than is kept)", n);
    if (marker < APP0 || marker > APP15)
        return;
    if (kind && kind->used)
        add_rest_of_used(walk, marker, kind, bytes, n);
    else if (marker == APP13 && n >= sizeof GI_JPEG_PHOTOSHOP_HEAD &&
             memcmp(bytes, GI_JPEG_PHOTOSHOP_HEAD, sizeof GI_JPEG_PHOTOSHOP_HEAD) == 0)
        collect_photoshop(walk, bytes + sizeof GI_JPEG_PHOTOSHOP_HEAD,
                          n - sizeof GI_JPEG_PHOTOSHOP_HEAD);
    else
        add(walk, marker, kind, bytes, n);
}

/* Returns whether no length follows the marker, or a byte 0xff in a scan's data. */
static bool is_alone(int marker)
{
    return marker <= GI_JPEG_TEM || (marker >= GI_JPEG_RST0 && marker <= GI_JPEG_SOI);
}

/* Accounts for all segments. Returns the offset behind the end of the image. */
static size_t walk_segments(struct walk *walk)
{
    struct gi_decode *decode = walk->decode;
    const struct gi_coded *coded = decode->image->coded;
    const unsigned char *at = decode->bytes, *end = at + decode->nbytes;
    const unsigned char *next = at; /* where a marker should be; NULL in scans */
    while ((at = memchr(at, 0xff, (size_t)(end - at))) && end - at >= 2) {
        int marker = at[1];
        gi_decode_forget(decode, (size_t)(at - decode->bytes));
        if (marker == 0xff) { /* a fill byte */
            walk->stray += next ? (size_t)(at - next) : 0;
            at++;
            next = next ? at : NULL;
            continue;
        }
        walk->stray += next ? (size_t)(at - next) : 0;
        at += 2;
        next = next ? at : NULL;
        if (marker == GI_JPEG_EOI)
            return (size_t)(at - decode->bytes);
        if (is_alone(marker) || end - at < 2)
            continue;
        size_t n = (size_t)(at[0] << 8 | at[1]);
        if (n < 2 || n > (size_t)(end - at))
            break;
        account(walk, marker, at + 2, n - 2);
        at += n;
        next = next && marker != GI_JPEG_SOS ? at : NULL;
        if (marker == GI_JPEG_SOS && coded) /* whose only scan EOI follows */
            at = decode->bytes + coded->scan_at + coded->scan_nbytes;
    }
    return decode->nbytes;
}

/* As gi_jpeg_add_rest(), without a gain map. */
static void add_rest(struct gi_decode *decode, size_t end)
{
    const unsigned char *bytes = decode->bytes;
    size_t at = end;
    while (at < decode->nbytes && bytes[at] == 0)
        at++;
    size_t n = decode->nbytes - at;
    bool image = n >= 3 && memcmp(bytes + at, "\xff\xd8\xff", 3) == 0;
    bool own = image && (at > end || gi_image_stream_has_index(bytes, end));
    if (own)
        gi_decode_add_images(decode, "images after the first", GI_MORE_IMAGES);
    if (n && memmem(bytes + at, n, "ftyp", 4))
        gi_decode_add_images(decode, "the video of a motion photo",
                             "holds a video, which is not kept");
    else if (!own)
        gi_decode_add_rest(decode, at);
}

static bool is_index(const struct gi_part *part)
{
    return part->kind == GI_PART_JPEG_SEGMENT && part->code == APP2 &&
           part->fate == GI_PART_DROPPED;
}

void gi_jpeg_add_rest(struct gi_decode *decode, size_t end)
{
    const struct gi_gain_map map = gi_gain_map_find(decode->bytes, decode->nbytes, end);
    struct gi_decode before = *decode;
    if (!map.nbytes) {
        gi_gain_map_drop(decode->metadata, "the map is not kept");
        add_rest(decode, end);
        return;
    }
    before.nbytes = map.at;
    add_rest(&before, end);
    decode->followed = before.followed;
    gi_parts_remove(&decode->metadata->parts, is_index);
    gi_decode_add_part(decode,
                       &(struct gi_part){.kind = GI_PART_GAIN_MAP,
                                         .fate = GI_PART_CARRIED,
                                         .nbytes = map.nbytes,
                                         .bytes = (void *)(decode->bytes + map.at)},
                       "gain map");
    if (!gi_parts_find(&decode->metadata->parts, GI_PART_GAIN_MAP, 0)) /* too large */
        gi_gain_map_drop(decode->metadata, "the map is not kept");
    add_rest(decode, map.at + map.nbytes);
}

void gi_jpeg_parts(struct gi_decode *decode)
{
    struct walk walk = {.decode = decode};
    size_t end = walk_segments(&walk);
    if (walk.photoshop)
        gi_decode_add_photoshop(decode, walk.photoshop, walk.photoshop_nbytes);
    free(walk.photoshop);
    if (walk.stray)
        gi_decode_add_part(decode,
                           &(struct gi_part){.kind = GI_PART_FIELD,
                                             .fate = GI_PART_LOST,
                                             .nbytes = walk.stray,
                                             .warned = decode->warning->status != GI_OK},
                           "%zu stray bytes between segments", walk.stray);
    gi_jpeg_add_rest(decode, end);
}

enum gi_holding gi_jpeg_holds(const struct gi_part *part, const struct gi_image *written)
{
    if (part->kind == GI_PART_GAIN_MAP)
        return part->place ? GI_NOT_WRITTEN : GI_HOLDS;
    return part->kind == GI_PART_JPEG_SEGMENT || part->kind == GI_PART_PHOTOSHOP ||
                   part->kind == GI_PART_IPTC
               ? GI_HOLDS
               : GI_CANNOT_HOLD;
}

static void put(j_compress_ptr jpeg, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        jpeg_write_m_byte(jpeg, ((const unsigned char *)bytes)[i]);
}

/* Writes bytes of Photoshop's resources, as segments that readers join. */
static void write_photoshop(j_compress_ptr jpeg, const unsigned char *bytes, size_t n)
{
    enum { MOST = SEGMENT_MAX - sizeof GI_JPEG_PHOTOSHOP_HEAD };
    for (size_t each; n; n -= each, bytes += each) {
        each = n < MOST ? n : MOST;
        jpeg_write_m_header(jpeg, APP13, (unsigned)(sizeof GI_JPEG_PHOTOSHOP_HEAD + each));
        put(jpeg, GI_JPEG_PHOTOSHOP_HEAD, sizeof GI_JPEG_PHOTOSHOP_HEAD);
        put(jpeg, bytes, each);
    }
}

void gi_jpeg_write_index(j_compress_ptr jpeg)
{
    unsigned char index[GI_MPF_NBYTES];
    gi_mpf_make(index);
    jpeg_write_m_header(jpeg, APP2, sizeof index);
    put(jpeg, index, sizeof index);
}

void gi_jpeg_write_parts(j_compress_ptr jpeg, const struct gi_metadata *metadata)
{
    size_t n = gi_photoshop_put(NULL, metadata);
    /* libjpeg's memory, which is freed with `jpeg`; its errors leave this function by longjmp(). */
    unsigned char *all = n ? (*jpeg->mem->alloc_large)((j_common_ptr)jpeg, JPOOL_IMAGE, n) : NULL;
    if (all)
        gi_photoshop_put(all, metadata);
    write_photoshop(jpeg, all, n);
    for (int i = 0; i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        if (part->kind != GI_PART_JPEG_SEGMENT || part->fate != GI_PART_CARRIED)
            continue;
        jpeg_write_m_header(jpeg, (int)part->code, (unsigned)part->nbytes);
        put(jpeg, part->bytes, part->nbytes);
    }
    if (gi_gain_map_of(metadata))
        gi_jpeg_write_index(jpeg);
}
