/* TIFF: in through libtiff, where the build found one that is recent enough; out on our side.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_TIFF_H
#define GI_IMGIO_TIFF_H

#include "imgio/codecs.h"

#if __has_include(<tiffio.h>)
#include <tiffio.h>
#if TIFFLIB_VERSION >= 20221213 /* 4.5: errors and limits of one file, not of the process */
#define GI_HAVE_TIFF 1
#endif
#endif
#ifndef GI_HAVE_TIFF
#define GI_HAVE_TIFF 0
#endif

enum { GI_TIFF_MEMORY_MAX = 256 << 20 }; /* bytes that libtiff may take at once */

/* How many pages the file has, which starts as a TIFF does; 0 where they go in a circle. *offset:
 * where the directory of `page`, from 0, stands; 0 where there is none (pages.c). */
int gi_tiff_find_page(uint64_t *offset, const unsigned char *bytes, size_t nbytes, int page);

/* Texts that have a tag of their own, and the keywords that they have in PNG; ends with tag 0. */
struct gi_tiff_text {
    uint16_t tag;
    const char *keyword;
};
extern const struct gi_tiff_text gi_tiff_texts[];

/* Gives colour that alpha was multiplied into its own value back (unmultiply.c). The last channel
 * is alpha. */
void gi_tiff_unmultiply(struct gi_image *image);

/* As gi_format.encode (tiff_write.c): deflate, predictor; strips, and tiles in a BigTIFF where the
 * samples take over 4 GB. Needs no libtiff. */
enum gi_status gi_tiff_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);

/* The same in a BigTIFF of tiles, or in strips, whatever the size. */
enum gi_status gi_tiff_encode_tiles(struct gi_sink *sink, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, bool tiles,
                                    struct gi_err *err);

#endif
