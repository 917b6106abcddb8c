/* Reads and changes parts of an EXIF block, which is a TIFF (TIFF 6.0, sections 2 and 8). The parts
 * are the orientation, which is tag 0x0112 of the first directory, the GPS directory, to which tag
 * 0x8825 points (Exif 2.3, 4.6.3), and the second directory, which describes the thumbnail.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/exif.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/tiff/tags.h"

enum {
    TIFF_HEAD = 8, /* "II*\0" or "MM\0*", then the offset of the first directory */
    ENTRY = 12,    /* tag, type, count, value */
    TAG_ORIENTATION = 0x0112,
    TAG_EXIF = 0x8769,  /* points to the directory of EXIF's own tags */
    TAG_TAKEN = 0x9003, /* DateTimeOriginal (Exif 2.3, 4.6.5) */
    TAG_GPS = 0x8825,
    TAG_STRIPS = 0x0111, /* tag of an uncompressed thumbnail */
    TAG_STRIPS_NBYTES = 0x0117,
    TAG_THUMBNAIL = 0x0201, /* tag of a JPEG thumbnail (Exif 2.3, 4.6.9) */
    TAG_THUMBNAIL_NBYTES = 0x0202,
    TYPE_ASCII = 2,
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

/* Returns the byte offset of the first directory, or 0 if there is none. */
static size_t find_directory(struct tiff *t)
{
    if (t->nbytes < TIFF_HEAD)
        return 0;
    t->big_endian = t->bytes[0] == 'M';
    if (memcmp(t->bytes, t->big_endian ? "MM\0*" : "II*\0", 4) != 0)
        return 0;
    size_t directory = get32(t, 4);
    return directory < TIFF_HEAD || directory > t->nbytes - 2 ? 0 : directory;
}

/* Returns the byte offset of the entry with that tag in the directory, or 0 if there is none.
 * `directory` is at most nbytes - 2; 0 means no directory. */
static size_t find_entry_in(const struct tiff *t, size_t directory, unsigned tag)
{
    if (!directory)
        return 0;
    size_t entries = get16(t, directory), at = directory + 2;
    for (; entries && t->nbytes - at >= ENTRY; entries--, at += ENTRY)
        if (get16(t, at) == tag)
            return at;
    return 0;
}

/* Returns the byte offset of the entry with that tag in the first directory, or 0 if there is none.
 */
static size_t find_entry(struct tiff *t, unsigned tag)
{
    return find_entry_in(t, find_directory(t), tag);
}

/* Returns the byte offset of the orientation's value, or 0 if there is none. */
static size_t find_orientation(struct tiff *t)
{
    size_t at = find_entry(t, TAG_ORIENTATION);
    return at && get16(t, at + 2) == TYPE_SHORT ? at + 8 : 0;
}

/* Zeroes `nbytes` at `at`, as far as they are inside the block. */
static void wipe(struct tiff *t, size_t at, size_t nbytes)
{
    if (at < TIFF_HEAD || at >= t->nbytes)
        return;
    size_t left = t->nbytes - at;
    memset((unsigned char *)t->bytes + at, 0, nbytes < left ? nbytes : left);
}

void gi_exif_forget_place(void *exif, size_t nbytes)
{
    static const size_t type_nbytes[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    struct tiff t = {.bytes = exif, .nbytes = nbytes};
    size_t entry = exif ? find_entry(&t, TAG_GPS) : 0;
    if (!entry)
        return;
    size_t directory = get32(&t, entry + 8);
    if (directory >= TIFF_HEAD && directory <= nbytes - 2) {
        size_t n = get16(&t, directory);
        for (size_t i = 0, at = directory + 2; i < n && nbytes - at >= ENTRY; i++, at += ENTRY) {
            unsigned type = get16(&t, at + 2);
            size_t value_nbytes = get32(&t, at + 4) * type_nbytes[type < 13 ? type : 0];
            if (value_nbytes > 4)
                wipe(&t, get32(&t, at + 8), value_nbytes);
        }
        wipe(&t, directory, 2 + n * ENTRY + 4);
    }
    /* Removes the entry by moving later entries and the offset of the next directory up by one
     * entry. */
    size_t first = get32(&t, 4), n = get16(&t, first), end = first + 2 + n * ENTRY + 4;
    unsigned char *bytes = exif;
    if (n == 0) /* the GPS directory, which was just wiped, was also the first directory */
        return;
    end = end < nbytes ? end : nbytes;
    if (entry + ENTRY < end)
        memmove(bytes + entry, bytes + entry + ENTRY, end - entry - ENTRY);
    wipe(&t, end - ENTRY, ENTRY);
    n--;
    bytes[first] = (unsigned char)(t.big_endian ? n >> 8 : n & 255);
    bytes[first + 1] = (unsigned char)(t.big_endian ? n & 255 : n >> 8);
}

size_t gi_exif_forget_thumbnail(void *exif, size_t nbytes, size_t *thumbnail)
{
    *thumbnail = 0;
    struct tiff t = {.bytes = exif, .nbytes = nbytes};
    size_t first = exif ? find_directory(&t) : 0, n = first ? get16(&t, first) : 0;
    size_t link = first + 2 + n * ENTRY;
    if (!first || link > nbytes || nbytes - link < 4)
        return nbytes;
    size_t directory = get32(&t, link), bytes_at = 0, bytes_n = 0;
    wipe(&t, link, 4);
    if (directory < TIFF_HEAD || directory > nbytes - 2)
        return nbytes;
    n = get16(&t, directory);
    for (size_t i = 0, at = directory + 2; i < n && nbytes - at >= ENTRY; i++, at += ENTRY) {
        unsigned tag = get16(&t, at);
        bytes_at = tag == TAG_THUMBNAIL || tag == TAG_STRIPS ? get32(&t, at + 8) : bytes_at;
        bytes_n =
            tag == TAG_THUMBNAIL_NBYTES || tag == TAG_STRIPS_NBYTES ? get32(&t, at + 8) : bytes_n;
    }
    size_t directory_nbytes = 2 + n * ENTRY + 4;
    if (n && directory >= link + 4)
        *thumbnail = directory_nbytes + (bytes_n < nbytes ? bytes_n : nbytes);
    wipe(&t, directory, directory_nbytes);
    if (bytes_at >= link + 4)
        wipe(&t, bytes_at, bytes_n);
    /* Most blocks end with this directory and then the thumbnail, so that both can be cut off. */
    if (bytes_at >= link + 4 && bytes_at < nbytes && nbytes - bytes_at <= bytes_n)
        nbytes = bytes_at;
    if (directory >= link + 4 && directory < nbytes && nbytes - directory <= directory_nbytes)
        nbytes = directory;
    return nbytes;
}

bool gi_exif_date(char date[11], const void *exif, size_t nbytes)
{
    static const char form[] = "dddd:dd:dd";
    struct tiff t = {.bytes = exif, .nbytes = nbytes};
    size_t own = exif ? find_entry(&t, TAG_EXIF) : 0, n = sizeof form - 1;
    size_t directory = own ? get32(&t, own + 8) : 0;
    if (directory < TIFF_HEAD || directory > nbytes - 2)
        return false;
    size_t entry = find_entry_in(&t, directory, TAG_TAKEN);
    if (!entry || get16(&t, entry + 2) != TYPE_ASCII || get32(&t, entry + 4) < n)
        return false;
    size_t at = get32(&t, entry + 8);
    if (at > nbytes || nbytes - at < n)
        return false;
    const char *text = (const char *)t.bytes + at;
    for (size_t i = 0; i < n; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    int month = 10 * (text[5] - '0') + text[6] - '0', day = 10 * (text[8] - '0') + text[9] - '0';
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    memcpy(date, text, n);
    date[4] = date[7] = '-';
    date[n] = '\0';
    return true;
}

bool gi_exif_has_orientation(const void *exif, size_t nbytes)
{
    return exif && find_orientation(&(struct tiff){.bytes = exif, .nbytes = nbytes});
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

static void put16(unsigned char *p, bool big_endian, size_t v)
{
    p[big_endian] = (unsigned char)v;
    p[!big_endian] = (unsigned char)(v >> 8);
}

static void put32(unsigned char *p, bool big_endian, size_t v)
{
    put16(p + (big_endian ? 2 : 0), big_endian, v & 0xffff);
    put16(p + (big_endian ? 0 : 2), big_endian, v >> 16);
}

/* Stores an unsigned integer as the single value of a tag, if it is an unsigned integer already. A
 * SHORT that is too small becomes a LONG, which has room in the entry. */
static void set_integer(void *exif, const struct gi_tags *tags, uint64_t directory, unsigned number,
                        unsigned value)
{
    struct gi_tag tag;
    if (!gi_tag_find(&tag, tags, directory, number) || tag.count != 1 ||
        (tag.type != GI_TAG_SHORT && tag.type != GI_TAG_LONG))
        return;
    unsigned char *at = (unsigned char *)exif + tag.at;
    if (tag.type == GI_TAG_SHORT && value > UINT16_MAX)
        put16(at - 6, tags->big_endian, GI_TAG_LONG);
    if (tag.type == GI_TAG_SHORT && value <= UINT16_MAX)
        put16(at, tags->big_endian, value);
    else
        put32(at, tags->big_endian, value);
}

void gi_exif_set_size(void *exif, size_t nbytes, int width, int height)
{
    enum { WIDTH = 0x0100, HEIGHT, PIXELS_X = 0xa002, PIXELS_Y };
    struct gi_tags tags;
    uint64_t first = gi_tags_open(&tags, exif, nbytes);
    uint64_t own = gi_tag_directory(&tags, first, TAG_EXIF);
    if (tags.big)
        return;
    set_integer(exif, &tags, first, WIDTH, (unsigned)width);
    set_integer(exif, &tags, first, HEIGHT, (unsigned)height);
    set_integer(exif, &tags, own, PIXELS_X, (unsigned)width);
    set_integer(exif, &tags, own, PIXELS_Y, (unsigned)height);
}

/* Returns how many entries of the first directory are inside the block, or 0 if this is no TIFF
 * block. Sets *at to the offset of the first entry. */
static size_t count_entries(struct tiff *t, size_t *at)
{
    find_entry(t, 0); /* sets the byte order */
    if (t->nbytes < TIFF_HEAD || memcmp(t->bytes, t->big_endian ? "MM\0*" : "II*\0", 4) != 0)
        return 0;
    size_t directory = get32(t, 4);
    if (directory < TIFF_HEAD || directory > t->nbytes - 2)
        return 0;
    size_t n = get16(t, directory), most = (t->nbytes - directory - 2) / ENTRY;
    *at = directory + 2;
    return n < most ? n : most;
}

/* The directory is copied to the end of the block, with one entry more. */
enum gi_status gi_exif_orient(void **exif, size_t *nbytes, int orientation, struct gi_err *err)
{
    struct tiff t = {.bytes = *exif, .nbytes = *exif ? *nbytes : 0};
    size_t found = *exif ? find_orientation(&t) : 0, from = 0, first = 0;
    if (found) {
        put16((unsigned char *)*exif + found, t.big_endian, (size_t)orientation);
        return GI_OK;
    }
    size_t n = count_entries(&t, &from), start = n ? (t.nbytes + 1) / 2 * 2 : TIFF_HEAD;
    size_t next = from + n * ENTRY, size = start + 2 + (n + 1) * ENTRY + 4;
    unsigned char *made = calloc(1, size);
    if (!made)
        return gi_fail(err, GI_E_MEMORY, "out of memory: EXIF");
    if (n)
        memcpy(made, t.bytes, t.nbytes);
    else
        memcpy(made, "II*\0", 4);
    bool big = n && t.big_endian;
    while (first < n && get16(&t, from + first * ENTRY) < TAG_ORIENTATION)
        first++;
    unsigned char *to = made + start + 2, *entry = to + first * ENTRY;
    put32(made + 4, big, start);
    put16(made + start, big, n + 1);
    if (n) {
        memcpy(to, t.bytes + from, first * ENTRY);
        memcpy(entry + ENTRY, t.bytes + from + first * ENTRY, (n - first) * ENTRY);
        if (next + 4 <= t.nbytes)
            memcpy(to + (n + 1) * ENTRY, t.bytes + next, 4);
    }
    put16(entry, big, TAG_ORIENTATION);
    put16(entry + 2, big, TYPE_SHORT);
    put32(entry + 4, big, 1);
    put16(entry + 8, big, (size_t)orientation);
    free(*exif);
    *exif = made;
    *nbytes = size;
    return GI_OK;
}
