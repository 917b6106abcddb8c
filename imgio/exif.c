/* EXIF orientation: tag 0x0112 of the first directory of a TIFF block (TIFF 6.0, sections 2 and 8).
 * SPDX-License-Identifier: MIT */
#include "imgio/exif.h"

#include <string.h>

enum {
    TIFF_HEAD = 8, /* "II*\0" or "MM\0*", offset of the first directory */
    ENTRY = 12,    /* tag, type, count, value */
    TAG_ORIENTATION = 0x0112,
    TYPE_SHORT = 3,
};

struct tiff {
    const unsigned char *bytes;
    size_t nbytes;
    bool big_endian;
};

static unsigned get16(const struct tiff *t, size_t at)
{
    const unsigned char *p = t->bytes + at;
    return t->big_endian ? (unsigned)p[0] << 8 | p[1] : (unsigned)p[1] << 8 | p[0];
}

static size_t get32(const struct tiff *t, size_t at)
{
    unsigned first = get16(t, at), second = get16(t, at + 2);
    return t->big_endian ? (size_t)first << 16 | second : (size_t)second << 16 | first;
}

/* Byte offset of the orientation's value; 0 where there is none. */
static size_t find_orientation(struct tiff *t)
{
    if (t->nbytes < TIFF_HEAD)
        return 0;
    t->big_endian = t->bytes[0] == 'M';
    if (memcmp(t->bytes, t->big_endian ? "MM\0*" : "II*\0", 4) != 0)
        return 0;
    size_t directory = get32(t, 4);
    if (directory < TIFF_HEAD || directory > t->nbytes - 2)
        return 0;
    size_t entries = get16(t, directory), at = directory + 2;
    for (; entries && t->nbytes - at >= ENTRY; entries--, at += ENTRY)
        if (get16(t, at) == TAG_ORIENTATION && get16(t, at + 2) == TYPE_SHORT)
            return at + 8;
    return 0;
}

int gi_exif_orientation(const void *exif, size_t nbytes)
{
    struct tiff t = {.bytes = exif, .nbytes = nbytes};
    size_t at = exif ? find_orientation(&t) : 0;
    unsigned value = at ? get16(&t, at) : 1;
    return value >= 1 && value <= 8 ? (int)value : 1;
}

void gi_exif_reset(void *exif, size_t nbytes)
{
    struct tiff t = {.bytes = exif, .nbytes = nbytes};
    size_t at = exif ? find_orientation(&t) : 0;
    if (!at)
        return;
    unsigned char *value = (unsigned char *)exif + at;
    value[0] = !t.big_endian;
    value[1] = t.big_endian;
}
