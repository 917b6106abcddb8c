/* What travels beside the samples, for decoders and encoders.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_METADATA_H
#define GI_IMGIO_METADATA_H

#include "imgio/format.h"

enum {
    GI_TEXTS_MAX = 1024,           /* texts of a file; more are left out, with a warning */
    GI_TEXTS_NBYTES_MAX = 8 << 20, /* of all of them, and of an XMP packet in a text chunk */
};

/* Keeps `n` bytes of text under a keyword, both as in the file: bytes that are not UTF-8 are read
 * as Latin-1; language and translated keyword (NULL: none) are UTF-8. XMP and EXIF stored as texts
 * are kept as XMP and EXIF. Returns false if no more texts are kept, which the decode's warning
 * reports. */
bool gi_decode_add_text(struct gi_decode *decode, const char *keyword, const char *language,
                        const char *translated, const void *bytes, size_t n);

/* Keeps `n` bytes as one of the metadata's blocks, say &metadata->icc and &metadata->icc_nbytes, if
 * they are the first. Like all here it sets metadata->starved where memory runs out. */
void gi_metadata_keep(struct gi_metadata *metadata, void **block, size_t *nbytes, const void *bytes,
                      size_t n);

/* Drops thumbnails, which show the picture as it was, and says orientation 1. */
void gi_metadata_settle(struct gi_metadata *metadata);

/* Whether all that PNG's colour chunks say is that the picture is sRGB, or nothing. */
bool gi_metadata_is_srgb(const struct gi_metadata *metadata);

/* *latin: Latin-1 of a text in UTF-8, owned by the caller, *n its bytes; NULL where it has none.
 * Errors: GI_E_MEMORY. */
enum gi_status gi_latin1(char **latin, size_t *n, const char *text, struct gi_err *err);

#endif
