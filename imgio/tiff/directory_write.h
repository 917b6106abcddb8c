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

/* Allocates room for `nentries` entries of the image with `nbytes` bytes of long values, and for
 * the metadata. With `used` bytes of samples the file is a BigTIFF if it gets too long, or in any
 * case with `big`. gi_tiff_directory_free() frees it. Errors: GI_E_MEMORY. */
enum gi_status gi_tiff_directory_new(struct gi_tiff_directory *d, int nentries, size_t nbytes,
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
/* Adds texts, resolution, EXIF, GPS, IPTC, XMP, the ICC profile and carried parts. Tags that were
 * added before are kept. */
void gi_tiff_add_metadata(struct gi_tiff_directory *d, const struct gi_metadata *metadata,
                          const struct gi_image *image);

/* Sorts the entries, of several with the same tag keeps the first, and writes the head. */
void gi_tiff_directory_end(struct gi_tiff_directory *d);
