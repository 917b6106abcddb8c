/* Reads and changes parts of an EXIF block, which is a TIFF (TIFF 6.0, sections 2 and 8). The parts
 * are the orientation, which is tag 0x0112 of the first directory, the GPS directory, to which tag
 * 0x8825 points (Exif 2.3, 4.6.3), and the second directory, which describes the thumbnail.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/exif.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/tiff/tags.h"
#include "imgio/tiff/tags_put.h"

enum {
    TIFF_HEAD = 8,          /* "II*\0" or "MM\0*", then the offset of the first directory */
    ENTRY = 12,             /* tag, type, count, value */
    TAG_TAKEN = 0x9003,     /* DateTimeOriginal (Exif 2.3, 4.6.5) */
    TAG_THUMBNAIL = 0x0201, /* tag of a JPEG thumbnail (Exif 2.3, 4.6.9) */
    TAG_THUMBNAIL_NBYTES = 0x0202,
};

/* Starts with an EXIF block. Returns the offset of the first directory, or 0 if there is none. */
static uint64_t open_block(struct gi_tags *t, const void *exif, size_t nbytes)
{
    uint64_t first = gi_tags_open(t, exif, nbytes);
    return t->big || first < TIFF_HEAD || first > nbytes - 2 ? 0 : first;
}

static size_t get16(const struct gi_tags *t, size_t at)
{
    return (size_t)gi_tags_number(t, at, 2);
}

static size_t get32(const struct gi_tags *t, size_t at)
{
    return (size_t)gi_tags_number(t, at, 4);
}

/* Returns the byte offset of the entry with that tag, or 0 if there is none. */
static size_t find_entry(const struct gi_tags *t, uint64_t directory, unsigned tag)
{
    struct gi_tag_walk walk;
    struct gi_tag entry;
    gi_tag_walk_start(&walk, t, directory);
    while (gi_tag_next(&walk, &entry))
        if (entry.tag == tag)
            return (size_t)walk.at - ENTRY;
    return 0;
}

/* Returns the byte offset of the orientation's value, or 0 if there is none. */
static size_t find_orientation(struct gi_tags *t, const void *exif, size_t nbytes)
{
    size_t at = find_entry(t, open_block(t, exif, nbytes), GI_TAG_ORIENTATION);
    return at && get16(t, at + 2) == GI_TAG_SHORT ? at + 8 : 0;
}

/* Zeroes `nbytes` at `at`, as far as they are inside the block. */
static void wipe(struct gi_tags *t, size_t at, size_t nbytes)
{
    if (at < TIFF_HEAD || at >= t->nbytes)
        return;
    size_t left = (size_t)t->nbytes - at;
    memset((unsigned char *)t->bytes + at, 0, nbytes < left ? nbytes : left);
}

/* Removes the first entry that points to a GPS directory. Returns false if there is none. */
static bool forget_first_place(void *exif, size_t nbytes)
{
    struct gi_tags t;
    struct gi_tag_walk walk;
    struct gi_tag tag;
    size_t first = (size_t)open_block(&t, exif, nbytes), entry = find_entry(&t, first, GI_TAG_GPS);
    if (!entry)
        return false;
    size_t directory = get32(&t, entry + 8);
    gi_tag_walk_start(&walk, &t, directory);
    if (walk.at) {
        size_t n = get16(&t, directory);
        while (gi_tag_next(&walk, &tag)) {
            unsigned each = gi_tag_type_nbytes(tag.type);
            uint64_t value_nbytes = tag.count * (each ? each : 1);
            if (value_nbytes > 4)
                wipe(&t, get32(&t, (size_t)walk.at - 4), (size_t)value_nbytes);
        }
        wipe(&t, directory, 2 + n * ENTRY + 4);
    }
    /* Removes the entry by moving later entries and the offset of the next directory up by one
     * entry. */
    size_t n = get16(&t, first), end = first + 2 + n * ENTRY + 4;
    unsigned char *bytes = exif;
    if (n == 0) /* the GPS directory, which was just wiped, was also the first directory */
        return false;
    end = end < nbytes ? end : nbytes;
    if (entry + ENTRY < end)
        memmove(bytes + entry, bytes + entry + ENTRY, end - entry - ENTRY);
    wipe(&t, end - ENTRY, ENTRY);
    n--;
    bytes[first] = (unsigned char)(t.big_endian ? n >> 8 : n & 255);
    bytes[first + 1] = (unsigned char)(t.big_endian ? n & 255 : n >> 8);
    return true;
}

void gi_exif_forget_place(void *exif, size_t nbytes)
{
    while (forget_first_place(exif, nbytes))
        ;
}

size_t gi_exif_forget_thumbnail(void *exif, size_t nbytes, size_t *thumbnail)
{
    *thumbnail = 0;
    struct gi_tags t;
    struct gi_tag_walk walk;
    struct gi_tag tag;
    size_t first = (size_t)open_block(&t, exif, nbytes), n = first ? get16(&t, first) : 0;
    size_t link = first + 2 + n * ENTRY;
    if (!first || link > nbytes || nbytes - link < 4)
        return nbytes;
    size_t directory = get32(&t, link), bytes_at = 0, bytes_n = 0;
    wipe(&t, link, 4);
    gi_tag_walk_start(&walk, &t, directory);
    if (!walk.at)
        return nbytes;
    n = get16(&t, directory);
    while (gi_tag_next(&walk, &tag)) {
        size_t value = get32(&t, (size_t)walk.at - 4);
        if (tag.tag == TAG_THUMBNAIL || tag.tag == GI_TAG_STRIPS)
            bytes_at = value;
        if (tag.tag == TAG_THUMBNAIL_NBYTES || tag.tag == GI_TAG_STRIP_NBYTES)
            bytes_n = value;
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
    struct gi_tags t;
    size_t own = find_entry(&t, open_block(&t, exif, nbytes), GI_TAG_EXIF), n = sizeof form - 1;
    size_t entry = own ? find_entry(&t, get32(&t, own + 8), TAG_TAKEN) : 0;
    if (!entry || get16(&t, entry + 2) != GI_TAG_ASCII || get32(&t, entry + 4) < n)
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
    return find_orientation(&(struct gi_tags){0}, exif, nbytes);
}

int gi_exif_orientation(const void *exif, size_t nbytes)
{
    struct gi_tags t;
    size_t at = find_orientation(&t, exif, nbytes), value = at ? get16(&t, at) : 1;
    return value >= 1 && value <= 8 ? (int)value : 1;
}

void gi_exif_reset(void *exif, size_t nbytes)
{
    struct gi_tags t;
    size_t at = find_orientation(&t, exif, nbytes);
    if (at)
        gi_tags_put16((unsigned char *)exif + at, t.big_endian, 1);
}

/* The directory is copied to the end of the block, with one entry more. */
enum gi_status gi_exif_orient(void **exif, size_t *nbytes, int orientation, struct gi_err *err)
{
    struct gi_tags t;
    struct gi_tag_walk walk;
    size_t found = find_orientation(&t, *exif, *nbytes), first = 0;
    if (found) {
        gi_tags_put16((unsigned char *)*exif + found, t.big_endian, (size_t)orientation);
        return GI_OK;
    }
    gi_tag_walk_start(&walk, &t, open_block(&t, *exif, *nbytes));
    size_t n = (size_t)walk.left, from = (size_t)walk.at;
    size_t start = n ? (*nbytes + 1) / 2 * 2 : TIFF_HEAD;
    size_t next = from + n * ENTRY, size = start + 2 + (n + 1) * ENTRY + 4;
    unsigned char *made = calloc(1, size);
    if (!made)
        return gi_fail(err, GI_E_MEMORY, "out of memory: EXIF");
    if (n)
        memcpy(made, t.bytes, *nbytes);
    else
        memcpy(made, "II*\0", 4);
    bool big = n && t.big_endian;
    while (first < n && get16(&t, from + first * ENTRY) < GI_TAG_ORIENTATION)
        first++;
    unsigned char *to = made + start + 2, *entry = to + first * ENTRY;
    gi_tags_put32(made + 4, big, start);
    gi_tags_put16(made + start, big, n + 1);
    if (n) {
        memcpy(to, t.bytes + from, first * ENTRY);
        memcpy(entry + ENTRY, t.bytes + from + first * ENTRY, (n - first) * ENTRY);
        if (next + 4 <= t.nbytes)
            memcpy(to + (n + 1) * ENTRY, t.bytes + next, 4);
    }
    gi_tags_put16(entry, big, GI_TAG_ORIENTATION);
    gi_tags_put16(entry + 2, big, GI_TAG_SHORT);
    gi_tags_put32(entry + 4, big, 1);
    gi_tags_put16(entry + 8, big, (size_t)orientation);
    free(*exif);
    *exif = made;
    *nbytes = size;
    return GI_OK;
}
