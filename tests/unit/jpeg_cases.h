/* Makes JPEGs of many kinds with libjpeg.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio_util.h"

#include <jpeglib.h>

/* A JPEG that is being made. */
struct jpeg_making {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    unsigned char *out;
    unsigned long n;
};

/* Begins a JPEG of the image with the default settings for this colour space. */
void jpeg_begin(struct jpeg_making *made, const struct gi_image *image, J_COLOR_SPACE space,
                int quality);
/* Encodes the image; the caller frees the bytes. */
struct bytes jpeg_end(struct jpeg_making *made, const struct gi_image *image);

/* The properties of a JPEG made by a test. */
struct jpeg_recipe {
    int width, height, channels;
    bool progressive, adobe;
    J_COLOR_SPACE space; /* in the file */
    int sampling;        /* chroma: 1 for full resolution, 2 for half in both directions */
    bool arithmetic;
};
enum { JPEG_RECIPES = 11 };
extern const struct jpeg_recipe jpeg_recipes[JPEG_RECIPES];

/* Makes a JPEG of the image by the recipe. The JPEG has the size and the channels of the image. */
struct bytes jpeg_make(const struct gi_image *image, const struct jpeg_recipe *recipe, int quality);
