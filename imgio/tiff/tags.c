/* Reads directories of tags.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tags.h"

#include <math.h>
#include <string.h>

unsigned gi_tag_type_nbytes(unsigned type)
{
    static const unsigned char nbytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof nbytes ? nbytes[type] : 0;
}

uint64_t gi_tags_number(const struct gi_tags *t, uint64_t at, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | t->bytes[at + (t->big_endian ? i : n - 1 - i)];
    return v;
}

uint64_t gi_tags_open(struct gi_tags *t, const void *bytes, size_t nbytes)
{
    static const char heads[][5] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    *t = (struct gi_tags){.bytes = bytes, .nbytes = nbytes};
    for (int i = 0; bytes && i < 4; i++) {
        if (nbytes < (i < 2 ? 8 : 16) || memcmp(bytes, heads[i], 4) != 0)
            continue;
        t->big_endian = i % 2;
        t->big = i >= 2;
        return t->big ? gi_tags_number(t, 8, 8) : gi_tags_number(t, 4, 4);
    }
    return 0;
}

void gi_tag_walk_start(struct gi_tag_walk *walk, const struct gi_tags *t, uint64_t directory)
{
    unsigned count = t->big ? 8 : 2, entry = t->big ? 20 : 12;
    *walk = (struct gi_tag_walk){.tags = t};
    if (directory < 8 || directory > t->nbytes || t->nbytes - directory < count)
        return;
    walk->at = directory + count;
    uint64_t n = gi_tags_number(t, directory, count), most = (t->nbytes - walk->at) / entry;
    walk->left = n < most ? n : most;
    walk->beyond = n - walk->left;
}

bool gi_tag_next(struct gi_tag_walk *walk, struct gi_tag *tag)
{
    const struct gi_tags *t = walk->tags;
    unsigned offset = t->big ? 8 : 4;
    if (!walk->left)
        return false;
    uint64_t at = walk->at, nbytes;
    *tag = (struct gi_tag){.tag = (unsigned)gi_tags_number(t, at, 2),
                           .type = (unsigned)gi_tags_number(t, at + 2, 2),
                           .count = gi_tags_number(t, at + 4, offset),
                           .at = at + 4 + offset,
                           .entry = at};
    unsigned each = gi_tag_type_nbytes(tag->type);
    tag->broken = !each || __builtin_mul_overflow(tag->count, (uint64_t)each, &nbytes);
    if (!tag->broken && nbytes > offset)
        tag->at = gi_tags_number(t, tag->at, offset);
    tag->broken = tag->broken || tag->at > t->nbytes || nbytes > t->nbytes - tag->at;
    tag->nbytes = tag->broken ? 0 : nbytes;
    walk->at += t->big ? 20 : 12;
    walk->left--;
    return true;
}

bool gi_tag_find(struct gi_tag *tag, const struct gi_tags *t, uint64_t directory, unsigned wanted)
{
    struct gi_tag_walk walk;
    gi_tag_walk_start(&walk, t, directory);
    while (gi_tag_next(&walk, tag))
        if (tag->tag == wanted)
            return !tag->broken;
    return false;
}

static bool has_value(const struct gi_tag *tag, uint64_t i)
{
    return !tag->broken && i < tag->count;
}

uint64_t gi_tag_integer(const struct gi_tags *t, const struct gi_tag *tag, uint64_t i,
                        uint64_t missing)
{
    unsigned each = gi_tag_type_nbytes(tag->type);
    bool is_integer = tag->type == GI_TAG_BYTE || tag->type == GI_TAG_SHORT ||
                      tag->type == GI_TAG_LONG || tag->type == GI_TAG_IFD ||
                      tag->type == GI_TAG_LONG8 || tag->type == GI_TAG_IFD8;
    return is_integer && has_value(tag, i) ? gi_tags_number(t, tag->at + i * each, each) : missing;
}

/* Extends the sign of an integer of n bytes. */
static int64_t extend(uint64_t v, unsigned n)
{
    unsigned shift = 64 - 8 * n;
    return (int64_t)(v << shift) >> shift;
}

double gi_tag_real(const struct gi_tags *t, const struct gi_tag *tag, uint64_t i)
{
    unsigned each = gi_tag_type_nbytes(tag->type);
    if (!has_value(tag, i))
        return NAN;
    uint64_t at = tag->at + i * each, v = gi_tags_number(t, at, each);
    uint32_t v32 = (uint32_t)v;
    float single;
    double real;
    switch (tag->type) {
    case GI_TAG_RATIONAL:
        return (double)gi_tags_number(t, at, 4) / (double)gi_tags_number(t, at + 4, 4);
    case GI_TAG_SRATIONAL:
        return (double)extend(gi_tags_number(t, at, 4), 4) /
               (double)extend(gi_tags_number(t, at + 4, 4), 4);
    case GI_TAG_SBYTE:
    case GI_TAG_SSHORT:
    case GI_TAG_SLONG:
    case GI_TAG_SLONG8:
        return (double)extend(v, each);
    case GI_TAG_FLOAT:
        memcpy(&single, &v32, sizeof single);
        return (double)single;
    case GI_TAG_DOUBLE:
        memcpy(&real, &v, sizeof real);
        return real;
    case GI_TAG_ASCII:
    case GI_TAG_UNDEFINED:
        return NAN;
    default:
        return (double)v;
    }
}

uint64_t gi_tag_integer_of(const struct gi_tags *t, uint64_t directory, unsigned wanted,
                           uint64_t missing)
{
    struct gi_tag tag;
    return gi_tag_find(&tag, t, directory, wanted) ? gi_tag_integer(t, &tag, 0, missing) : missing;
}

void gi_tag_copy(void *to, bool big_endian, const struct gi_tags *t, const struct gi_tag *tag)
{
    bool pairs = tag->type == GI_TAG_RATIONAL || tag->type == GI_TAG_SRATIONAL;
    unsigned each = pairs ? 4 : gi_tag_type_nbytes(tag->type);
    const unsigned char *from = t->bytes + tag->at;
    unsigned char *out = to;
    if (t->big_endian == big_endian || each == 1) {
        memcpy(out, from, tag->nbytes);
        return;
    }
    for (uint64_t i = 0; i + each <= tag->nbytes; i += each)
        for (unsigned b = 0; b < each; b++)
            out[i + b] = from[i + each - 1 - b];
}
