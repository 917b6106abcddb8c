/* False colours: colours of a map for the samples of a gray image. The gray is copied to three
 * channels, and each channel has a look-up table.
 * SPDX-License-Identifier: MIT */
#include "filters/color/colormaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/tone/curve.h"
#include "imgio/small.h"
#include "kernels/color.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

struct colormap_params {
    int map; /* enum gi_colormap */
    const char *text, *range_text;
    bool bar; /* of the command colormap, which adds the legend */
    /* Made by check(): */
    bool automatic; /* the range is the minimum and the maximum */
    bool ranged;    /* the range is lo to hi; otherwise it is full scale */
    double lo, hi;
    uint32_t colors[GI_COLORMAP_COLORS];
};

/* In the order of enum gi_colormap. */
static const struct gi_choice maps[] = {
    {"viridis", NULL, "violet, blue, green, yellow: equal steps look equal"},
    {"magma", NULL, "black, violet, orange, white"},
    {"inferno", NULL, "black, violet, orange, yellow"},
    {"plasma", NULL, "blue, violet, orange, yellow"},
    {"cividis", NULL, "blue, gray, yellow: the same for the colour-blind"},
    {"turbo", NULL, "blue, green, yellow, red: a smoother jet"},
    {"jet", NULL, "blue, cyan, yellow, red"},
    {"gray", NULL, "black to white"},
    {"grey", "gray", NULL},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("map", CHOICE, struct colormap_params, map), .letter = 'm',
     .default_text = "viridis", .choices = maps, .help = "The colours"},
    {GI_OPTION("colors", CONTENT, struct colormap_params, text), .letter = 'c', .also = "colours",
     .metavar = "ROWS|FILE",
     .help = "Colours of your own in place of --map: 2 to 256 rows of red, green and blue, each 0 "
             "to 255, with the colours between them interpolated"},
    {GI_OPTION("range", TEXT, struct colormap_params, range_text), .letter = 'r',
     .default_text = "full", .metavar = "LO,HI|auto|full",
     .help = "Samples that get the first and the last colour: two numbers, \"auto\" for the "
             "minimum and the maximum of the image, or otherwise 0 and white (255, 65535 or 1)"},
    {GI_OPTION("bar", FLAG, struct colormap_params, bar), .letter = 'b', .also = "legend",
     .alone = true,
     .help = "Put a legend on the right of the picture: a bar with the colours, and the numbers of "
             "the range"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    struct colormap_params *p = params;
    double range[2] = {0, 0};
    int row;
    gi_colormap_fill(p->colors, (enum gi_colormap)p->map);
    if (p->text && !gi_colormap_read(p->colors, p->text, &row))
        return gi_fail(err, GI_E_USAGE,
                       "--colors: row %d: want 2 to %d rows of red, green and blue, each 0 to 255",
                       row, GI_COLORMAP_COLORS);
    p->automatic = strcmp(p->range_text, "auto") == 0;
    p->ranged = !p->automatic && strcmp(p->range_text, "full") != 0;
    if (p->ranged && (gi_numbers_read(range, 2, p->range_text) != 2 || range[0] == range[1]))
        return gi_fail(err, GI_E_USAGE,
                       "--range %s: want two different numbers LO,HI, or auto or full",
                       p->range_text);
    p->lo = range[0];
    p->hi = range[1];
    return GI_OK;
}

static enum gi_type result_type(const void *params, enum gi_type type)
{
    return GI_U8;
}

static bool recolors(const void *params)
{
    return true;
}

struct colormap_state {
    struct gi_reduction found[GI_MAX_CHANNELS];
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct colormap_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    if (gi_color_channels(src) != 1)
        return gi_fail(err, GI_E_UNSUPPORTED, "the image has colour: want a gray image, by --gray");
    if (p->automatic && (uint64_t)src->width * (uint64_t)src->height > UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "--range auto: %d x %d: want fewer than 2^32 pixels",
                       src->width, src->height);
    plan->passes = p->automatic;
    plan->state_nbytes = p->automatic ? sizeof(struct colormap_state) : 0;
    plan->result.type = GI_U8;
    plan->result.channels = src->channels + 2;
    plan->cost.other = 6;
    return GI_OK;
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_reduce visible = {.opaque = plan->sources[0].mask != GI_MASK_NONE};
    return queue->k->reduce(queue, ((struct colormap_state *)state)->found, look->srcs, &visible,
                            err);
}

/* Fills the tables of the three channels, of `type`, for samples from lo to hi. Floats are already
 * mapped to 0 to 1. Colours of 16 bits and floats become the bytes of the map when they are
 * converted to 8 bits. */
static void fill_tables(void *tables, enum gi_type type, const uint32_t *colors, double lo,
                        double hi)
{
    int n = gi_curve_values(type);
    for (int v = 0; v < n; v++) {
        double t = type == GI_F32 ? v / 65536.0 : (v - lo) / (hi - lo);
        t = t > 0 ? t * GI_COLORMAP_COLORS : 0; /* 0 too if lo is hi */
        uint32_t color = colors[t < GI_COLORMAP_COLORS ? (int)t : GI_COLORMAP_COLORS - 1];
        for (int c = 0; c < 3; c++) {
            uint32_t sample = color >> (16 - 8 * c) & 255;
            if (type == GI_U8)
                ((uint8_t *)tables)[c * n + v] = (uint8_t)sample;
            else if (type == GI_U16)
                ((uint16_t *)tables)[c * n + v] = (uint16_t)(sample * 257);
            else
                ((float *)tables)[c * n + v] = (float)sample / 255.0f;
        }
    }
}

/* Looks up the gray samples of `src`. `wide` is an image of the type of `src` and the channels of
 * the result. */
static enum gi_status look_up(struct gi_queue *queue, struct gi_image *wide,
                              const struct gi_image *src, const uint32_t *colors, double lo,
                              double hi, struct gi_err *err)
{
    struct gi_permute_channels copy = {.from[3].channel = 1, .nsources = 1};
    struct gi_pointwise spec = {.op = GI_POINTWISE_TABLE};
    size_t nbytes = (size_t)gi_curve_values(src->type) * gi_type_nbytes(src->type);
    char *tables = gi_small_alloc(3 * nbytes);
    fill_tables(tables, src->type, colors, lo, hi);
    for (size_t c = 0; c < 3; c++)
        spec.table[c] = tables + c * nbytes;
    enum gi_status status = queue->k->permute_channels(queue, wide, src, &copy, err);
    if (!status)
        status = queue->k->pointwise(queue, wide, wide, &spec, err);
    free(tables);
    return status;
}

/* Maps floats to 0 to 1, in a new image *unit. A range without extent maps them to 0. */
static enum gi_status to_unit(struct gi_queue *queue, struct gi_image *unit,
                              const struct gi_image *src, double lo, double hi, struct gi_err *err)
{
    const struct gi_stretch line = {lo, hi, {0, 1}};
    const struct gi_pointwise zero = {.op = GI_POINTWISE_AFFINE};
    const struct gi_work work = {.dst = unit, .srcs = src};
    enum gi_status status =
        queue->k->alloc(queue, unit, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    status = lo == hi ? queue->k->pointwise(queue, unit, src, &zero, err)
                      : gi_stretch_run(queue, &work, &line, err);
    if (status)
        queue->k->release(queue, unit);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct colormap_params *p = plan->params;
    const struct colormap_state *state = work->state;
    const struct gi_image *src = work->srcs;
    struct gi_image unit = *src, wide;
    double lo = p->ranged ? p->lo : 0, hi = p->ranged ? p->hi : gi_type_full_scale(src->type);
    enum gi_status status = GI_OK;
    if (p->automatic) {
        lo = (double)state->found[0].min;
        hi = (double)state->found[0].max;
    }
    if (src->type == GI_U8)
        return look_up(queue, work->dst, src, p->colors, lo, hi, err);
    bool moves = src->type == GI_F32 && (lo != 0 || hi != 1);
    status = moves ? to_unit(queue, &unit, src, lo, hi, err) : GI_OK;
    if (status)
        return status;
    status =
        queue->k->alloc(queue, &wide, src->width, src->height, work->dst->channels, src->type, err);
    if (!status) {
        status = look_up(queue, &wide, &unit, p->colors, lo, hi, err);
        if (!status)
            status = queue->k->convert(queue, work->dst, &wide, NULL, err);
        queue->k->release(queue, &wide);
    }
    if (moves)
        queue->k->release(queue, &unit);
    return status;
}

const struct gi_filter gi_filter_colormap = {
    .name = "colormap",
    .group = GI_GROUP_COLOR,
    .planes = GI_PLANES_RGB,
    .samples.needs_color = true,
    .samples.recolors = recolors,
    .samples.result_type = result_type,
    .summary = "False colours for a gray image: heat maps by viridis, turbo and others",
    .examples = "gpuimg colormap gray.png out.png\n"
                "gpuimg colormap depth16.png out.png --map turbo --range auto\n"
                "gpuimg colormap gray.png out.png --map inferno --range 20,200 --bar\n"
                "gpuimg colormap gray.png out.png --colors '0 0 128; 255 255 255; 128 0 0'",
    .manual =
        "Shows a gray image in false colours (pseudocolour), for example as a heat map. A sample "
        "v gets colour floor(256 * (v - LO) / (HI - LO)) of the map, at least 0 and at most 255. "
        "LO and HI are those of --range; HI below LO reverses the map. The result has 8 bits. "
        "Alpha does not change. The input must be gray: --gray converts colours.\n\n"
        "With --range auto each image and each page of a TIFF has a range of its own, without "
        "infinite samples and pixels without data; if all samples are equal, they get the first "
        "colour. In float images NaN becomes black.\n\n"
        "With --bar the picture gets wider by a legend on white. Its numbers are the ends of the "
        "range and round values between them, in letters of a 30th of the height, at least 10 "
        "pixels; a picture of fewer than 40 rows gets white below it. cairo draws the numbers, so "
        "that these pixels depend on its version and on the fonts of the system. --bar is not for "
        "chains, streams and video.\n\n"
        "The maps have the bytes of Matplotlib's maps of these names, except for gray, which is "
        "exact here and 1 darker at 24 levels there. Sources: viridis, magma, "
        "inferno and plasma by N. Smith, S. van der Walt and E. Firing (2015, CC0); cividis by J. "
        "Nunez, C. Anderton and R. Renslow (2018, CC0); turbo by A. Mikhailov (2019, Apache "
        "License 2.0).",
    .options = options,
    .params_nbytes = sizeof(struct colormap_params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = measure,
};
