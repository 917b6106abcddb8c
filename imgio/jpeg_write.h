/* JPEG out.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_JPEG_WRITE_H
#define GI_IMGIO_JPEG_WRITE_H

#include "imgio/imgio.h"

#define GI_XMP_HEAD "http://ns.adobe.com/xap/1.0/" /* and a zero: of an APP1 segment with XMP */
enum {
    GI_JPEG_METADATA_MAX = 65500
}; /* bytes of EXIF, XMP or a text in a segment, with its head */

/* Keywords that a comment may begin with, as "Author: "; all others are written so too. */
extern const char *const gi_jpeg_keywords[];

/* As the `encode` of a format: gray and RGB of 8 bits, with options->quality and options->parallel.
 * Errors: GI_E_UNSUPPORTED for a side that JPEG can't hold, GI_E_IO, GI_E_PIPE, GI_E_MEMORY. */
enum gi_status gi_jpeg_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);

#endif
