/* Metadata functions for decoders and encoders.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

enum {
    /* maximum number of texts kept of a file; further texts are lost */
    GI_TEXTS_MAX = 1024,
    GI_TEXTS_NBYTES_MAX = 8 << 20, /* maximum bytes of all texts, and of XMP in a text chunk */
};

/* Begins the keywords of ImageMagick's hexadecimal texts, which hold EXIF, IPTC and the like. */
#define GI_RAW_PROFILE "Raw profile type "

/* Keeps `n` bytes of text under a keyword. If the text or the keyword is not UTF-8, its bytes are
 * read as Latin-1. `language` and `translated`, the translated keyword, must be UTF-8, or NULL.
 * XMP, EXIF and IPTC that are stored as texts are kept as such. A text beyond the limits becomes a
 * lost part. Returns false if memory ran out, or for a second XMP. */
bool gi_decode_add_text(struct gi_decode *decode, const char *keyword, const char *language,
                        const char *translated, const void *bytes, size_t n);

/* The same for a comment of a format without keywords. If it is "Author: ...", as the writers of
 * such formats begin a text, with one of PNG's keywords, the text gets that keyword. */
bool gi_decode_add_comment(struct gi_decode *decode, const void *comment, size_t n);

/* Returns `n` bytes, up to the first zero, as UTF-8 text, which the caller frees. Bytes that are
 * not UTF-8 are read as Latin-1. Returns NULL if memory ran out. */
char *gi_text_utf8(const void *bytes, size_t n);

/* Returns the place behind the bracket that opens the shape of an array in a description by
 * tifffile, which has `n` bytes: {"shape": [6, 120, 160]}, also with other keys, or before 2018
 * shape=(6, 120, 160). Returns NULL if it is no such description. */
const char *gi_text_shape(const char *text, size_t n);

/* Keeps `n` bytes as a block of the metadata, for example in &metadata->icc and
 * &metadata->icc_nbytes, unless that block exists already. Like all functions in this file, sets
 * metadata->starved if memory runs out. */
void gi_metadata_keep(struct gi_metadata *metadata, void **block, size_t *nbytes, const void *bytes,
                      size_t n);

/* Returns the orientation, 1 to 8: EXIF's, or that of XMP (tiff:Orientation) if EXIF has none, or
 * 1. */
int gi_metadata_orientation(struct gi_metadata *metadata);

/* Adapts metadata to a changed picture: removes thumbnails of the old picture, and resets the
 * orientation to 1. */
void gi_metadata_settle(struct gi_metadata *metadata);

/* Makes metadata that can be written with an image of this shape, which is stored with this EXIF
 * orientation (0 and 1 mean none). EXIF and XMP name the size of the stored image, EXIF also the
 * orientation, and XMP the size of the file of a gain map. They name
 * the number and meaning of samples, and a new resolution or colour space, if they named one.
 * `metadata` may be NULL.
 * gi_metadata_free_fitted() frees what was copied; everything else remains owned by `metadata`.
 * Errors: GI_E_MEMORY. */
enum gi_status gi_metadata_fit_image(struct gi_metadata *fitted, const struct gi_metadata *metadata,
                                     const struct gi_image *image, int orientation,
                                     struct gi_err *err);
void gi_metadata_free_fitted(struct gi_metadata *fitted);

/* Returns whether there is a colour chunk of PNG of that name of 4 letters. */
bool gi_metadata_color_chunk(const struct gi_metadata *metadata, const char *name);
/* Returns whether PNG's colour chunks declare sRGB: cICP does, or if there is none sRGB, or if
 * there is none gAMA and cHRM (PNG, third edition, 4.3). */
bool gi_metadata_is_srgb(const struct gi_metadata *metadata);

/* Sets *latin to the text in Latin-1, which the caller frees, and *n to the length of *latin.
 * *latin is NULL if a character is not in Latin-1. Errors: GI_E_MEMORY. */
enum gi_status gi_latin1(char **latin, size_t *n, const char *text, struct gi_err *err);
