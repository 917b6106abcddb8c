/* Makes JPEGs of many kinds with libjpeg.
 * SPDX-License-Identifier: MIT */
#include "jpeg_cases.h"

const struct jpeg_recipe jpeg_recipes[JPEG_RECIPES] = {
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

void jpeg_begin(struct jpeg_making *made, const struct gi_image *image, J_COLOR_SPACE space,
                int quality)
{
    struct jpeg_compress_struct *cinfo = &made->cinfo;
    *made = (struct jpeg_making){0};
    cinfo->err = jpeg_std_error(&made->errors);
    jpeg_create_compress(cinfo);
    jpeg_mem_dest(cinfo, &made->out, &made->n);
    cinfo->image_width = (JDIMENSION)image->width;
    cinfo->image_height = (JDIMENSION)image->height;
    cinfo->input_components = image->channels;
    cinfo->in_color_space = space;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, quality, TRUE);
}

struct bytes jpeg_end(struct jpeg_making *made, const struct gi_image *image)
{
    struct jpeg_compress_struct *cinfo = &made->cinfo;
    jpeg_start_compress(cinfo, TRUE);
    while (cinfo->next_scanline < cinfo->image_height) {
        JSAMPROW row = gi_row(image, (int)cinfo->next_scanline);
        jpeg_write_scanlines(cinfo, &row, 1);
    }
    jpeg_finish_compress(cinfo);
    jpeg_destroy_compress(cinfo);
    return (struct bytes){made->out, made->n};
}

struct bytes jpeg_make(const struct gi_image *image, const struct jpeg_recipe *recipe, int quality)
{
    struct jpeg_making made;
    struct jpeg_compress_struct *cinfo = &made.cinfo;
    jpeg_begin(&made, image,
               image->channels == 1   ? JCS_GRAYSCALE
               : image->channels == 3 ? JCS_RGB
                                      : JCS_CMYK,
               quality);
    jpeg_set_colorspace(cinfo, recipe->space);
    cinfo->write_Adobe_marker = recipe->adobe;
    if (image->channels > 1)
        cinfo->comp_info[0].h_samp_factor = cinfo->comp_info[0].v_samp_factor = recipe->sampling;
    if (recipe->progressive)
        jpeg_simple_progression(cinfo);
    cinfo->arith_code = recipe->arithmetic;
    return jpeg_end(&made, image);
}
