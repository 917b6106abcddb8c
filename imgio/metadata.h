/* Metadata functions for decoders and encoders.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_METADATA_H
#define GI_IMGIO_METADATA_H

#include "imgio/format.h"

enum {
    GI_TEXTS_MAX = 1024,           /* maximum texts kept per file; further ones are dropped with
                                      a warning */
    GI_TEXTS_NBYTES_MAX = 8 << 20, /* maximum bytes of all texts, and of an XMP packet in a text
                                      chunk */
};

/* Keeps `n` bytes of text under a keyword, both as in the file: bytes that are not UTF-8 are read
 * as Latin-1; language and translated keyword (NULL: none) are UTF-8. XMP and EXIF stored as texts
 * are kept as XMP and EXIF. Returns false if no more texts are kept, which the decode's warning
 * reports. */
bool gi_decode_add_text(struct gi_decode *decode, const char *keyword, const char *language,
                        const char *translated, const void *bytes, size_t n);

/* Keeps `n` bytes as one of the metadata's blocks, for example &metadata->icc and
 * &metadata->icc_nbytes, unless it has one already. Sets metadata->starved if memory runs out, as
 * all functions here do. */
void gi_metadata_keep(struct gi_metadata *metadata, void **block, size_t *nbytes, const void *bytes,
                      size_t n);

/* Removes thumbnails, which show the picture before its changes, and resets the orientation to 1.
 */
void gi_metadata_settle(struct gi_metadata *metadata);

/* Returns whether PNG's colour chunks say nothing else than sRGB. */
bool gi_metadata_is_srgb(const struct gi_metadata *metadata);

/* *latin becomes the text in Latin-1, owned by the caller, and *n its length; NULL if it has
 * characters outside Latin-1. Errors: GI_E_MEMORY. */
enum gi_status gi_latin1(char **latin, size_t *n, const char *text, struct gi_err *err);

#endif
