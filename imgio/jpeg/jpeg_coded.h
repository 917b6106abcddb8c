/* JPEGs that stay coded, because a device decodes them (imgio/coded.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/coded.h"
#include "imgio/format.h"

/* Returns whether the caller wants the image to stay coded, and the file is one that jpeg_decode
 * takes (kernels/codec.h). Fills in all members of *coded except `file`. Must be called after
 * jpeg_read_header() and before gi_decode_alloc(). */
bool gi_jpeg_stays_coded(struct gi_coded *coded, const struct gi_decode *decode,
                         const struct jpeg_decompress_struct *cinfo);
