/* How a JPEG is coded besides its quality.
 * SPDX-License-Identifier: MIT */
#pragma once

/* Sampling of chroma relative to luma in a JPEG of three components. */
enum gi_subsampling {
    GI_SUBSAMPLING_AUTO, /* that of the input if its tables are kept, otherwise by quality */
    GI_SUBSAMPLING_KEEP, /* that of the input, if there is one, otherwise by quality */
    GI_SUBSAMPLING_444,
    GI_SUBSAMPLING_422,
    GI_SUBSAMPLING_420,
};

/* Whether a JPEG is coded in a way. */
enum gi_jpeg_use {
    GI_JPEG_AUTO, /* no; but a file that is turned without loss is coded as its input */
    GI_JPEG_YES,
    GI_JPEG_NO,
};

struct gi_save_jpeg {
    int subsampling; /* enum gi_subsampling */
    int progressive; /* enum gi_jpeg_use */
    /* enum gi_jpeg_use: Huffman tables are computed for the image, as always in a progressive
     * file */
    int optimize;
};
