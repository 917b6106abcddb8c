/* Chooses how a JPEG is coded: quantization tables, sampling factors, scans, Huffman tables.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/imgio.h"

/* How a JPEG is coded. */
struct gi_jpeg_settings {
    int quality; /* 1 to 100, of the tables if `kept` is NULL */
    const struct gi_jpeg_tables *kept;
    int ncomponents;
    bool ycc; /* three components are Y, Cb and Cr, otherwise R, G and B */
    uint8_t h[GI_JPEG_COMPONENTS], v[GI_JPEG_COMPONENTS]; /* sampling factors */
    int h_max, v_max;                                     /* their maxima */
    bool progressive, optimize;                           /* the whole image is encoded at once */
};

/* Returns the tables and factors of the file whose header has been read. They are malloc()ed and
 * owned by the caller. Returns NULL if no other JPEG can have them: the file is CMYK, a table comes
 * later in the file, or has a value that libjpeg-turbo can't divide by. */
struct gi_jpeg_tables *gi_jpeg_tables_of(const struct jpeg_decompress_struct *cinfo);

/* Returns the settings for an image of 1 or 3 channels. `metadata` may be NULL, otherwise it must
 * exist as long as the settings do. */
struct gi_jpeg_settings gi_jpeg_settings_of(int channels, const struct gi_metadata *metadata,
                                            const struct gi_save_options *options);

/* Sets all parameters of an encoder whose size and input are set. libjpeg's errors leave this
 * function. */
void gi_jpeg_settings_apply(const struct gi_jpeg_settings *settings, j_compress_ptr jpeg);
