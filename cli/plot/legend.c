/* Draws the legend of a picture in false colours.
 * SPDX-License-Identifier: MIT */
#include "cli/plot/legend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/drawing.h"
#include "cli/plot/plot.h"

enum { TICKS_MAX = 16, LINES_PER_PICTURE = 30, SIZE_MIN = 10, WIDTH_MAX = 24, LINES_MIN = 4 };

void gi_legend_lay_out(struct gi_legend *legend, int height)
{
    int size = height / LINES_PER_PICTURE;
    legend->size = size > SIZE_MIN ? size : SIZE_MIN;
    legend->height = height > LINES_MIN * legend->size ? height : LINES_MIN * legend->size;
    legend->left = legend->top = legend->size;
    legend->bar = legend->size * 3 / 2;
    legend->n = legend->height - 2 * legend->size;
}

enum gi_status gi_legend_ramp(struct gi_image *ramp, const struct gi_legend *legend,
                              struct gi_err *err)
{
    int n = legend->n;
    enum gi_status status = gi_image_alloc(ramp, 1, n, 1, GI_U8, err);
    for (int y = 0; y < n && !status; y++) /* 256 times the middle of the row */
        *(uint8_t *)gi_row(ramp, y) = (uint8_t)(128 * (2 * (int64_t)(n - y) - 1) / n);
    return status;
}

/* The shapes of a drawing, with their numbers and texts. */
struct shapes {
    struct gi_shape all[2 * TICKS_MAX + 1];
    double v[2 * TICKS_MAX + 1][4];
    char text[TICKS_MAX][24];
    size_t n;
    int ntexts;
};

static void add(struct shapes *shapes, enum gi_shape_kind kind, const double v[4], const char *text,
                double size)
{
    size_t i = shapes->n++;
    memcpy(shapes->v[i], v, sizeof shapes->v[i]);
    shapes->all[i] = (struct gi_shape){.kind = kind,
                                       .v = shapes->v[i],
                                       .n = 4,
                                       .text = text,
                                       .ink.alpha = 1,
                                       .width = 1,
                                       .size = size};
}

/* Adds the tick and the number of a value at `part` of the range. */
static void add_tick(struct shapes *shapes, const struct gi_legend *legend, double value,
                     double part)
{
    const double ABOVE_MIDDLE = 0.45; /* of the size of letters: from their top to their middle */
    int x = legend->left + legend->bar + 1;
    double y = legend->top + floor((1 - part) * (legend->n - 1) + 0.5);
    const double tick[4] = {x, y, floor(legend->size / 3.0), 1};
    const double at[4] = {x + tick[2], floor(y - ABOVE_MIDDLE * legend->size)};
    char *text = shapes->text[shapes->ntexts++];
    snprintf(text, sizeof shapes->text[0], "%.6g", value + 0.0); /* no -0 */
    add(shapes, GI_SHAPE_BOX, tick, NULL, 0);
    add(shapes, GI_SHAPE_TEXT, at, text, legend->size);
}

/* Adds the ends of the range and round numbers that are far enough from them. */
static void add_ticks(struct shapes *shapes, const struct gi_legend *legend)
{
    double span = fabs(legend->hi - legend->lo), low = fmin(legend->lo, legend->hi);
    int n = legend->n / (3 * legend->size); /* as many as have room */
    add_tick(shapes, legend, legend->lo, 0);
    if (!(span > 0) || !isfinite(span))
        return;
    add_tick(shapes, legend, legend->hi, 1);
    double step = gi_tick_step(span, n < 1 ? 1 : n > TICKS_MAX / 2 ? TICKS_MAX / 2 : n);
    double far = 1.5 * legend->size / legend->n; /* part of the bar */
    for (double i = ceil(low / step); i * step < low + span && shapes->ntexts < TICKS_MAX; i++) {
        double part = (i * step - legend->lo) / (legend->hi - legend->lo);
        if (part > far && part < 1 - far)
            add_tick(shapes, legend, i * step, part);
    }
}

/* Draws ticks, numbers and the frame of the bar in black. */
static enum gi_status draw_words(struct gi_image *words, int *x, int *y,
                                 const struct gi_legend *legend, struct gi_err *err)
{
    struct shapes shapes = {.n = 0};
    const double frame[4] = {legend->left - 1, legend->top - 1, legend->bar + 2, legend->n + 2};
    add(&shapes, GI_SHAPE_BOX, frame, NULL, 0);
    add_ticks(&shapes, legend);
    const struct gi_drawing drawing = {legend->left + legend->bar + WIDTH_MAX * legend->size,
                                       legend->height, shapes.all, shapes.n, "sans-serif"};
    return gi_drawing_make(words, x, y, &drawing, err);
}

/* Multiplies white or colours by what the black words, whose upper left pixel is at x, y, leave. */
static void put_words(const struct gi_image *legend, const struct gi_image *words, int x, int y)
{
    for (int i = 0; i < words->height; i++) {
        const uint8_t *in = gi_row(words, i);
        uint8_t *out = (uint8_t *)gi_row(legend, y + i) + (ptrdiff_t)x * legend->channels;
        for (int k = 0; k < words->width; k++, in += 4, out += legend->channels)
            for (int c = 0; c < 3; c++)
                out[c] = (uint8_t)((out[c] * (255 - in[3]) + 127) / 255);
    }
}

enum gi_status gi_legend_add(struct gi_image *made, const struct gi_legend *legend,
                             const struct gi_image *picture, const struct gi_image *colors,
                             struct gi_err *err)
{
    struct gi_image words = {0};
    size_t pixel = (size_t)picture->channels, row = pixel * (size_t)picture->width;
    int x, y;
    enum gi_status status = draw_words(&words, &x, &y, legend, err);
    if (status)
        return status;
    int width = x + words.width + legend->size / 2; /* of the legend */
    status = picture->width > INT32_MAX - width
                 ? gi_fail(err, GI_E_UNSUPPORTED, "--bar: %d pixels wide: want at most %d",
                           picture->width, INT32_MAX - width)
                 : gi_image_alloc(made, picture->width + width, legend->height, picture->channels,
                                  GI_U8, err);
    for (int i = 0; i < legend->height && !status; i++) {
        uint8_t *out = gi_row(made, i), *bar = out + row + pixel * (size_t)legend->left;
        bool colored = i >= legend->top && i < legend->top + legend->n;
        memset(out, 255, row + pixel * (size_t)width);
        if (i < picture->height)
            memcpy(out, gi_row(picture, i), row);
        for (int k = 0; k < legend->bar && colored; k++)
            memcpy(bar + pixel * (size_t)k, gi_row(colors, i - legend->top), 3);
    }
    if (!status)
        put_words(made, &words, picture->width + x, y);
    gi_image_free(&words);
    return status;
}
