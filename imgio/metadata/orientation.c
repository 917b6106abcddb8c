/* Applies an EXIF orientation by flips, quarter turns and transpositions.
 * SPDX-License-Identifier: MIT */
#include "imgio/coded.h"
#include "imgio/metadata/exif.h"

#include <string.h>

enum { TILE = 32 };

static void copy_pixel(unsigned char *dst, const unsigned char *src, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        dst[i] = src[i];
}

static void turn_tile(const struct gi_image *dst, const struct gi_image *src, int layout, int x0,
                      int y0)
{
    size_t pixel = (size_t)src->channels * gi_type_nbytes(src->type);
    int x1 = x0 + TILE < dst->width ? x0 + TILE : dst->width;
    int y1 = y0 + TILE < dst->height ? y0 + TILE : dst->height;
    for (int y = y0; y < y1; y++) {
        unsigned char *out = (unsigned char *)gi_row(dst, y) + (size_t)x0 * pixel;
        for (int x = x0; x < x1; x++, out += pixel) {
            int sx = layout & GI_LAYOUT_TRANSPOSE ? y : x,
                sy = layout & GI_LAYOUT_TRANSPOSE ? x : y;
            sx = layout & GI_LAYOUT_MIRROR_X ? src->width - 1 - sx : sx;
            sy = layout & GI_LAYOUT_MIRROR_Y ? src->height - 1 - sy : sy;
            copy_pixel(out, (unsigned char *)gi_row(src, sy) + (size_t)sx * pixel, pixel);
        }
    }
}

static struct gi_shrunk turn_shrunk(const struct gi_image *image, int layout)
{
    struct gi_shrunk was = image->shrunk, is = was;
    if (layout & GI_LAYOUT_MIRROR_X)
        is.left = image->width * was.by - was.width - was.left;
    if (layout & GI_LAYOUT_MIRROR_Y)
        is.top = image->height * was.by - was.height - was.top;
    if (layout & GI_LAYOUT_TRANSPOSE)
        is = (struct gi_shrunk){is.by, is.height, is.width, is.top, is.left};
    return is;
}

enum gi_status gi_orientation_apply(struct gi_image *image, int orientation, struct gi_err *err)
{
    int layout = gi_orientation_layout(orientation);
    if (!layout)
        return GI_OK;
    struct gi_image turned;
    bool swap = layout & GI_LAYOUT_TRANSPOSE;
    if (image->coded) {
        image->coded->layout = layout;
        image->shrunk = turn_shrunk(image, layout);
        if (swap) {
            int width = image->width;
            image->width = image->height;
            image->height = width;
        }
        return GI_OK;
    }
    enum gi_status status =
        gi_image_alloc_from(&turned, image->allocator, swap ? image->height : image->width,
                            swap ? image->width : image->height, image->channels, image->type, err);
    if (status)
        return status;
    /* Works in tiles, so that the columns that a transposition reads stay in the cache. */
    for (int y = 0; y < turned.height; y += TILE)
        for (int x = 0; x < turned.width; x += TILE)
            turn_tile(&turned, image, layout, x, y);
    turned.shrunk = turn_shrunk(image, layout);
    gi_image_free(image);
    *image = turned;
    return GI_OK;
}
