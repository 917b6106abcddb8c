/* The segments of a JPEG that are neither image nor metadata of struct gi_metadata.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/format.h"

/* An APP13 segment of Photoshop begins with this text and the zero at its end, an APP1 segment of
 * extended XMP with the other. */
#define GI_JPEG_PHOTOSHOP_HEAD "Photoshop 3.0"
#define GI_JPEG_MORE_XMP_HEAD  "http://ns.adobe.com/xmp/extension/"

/* As gi_format.parts: adds all segments, and what follows the image. */
void gi_jpeg_parts(struct gi_decode *decode);

/* Names what follows the image, which ends at the offset `end`: further images that belong to it,
 * as in stereo and gain map files, or are files of their own, and the video of a motion photo.
 * Zeros do not count. */
void gi_jpeg_add_rest(struct gi_decode *decode, size_t end);

/* As gi_format.holds. */
enum gi_holding gi_jpeg_holds(const struct gi_part *part, const struct gi_image *written);

/* Writes the carried parts. To be called after jpeg_start_compress(). */
void gi_jpeg_write_parts(j_compress_ptr jpeg, const struct gi_metadata *metadata);
