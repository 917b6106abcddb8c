/* Decodes a JPEG with restart markers in strips by several threads.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_JPEG_STRIPS_H
#define GI_IMGIO_JPEG_STRIPS_H

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/format.h"

/* Decodes into decode->image by the threads of decode->options, and returns the byte after the
 * file's last marker, EOI. The pixels equal those of a single decoder. Returns NULL, perhaps after
 * writing some rows, if a single decoder is needed: the file has no restart markers at the ends of
 * rows of MCUs, is progressive, in several scans, CMYK, too small to be worth it, or damaged (the
 * single decoder reports how), or there is one thread, or no memory. To be called after
 * jpeg_read_header() and gi_decode_alloc(), before jpeg_start_decompress(). */
const unsigned char *gi_jpeg_read_strips(const struct gi_decode *decode,
                                         const struct jpeg_decompress_struct *cinfo);

#endif
