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

/* Adds what follows the image, which ends at the offset `end`. A gain map is carried. Named are
 * further images that belong to the image, as in stereo files, or are files of their own, and the
 * video of a motion photo. Zeros do not count. */
void gi_jpeg_add_rest(struct gi_decode *decode, size_t end);

/* As gi_format.holds. */
enum gi_holding gi_jpeg_holds(const struct gi_part *part, const struct gi_image *written);

/* Writes the carried parts, with the index of the gain map, but not the map. To be called after
 * jpeg_start_compress(). */
void gi_jpeg_write_parts(j_compress_ptr jpeg, const struct gi_metadata *metadata);

/* Writes the index of a gain map, for gi_mpf_set(). To be called after jpeg_start_compress(). */
void gi_jpeg_write_index(j_compress_ptr jpeg);
