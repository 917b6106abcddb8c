/* Makes JPEGs of many kinds with libjpeg.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_JPEG_CASES_H
#define GI_TESTS_JPEG_CASES_H

#include "imgio_util.h"

#include <jpeglib.h>

/* The properties of a JPEG made by a test. */
struct recipe {
    int width, height, channels;
    bool progressive, adobe;
    J_COLOR_SPACE space; /* in the file */
    int sampling;        /* chroma: 1: full resolution, 2: half in both directions */
    bool arithmetic;
};

static inline struct bytes make_jpeg(const struct gi_image *image, struct recipe recipe,
                                     int quality)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    unsigned char *out = NULL;
    unsigned long n = 0;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &out, &n);
    cinfo.image_width = (JDIMENSION)image->width;
    cinfo.image_height = (JDIMENSION)image->height;
    cinfo.input_components = image->channels;
    cinfo.in_color_space = image->channels == 1   ? JCS_GRAYSCALE
                           : image->channels == 3 ? JCS_RGB
                                                  : JCS_CMYK;
    jpeg_set_defaults(&cinfo);
    jpeg_set_colorspace(&cinfo, recipe.space);
    jpeg_set_quality(&cinfo, quality, TRUE);
    cinfo.write_Adobe_marker = recipe.adobe;
    if (image->channels > 1)
        cinfo.comp_info[0].h_samp_factor = cinfo.comp_info[0].v_samp_factor = recipe.sampling;
    if (recipe.progressive)
        jpeg_simple_progression(&cinfo);
    cinfo.arith_code = recipe.arithmetic;
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < cinfo.image_height) {
        JSAMPROW row = gi_row(image, (int)cinfo.next_scanline);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    return (struct bytes){out, n};
}

static const struct recipe recipes[] = {
    {33, 19, 1, false, false, JCS_GRAYSCALE, 1, false},
    {33, 19, 1, true, false, JCS_GRAYSCALE, 1, false},
    {67, 45, 3, false, false, JCS_YCbCr, 2, false},
    {67, 45, 3, true, false, JCS_YCbCr, 2, false},
    {67, 45, 3, false, false, JCS_YCbCr, 1, false},
    {31, 8, 3, false, true, JCS_RGB, 1, false},
    {40, 23, 4, false, true, JCS_CMYK, 1, false},
    {40, 23, 4, true, true, JCS_YCCK, 1, false},
    {1, 1, 3, false, false, JCS_YCbCr, 2, false},
    {40, 23, 3, false, false, JCS_YCbCr, 2, true},
    {40, 23, 4, false, true, JCS_CMYK, 1, true},
};

#endif
