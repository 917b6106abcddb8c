/* Decodes a JPEG with restart markers in strips by several threads.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_JPEG_STRIPS_H
#define GI_IMGIO_JPEG_STRIPS_H

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/format.h"

/* Call after jpeg_read_header() and gi_decode_alloc(), before jpeg_start_decompress(): decodes into
 * decode->image by the threads of decode->options, and returns the byte after the file's last, EOI.
 * The pixels equal those of one decoder. Returns NULL, perhaps with some rows written, if one
 * decoder has to do it: the file has no restart markers at the ends of rows of MCUs, or is
 * progressive, in several scans, CMYK, too small to be worth it, or damaged (one decoder then
 * reports how); or there is one thread, or no memory. */
const unsigned char *gi_jpeg_read_strips(const struct gi_decode *decode,
                                         const struct jpeg_decompress_struct *cinfo);

#endif
