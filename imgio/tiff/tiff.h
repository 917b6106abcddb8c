/* TIFF: read through libtiff, if the build found a recent one; written by our own code.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_TIFF_H
#define GI_IMGIO_TIFF_H

#include "imgio/codecs.h"

#if __has_include(<tiffio.h>)
#include <tiffio.h>
#if TIFFLIB_VERSION >= 20221213 /* 4.5, the first one with errors and limits per file */
#define GI_HAVE_TIFF 1
#endif
#endif
#ifndef GI_HAVE_TIFF
#define GI_HAVE_TIFF 0
#endif

enum { GI_TIFF_MEMORY_MAX = 256 << 20 }; /* maximum bytes that libtiff may allocate at once */

/* Sets *offset to the offset of the directory of `page`, counted from 0, or to 0 if there is none.
 * Returns the number of a TIFF's pages, or 0 if their chain has a cycle (pages.c). */
int gi_tiff_find_page(uint64_t *offset, const unsigned char *bytes, size_t nbytes, int page);

/* Texts with a tag of their own, and their keywords in PNG; ends with tag 0. */
struct gi_tiff_text {
    uint16_t tag;
    const char *keyword;
};
extern const struct gi_tiff_text gi_tiff_texts[];

/* Divides colour by alpha, which makes associated (premultiplied) alpha straight (unmultiply.c).
 * The last channel is alpha. */
void gi_tiff_unmultiply(struct gi_image *image);

/* Writes a TIFF, like gi_format.encode, without libtiff (tiff_write.c): deflated with a predictor,
 * in strips, or in tiles of a BigTIFF if the samples exceed 4 GB. */
enum gi_status gi_tiff_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);

/* Writes a BigTIFF of tiles or strips, whatever the image's size. */
enum gi_status gi_tiff_encode_tiles(struct gi_sink *sink, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, bool tiles,
                                    struct gi_err *err);

#endif
