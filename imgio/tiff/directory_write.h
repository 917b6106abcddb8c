/* The directory of a TIFF that is written.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/tiff/directories.h"
#include "imgio/tiff/tiff.h"

/* A directory in the making, in the machine's byte order: the head of the file, the entries in any
 * order, and the values that are too long for an entry. */
struct gi_tiff_directory {
    unsigned char *bytes; /* from malloc() */
    bool big;             /* of a BigTIFF */
    int n;                /* number of entries so far */
    size_t spare, end;    /* offset of the next long value, and the total length */
    /* The directories of the metadata's EXIF. */
    struct gi_directories exif;
};

/* How the samples of an image are stored. Tiles are called strips, too. */
struct gi_tiff_form {
    const struct gi_image *image; /* with one_bit: the packed bytes as an image (imgio/bits.h) */
    int width;                    /* pixels of a row */
    bool one_bit, fax;            /* fax: compressed by Group 4, as is usual with 0 for white */
    bool stored;                  /* without compression and predictor */
    bool tiles, reduced;          /* reduced: a smaller version of another image of the file */
    int strip_width, strip_rows, nstrips;
    const uint64_t *strip_nbytes; /* of each strip */
    const uint64_t *strip_at;     /* offset of each; NULL: one by one behind the directory */
    const char *description;      /* ImageDescription; NULL: from the texts of the metadata */
    const uint64_t *smaller;      /* offsets of the directories of smaller versions (SubIFDs), */
    int nsmaller;                 /* and their number */
};

/* Allocates room for the entries of an image, its metadata and some more. With `used` bytes of
 * samples the file is a BigTIFF if it gets too long, or in any case with `big`.
 * gi_tiff_directory_free() frees it. Errors: GI_E_MEMORY. */
enum gi_status gi_tiff_directory_new(struct gi_tiff_directory *d, const struct gi_tiff_form *form,
                                     uint64_t used, bool big, const struct gi_metadata *metadata,
                                     struct gi_err *err);
void gi_tiff_directory_free(struct gi_tiff_directory *d);

/* Adds an entry of `count` values. Returns the position at which the caller must write the values,
 * which is valid until gi_tiff_directory_end(). */
unsigned char *gi_tiff_add(struct gi_tiff_directory *d, unsigned tag, enum gi_tag_type type,
                           uint64_t count);
/* Adds an entry of `count` values that are all equal to `v`. */
void gi_tiff_add_number(struct gi_tiff_directory *d, unsigned tag, enum gi_tag_type type,
                        uint64_t count, uint64_t v);
/* Adds what describes the samples (image_tags.c), and the metadata. */
void gi_tiff_add_image(struct gi_tiff_directory *d, const struct gi_tiff_form *form,
                       const struct gi_metadata *metadata);
/* Adds texts, resolution, EXIF, GPS, IPTC, XMP, the ICC profile and carried parts. Tags that were
 * added before are kept. */
void gi_tiff_add_metadata(struct gi_tiff_directory *d, const struct gi_metadata *metadata,
                          const struct gi_image *image);

/* Returns the texts of ImageDescription, which the caller frees. */
char *gi_tiff_description(const struct gi_metadata *metadata);

/* Sorts the entries, of several with the same tag keeps the first, and writes the head. */
void gi_tiff_directory_end(struct gi_tiff_directory *d);
/* Then sets the offset of the next directory, which is 0 at first. */
void gi_tiff_directory_next(struct gi_tiff_directory *d, uint64_t next);
/* Adds `delta` to all offsets of a TIFF of one directory, except SubIFDs (append.c). */
void gi_tiff_move(unsigned char *bytes, bool big, uint64_t delta);
