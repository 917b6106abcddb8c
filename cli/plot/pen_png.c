/* Draws PNG through cairo, which is loaded at the first plot.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/plot/cairo.h"
#include "cli/plot/pen.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

#include <math.h>
#include <stdlib.h>

struct png {
    struct gi_pen base;
    struct gi_cairo c;
    struct gi_cairo_surface *surface;
    struct gi_cairo_context *cr;
    struct gi_sink *sink;
    struct gi_err err; /* error of the sink */
};

static void move_to(struct gi_pen *pen, double x, double y)
{
    struct png *png = (struct png *)pen;
    png->c.move_to(png->cr, x, y);
}

static void line_to(struct gi_pen *pen, double x, double y)
{
    struct png *png = (struct png *)pen;
    png->c.line_to(png->cr, x, y);
}

static void dip(struct png *png, struct gi_ink ink)
{
    png->c.set_source_rgba(png->cr, ink.red, ink.green, ink.blue, ink.alpha);
}

static void fill(struct gi_pen *pen, struct gi_ink ink)
{
    struct png *png = (struct png *)pen;
    dip(png, ink);
    png->c.fill(png->cr);
}

static void stroke(struct gi_pen *pen, struct gi_ink ink, double width)
{
    struct png *png = (struct png *)pen;
    dip(png, ink);
    png->c.set_line_width(png->cr, width);
    png->c.stroke(png->cr);
}

static void text(struct gi_pen *pen, double x, double y, struct gi_lettering lettering,
                 struct gi_ink ink, const char *words)
{
    struct png *png = (struct png *)pen;
    struct gi_cairo_extents box;
    dip(png, ink);
    png->c.select_font_face(png->cr, "sans-serif", GI_CAIRO_SLANT_NORMAL,
                            lettering.bold ? GI_CAIRO_WEIGHT_BOLD : GI_CAIRO_WEIGHT_NORMAL);
    png->c.set_font_size(png->cr, lettering.size);
    png->c.text_extents(png->cr, words, &box);
    png->c.save(png->cr);
    png->c.translate(png->cr, x, y);
    if (lettering.upwards)
        png->c.rotate(png->cr, -acos(-1) / 2);
    png->c.move_to(png->cr, -lettering.across * box.x_advance, 0);
    png->c.show_text(png->cr, words);
    png->c.restore(png->cr);
}

static int write_bytes(void *closure, const unsigned char *bytes, unsigned nbytes)
{
    struct png *png = closure;
    return gi_sink_write(png->sink, bytes, nbytes, &png->err) ? GI_CAIRO_WRITE_ERROR
                                                              : GI_CAIRO_SUCCESS;
}

static enum gi_status finish(struct gi_pen *pen, struct gi_err *err)
{
    struct png *png = (struct png *)pen;
    int status = png->c.status(png->cr);
    if (!status)
        status = png->c.surface_write_to_png_stream(png->surface, write_bytes, png);
    png->c.destroy(png->cr);
    png->c.surface_destroy(png->surface);
    const char *words = status ? png->c.status_to_string(status) : "";
    struct gi_err fault = png->err;
    free(png);
    if (fault.status) {
        *err = fault;
        return fault.status;
    }
    return status ? gi_fail(err, status == GI_CAIRO_NO_MEMORY ? GI_E_MEMORY : GI_E_UNSUPPORTED,
                            "--plot: %s", words)
                  : GI_OK;
}

enum gi_status gi_pen_png(struct gi_pen **pen, struct gi_sink *sink, int width, int height,
                          struct gi_err *err)
{
    struct png *png = gi_small_calloc(1, sizeof *png);
    enum gi_status status = gi_cairo_open(&png->c, err);
    if (status) {
        free(png);
        return gi_err_prefix(err, "a plot as PNG, unlike .svg,");
    }
    png->base = (struct gi_pen){move_to, line_to, fill, stroke, text, finish};
    png->sink = sink;
    png->surface = png->c.image_surface_create(GI_CAIRO_RGB24, width, height);
    png->cr = png->c.create(png->surface);
    dip(png, (struct gi_ink){1, 1, 1, 1});
    png->c.paint(png->cr);
    *pen = &png->base;
    return GI_OK;
}
