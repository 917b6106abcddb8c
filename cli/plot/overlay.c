/* Draws boxes and numbers, or lines and circles, on an image. Lines and digits grow with the image,
 * so that they can be read when all of it is shown. SPDX-License-Identifier: MIT */
#include "cli/plot/overlay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/pipeline.h"
#include "kernels/kernels.h"

extern const struct gi_filter gi_filter_normalize;

enum {
    DIGIT_WIDTH = 5,
    DIGIT_HEIGHT = 7,
    SIDE_PER_STEP = 350 /* pixels of the image's side per pixel of line width */
};

/* A bitmap font. Each digit has one number per line. Its five bits are the pixels of the line, and
 * the highest bit is the leftmost pixel. */
static const unsigned char digits[10][DIGIT_HEIGHT] = {
    {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},  {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2}, {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},   {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},
};

/* Colours 0 to 255, in which consecutive labels differ. All are bright enough for black digits. */
static const unsigned char inks[][3] = {{255, 214, 10}, {64, 224, 255},  {255, 122, 89},
                                        {140, 240, 90}, {255, 130, 220}, {160, 170, 255}};
static const unsigned char black[3] = {0, 0, 0};

enum { NINKS = sizeof inks / sizeof *inks };

static void fill(struct gi_image *image, long x0, long y0, long width, long height,
                 const unsigned char *ink)
{
    long x1 = x0 + width < image->width ? x0 + width : image->width;
    long y1 = y0 + height < image->height ? y0 + height : image->height;
    for (long y = y0 < 0 ? 0 : y0; y < y1; y++)
        for (long x = x0 < 0 ? 0 : x0; x < x1; x++) {
            size_t at = (size_t)x * (size_t)image->channels;
            for (int c = 0; c < image->channels; c++, at++) {
                int value = c < 3 ? ink[c] : 255;
                if (image->type == GI_U8)
                    ((uint8_t *)gi_row(image, (int)y))[at] = (uint8_t)value;
                else if (image->type == GI_U16)
                    ((uint16_t *)gi_row(image, (int)y))[at] = (uint16_t)(value * 257);
                else
                    ((float *)gi_row(image, (int)y))[at] = (float)value / 255;
            }
        }
}

/* Draws a frame just outside the component, so that all of it is visible. */
static void draw_box(struct gi_image *image, const struct gi_region_sums *region, long line,
                     const unsigned char *ink)
{
    long x = (long)region->min_x - line, y = (long)region->min_y - line;
    long width = (long)region->max_x - x + 1 + line, height = (long)region->max_y - y + 1 + line;
    /* A frame beyond the sides of the image is moved inwards. */
    if (x < 0) {
        width += x;
        x = 0;
    }
    if (y < 0) {
        height += y;
        y = 0;
    }
    width = x + width > image->width ? image->width - x : width;
    height = y + height > image->height ? image->height - y : height;
    fill(image, x, y, width, line, ink);
    fill(image, x, y + height - line, width, line, ink);
    fill(image, x, y, line, height, ink);
    fill(image, x + width - line, y, line, height, ink);
}

/* Draws the label on a plate above the box, or inside it if there is no room above. */
static void draw_number(struct gi_image *image, const struct gi_region_sums *region, uint32_t label,
                        long line, const unsigned char *ink)
{
    char words[16];
    int n = snprintf(words, sizeof words, "%u", label);
    long scale = line, width = ((DIGIT_WIDTH + 1) * n + 1) * scale;
    long height = (DIGIT_HEIGHT + 2) * scale;
    long x = (long)region->min_x - line, y = (long)region->min_y - height;
    x = x + width > image->width ? image->width - width : x;
    x = x < 0 ? 0 : x;
    y = y < 0 ? region->min_y : y;
    fill(image, x, y, width, height, ink);
    for (int i = 0; i < n; i++)
        for (int row = 0; row < DIGIT_HEIGHT; row++)
            for (int bit = 0; bit < DIGIT_WIDTH; bit++)
                if (digits[words[i] - '0'][row] >> (DIGIT_WIDTH - 1 - bit) & 1)
                    fill(image, x + ((DIGIT_WIDTH + 1) * i + 1 + bit) * scale,
                         y + (row + 1) * scale, scale, scale, black);
}

/* Stretches an image of 16 bits or of floats by the operation normalize, so that it can be seen:
 * otherwise such images would often be black behind the boxes, because they use a small part of
 * their range. */
static enum gi_status stretch(struct gi_image *dst, const struct gi_image *src, int threads,
                              struct gi_err *err)
{
    const struct gi_filter *filter = &gi_filter_normalize;
    const struct gi_open_options options = {.threads = threads};
    struct gi_queue *queue = NULL;
    void *params = gi_filter_params(filter);
    enum gi_status status = gi_option_set(params, filter->options, "percentiles", "0.1,99.9", err);
    if (!status)
        status = gi_queue_open_alone(&queue, gi_kernels_cpu(), &options, err);
    if (!status)
        status = gi_run_one(queue, dst, NULL, src, filter, params, err);
    if (queue)
        gi_queue_close_alone(&queue);
    free(params);
    return status;
}

/* Copies the image to one with three colour channels, and with alpha if the image has alpha. */
static enum gi_status copy_as_color(struct gi_image *dst, const struct gi_image *src,
                                    struct gi_err *err)
{
    bool gray = gi_color_channels(src) == 1;
    size_t size = gi_type_nbytes(src->type), channels = (size_t)src->channels + (gray ? 2 : 0);
    enum gi_status status =
        gi_image_alloc(dst, src->width, src->height, (int)channels, src->type, err);
    for (int y = 0; y < src->height && !status; y++) {
        const char *from = gi_row(src, y);
        char *to = gi_row(dst, y);
        for (int x = 0; x < src->width && gray; x++) {
            for (size_t c = 0; c < 3; c++)
                memcpy(to + c * size, from, size);
            memcpy(to + 3 * size, from + size, (channels - 3) * size);
            from += (size_t)src->channels * size;
            to += channels * size;
        }
        if (!gray)
            memcpy(to, from, gi_row_nbytes(src));
    }
    return status;
}

/* Makes the image to draw on, and sets *line to the width of lines in pixels. */
static enum gi_status copy_to_draw_on(struct gi_image *dst, long *line, const struct gi_image *src,
                                      int threads, struct gi_err *err)
{
    struct gi_image stretched = {0};
    int side = src->width < src->height ? src->width : src->height;
    *line = 1 + side / SIDE_PER_STEP;
    enum gi_status status = src->type == GI_U8 ? GI_OK : stretch(&stretched, src, threads, err);
    if (!status)
        status = copy_as_color(dst, src->type == GI_U8 ? src : &stretched, err);
    gi_image_free(&stretched);
    return status;
}

enum gi_status gi_overlay(struct gi_image *dst, const struct gi_image *src,
                          const struct gi_extract *extract, int threads, struct gi_err *err)
{
    long line;
    enum gi_status status = copy_to_draw_on(dst, &line, src, threads, err);
    if (status)
        return status;
    for (uint32_t i = 0; i < extract->n; i++)
        draw_box(dst, &extract->regions[i], line, inks[i % NINKS]);
    for (uint32_t i = 0; i < extract->n; i++)
        draw_number(dst, &extract->regions[i], i + 1, line, inks[i % NINKS]);
    return GI_OK;
}

/* Draws a shape as squares that are at most one pixel apart. */
static void draw_shape(struct gi_image *image, const struct gi_overlay_shape *shape, long line,
                       const unsigned char *ink)
{
    const double dx = shape->x2 - shape->x, dy = shape->y2 - shape->y, turn = 2 * acos(-1);
    const double length = shape->circle ? turn * shape->radius : fmax(fabs(dx), fabs(dy));
    const long n = (long)ceil(length) + 1;
    for (long i = 0; i <= n; i++) {
        const double part = (double)i / (double)n, angle = turn * part;
        const double x = shape->x + (shape->circle ? shape->radius * cos(angle) : part * dx);
        const double y = shape->y + (shape->circle ? shape->radius * sin(angle) : part * dy);
        fill(image, lrint(x) - (line - 1) / 2, lrint(y) - (line - 1) / 2, line, line, ink);
    }
}

enum gi_status gi_overlay_shapes(struct gi_image *dst, const struct gi_image *src,
                                 const struct gi_overlay_shape *shapes, uint64_t n, int threads,
                                 struct gi_err *err)
{
    long line;
    enum gi_status status = copy_to_draw_on(dst, &line, src, threads, err);
    for (uint64_t i = 0; i < n && !status; i++)
        draw_shape(dst, &shapes[i], line, inks[i % NINKS]);
    return status;
}
