/* Draws shapes and text through cairo, in a subprocess as labels (cli/plot/label.c).
 * SPDX-License-Identifier: MIT */
#include "cli/plot/drawing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/plot/cairo.h"
#include "cli/subprocess.h"
#include "cli/text.h"

/* The page that is drawn on. */
struct page {
    const struct gi_cairo *c;
    struct gi_cairo_context *cr;
    const struct gi_drawing *drawing;
};

static void dip(const struct page *page, struct gi_ink ink)
{
    page->c->set_source_rgba(page->cr, ink.red, ink.green, ink.blue, ink.alpha);
}

static void add_rectangle(const struct page *page, double x, double y, double width, double height)
{
    page->c->move_to(page->cr, x, y);
    page->c->line_to(page->cr, x + width, y);
    page->c->line_to(page->cr, x + width, y + height);
    page->c->line_to(page->cr, x, y + height);
    page->c->close_path(page->cr);
}

static void fill_rectangle(const struct page *page, double x, double y, double width, double height,
                           struct gi_ink ink)
{
    add_rectangle(page, x, y, width, height);
    dip(page, ink);
    page->c->fill(page->cr);
}

/* Fills and strokes the path. */
static void ink_path(const struct page *page, const struct gi_shape *shape)
{
    if (shape->fill.alpha > 0) {
        dip(page, shape->fill);
        page->c->fill_preserve(page->cr);
    }
    dip(page, shape->ink);
    page->c->set_line_width(page->cr, shape->width);
    page->c->stroke(page->cr);
}

/* The size of a text, and the text without what would control a terminal, which free() frees. */
struct words {
    char *text;
    double width, ascent, height; /* of a line: from its top to the baseline, and to the bottom */
};

/* Prepares a text. Errors: GI_E_UNSUPPORTED if no font draws it. */
static enum gi_status measure(struct words *words, const struct page *page,
                              const struct gi_shape *shape, struct gi_err *err)
{
    enum { ABOVE = 80, BELOW = 25 }; /* percent of the size of letters, as most fonts have */
    struct gi_cairo_extents box = {0};
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    gi_print_safe(out, shape->text);
    words->text = gi_text_close(out, &memory);
    page->c->set_font_size(page->cr, shape->size);
    page->c->text_extents(page->cr, words->text, &box);
    words->width = ceil(box.x_advance);
    words->ascent = ceil(shape->size * ABOVE / 100);
    words->height = words->ascent + ceil(shape->size * BELOW / 100);
    if (!(box.width > 0) && words->text[strspn(words->text, " ")])
        return gi_fail(err, GI_E_UNSUPPORTED, "no font draws \"%s\"", words->text);
    return GI_OK;
}

static void write_words(const struct page *page, const struct words *words, double x, double y,
                        struct gi_ink ink)
{
    dip(page, ink);
    page->c->move_to(page->cr, x, y + words->ascent);
    page->c->show_text(page->cr, words->text);
    page->c->new_path(page->cr);
}

static struct gi_ink contrast(struct gi_ink ink)
{
    const double rgb[] = {ink.red, ink.green, ink.blue};
    double value = gi_luma(rgb) > 0.5 ? 0 : 1;
    return (struct gi_ink){value, value, value, 1};
}

/* Writes the text of a box on a plate above the box, or inside it if there is no room above. */
static enum gi_status draw_plate(const struct page *page, const struct gi_shape *shape,
                                 struct gi_err *err)
{
    struct words words;
    enum gi_status status = measure(&words, page, shape, err);
    double margin = ceil(shape->size / 6), width = words.width + 2 * margin;
    double x = floor(shape->v[0]), y = floor(shape->v[1]) - words.height;
    x = fmax(0, fmin(x, page->drawing->width - width));
    y = y < 0 ? floor(shape->v[1]) : y;
    if (!status) {
        fill_rectangle(page, x, y, width, words.height, shape->ink);
        write_words(page, &words, x + margin, y, contrast(shape->ink));
    }
    free(words.text);
    return status;
}

/* Returns where something of length `n` is in `whole`: at the beginning, in the middle or at the
 * end, and `inwards` from there. */
static double place(int third, double whole, double n, double inwards)
{
    double at = third == 0 ? 0 : third == 1 ? floor((whole - n) / 2) : whole - n;
    return at + (third == 2 ? -inwards : inwards);
}

/* Draws a text, above a bar if the shape has one. */
static enum gi_status draw_text(const struct page *page, const struct gi_shape *shape,
                                struct gi_err *err)
{
    struct words words;
    enum gi_status status = measure(&words, page, shape, err);
    double margin = ceil(shape->size / 6), length = shape->kind == GI_SHAPE_BAR ? shape->v[2] : 0;
    double thick = length > 0 ? fmax(1, floor(shape->size / 5)) : 0;
    double width = fmax(words.width, length) + 2 * margin;
    double height = words.height + (length > 0 ? thick + 2 * margin : 0);
    double x = place(shape->gravity % 3, page->drawing->width, width, shape->v[0]);
    double y = place(shape->gravity / 3, page->drawing->height, height, shape->v[1]);
    if (!status && shape->fill.alpha > 0)
        fill_rectangle(page, x, y, width, height, shape->fill);
    if (!status)
        write_words(page, &words, x + floor((width - words.width) / 2), y, shape->ink);
    if (!status && length > 0)
        fill_rectangle(page, x + floor((width - length) / 2), y + words.height + margin, length,
                       thick, shape->ink);
    free(words.text);
    return status;
}

static enum gi_status draw_shape(const struct page *page, const struct gi_shape *shape,
                                 struct gi_err *err)
{
    const double *v = shape->v;
    double half = shape->width / 2;
    switch (shape->kind) {
    case GI_SHAPE_BOX:
        if (shape->fill.alpha > 0)
            fill_rectangle(page, v[0], v[1], v[2], v[3], shape->fill);
        if (2 * shape->width >= fmin(v[2], v[3])) { /* the line covers all of it */
            fill_rectangle(page, v[0], v[1], v[2], v[3], shape->ink);
        } else {
            struct gi_shape line = *shape;
            line.fill.alpha = 0;
            add_rectangle(page, v[0] + half, v[1] + half, v[2] - shape->width, v[3] - shape->width);
            ink_path(page, &line);
        }
        return shape->text && *shape->text ? draw_plate(page, shape, err) : GI_OK;
    case GI_SHAPE_CIRCLE:
        page->c->new_path(page->cr);
        page->c->arc(page->cr, v[0] + 0.5, v[1] + 0.5, v[2], 0, 2 * acos(-1));
        ink_path(page, shape);
        return GI_OK;
    case GI_SHAPE_LINE:
    case GI_SHAPE_POLYGON:
        for (int i = 0; i < shape->n; i += 2)
            (i ? page->c->line_to : page->c->move_to)(page->cr, v[i] + 0.5, v[i + 1] + 0.5);
        if (shape->kind == GI_SHAPE_POLYGON)
            page->c->close_path(page->cr);
        ink_path(page, shape);
        return GI_OK;
    default:
        return draw_text(page, shape, err);
    }
}

/* The smallest rectangle with all visible pixels, as it is passed through the pipe. */
struct part {
    int x, y, width, height; /* width 0: none */
};

static uint32_t pixel_at(const unsigned char *rows, size_t stride, int x, int y)
{
    uint32_t pixel;
    memcpy(&pixel, rows + (size_t)y * stride + 4 * (size_t)x, sizeof pixel);
    return pixel;
}

static struct part find_part(const unsigned char *rows, size_t stride, int width, int height)
{
    int left = width, right = 0, top = height, bottom = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            if (!(pixel_at(rows, stride, x, y) >> 24))
                continue;
            left = x < left ? x : left;
            right = x >= right ? x + 1 : right;
            top = y < top ? y : top;
            bottom = y + 1;
        }
    return right ? (struct part){left, top, right - left, bottom - top} : (struct part){0};
}

/* Writes the part and its pixels, whose colours are divided by alpha and rounded. */
static enum gi_status write_part(struct gi_sink *sink, const unsigned char *rows, size_t stride,
                                 const struct gi_drawing *drawing, struct gi_err *err)
{
    struct part part = find_part(rows, stride, drawing->width, drawing->height);
    enum gi_status status = gi_sink_write(sink, &part, sizeof part, err);
    for (int y = 0; y < part.height && !status; y++)
        for (int x = 0; x < part.width && !status; x++) {
            uint32_t pixel = pixel_at(rows, stride, part.x + x, part.y + y), alpha = pixel >> 24;
            uint8_t rgba[4] = {0, 0, 0, (uint8_t)alpha};
            for (int c = 0; c < 3 && alpha; c++)
                rgba[c] = (uint8_t)(((pixel >> (16 - 8 * c) & 255) * 255 + alpha / 2) / alpha);
            status = gi_sink_write(sink, rgba, sizeof rgba, err);
        }
    return status;
}

/* The work of the subprocess. */
static enum gi_status draw_all(struct gi_sink *sink, const void *arg, struct gi_err *err)
{
    const struct gi_drawing *drawing = arg;
    struct gi_cairo c;
    enum gi_status status = gi_cairo_open(&c, err);
    if (status)
        return status;
    struct gi_cairo_surface *surface =
        c.image_surface_create(GI_CAIRO_ARGB32, drawing->width, drawing->height);
    struct page page = {&c, c.create(surface), drawing};
    c.select_font_face(page.cr, drawing->font, GI_CAIRO_SLANT_NORMAL, GI_CAIRO_WEIGHT_NORMAL);
    c.set_line_cap(page.cr, GI_CAIRO_CAP_SQUARE);
    for (size_t i = 0; i < drawing->n && !status; i++)
        status = draw_shape(&page, &drawing->shapes[i], err);
    int failed = c.status(page.cr);
    if (!status && failed)
        status = gi_fail(err, failed == GI_CAIRO_NO_MEMORY ? GI_E_MEMORY : GI_E_UNSUPPORTED, "%s",
                         c.status_to_string(failed));
    c.surface_flush(surface);
    if (!status)
        status = write_part(sink, c.image_surface_get_data(surface),
                            (size_t)c.image_surface_get_stride(surface), drawing, err);
    c.destroy(page.cr);
    c.surface_destroy(surface);
    return status;
}

/* Makes the image of the bytes that came from the subprocess. */
static enum gi_status take(struct gi_image *made, int *x, int *y, const unsigned char *bytes,
                           size_t nbytes, struct gi_err *err)
{
    struct part part = {0};
    if (nbytes >= sizeof part)
        memcpy(&part, bytes, sizeof part);
    size_t row = 4 * (size_t)part.width;
    if (nbytes != sizeof part + row * (size_t)part.height)
        return gi_fail(err, GI_E_UNSUPPORTED, "a drawing ends early");
    *x = part.x;
    *y = part.y;
    enum gi_status status = gi_image_alloc(made, part.width ? part.width : 1,
                                           part.width ? part.height : 1, 4, GI_U8, err);
    if (!status && !part.width)
        memset(gi_row(made, 0), 0, 4);
    for (int i = 0; i < part.height && !status; i++)
        memcpy(gi_row(made, i), bytes + sizeof part + (size_t)i * row, row);
    return status;
}

enum gi_status gi_drawing_make(struct gi_image *made, int *x, int *y,
                               const struct gi_drawing *drawing, struct gi_err *err)
{
    enum { SIDE_MAX = 32767, START_S = 20, SHAPES_A_SECOND = 1000 };
    struct gi_sink *sink;
    void *bytes = NULL;
    size_t nbytes = 0;
    if (drawing->width > SIDE_MAX || drawing->height > SIDE_MAX)
        return gi_fail(err, GI_E_LIMIT, "%d x %d pixels: cairo draws on at most %d a side",
                       drawing->width, drawing->height, SIDE_MAX);
    enum gi_status status = gi_sink_open_memory(&sink, "the drawing", err);
    if (status)
        return status;
    status = gi_subprocess_run(sink, "cairo", START_S + (unsigned)(drawing->n / SHAPES_A_SECOND),
                               draw_all, drawing, err);
    if (!status)
        status = gi_sink_take(&sink, &bytes, &nbytes, err);
    gi_sink_abandon(&sink);
    if (!status)
        status = take(made, x, y, bytes, nbytes, err);
    free(bytes);
    return status;
}
