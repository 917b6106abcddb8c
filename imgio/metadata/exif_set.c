/* Sets tags of an EXIF block that repeat properties of the image, where the block has them: size,
 * resolution, samples and colour space (Exif 2.32, 4.6).
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "imgio/metadata/exif.h"
#include "imgio/tiff/tags.h"
#include "imgio/tiff/tags_put.h"

enum {
    TAG_BITS = 258,
    TAG_SAMPLES = 277,
    TAG_RESOLUTION_X = 282,
    TAG_RESOLUTION_Y,
    TAG_RESOLUTION_UNIT = 296,
    INCH = 2,
    TAG_GAMMA = 0xa500,
    TAG_COLOR_SPACE = 0xa001,
    TAG_PIXELS_X,
    TAG_PIXELS_Y,
    TAG_RULE = 1, /* InteroperabilityIndex */
    TAG_RELATED_WIDTH = 0x1001,
    TAG_RELATED_HEIGHT,
};

/* The directories of a block; 0: there is none. */
struct block {
    struct gi_tags tags;
    unsigned char *bytes;
    uint64_t first, own, interoperability;
};

/* Returns false if the block is no EXIF. */
static bool open_block(struct block *b, void *exif, size_t nbytes)
{
    *b = (struct block){.bytes = exif};
    b->first = gi_tags_open(&b->tags, exif, nbytes);
    if (b->tags.big)
        return false;
    b->own = gi_tag_integer_of(&b->tags, b->first, GI_TAG_EXIF, 0);
    b->interoperability = gi_tag_integer_of(&b->tags, b->own, GI_TAG_INTEROPERABILITY, 0);
    return b->first != 0;
}

/* Finds an unsigned integer that is the single value of a tag. */
static bool find_integer(struct gi_tag *tag, const struct block *b, uint64_t directory,
                         unsigned number)
{
    return gi_tag_find(tag, &b->tags, directory, number) && tag->count == 1 &&
           (tag->type == GI_TAG_SHORT || tag->type == GI_TAG_LONG);
}

/* Stores an unsigned integer as the single value of a tag, if it is an unsigned integer already. A
 * SHORT that is too small becomes a LONG, which has room in the entry. */
static void set_integer(const struct block *b, uint64_t directory, unsigned number, unsigned value)
{
    struct gi_tag tag;
    if (!find_integer(&tag, b, directory, number))
        return;
    unsigned char *at = b->bytes + tag.at;
    if (tag.type == GI_TAG_SHORT && value > UINT16_MAX)
        gi_tags_put16(at - 6, b->tags.big_endian, GI_TAG_LONG);
    if (tag.type == GI_TAG_SHORT && value <= UINT16_MAX)
        gi_tags_put16(at, b->tags.big_endian, value);
    else
        gi_tags_put32(at, b->tags.big_endian, value);
}

void gi_exif_set_size(void *exif, size_t nbytes, int width, int height)
{
    struct block b;
    if (!open_block(&b, exif, nbytes))
        return;
    set_integer(&b, b.first, GI_TAG_WIDTH, (unsigned)width);
    set_integer(&b, b.first, GI_TAG_HEIGHT, (unsigned)height);
    set_integer(&b, b.own, TAG_PIXELS_X, (unsigned)width);
    set_integer(&b, b.own, TAG_PIXELS_Y, (unsigned)height);
    set_integer(&b, b.interoperability, TAG_RELATED_WIDTH, (unsigned)width);
    set_integer(&b, b.interoperability, TAG_RELATED_HEIGHT, (unsigned)height);
}

/* Returns the place of the tag's rational number, or NULL. */
static unsigned char *ratio_at(const struct block *b, unsigned number)
{
    struct gi_tag tag;
    bool found = gi_tag_find(&tag, &b->tags, b->first, number) && tag.count == 1 &&
                 tag.type == GI_TAG_RATIONAL;
    return found ? b->bytes + tag.at : NULL;
}

void gi_exif_set_resolution(void *exif, size_t nbytes, unsigned numerator, unsigned denominator)
{
    struct block b;
    bool found = false;
    if (!open_block(&b, exif, nbytes))
        return;
    for (unsigned number = TAG_RESOLUTION_X; number <= TAG_RESOLUTION_Y; number++) {
        unsigned char *at = ratio_at(&b, number);
        if (!at)
            continue;
        gi_tags_put32(at, b.tags.big_endian, numerator);
        gi_tags_put32(at + 4, b.tags.big_endian, denominator);
        found = true;
    }
    if (found)
        set_integer(&b, b.first, TAG_RESOLUTION_UNIT, INCH);
}

void gi_exif_exchange_resolutions(void *exif, size_t nbytes)
{
    struct block b;
    unsigned char copy[8];
    if (!open_block(&b, exif, nbytes))
        return;
    unsigned char *x = ratio_at(&b, TAG_RESOLUTION_X), *y = ratio_at(&b, TAG_RESOLUTION_Y);
    if (!x || !y)
        return;
    memcpy(copy, x, sizeof copy);
    memmove(x, y, sizeof copy);
    memcpy(y, copy, sizeof copy);
}

/* Sets the bits of each sample. A single value has room in the entry; more values replace at least
 * as many. */
static void set_bits(const struct block *b, int channels, int bits)
{
    struct gi_tag tag;
    bool big = b->tags.big_endian;
    if (!gi_tag_find(&tag, &b->tags, b->first, TAG_BITS) || tag.type != GI_TAG_SHORT ||
        tag.count < (unsigned)channels || gi_tag_integer(&b->tags, &tag, 0, 0) < 8)
        return;
    for (int i = 0; i < channels; i++)
        gi_tags_put16(b->bytes + tag.at + 2 * (size_t)i, big, (size_t)bits);
    if (tag.count == (unsigned)channels)
        return;
    unsigned char *entry = b->bytes + tag.entry;
    gi_tags_put32(entry + 4, big, (size_t)channels);
    if (channels <= 2) {
        unsigned char values[4] = {0};
        for (int i = 0; i < channels; i++)
            gi_tags_put16(values + 2 * (size_t)i, big, (size_t)bits);
        memcpy(entry + 8, values, sizeof values);
    }
}

void gi_exif_set_samples(void *exif, size_t nbytes, int channels, int bits)
{
    enum { WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, YCBCR = 6 };
    struct block b;
    struct gi_tag tag;
    if (!open_block(&b, exif, nbytes))
        return;
    set_integer(&b, b.first, TAG_SAMPLES, (unsigned)channels);
    set_bits(&b, channels, bits);
    uint64_t colors = find_integer(&tag, &b, b.first, GI_TAG_COLORS)
                          ? gi_tag_integer(&b.tags, &tag, 0, RGB)
                          : RGB;
    if (channels <= 2 && (colors == RGB || colors == YCBCR))
        set_integer(&b, b.first, GI_TAG_COLORS, BLACK_IS_ZERO);
    else if (channels > 2 && colors <= BLACK_IS_ZERO)
        set_integer(&b, b.first, GI_TAG_COLORS, RGB);
}

void gi_exif_set_color_space(void *exif, size_t nbytes, enum gi_exif_color space)
{
    struct block b;
    struct gi_tag tag;
    if (!open_block(&b, exif, nbytes))
        return;
    set_integer(&b, b.own, TAG_COLOR_SPACE, space == GI_EXIF_SRGB ? space : GI_EXIF_OTHER);
    if (gi_tag_find(&tag, &b.tags, b.interoperability, TAG_RULE) && tag.type == GI_TAG_ASCII &&
        tag.nbytes == 4 && memcmp(b.bytes + tag.at, "THM", 4) != 0)
        memcpy(b.bytes + tag.at, space == GI_EXIF_ADOBE_RGB ? "R03" : "R98", 4);
}

/* Moves the entries behind the one that is removed, and the offset of the next directory. */
static void remove_entry(const struct block *b, uint64_t directory, uint64_t entry)
{
    enum { ENTRY = 12 };
    uint64_t n = gi_tags_number(&b->tags, directory, 2), end = directory + 2 + n * ENTRY + 4;
    end = end < b->tags.nbytes ? end : b->tags.nbytes;
    memmove(b->bytes + entry, b->bytes + entry + ENTRY, (size_t)(end - entry - ENTRY));
    memset(b->bytes + end - ENTRY, 0, ENTRY);
    gi_tags_put16(b->bytes + directory, b->tags.big_endian, (size_t)(n - 1));
}

/* Computes the place of the subject in the new image: the centre, and then a diameter, or width and
 * height. Returns false if the numbers do not fit. */
static bool move_place(unsigned made[4], const unsigned old[4], uint64_t n, const double m[6])
{
    double determinant = m[0] * m[4] - m[1] * m[3];
    double x = old[0] + 0.5 - m[2], y = old[1] + 0.5 - m[5];
    double values[4] = {(m[4] * x - m[1] * y) / determinant - 0.5,
                        (m[0] * y - m[3] * x) / determinant - 0.5};
    bool turned = m[0] == 0 && m[4] == 0;
    if (n == 3)
        values[2] = old[2] / sqrt(fabs(determinant));
    if (n == 4) {
        values[2] = old[turned ? 3 : 2] / fabs(m[turned ? 3 : 0]);
        values[3] = old[turned ? 2 : 3] / fabs(m[turned ? 1 : 4]);
    }
    for (uint64_t i = 0; i < n; i++) {
        double v = floor(values[i] + 0.5);
        if (!(v >= 0 && v <= UINT16_MAX))
            return false;
        made[i] = i >= 2 && v < 1 ? 1 : (unsigned)v;
    }
    return true;
}

/* Moves the place that a tag names. Returns false if it can't be moved. */
static bool move_tag(const struct block *b, const struct gi_tag *tag, const double map[6])
{
    unsigned old[4] = {0}, made[4];
    if (!map || tag->type != GI_TAG_SHORT || tag->count < 2 || tag->count > 4)
        return false;
    for (uint64_t i = 0; i < tag->count; i++)
        old[i] = (unsigned)gi_tag_integer(&b->tags, tag, i, 0);
    if (!move_place(made, old, tag->count, map))
        return false;
    for (uint64_t i = 0; i < tag->count; i++)
        gi_tags_put16(b->bytes + tag->at + 2 * i, b->tags.big_endian, made[i]);
    return true;
}

bool gi_exif_move_subject(void *exif, size_t nbytes, const double map[6])
{
    static const unsigned numbers[] = {0x9214, 0xa214};
    struct block b;
    struct gi_tag tag;
    bool removed = false;
    if (!open_block(&b, exif, nbytes))
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (gi_tag_find(&tag, &b.tags, b.own, numbers[i]) && !move_tag(&b, &tag, map)) {
            remove_entry(&b, b.own, tag.entry);
            removed = true;
        }
    return removed;
}

unsigned gi_exif_forget_colors(void *exif, size_t nbytes)
{
    static const unsigned numbers[] = {301, 318, 319, TAG_GAMMA};
    struct block b;
    struct gi_tag tag;
    unsigned removed = 0;
    if (!open_block(&b, exif, nbytes))
        return 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t directory = numbers[i] == TAG_GAMMA ? b.own : b.first;
        if (!gi_tag_find(&tag, &b.tags, directory, numbers[i]))
            continue;
        remove_entry(&b, directory, tag.entry);
        removed++;
    }
    return removed;
}
