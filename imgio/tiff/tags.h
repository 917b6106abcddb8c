/* Reads directories of tags, in TIFF and BigTIFF files and in EXIF blocks, which have the form of a
 * TIFF (TIFF 6.0, section 2; BigTIFF as described at libtiff.org).
 *
 * The bytes may be a mapping of a file that changes. Therefore each entry is read once into a
 * struct gi_tag, and everything is checked and copied by the numbers there.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gi_tag_type {
    GI_TAG_BYTE = 1,
    GI_TAG_ASCII,
    GI_TAG_SHORT,
    GI_TAG_LONG,
    GI_TAG_RATIONAL,
    GI_TAG_SBYTE,
    GI_TAG_UNDEFINED,
    GI_TAG_SSHORT,
    GI_TAG_SLONG,
    GI_TAG_SRATIONAL,
    GI_TAG_FLOAT,
    GI_TAG_DOUBLE,
    GI_TAG_IFD, /* the offset of a directory, as a LONG */
    GI_TAG_LONG8 = 16,
    GI_TAG_SLONG8,
    GI_TAG_IFD8,
};

/* Tags that several files of code know (TIFF 6.0, section 8; Exif 2.32, 4.6). */
enum {
    GI_TAG_KIND = 254, /* NewSubfileType */
    GI_TAG_WIDTH = 256,
    GI_TAG_HEIGHT,
    GI_TAG_COMPRESSION = 259,
    GI_TAG_COLORS = 262, /* PhotometricInterpretation */
    GI_TAG_DESCRIPTION = 270,
    GI_TAG_STRIPS = 273, /* offsets */
    GI_TAG_ORIENTATION,
    GI_TAG_STRIP_NBYTES = 279,
    GI_TAG_TILES = 324, /* offsets */
    GI_TAG_SUBIFDS = 330,
    GI_TAG_XMP = 700,
    GI_TAG_IPTC = 33723,
    GI_TAG_PHOTOSHOP = 34377,
    GI_TAG_EXIF = 34665, /* in the first directory: offset of EXIF's own directory */
    GI_TAG_ICC = 34675,
    GI_TAG_GPS = 34853,
    GI_TAG_INTEROPERABILITY = 40965, /* in EXIF's directory */
    GI_TAG_IMAGEJ = 50839, /* with 50838, its lengths: labels, overlays and tables of ImageJ */
};

/* Returns the number of bytes of a value of that type, or 0 for an unknown type. */
unsigned gi_tag_type_nbytes(unsigned type);

/* Bytes that hold directories. */
struct gi_tags {
    const unsigned char *bytes;
    uint64_t nbytes;
    bool big_endian, big; /* big: BigTIFF, with offsets of 64 bits */
};

/* An entry. Its values are `nbytes` bytes at offset `at`, all within the bytes. An entry of unknown
 * type, or with values that are not all within the bytes, has `nbytes` 0 and `broken` set; its `at`
 * may be any number. */
struct gi_tag {
    unsigned tag, type;
    uint64_t count, at, nbytes;
    uint64_t entry; /* offset of the entry */
    bool broken;
};

/* A walk along the entries of a directory. */
struct gi_tag_walk {
    const struct gi_tags *tags;
    uint64_t at, left; /* offset of the next entry, and number of entries left */
    uint64_t beyond;   /* number of entries that the directory names beyond the end of the bytes */
};

/* Starts with the bytes of a whole file or EXIF block. Returns the offset of the first directory,
 * or 0 if there is none. */
uint64_t gi_tags_open(struct gi_tags *tags, const void *bytes, size_t nbytes);

/* Reads the unsigned integer of `n` bytes at offset `at`, which must be within the bytes. */
uint64_t gi_tags_number(const struct gi_tags *tags, uint64_t at, unsigned n);

/* Starts a walk along the directory at this offset, which may be any number. If no directory is
 * there, walk->at is 0. gi_tag_next() returns false at the end. */
void gi_tag_walk_start(struct gi_tag_walk *walk, const struct gi_tags *tags, uint64_t directory);
bool gi_tag_next(struct gi_tag_walk *walk, struct gi_tag *tag);

/* Finds the entry with this number. Returns false if there is none, or if it is broken. */
bool gi_tag_find(struct gi_tag *tag, const struct gi_tags *tags, uint64_t directory,
                 unsigned number);

/* Returns value i as an integer, or `missing` if there is no such value or it is no unsigned
 * integer. */
uint64_t gi_tag_integer(const struct gi_tags *tags, const struct gi_tag *tag, uint64_t i,
                        uint64_t missing);
/* Returns value i as a number, or NaN if there is no such value or it is no number. */
double gi_tag_real(const struct gi_tags *tags, const struct gi_tag *tag, uint64_t i);
/* Returns the first value of the entry with this number as an integer, as of an entry that points
 * to a directory. Returns `missing` if there is no such value. */
uint64_t gi_tag_integer_of(const struct gi_tags *tags, uint64_t directory, unsigned number,
                           uint64_t missing);

/* Copies the values of a tag, tag->nbytes bytes, to `to` in the given byte order. */
void gi_tag_copy(void *to, bool big_endian, const struct gi_tags *tags, const struct gi_tag *tag);
