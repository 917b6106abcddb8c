/* Mosaics of images at known places.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/mosaic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t sums_per_pixel(const struct gi_image *made)
{
    return (size_t)gi_color_channels(made) + 2;
}

enum gi_status gi_mosaic_new(struct gi_mosaic *mosaic, const struct gi_image *shape,
                             const void *pixel, bool blends, struct gi_err *err)
{
    size_t nbytes = (size_t)shape->channels * gi_type_nbytes(shape->type);
    *mosaic = (struct gi_mosaic){0};
    enum gi_status status = gi_image_alloc(&mosaic->made, shape->width, shape->height,
                                           shape->channels, shape->type, err);
    size_t n = (size_t)shape->width * (size_t)shape->height;
    if (!status && blends) {
        mosaic->sums = calloc(n, sums_per_pixel(shape) * sizeof *mosaic->sums);
        if (!mosaic->sums)
            status = gi_fail(err, GI_E_MEMORY, "out of memory: the sums of a mosaic");
    }
    for (int y = 0; y < shape->height && !status; y++)
        for (int x = 0; x < shape->width; x++)
            memcpy((char *)gi_row(&mosaic->made, y) + (size_t)x * nbytes, pixel, nbytes);
    return status;
}

/* Stores a sample of the type. Integers are rounded. */
static void store(void *row, size_t i, enum gi_type type, double v)
{
    if (type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)nearbyint(v);
    else if (type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)nearbyint(v);
    else
        ((float *)row)[i] = (float)v;
}

/* A pixel of an image that is added: its samples as the mosaic has them, and its alpha, 0 to 1. */
struct added {
    double color[3], alpha;
};

static struct added pixel_of(const struct gi_image *image, const void *row, int x, int colors)
{
    size_t at = (size_t)x * (size_t)image->channels;
    bool gray = gi_color_channels(image) == 1;
    struct added added = {.alpha = 1};
    for (int c = 0; c < colors; c++)
        added.color[c] = gi_sample(row, at + (gray ? 0 : (size_t)c), image->type);
    if (gi_has_alpha(image))
        added.alpha = gi_sample(row, at + (size_t)image->channels - 1, image->type) /
                      (double)gi_type_full_scale(image->type);
    return added;
}

/* Replaces the pixel at (x, y) of the mosaic. */
static void replace(const struct gi_image *made, int x, int y, const struct added *added)
{
    void *row = gi_row(made, y);
    size_t at = (size_t)x * (size_t)made->channels;
    int colors = gi_color_channels(made);
    for (int c = 0; c < colors; c++)
        store(row, at + (size_t)c, made->type, added->color[c]);
    if (gi_has_alpha(made))
        store(row, at + (size_t)colors, made->type,
              added->alpha * (double)gi_type_full_scale(made->type));
}

static void add_weighted(const struct gi_mosaic *mosaic, int x, int y, const struct added *added,
                         double weight)
{
    const struct gi_image *made = &mosaic->made;
    size_t colors = sums_per_pixel(made) - 2;
    double *sums =
        mosaic->sums + ((size_t)y * (size_t)made->width + (size_t)x) * sums_per_pixel(made);
    for (size_t c = 0; c < colors; c++)
        sums[c] += weight * added->alpha * added->color[c];
    sums[colors] += weight * added->alpha;
    sums[colors + 1] += weight;
}

/* Returns the distance of column i of n from the nearest end, 1 or more. */
static int from_end(int i, int n)
{
    return i + 1 < n - i ? i + 1 : n - i;
}

enum gi_status gi_mosaic_add(struct gi_mosaic *mosaic, const struct gi_image *image, int64_t left,
                             int64_t top, struct gi_err *err)
{
    const struct gi_image *made = &mosaic->made;
    struct gi_image own;
    int colors = gi_color_channels(made);
    enum gi_status status = gi_image_convert(&own, image, made->type, err);
    for (int y = 0; y < image->height && !status; y++) {
        const void *row = gi_row(&own, y);
        for (int x = 0; x < own.width && top + y >= 0 && top + y < made->height; x++) {
            if (left + x < 0 || left + x >= made->width)
                continue;
            const struct added added = pixel_of(&own, row, x, colors);
            int rows = from_end(y, own.height), columns = from_end(x, own.width);
            if (!(added.alpha > 0))
                continue;
            if (mosaic->sums)
                add_weighted(mosaic, (int)(left + x), (int)(top + y), &added,
                             rows < columns ? rows : columns);
            else
                replace(made, (int)(left + x), (int)(top + y), &added);
        }
    }
    if (!status)
        gi_image_free(&own);
    return status;
}

void gi_mosaic_end(struct gi_mosaic *mosaic, struct gi_image *made)
{
    const struct gi_image *image = &mosaic->made;
    size_t n = sums_per_pixel(image), colors = n - 2;
    const double *sums = mosaic->sums;
    for (int y = 0; y < image->height && sums; y++)
        for (int x = 0; x < image->width; x++, sums += n) {
            struct added added = {.alpha = sums[colors] / sums[colors + 1]};
            for (size_t c = 0; c < colors; c++)
                added.color[c] = sums[c] / sums[colors];
            if (sums[colors] > 0)
                replace(image, x, y, &added);
        }
    *made = *image;
    mosaic->made = (struct gi_image){0};
}

void gi_mosaic_free(struct gi_mosaic *mosaic)
{
    gi_image_free(&mosaic->made);
    free(mosaic->sums);
    mosaic->sums = NULL;
}
