/* Draws a chart of counts over bins.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/plot/pen.h"
#include "cli/plot/plot.h"
#include "cli/subprocess.h"
#include "imgio/imgio.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    WIDTH = 1000,
    HEIGHT = 560,
    LEFT = 84,
    RIGHT = 28,
    TOP = 74,
    BOTTOM = 62,
    DRAWING_S = 20, /* time limit in seconds for drawing a PNG; fontconfig may scan all fonts */
    /* Maximum number of columns of the chart. If there are more bins, a column shows the largest of
       its bins. */
    COLUMNS_MAX = 2048,
};

/* The count at the foot of a logarithmic axis. It is below 1, so that a count of 1 is visible. */
#define LOG_FLOOR 0.5

/* The drawing area, and the scale of the y axis. */
struct canvas {
    struct gi_pen *pen;
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

static struct gi_ink gray(double value)
{
    return (struct gi_ink){value, value, value, 1};
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

/* Draws text at (x, y). This point is the left end of the text if `across` is 0, its middle if it
 * is 0.5, and its right end if it is 1. */
static void text(const struct canvas *canvas, double x, double y, double across, double size,
                 double darkness, const char *words)
{
    canvas->pen->text(canvas->pen, x, y, (struct gi_lettering){.size = size, .across = across},
                      gray(darkness), words);
}

static void line(const struct canvas *canvas, double x0, double y0, double x1, double y1,
                 double darkness)
{
    canvas->pen->move_to(canvas->pen, x0, y0);
    canvas->pen->line_to(canvas->pen, x1, y1);
    canvas->pen->stroke(canvas->pen, gray(darkness), 1);
}

double gi_tick_step(double span, int n)
{
    double power = pow(10, floor(log10(span / n))), times = span / n / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* Formats a number for an axis. A count of 1000 or more gets a unit, as in "2.5M"; values and
 * smaller counts get none. */
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
    line(canvas, LEFT, y, WIDTH - RIGHT, y, 0.88);
    text(canvas, LEFT - 9, y + 4.5, 1, 13, 0.25, tick_text(words, count, true));
}

static void draw_axes(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    char words[32];
    double step = canvas->plot->log ? 0 : gi_tick_step(canvas->most, 6);
    if (step < 1)
        step = 1;
    if (plot->log)
        for (double count = 1; count <= canvas->most; count *= 10)
            y_tick(canvas, count);
    else
        for (int i = 0; i * step <= canvas->most; i++)
            y_tick(canvas, i * step);
    step = gi_tick_step(plot->hi - plot->lo, 9);
    for (double i = ceil(plot->lo / step - 1e-9); i * step <= plot->hi + 1e-9 * step; i++) {
        double x = floor(x_at(canvas, i * step)) + 0.5;
        line(canvas, x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 6, 0.4);
        text(canvas, x, HEIGHT - BOTTOM + 21, 0.5, 13, 0.25,
             tick_text(words, i * step + 0.0, false));
    }
    text(canvas, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, 0.5, 14, 0.25, plot->x_label);
    canvas->pen->text(canvas->pen, 22, (TOP + HEIGHT - BOTTOM) / 2.0,
                      (struct gi_lettering){.size = 14, .across = 0.5, .upwards = true}, gray(0.25),
                      plot->y_label);
}

/* Adds a series to the path, as steps from the foot of its first bin to the foot of its last
 * one. */
static void trace(const struct canvas *canvas, const struct gi_plot_series *series)
{
    const struct gi_plot *plot = canvas->plot;
    int columns = plot->nbins < COLUMNS_MAX ? plot->nbins : COLUMNS_MAX;
    double foot = y_at(canvas, 0);
    canvas->pen->move_to(canvas->pen, LEFT, foot);
    for (int i = 0; i < columns; i++) {
        long long from = (long long)i * plot->nbins / columns;
        long long to = (long long)(i + 1) * plot->nbins / columns;
        uint64_t most = 0;
        for (long long bin = from; bin < to; bin++)
            most = series->counts[bin] > most ? series->counts[bin] : most;
        double width = (plot->hi - plot->lo) / plot->nbins, y = y_at(canvas, (double)most);
        canvas->pen->line_to(canvas->pen, x_at(canvas, plot->lo + (double)from * width), y);
        canvas->pen->line_to(canvas->pen, x_at(canvas, plot->lo + (double)to * width), y);
    }
    canvas->pen->line_to(canvas->pen, WIDTH - RIGHT, foot);
}

static void draw_series(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    for (int i = 0; i < plot->nseries; i++) {
        const struct gi_plot_series *s = &plot->series[i];
        trace(canvas, s);
        canvas->pen->fill(canvas->pen, (struct gi_ink){s->red, s->green, s->blue, 0.22});
    }
    for (int i = 0; i < plot->nseries; i++) {
        const struct gi_plot_series *s = &plot->series[i];
        trace(canvas, s);
        canvas->pen->stroke(canvas->pen, (struct gi_ink){s->red, s->green, s->blue, 0.95}, 1.4);
    }
    line(canvas, LEFT, HEIGHT - BOTTOM + 0.5, WIDTH - RIGHT, HEIGHT - BOTTOM + 0.5, 0.4);
}

/* Draws the legend in one line above the chart, from right to left. Only the renderer knows how
 * wide words are, so every letter is assumed to be wide. */
static void draw_legend(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    struct gi_pen *pen = canvas->pen;
    double x = WIDTH - RIGHT, y = TOP - 26, side = 14;
    for (int i = plot->nseries - 1; i >= 0; i--) {
        const struct gi_plot_series *s = &plot->series[i];
        x -= 9.0 * (double)strlen(s->name);
        text(canvas, x, TOP - 14, 0, 14, 0.15, s->name);
        x -= side + 7;
        pen->move_to(pen, x, y);
        pen->line_to(pen, x + side, y);
        pen->line_to(pen, x + side, y + side);
        pen->line_to(pen, x, y + side);
        pen->fill(pen, (struct gi_ink){s->red, s->green, s->blue, 0.8});
        x -= 18;
    }
}

static void draw(const struct canvas *canvas)
{
    const struct gi_plot *plot = canvas->plot;
    canvas->pen->text(canvas->pen, LEFT, 32, (struct gi_lettering){.size = 18, .bold = true},
                      gray(0.1), plot->title);
    text(canvas, LEFT, TOP - 14, 0, 14, 0.35, plot->subtitle);
    draw_axes(canvas);
    draw_series(canvas);
    draw_legend(canvas);
}

static double highest(const struct gi_plot *plot)
{
    uint64_t most = 1;
    for (int s = 0; s < plot->nseries; s++)
        for (int i = 0; i < plot->nbins; i++)
            most = plot->series[s].counts[i] > most ? plot->series[s].counts[i] : most;
    return (double)most * (plot->log ? 1.3 : 1.04);
}

typedef enum gi_status gi_pen_fn(struct gi_pen **pen, struct gi_sink *sink, int width, int height,
                                 struct gi_err *err);

static enum gi_status draw_with(gi_pen_fn *new_pen, struct gi_sink *sink,
                                const struct gi_plot *plot, struct gi_err *err)
{
    struct canvas canvas = {.plot = plot, .most = highest(plot)};
    enum gi_status status = new_pen(&canvas.pen, sink, WIDTH, HEIGHT, err);
    if (status)
        return status;
    draw(&canvas);
    return canvas.pen->finish(canvas.pen, err);
}

static enum gi_status draw_png(struct gi_sink *sink, const void *plot, struct gi_err *err)
{
    return draw_with(gi_pen_png, sink, plot, err);
}

enum gi_status gi_plot_save(const struct gi_plot *plot, const char *path, bool no_clobber,
                            struct gi_bundle *bundle, struct gi_err *err)
{
    struct gi_sink *sink;
    enum gi_status status = gi_bundle_open(bundle, &sink, path, no_clobber, err);
    if (status)
        return status;
    /* PNG is drawn in a subprocess, because cairo and fontconfig crash or hang if memory runs
     * out. */
    if (strcasecmp(suffix(path), ".svg") == 0)
        status = draw_with(gi_pen_svg, sink, plot, err);
    else
        status = gi_subprocess_run(sink, path, DRAWING_S, draw_png, plot, err);
    if (!status)
        return gi_bundle_keep(bundle, &sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}
