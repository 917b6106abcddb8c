/* Writes JPEG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* An APP1 segment with XMP begins with this text and the zero at its end. */
#define GI_XMP_HEAD "http://ns.adobe.com/xap/1.0/"

/* Maximum bytes of EXIF, of XMP or of a text, so that each fits in one segment with its header. */
enum { GI_JPEG_METADATA_MAX = 65500 };

/* gi_format.resolution_loss: JFIF stores integers per inch or cm. */
const char *gi_jpeg_resolution_loss(const struct gi_metadata *metadata);

/* Fills in the frame of the JPEG that gi_jpeg_encode() writes of an image of this shape, whose
 * samples need not exist: tables, sampling factors, restart interval. Uses options->quality and
 * options->jpeg. Returns false if JPEG can't hold the image, if the Huffman tables depend on the
 * samples, or if memory ran out. */
bool gi_jpeg_frame_of(struct gi_jpeg_frame *frame, const struct gi_image *image,
                      const struct gi_metadata *metadata, const struct gi_save_options *options);

/* As gi_format.encode, for gray and RGB of 8 bits. Uses options->quality, options->jpeg,
 * options->parallel and options->encoded.
 * Errors: GI_E_UNSUPPORTED for a side that JPEG can't hold, GI_E_IO, GI_E_PIPE, GI_E_MEMORY. */
enum gi_status gi_jpeg_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);
