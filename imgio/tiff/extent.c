/* Finds the end of the TIFF with which the bytes begin, which is the end of its directories, their
 * values and its strips and tiles. With this end, TIFFs that are one behind the other can be found.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff.h"

enum { TAG_STRIPS = 273, TAG_STRIP_COUNTS = 279, TAG_TILES = 324, TAG_TILE_COUNTS = 325 };

/* Returns the number of bytes of a value of that type (TIFF 6.0, section 2, and BigTIFF). */
static unsigned type_nbytes(uint64_t type)
{
    static const unsigned nbytes[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8};
    return type < sizeof nbytes / sizeof *nbytes ? nbytes[type] : 1;
}

/* The values of an entry: `count` values of `each` bytes, from offset `at` on, all within the
 * file. */
struct values {
    uint64_t at, count;
    unsigned each;
};

static bool read_values(struct values *v, const struct gi_tiff_walk *w, uint64_t entry)
{
    unsigned offset = w->big ? 8 : 4;
    v->each = type_nbytes(gi_tiff_number(w, entry + 2, 2));
    v->count = gi_tiff_number(w, entry + 4, offset);
    v->at = entry + 4 + offset;
    if (v->count > w->nbytes / v->each)
        return false;
    if (v->count * v->each > offset)
        v->at = gi_tiff_number(w, v->at, offset);
    return v->at <= w->nbytes && v->count * v->each <= w->nbytes - v->at;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns the end of the directory, its values and its pixels. */
static uint64_t end_of(const struct gi_tiff_walk *w)
{
    unsigned each = w->big ? 20 : 12, offset = w->big ? 8 : 4;
    uint64_t entry = w->at + (w->big ? 8 : 2), end = entry + w->entries * each + offset;
    struct values places = {0}, counts = {0}, v;
    for (uint64_t i = 0; i < w->entries; i++, entry += each) {
        uint64_t tag = gi_tiff_number(w, entry, 2);
        if (!read_values(&v, w, entry))
            continue;
        end = larger(end, v.at + v.count * v.each);
        if (tag == TAG_STRIPS || tag == TAG_TILES)
            places = v;
        else if (tag == TAG_STRIP_COUNTS || tag == TAG_TILE_COUNTS)
            counts = v;
    }
    for (uint64_t i = 0; i < places.count && i < counts.count; i++) {
        uint64_t at = gi_tiff_number(w, places.at + i * places.each, places.each);
        uint64_t n = gi_tiff_number(w, counts.at + i * counts.each, counts.each);
        if (at <= w->nbytes && n <= w->nbytes - at)
            end = larger(end, at + n);
    }
    return end;
}

uint64_t gi_tiff_end(const unsigned char *bytes, size_t nbytes)
{
    struct gi_tiff_walk w;
    uint64_t end = 0;
    gi_tiff_walk_start(&w, bytes, nbytes);
    while (gi_tiff_walk(&w))
        end = w.entries ? larger(end, end_of(&w)) : end;
    return end < nbytes ? end : nbytes;
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
