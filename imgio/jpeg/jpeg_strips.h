/* Decodes a JPEG with restart markers in strips by several threads.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/format.h"

/* Decodes into decode->image by the threads of decode->options, and returns the position after EOI,
 * the file's last marker. The pixels equal those of a single decoder. Returns NULL, perhaps after
 * writing some rows, if a single decoder is needed. It is needed if the file has no restart markers
 * at the ends of rows of MCUs, is progressive, has several scans, is CMYK, is too small to be worth
 * it, or is damaged (the single decoder reports the damage), or if there is only one thread or no
 * memory. Must be called after jpeg_read_header() and gi_decode_alloc(), and before
 * jpeg_start_decompress(). */
const unsigned char *gi_jpeg_read_strips(const struct gi_decode *decode,
                                         const struct jpeg_decompress_struct *cinfo);
