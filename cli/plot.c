/* A chart of counts over bins. Lengths are in pixels of the PNG and points of the SVG.
 * SPDX-License-Identifier: MIT */
#include "cli/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/cairo.h"
#include "imgio/imgio.h"

enum {
    WIDTH = 1000,
    HEIGHT = 560,
    LEFT = 84,
    RIGHT = 28,
    TOP = 74,
    BOTTOM = 62,
    COLUMNS_MAX = 2048, /* more bins than this share a column: the fullest shows */
};

#define LOG_FLOOR 0.5 /* count at the foot of a logarithmic axis, so that a 1 still shows */

/* Where the chart is drawn, and how counts become heights. */
struct canvas {
    const struct gi_cairo *c;
    cairo_t *cr;
    const struct gi_plot *plot;
    double most; /* count at the top of the y axis */
};

static const char *suffix(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot : "";
}

enum gi_status gi_plot_check(const char *path, struct gi_err *err)
{
    if (strcasecmp(suffix(path), ".png") == 0 || strcasecmp(suffix(path), ".svg") == 0)
        return GI_OK;
    return gi_fail(err, GI_E_USAGE, "--plot %s: want a name that ends in .png or .svg", path);
}

static void ink(const struct canvas *canvas, double gray)
{
    canvas->c->set_source_rgba(canvas->cr, gray, gray, gray, 1);
}

static double x_at(const struct canvas *canvas, double value)
{
    const struct gi_plot *plot = canvas->plot;
    return LEFT + (value - plot->lo) / (plot->hi - plot->lo) * (WIDTH - LEFT - RIGHT);
}

static double y_at(const struct canvas *canvas, double count)
{
    double part = count / canvas->most;
    if (canvas->plot->log)
        part = count > LOG_FLOOR ? log(count / LOG_FLOOR) / log(canvas->most / LOG_FLOOR) : 0;
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

/* Text whose anchor is (x, y): `across` 0 its left end, 0.5 its middle, 1 its right end. */
static void text(const struct canvas *canvas, double x, double y, double across, double size,
                 const char *words)
{
    cairo_text_extents_t box;
    canvas->c->set_font_size(canvas->cr, size);
    canvas->c->text_extents(canvas->cr, words, &box);
    canvas->c->move_to(canvas->cr, x - across * box.x_advance, y);
    canvas->c->show_text(canvas->cr, words);
}

static void line(const struct canvas *canvas, double x0, double y0, double x1, double y1)
{
    canvas->c->move_to(canvas->cr, x0, y0);
    canvas->c->line_to(canvas->cr, x1, y1);
    canvas->c->stroke(canvas->cr);
}

/* The smallest of 1, 2, 5 times a power of ten that parts `span` in at most n. */
static double tick_step(double span, int n)
{
    double power = pow(10, floor(log10(span / n))), times = span / n / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* A number for an axis: "2.5M" for counts, plain for values. */
static const char *tick_text(char buffer[32], double value, bool count)
{
    static const struct {
        double unit;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    for (size_t i = 0; count && i < sizeof units / sizeof *units; i++)
        if (value >= units[i].unit) {
            snprintf(buffer, 32, "%.4g%s", value / units[i].unit, units[i].letter);
            return buffer;
        }
    snprintf(buffer, 32, "%.6g", value);
    return buffer;
}

static void y_tick(const struct canvas *canvas, double count)
{
    char words[32];
    double y = floor(y_at(canvas, count)) + 0.5;
    ink(canvas, 0.88);
    line(canvas, LEFT, y, WIDTH - RIGHT, y);
    ink(canvas, 0.25);
    text(canvas, LEFT - 9, y + 4.5, 1, 13, tick_text(words, count, true));
}

static void draw_axes(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    char words[32];
    canvas->c->set_line_width(canvas->cr, 1);
    double step = canvas->plot->log ? 0 : tick_step(canvas->most, 6);
    if (step < 1)
        step = 1;
    if (plot->log)
        for (double count = 1; count <= canvas->most; count *= 10)
            y_tick(canvas, count);
    else
        for (int i = 0; i * step <= canvas->most; i++)
            y_tick(canvas, i * step);
    step = tick_step(plot->hi - plot->lo, 9);
    for (double i = ceil(plot->lo / step - 1e-9); i * step <= plot->hi + 1e-9 * step; i++) {
        double x = floor(x_at(canvas, i * step)) + 0.5;
        ink(canvas, 0.4);
        line(canvas, x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 6);
        ink(canvas, 0.25);
        text(canvas, x, HEIGHT - BOTTOM + 21, 0.5, 13, tick_text(words, i * step + 0.0, false));
    }
    text(canvas, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, 0.5, 14, plot->x_label);
    canvas->c->save(canvas->cr);
    canvas->c->translate(canvas->cr, 22, (TOP + HEIGHT - BOTTOM) / 2.0);
    canvas->c->rotate(canvas->cr, -acos(-1) / 2);
    text(canvas, 0, 0, 0.5, 14, plot->y_label);
    canvas->c->restore(canvas->cr);
}

/* The steps of one series, from the foot of the first bin to the foot of the last. */
static void trace(const struct canvas *canvas, const struct gi_plot_series *series)
{
    const struct gi_plot *plot = canvas->plot;
    int columns = plot->nbins < COLUMNS_MAX ? plot->nbins : COLUMNS_MAX;
    double foot = y_at(canvas, 0);
    canvas->c->move_to(canvas->cr, LEFT, foot);
    for (int i = 0; i < columns; i++) {
        long long from = (long long)i * plot->nbins / columns;
        long long to = (long long)(i + 1) * plot->nbins / columns;
        uint64_t most = 0;
        for (long long bin = from; bin < to; bin++)
            most = series->counts[bin] > most ? series->counts[bin] : most;
        double width = (plot->hi - plot->lo) / plot->nbins, y = y_at(canvas, (double)most);
        canvas->c->line_to(canvas->cr, x_at(canvas, plot->lo + (double)from * width), y);
        canvas->c->line_to(canvas->cr, x_at(canvas, plot->lo + (double)to * width), y);
    }
    canvas->c->line_to(canvas->cr, WIDTH - RIGHT, foot);
}

static void draw_series(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    for (int i = 0; i < plot->nseries; i++) {
        const struct gi_plot_series *s = &plot->series[i];
        trace(canvas, s);
        canvas->c->set_source_rgba(canvas->cr, s->red, s->green, s->blue, 0.22);
        canvas->c->fill(canvas->cr);
    }
    canvas->c->set_line_width(canvas->cr, 1.4);
    for (int i = 0; i < plot->nseries; i++) {
        const struct gi_plot_series *s = &plot->series[i];
        trace(canvas, s);
        canvas->c->set_source_rgba(canvas->cr, s->red, s->green, s->blue, 0.95);
        canvas->c->stroke(canvas->cr);
    }
    canvas->c->set_line_width(canvas->cr, 1);
    ink(canvas, 0.4);
    line(canvas, LEFT, HEIGHT - BOTTOM + 0.5, WIDTH - RIGHT, HEIGHT - BOTTOM + 0.5);
}

/* In one line above the chart, from the right. */
static void draw_legend(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    double x = WIDTH - RIGHT;
    for (int i = plot->nseries - 1; i >= 0; i--) {
        const struct gi_plot_series *s = &plot->series[i];
        cairo_text_extents_t box;
        canvas->c->set_font_size(canvas->cr, 14);
        canvas->c->text_extents(canvas->cr, s->name, &box);
        x -= box.x_advance;
        ink(canvas, 0.15);
        text(canvas, x, TOP - 14, 0, 14, s->name);
        x -= 21;
        canvas->c->rectangle(canvas->cr, x, TOP - 26, 14, 14);
        canvas->c->set_source_rgba(canvas->cr, s->red, s->green, s->blue, 0.8);
        canvas->c->fill(canvas->cr);
        x -= 18;
    }
}

static void draw(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    canvas->c->set_source_rgba(canvas->cr, 1, 1, 1, 1);
    canvas->c->paint(canvas->cr);
    canvas->c->select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                                CAIRO_FONT_WEIGHT_BOLD);
    ink(canvas, 0.1);
    text(canvas, LEFT, 32, 0, 18, plot->title);
    canvas->c->select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                                CAIRO_FONT_WEIGHT_NORMAL);
    ink(canvas, 0.35);
    text(canvas, LEFT, TOP - 14, 0, 14, plot->subtitle);
    draw_axes(canvas);
    draw_series(canvas);
    draw_legend(canvas);
}

/* Where cairo's bytes go. */
struct stream {
    struct gi_sink *sink;
    struct gi_err *err;
};

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned nbytes)
{
    struct stream *stream = closure;
    return gi_sink_write(stream->sink, bytes, nbytes, stream->err) ? CAIRO_STATUS_WRITE_ERROR
                                                                   : CAIRO_STATUS_SUCCESS;
}

static double highest(const struct gi_plot *plot)
{
    uint64_t most = 1;
    for (int s = 0; s < plot->nseries; s++)
        for (int i = 0; i < plot->nbins; i++)
            most = plot->series[s].counts[i] > most ? plot->series[s].counts[i] : most;
    return (double)most * (plot->log ? 1.3 : 1.04);
}

static enum gi_status draw_to(struct stream *stream, const struct gi_cairo *c,
                              const struct gi_plot *plot, bool svg, struct gi_err *err)
{
    cairo_surface_t *surface =
        svg ? c->svg_surface_create_for_stream(write_bytes, stream, WIDTH, HEIGHT)
            : c->image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    struct canvas canvas = {.c = c, .cr = c->create(surface), .plot = plot, .most = highest(plot)};
    draw(&canvas);
    cairo_status_t status = c->status(canvas.cr);
    if (!status && !svg)
        status = c->surface_write_to_png_stream(surface, write_bytes, stream);
    c->destroy(canvas.cr);
    c->surface_finish(surface);
    if (!status)
        status = c->surface_status(surface);
    c->surface_destroy(surface);
    if (stream->err->status || !status)
        return stream->err->status;
    return gi_fail(err, status == CAIRO_STATUS_NO_MEMORY ? GI_E_MEMORY : GI_E_UNSUPPORTED,
                   "--plot: %s", c->status_to_string(status));
}

enum gi_status gi_plot_save(const struct gi_plot *plot, const char *path, bool no_clobber,
                            struct gi_err *err)
{
    struct gi_cairo cairo;
    struct stream stream = {.err = err};
    enum gi_status status = gi_cairo_open(&cairo, err);
    if (status)
        return status;
    status = gi_sink_open(&stream.sink, path, no_clobber, err);
    if (!status)
        status = draw_to(&stream, &cairo, plot, strcasecmp(suffix(path), ".svg") == 0, err);
    if (!status)
        status = gi_sink_commit(&stream.sink, false, err);
    gi_sink_abandon(&stream.sink);
    return status;
}
