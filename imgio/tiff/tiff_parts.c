/* Accounts for every tag of the directory that is read from a TIFF: it is used by the reader,
 * becomes metadata, is carried, or is named as lost. SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/photoshop.h"
#include "imgio/tiff/directories.h"
#include "imgio/tiff/tiff.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_EXTRA_SAMPLES = 338 };

/* Whether tags from `first` to `last` are used, and otherwise why they are not carried (TIFF 6.0;
 * the registry of tags is the Library of Congress's "Tags for TIFF and Related Specifications"). */
static const struct range {
    unsigned first, last;
    bool used;
    enum gi_part_fate fate;
    const char *name, *why;
} ranges[] = {
    {254, 259, true, GI_PART_CARRIED, NULL, NULL}, /* kind, size, bits, compression */
    {262, 262, true, GI_PART_CARRIED, NULL, NULL}, /* photometric interpretation */
    {266, 266, true, GI_PART_CARRIED, NULL, NULL}, /* order of bits */
    {269, 274, true, GI_PART_CARRIED, NULL, NULL}, /* texts, strips, orientation */
    {277, 279, true, GI_PART_CARRIED, NULL, NULL}, /* samples and strips */
    {280, 281, false, GI_PART_DROPPED, "minimum and maximum of samples", "of the old samples"},
    {282, 284, true, GI_PART_CARRIED, NULL, NULL}, /* resolution, planes */
    {288, 289, true, GI_PART_CARRIED, NULL, NULL}, /* unused bytes */
    {292, 293, true, GI_PART_CARRIED, NULL, NULL}, /* options of fax compression */
    {296, 296, true, GI_PART_CARRIED, NULL, NULL}, /* unit of resolution */
    {305, 306, true, GI_PART_CARRIED, NULL, NULL}, /* software, date */
    {315, 315, true, GI_PART_CARRIED, NULL, NULL}, /* author */
    {317, 317, true, GI_PART_CARRIED, NULL, NULL}, /* predictor */
    {320, 320, true, GI_PART_CARRIED, NULL, NULL}, /* palette */
    {322, 325, true, GI_PART_CARRIED, NULL, NULL}, /* tiles */
    {326, 328, true, GI_PART_CARRIED, NULL, NULL}, /* damaged lines of a fax */
    {330, 330, false, GI_PART_LOST, "SubIFDs", "directories of further images"},
    {332, 334, false, GI_PART_DROPPED, "names of inks", "inks become RGB"},
    {336, 336, false, GI_PART_DROPPED, "range of inks", "inks become RGB"},
    {338, 339, true, GI_PART_CARRIED, NULL, NULL}, /* alpha, format of samples */
    {340, 341, false, GI_PART_DROPPED, "minimum and maximum of samples", "of the old samples"},
    {346, 346, false, GI_PART_DROPPED, "statement that samples are indices", "they are colours"},
    {347, 347, true, GI_PART_CARRIED, NULL, NULL}, /* tables of JPEG */
    {400, 400, false, GI_PART_LOST, "a directory of parameters", NULL},
    {433, 433, false, GI_PART_LOST, "range of decoded samples", NULL},
    {512, 521, true, GI_PART_CARRIED, NULL, NULL}, /* JPEG of the old style */
    {529, 532, true, GI_PART_CARRIED, NULL, NULL}, /* YCbCr */
    {559, 559, false, GI_PART_LOST, "numbers of rows of strips", NULL},
    {700, 700, true, GI_PART_CARRIED, NULL, NULL},     /* XMP */
    {32995, 32998, true, GI_PART_CARRIED, NULL, NULL}, /* alpha, type and depth of SGI */
    {33421, 33422, false, GI_PART_LOST, "pattern of a colour filter array", NULL},
    {33432, 33432, true, GI_PART_CARRIED, NULL, NULL}, /* copyright */
    {34665, 34665, true, GI_PART_CARRIED, NULL, NULL}, /* EXIF */
    {34675, 34675, true, GI_PART_CARRIED, NULL, NULL}, /* ICC profile */
    {34853, 34853, true, GI_PART_CARRIED, NULL, NULL}, /* GPS */
    {37724, 37724, false, GI_PART_LOST, "layers of Photoshop", NULL},
    {50706, 50783, false, GI_PART_LOST, "tags of DNG", NULL},
    {50785, 50837, false, GI_PART_LOST, "tags of DNG", NULL},
    {50840, 50843, false, GI_PART_LOST, "tags of DNG", NULL},
    {50845, 51125, false, GI_PART_LOST, "tags of DNG", NULL},
    {52525, 52553, false, GI_PART_LOST, "tags of DNG", NULL},
};

static const struct range *range_of(unsigned tag)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (tag >= ranges[i].first && tag <= ranges[i].last)
            return &ranges[i];
    return NULL;
}

bool gi_tiff_is_structure(unsigned tag)
{
    return range_of(tag) != NULL;
}

bool gi_tiff_is_used(unsigned tag)
{
    const struct range *range = range_of(tag);
    return range && range->used;
}

bool gi_tiff_is_not_carried(unsigned tag)
{
    const struct range *range = range_of(tag);
    return range && !range->used;
}

/* Returns whether the tag is a curve with an entry per value of a sample: GrayResponseUnit,
 * GrayResponseCurve or TransferFunction. */
static bool is_curve(unsigned tag)
{
    return tag == 290 || tag == 291 || tag == 301;
}

/* Returns whether a curve has as many entries as a sample of the image has values. The unit of a
 * curve is a single number. */
static bool fits_depth(const struct gi_part *part, const struct gi_image *written)
{
    size_t n = (size_t)1 << 8 * gi_type_nbytes(written->type) % 32, have = part->nbytes / 2;
    return written->type <= GI_U16 && (part->code == 290 || have == n || have == 3 * n);
}

enum gi_holding gi_tiff_holds(const struct gi_part *part, const struct gi_image *written)
{
    bool holds = part->kind == GI_PART_TIFF_TAG || part->kind == GI_PART_GEO ||
                 part->kind == GI_PART_IPTC || part->kind == GI_PART_PHOTOSHOP;
    if (part->kind == GI_PART_TIFF_TAG && is_curve(part->code))
        holds = fits_depth(part, written);
    if (part->kind == GI_PART_EXTRA_SAMPLES) /* beside gray or RGB */
        holds = written->channels == 1 + (int)part->nbytes / 2 ||
                written->channels == 3 + (int)part->nbytes / 2;
    return holds ? GI_HOLDS : GI_CANNOT_HOLD;
}

/* Returns whether a tag of the first directory belongs to EXIF: make, model, software, date,
 * author, computer, copyright, rating, and the texts of Windows. */
static bool is_of_exif(unsigned tag)
{
    return tag == 271 || tag == 272 || tag == 305 || tag == 306 || tag == 315 || tag == 316 ||
           tag == 18246 || tag == 18249 || tag == 33432 || (tag >= 40091 && tag <= 40095);
}

/* Returns whether the tag makes an EXIF block worth while, because nothing else keeps it. */
static bool needs_exif(unsigned tag)
{
    return tag == GI_TAG_EXIF || tag == GI_TAG_GPS || tag == 316 || tag == 18246 || tag == 18249 ||
           (tag >= 40091 && tag <= 40095);
}

/* Returns whether the tag is of GeoTIFF or GDAL. */
static bool is_of_geo(unsigned tag)
{
    return tag == 33550 || tag == 33920 || tag == 33922 || tag == 34264 ||
           (tag >= 34735 && tag <= 34737) || tag == 42112 || tag == 42113 || tag == 50844;
}

static void add_lost(struct gi_decode *decode, const struct gi_tag *tag, const char *why)
{
    gi_decode_add_part(decode,
                       &(struct gi_part){.kind = GI_PART_TIFF_TAG,
                                         .fate = GI_PART_LOST,
                                         .code = tag->tag,
                                         .nbytes = (size_t)tag->nbytes,
                                         .why = why},
                       "tag %u", tag->tag);
}

/* Returns whether all values of 64 bits fit in 32 bits. */
static bool fits_32_bits(const struct gi_tags *tags, const struct gi_tag *tag)
{
    double least = tag->type == GI_TAG_LONG8 ? 0 : INT32_MIN;
    double most = tag->type == GI_TAG_LONG8 ? UINT32_MAX : INT32_MAX;
    for (uint64_t i = 0; i < tag->count; i++) {
        double v = gi_tag_real(tags, tag, i);
        if (v < least || v > most)
            return false;
    }
    return true;
}

/* Carries a tag, with its values in the machine's byte order. */
static void add_carried(struct gi_decode *decode, const struct gi_tags *tags,
                        const struct gi_tag *tag)
{
    enum gi_part_kind kind = is_of_geo(tag->tag) ? GI_PART_GEO : GI_PART_TIFF_TAG;
    if (tag->type == GI_TAG_IFD || tag->type == GI_TAG_IFD8) {
        add_lost(decode, tag, "points to a directory");
        return;
    }
    if (gi_parts_find(&decode->metadata->parts, kind, tag->tag)) {
        add_lost(decode, tag, "comes a second time");
        return;
    }
    if (tag->nbytes > GI_PARTS_NBYTES_MAX) {
        add_lost(decode, tag, "more bytes than are kept");
        return;
    }
    if (tag->type > GI_TAG_IFD && !fits_32_bits(tags, tag)) {
        add_lost(decode, tag, "has 64-bit values");
        return;
    }
    unsigned char *values = malloc((size_t)tag->nbytes + 1);
    if (!values) {
        decode->metadata->starved = true;
        return;
    }
    gi_tag_copy(values, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, tags, tag);
    enum gi_tag_type type = tag->type;
    size_t nbytes = (size_t)tag->nbytes;
    if (tag->type > GI_TAG_IFD) { /* a TIFF with 32-bit offsets has no such type */
        type = tag->type == GI_TAG_LONG8 ? GI_TAG_LONG : GI_TAG_SLONG;
        for (size_t i = 0; i < tag->count; i++)
            gi_put_own(values + 4 * i, 4, gi_own(values + 8 * i, 8));
        nbytes /= 2;
    }
    gi_decode_add_part(decode,
                       &(struct gi_part){.kind = kind,
                                         .fate = GI_PART_CARRIED,
                                         .code = tag->tag,
                                         .place = (int)type,
                                         .nbytes = nbytes,
                                         .bytes = values},
                       "%s %u", kind == GI_PART_GEO ? "GeoTIFF tag" : "tag", tag->tag);
    free(values);
}

/* Adds a tag that belongs to a range of tags that are not carried. The tags of a range are one
 * part. */
static void add_to_range(struct gi_decode *decode, const struct range *range,
                         const struct gi_tag *tag)
{
    struct gi_parts *parts = &decode->metadata->parts;
    for (int i = 0; i < parts->n; i++)
        if (parts->list[i].kind == GI_PART_TIFF_TAG && range_of(parts->list[i].code) &&
            range_of(parts->list[i].code)->name == range->name) {
            parts->list[i].nbytes += (size_t)tag->nbytes;
            return;
        }
    gi_decode_add_part(decode,
                       &(struct gi_part){.kind = GI_PART_TIFF_TAG,
                                         .fate = range->fate,
                                         .code = tag->tag,
                                         .nbytes = (size_t)tag->nbytes,
                                         .why = range->why},
                       "%s", range->name);
}

/* Makes the EXIF block of the directory, and names what is left out. */
static void add_exif(struct gi_decode *decode, const struct gi_tags *tags, uint64_t directory)
{
    static const char *const names[] = {"", " of EXIF", " of GPS", " of interoperability"};
    struct gi_metadata *metadata = decode->metadata;
    struct gi_directories d;
    if (gi_directories_read(&d, tags, directory, is_of_exif, NULL)) {
        metadata->starved = true;
        return;
    }
    for (int i = 1; i < GI_DIRECTORIES; i++)
        if (d.list[i].left_out)
            gi_decode_add_part(decode,
                               &(struct gi_part){.kind = GI_PART_METADATA, .fate = GI_PART_LOST},
                               "%u damaged tag%s%s", d.list[i].left_out,
                               d.list[i].left_out == 1 ? "" : "s", names[i]);
    metadata->exif = gi_directories_exif(&d, &metadata->exif_nbytes);
    metadata->starved = metadata->starved || !metadata->exif;
    gi_directories_free(&d);
}

/* Names what follows the first text of a tag; Copyright may have two (Exif 2.32, 4.6.4). */
static void add_second_text(struct gi_decode *decode, const struct gi_tags *tags,
                            const struct gi_tag *tag)
{
    const char *text = (const char *)tags->bytes + (tag->broken ? 0 : tag->at);
    size_t n = strnlen(text, tag->nbytes);
    bool more = false;
    for (; n < tag->nbytes; n++)
        more = more || text[n];
    for (const struct gi_tiff_text *t = gi_tiff_texts; more && t->tag; t++)
        if (t->tag == tag->tag && tag->type == GI_TAG_ASCII)
            add_lost(decode, tag, "its second text");
}

/* Carries the kinds of further samples, if the image's bands do not tell them: of several samples
 * that are alpha, the bands name one. */
static void add_extra_samples(struct gi_decode *decode, const struct gi_tags *tags,
                              const struct gi_tag *tag)
{
    uint16_t kinds[GI_BANDS_MAX];
    uint64_t n = tag->count < GI_BANDS_MAX ? tag->count : GI_BANDS_MAX;
    int alphas = 0;
    for (uint64_t i = 0; i < n; i++) {
        kinds[i] = (uint16_t)gi_tag_integer(tags, tag, i, 0);
        alphas += kinds[i] != 0;
    }
    if (alphas > 1 && decode->info->bands.n)
        gi_decode_add_part(decode,
                           &(struct gi_part){.kind = GI_PART_EXTRA_SAMPLES,
                                             .fate = GI_PART_CARRIED,
                                             .nbytes = (size_t)n * sizeof *kinds,
                                             .bytes = kinds},
                           "kinds of %d alpha samples", alphas);
}

static void add_tag(struct gi_decode *decode, const struct gi_tags *tags, const struct gi_tag *tag)
{
    const struct range *range = range_of(tag->tag);
    if (tag->tag == TAG_EXTRA_SAMPLES && !tag->broken)
        add_extra_samples(decode, tags, tag);
    add_second_text(decode, tags, tag);
    if (range && range->used)
        return;
    if (range)
        add_to_range(decode, range, tag);
    else if (tag->broken)
        add_lost(decode, tag, "is damaged");
    else if (tag->tag == GI_TAG_IPTC)
        gi_decode_add_iptc(decode, tags->bytes + tag->at, (size_t)tag->nbytes);
    else if (tag->tag == GI_TAG_PHOTOSHOP)
        gi_decode_add_photoshop(decode, tags->bytes + tag->at, (size_t)tag->nbytes);
    else if (tag->tag == GI_TAG_IMAGEJ - 1 || tag->tag == GI_TAG_IMAGEJ)
        add_carried(decode, tags, tag);
    else if (!needs_exif(tag->tag))
        add_carried(decode, tags, tag);
}

/* Adds a tag of a page whose picture is in a SubIFD, which the decoder has read: metadata of the
 * page are those of the picture. */
static void add_tag_of_page(struct gi_decode *decode, const struct gi_tags *tags,
                            const struct gi_tag *tag)
{
    struct gi_metadata *metadata = decode->metadata;
    const unsigned char *bytes = tags->bytes + (tag->broken ? 0 : tag->at);
    bool same = metadata->xmp_nbytes == tag->nbytes && metadata->xmp &&
                memcmp(metadata->xmp, bytes, (size_t)tag->nbytes) == 0;
    if (tag->tag == GI_TAG_XMP && metadata->xmp && !same)
        add_lost(decode, tag, "XMP of the smaller version");
    else if (tag->tag == GI_TAG_XMP)
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, bytes, tag->nbytes);
    else if (tag->tag == GI_TAG_ICC && !metadata->icc)
        add_lost(decode, tag, "the ICC profile of the smaller version");
    else if (tag->tag != GI_TAG_SUBIFDS || tag->count > 1)
        add_tag(decode, tags, tag);
    for (const struct gi_tiff_text *t = gi_tiff_texts; t->tag; t++)
        if (t->tag == tag->tag && tag->type == GI_TAG_ASCII && tag->nbytes > 1)
            gi_decode_add_text(decode, t->keyword, NULL, NULL, bytes, (size_t)tag->nbytes - 1);
}

enum conditional { COMPRESSION, COLORS, CONDITIONALS };
static const unsigned conditional_tags[CONDITIONALS] = {GI_TAG_COMPRESSION, GI_TAG_COLORS};

/* Tags from `first` to `last` that a reader uses only if another tag has one of these values. */
static const struct condition {
    unsigned first, last;
    enum conditional other;
    uint64_t values[3];
    const char *why; /* they say nothing of the picture otherwise */
} conditions[] = {
    {292, 293, COMPRESSION, {2, 3, 4}, "of another compression"}, /* fax */
    {320, 320, COLORS, {3}, "palette of other colours"},
    {326, 328, COMPRESSION, {2, 3, 4}, "of another compression"},
    {347, 347, COMPRESSION, {7}, "of another compression"}, /* JPEG */
    {512, 521, COMPRESSION, {6}, "of another JPEG"},        /* the old one */
    {529, 531, COLORS, {6}, "of other colours"},            /* YCbCr */
};

/* Returns whether ReferenceBlackWhite says that samples have their full range. */
static bool is_full_range(const struct gi_tags *tags, const struct gi_tag *tag)
{
    for (uint64_t i = 0; i < tag->count; i++) {
        double v = gi_tag_real(tags, tag, i);
        if (i % 2 ? v != UINT8_MAX && v != UINT16_MAX : v != 0)
            return false;
    }
    return true;
}

/* Returns whether the tag is chroma's subsampling or position with the value that it has if the tag
 * is missing, or no subsampling. Writers of JPEG add this to RGB, too. */
static bool is_default_chroma(const struct gi_tags *tags, const struct gi_tag *tag)
{
    enum { SUBSAMPLING = 530, POSITION = 531 };
    uint64_t first = gi_tag_integer(tags, tag, 0, 0), second = gi_tag_integer(tags, tag, 1, 0);
    return (tag->tag == SUBSAMPLING && first == second && (first == 1 || first == 2)) ||
           (tag->tag == POSITION && first == 1);
}

/* Returns why a tag that a reader uses says nothing of this picture, or NULL. `values` are those of
 * conditional_tags. */
static const char *idle(const struct gi_tags *tags, const uint64_t values[CONDITIONALS],
                        const struct gi_tag *tag)
{
    enum { REFERENCE = 532, YCBCR = 6 };
    if (is_default_chroma(tags, tag))
        return NULL;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        const struct condition *c = &conditions[i];
        uint64_t is = values[c->other];
        if (tag->tag >= c->first && tag->tag <= c->last)
            return is && (is == c->values[0] || is == c->values[1] || is == c->values[2]) ? NULL
                                                                                          : c->why;
    }
    bool other_range =
        tag->tag == REFERENCE && values[COLORS] != YCBCR && !is_full_range(tags, tag);
    return other_range ? "range of other samples" : NULL;
}

/* Returns whether the tag is tifffile's description of the shape alone, which it writes behind a
 * description by its caller. */
static bool repeats_shape(const struct gi_tags *tags, const struct gi_tag *tag)
{
    static const char further[] = "], \"";
    const char *text = (const char *)tags->bytes + (tag->broken ? 0 : tag->at);
    return tag->tag == GI_TAG_DESCRIPTION && gi_text_shape(text, tag->nbytes) &&
           !memmem(text, tag->nbytes, further, sizeof further - 1);
}

/* Adds the tags of a directory. `of_page`: it is the page that has the picture in a SubIFD. Returns
 * whether there are tags of EXIF. */
static bool add_tags(struct gi_decode *decode, const struct gi_tags *tags, uint64_t directory,
                     bool of_page)
{
    struct gi_tag_walk walk;
    struct gi_tag tag;
    bool exif = false;
    unsigned last = 0;
    uint64_t values[CONDITIONALS]; /* searched once: a file that changes may have 65,535 tags */
    for (int i = 0; i < CONDITIONALS; i++)
        values[i] = gi_tag_integer_of(tags, directory, conditional_tags[i], 0);
    bool smaller = gi_tiff_smaller(tags->bytes, tags->nbytes, directory) > 0; /* find_directory() */
    gi_tag_walk_start(&walk, tags, directory);
    for (; gi_tag_next(&walk, &tag); last = tag.tag) {
        if (tag.tag == GI_TAG_SUBIFDS && smaller)
            continue;
        const struct range *range = range_of(tag.tag);
        bool again = tag.tag == last && range && range->used && !repeats_shape(tags, &tag);
        const char *why = again ? "comes a second time" : idle(tags, values, &tag);
        exif = exif || needs_exif(tag.tag);
        if (why && !of_page)
            add_lost(decode, &tag, why);
        else
            (of_page ? add_tag_of_page : add_tag)(decode, tags, &tag);
    }
    return exif;
}

/* Drops ImageJ's labels and overlays of several images if their description was dropped. */
static void drop_of_all(struct gi_metadata *metadata)
{
    struct gi_parts *parts = &metadata->parts;
    bool dropped = false;
    for (int i = 0; i < parts->n; i++)
        dropped = dropped || strcmp(parts->list[i].name, GI_TIFF_OF_ALL) == 0;
    for (int i = 0; i < parts->n && dropped; i++) {
        struct gi_part *part = &parts->list[i];
        if (part->kind == GI_PART_TIFF_TAG && part->fate == GI_PART_CARRIED &&
            (part->code == GI_TAG_IMAGEJ || part->code == GI_TAG_IMAGEJ - 1)) {
            part->fate = GI_PART_DROPPED;
            part->why = "of several pages";
        }
    }
}

void gi_tiff_add_parts(struct gi_decode *decode, uint64_t directory)
{
    struct gi_tags tags;
    struct gi_tiff_walk page;
    uint64_t first = gi_tags_open(&tags, decode->bytes, decode->nbytes);
    directory = directory ? directory : first;
    bool exif = add_tags(decode, &tags, directory, false);
    bool in_subifd = gi_tiff_find_page_of(&page, decode, directory);
    if (in_subifd && decode->options->image) /* of a single page the decoder has named it */
        gi_decode_add_part(decode, &(struct gi_part){.kind = GI_PART_IMAGES, .fate = GI_PART_LOST},
                           "a smaller version of the picture");
    if (in_subifd && add_tags(decode, &tags, page.at, true) && !exif)
        add_exif(decode, &tags, page.at);
    if (exif)
        add_exif(decode, &tags, directory);
    drop_of_all(decode->metadata);
}

void gi_tiff_add_rest(struct gi_decode *decode)
{
    size_t end = (size_t)gi_tiff_end(NULL, decode->bytes, decode->nbytes), next;
    uint64_t image_nbytes, stacked_end;
    if (gi_tiff_stack(&image_nbytes, &stacked_end, decode->bytes, decode->nbytes) > 1)
        end = stacked_end > end ? (size_t)stacked_end : end;
    if (gi_tiff_find_next(&next, decode->bytes, decode->nbytes, end)) {
        gi_decode_add_images(decode, "images after the first", GI_MORE_IMAGES);
        return;
    }
    gi_decode_add_trailing(decode,
                           decode->nbytes - gi_tiff_trailing(decode->bytes, decode->nbytes, end));
}
