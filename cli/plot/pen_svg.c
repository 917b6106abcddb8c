/* Writes SVG. Text is written as characters, not as outlines (SVG 1.1, W3C 2011).
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/log.h"
#include "cli/plot/pen.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

#include <stdlib.h>

struct svg {
    struct gi_pen base;
    struct gi_sink *sink;
    struct gi_err err; /* the first error */
    bool in_path;
};

static void begin(struct gi_pen *pen, double x, double y)
{
    struct svg *svg = (struct svg *)pen;
    gi_sink_printf(svg->sink, &svg->err, "%sM%.7g %.7g", svg->in_path ? "" : "<path d=\"", x, y);
    svg->in_path = true;
}

static void line_to(struct gi_pen *pen, double x, double y)
{
    struct svg *svg = (struct svg *)pen;
    gi_sink_printf(svg->sink, &svg->err, "L%.7g %.7g", x, y);
}

/* Writes the attribute `name` ("fill" or "stroke") with this ink. */
static void put_ink(struct svg *svg, const char *name, struct gi_ink ink)
{
    gi_sink_printf(svg->sink, &svg->err, " %s=\"rgb(%.0f,%.0f,%.0f)\"", name, 255 * ink.red,
                   255 * ink.green, 255 * ink.blue);
    if (ink.alpha < 1)
        gi_sink_printf(svg->sink, &svg->err, " %s-opacity=\"%.3g\"", name, ink.alpha);
}

static void fill(struct gi_pen *pen, struct gi_ink ink)
{
    struct svg *svg = (struct svg *)pen;
    gi_sink_printf(svg->sink, &svg->err, "\"");
    put_ink(svg, "fill", ink);
    gi_sink_printf(svg->sink, &svg->err, "/>\n");
    svg->in_path = false;
}

static void stroke(struct gi_pen *pen, struct gi_ink ink, double width)
{
    struct svg *svg = (struct svg *)pen;
    gi_sink_printf(svg->sink, &svg->err, "\" fill=\"none\"");
    put_ink(svg, "stroke", ink);
    gi_sink_printf(svg->sink, &svg->err, " stroke-width=\"%.3g\"/>\n", width);
    svg->in_path = false;
}

static void put_words(struct svg *svg, const char *words)
{
    for (char escaped[GI_ESCAPED]; *words;) {
        words += gi_xml_char(escaped, words);
        gi_sink_printf(svg->sink, &svg->err, "%s", escaped);
    }
}

static void text(struct gi_pen *pen, double x, double y, struct gi_lettering lettering,
                 struct gi_ink ink, const char *words)
{
    struct svg *svg = (struct svg *)pen;
    const char *anchor = lettering.across <= 0 ? "start" : lettering.across < 1 ? "middle" : "end";
    gi_sink_printf(svg->sink, &svg->err,
                   "<text x=\"%.7g\" y=\"%.7g\" text-anchor=\"%s\" font-size=\"%g\"%s", x, y,
                   anchor, lettering.size, lettering.bold ? " font-weight=\"bold\"" : "");
    if (lettering.upwards)
        gi_sink_printf(svg->sink, &svg->err, " transform=\"rotate(-90 %.7g %.7g)\"", x, y);
    put_ink(svg, "fill", ink);
    gi_sink_printf(svg->sink, &svg->err, ">");
    put_words(svg, words);
    gi_sink_printf(svg->sink, &svg->err, "</text>\n");
}

static enum gi_status finish(struct gi_pen *pen, struct gi_err *err)
{
    struct svg *svg = (struct svg *)pen;
    gi_sink_printf(svg->sink, &svg->err, "</svg>\n");
    struct gi_err fault = svg->err;
    free(svg);
    if (fault.status)
        *err = fault;
    return fault.status;
}

enum gi_status gi_pen_svg(struct gi_pen **pen, struct gi_sink *sink, int width, int height,
                          struct gi_err *err)
{
    struct svg *svg = gi_small_calloc(1, sizeof *svg);
    svg->base = (struct gi_pen){begin, line_to, fill, stroke, text, finish};
    svg->sink = sink;
    gi_sink_printf(sink, &svg->err,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                   "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n"
                   "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                   width, height, width, height);
    *pen = &svg->base;
    return GI_OK;
}
