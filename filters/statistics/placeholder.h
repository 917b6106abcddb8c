/* Placeholders of web pages: a picture in a few bytes, shown blurred until the file is there.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

enum {
    GI_PLACEHOLDER_SIDE_MAX = 100, /* of the image, as ThumbHash requires */
    GI_PLACEHOLDER_COMPONENTS_MAX = 9,
    GI_PLACEHOLDER_TEXT = 192, /* bytes of a text, with its NUL; a BlurHash has at most 166 */
};

/* BlurHash (blurha.sh) of an image of GI_U8 with 1 to 4 channels, whose alpha is ignored: the
 * lowest nx times ny components of a DCT in linear light, each 1 to GI_PLACEHOLDER_COMPONENTS_MAX,
 * as digits to the base of 83. */
void gi_blurhash(char text[GI_PLACEHOLDER_TEXT], const struct gi_image *image, int nx, int ny);

/* ThumbHash (evanw.github.io/thumbhash) of an image of GI_U8 with 1 to 4 channels and at most
 * GI_PLACEHOLDER_SIDE_MAX pixels per side: luma, two colour differences and alpha as DCTs, in
 * base64 (RFC 4648, section 4). Coefficients below 1e-9 are 0. */
void gi_thumbhash(char text[GI_PLACEHOLDER_TEXT], const struct gi_image *image);
