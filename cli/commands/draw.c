/* gpuimg draw: draws shapes, text, the boxes of a table and a scale bar on images.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/drawings.h"
#include "cli/commands.h"
#include "cli/log.h"
#include "cli/paths/names.h"
#include "cli/plot/cairo.h"
#include "cli/tables/extract_outputs.h"
#include "cli/tables/shapes_table.h"
#include "filters/arithmetic/draw.h"
#include "imgio/metadata/exif.h"
#include "imgio/small.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The shapes for every image. */
struct draw {
    const struct gi_draw_params *params;
    struct gi_shapes_table table;
    struct gi_shape *shapes; /* of the options */
    size_t nshapes;
    struct gi_ink color, fill;
    double bar, pixel; /* --scale-bar and --pixel-size in metres; 0: not given */
    bool strict;
    atomic_bool any, matched; /* an image was read; a row of the table was for one */
};

/* As in the overlays of gpuimg extract. */
static const struct gi_ink inks[] = {{1, 0.84, 0.04, 1},    {0.25, 0.88, 1, 1}, {1, 0.48, 0.35, 1},
                                     {0.55, 0.94, 0.35, 1}, {1, 0.51, 0.86, 1}, {0.63, 0.67, 1, 1}};
enum { NINKS = sizeof inks / sizeof *inks, SIDE_PER_STEP = 350, LINES_PER_PICTURE = 30 };

/* ---- the options ---- */

static enum gi_status add_shapes(struct draw *draw, enum gi_shape_kind kind, const char *option,
                                 const char *texts, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (const char *at = texts; at && !status;) {
        const char *end = strchr(at, GI_OPTION_NEXT);
        char *text = end ? gi_small_copy_n(at, (size_t)(end - at)) : gi_small_copy(at);
        draw->shapes = gi_small_realloc(draw->shapes, draw->nshapes + 1, sizeof *draw->shapes);
        struct gi_shape *shape = &draw->shapes[draw->nshapes++];
        *shape = (struct gi_shape){
            .kind = kind, .ink.alpha = -1, .fill.alpha = -1, .width = NAN, .size = NAN};
        status = gi_shape_numbers(shape, option, text, err);
        free(text);
        at = end ? end + 1 : NULL;
    }
    return status;
}

/* Reads a length with a unit, in metres. */
static enum gi_status read_length(double *metres, const char *option, const char *text,
                                  struct gi_err *err)
{
    static const struct {
        const char *unit;
        double metres;
    } units[] = {{"nm", 1e-9}, {"um", 1e-6}, {"mm", 1e-3},   {"cm", 1e-2},
                 {"m", 1},     {"km", 1e3},  {"in", 0.0254}, {"inch", 0.0254}};
    const char *unit;
    *metres = 0;
    if (!text)
        return GI_OK;
    enum gi_status status = gi_extract_pixel_size(metres, &unit, text, NULL);
    for (size_t i = 0; !status && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0) {
            *metres *= units[i].metres;
            return GI_OK;
        }
    return gi_fail(err, GI_E_USAGE,
                   "--%s %s: want a length above 0 in nm, um, mm, cm, m, km or in, as in 20um",
                   option, text);
}

static enum gi_status read_ink(struct gi_ink *ink, const char *option, const char *text,
                               struct gi_err *err)
{
    ink->alpha = -1;
    return !text || gi_shape_ink(ink, text)
               ? GI_OK
               : gi_fail(err, GI_E_USAGE, "--%s %s: want a colour: a name, #rrggbb or #rrggbbaa",
                         option, text);
}

static enum gi_status read_table(struct draw *draw, bool strict, struct gi_err *err)
{
    static const char parts[] =
        "all coordinates are at most 1: want --normalized if they are parts";
    const struct gi_shapes_table *table = &draw->table;
    const char *path = draw->params->table;
    enum gi_status status = gi_shapes_table_read(&draw->table, path, err);
    if (status)
        return gi_err_prefix(err, "--table");
    if (draw->params->normalized || table->larger || !table->broken)
        return GI_OK;
    if (strict)
        return gi_fail(err, GI_E_FORMAT, "--strict: %s: %s", path, parts);
    gi_cli_warn("%s: %s", path, parts);
    return GI_OK;
}

static enum gi_status read_options(struct draw *draw, const struct gi_io_params *io,
                                   struct gi_err *err)
{
    const struct gi_draw_params *p = draw->params;
    const struct gi_naming naming = {.template = p->text, .option = "--text"};
    struct gi_cairo cairo;
    enum gi_status status = add_shapes(draw, GI_SHAPE_BOX, "--box", p->boxes, err);
    if (!status)
        status = add_shapes(draw, GI_SHAPE_LINE, "--line", p->lines, err);
    if (!status)
        status = add_shapes(draw, GI_SHAPE_CIRCLE, "--circle", p->circles, err);
    if (!status)
        status = add_shapes(draw, GI_SHAPE_POLYGON, "--polygon", p->polygons, err);
    if (!status && !draw->nshapes && !p->table && !p->text && !p->scale_bar)
        status = gi_fail(err, GI_E_USAGE,
                         "want --box, --line, --circle, --polygon, --table, "
                         "--text or --scale-bar");
    if (!status)
        status = read_ink(&draw->color, "color", p->color, err);
    if (!status)
        status = read_ink(&draw->fill, "fill", p->fill, err);
    if (!status && p->text)
        status = gi_naming_check(&naming, err);
    if (!status)
        status = read_length(&draw->bar, "scale-bar", p->scale_bar, err);
    if (!status)
        status = read_length(&draw->pixel, "pixel-size", p->pixel_size, err);
    if (!status && io->linear)
        status = gi_fail(err, GI_E_USAGE, "--linear: colours of drawings are not linear light");
    if (!status && p->table)
        status = read_table(draw, io->strict, err);
    return status ? status : gi_cairo_open(&cairo, err);
}

/* ---- the shapes of an image ---- */

/* The shapes of one image, with their style. */
struct shapes {
    struct gi_shape *all;
    size_t n;
    double line, letters; /* widths that are not given */
    int width, height;    /* of the image */
    size_t nscaled;       /* of the first ones, which own their coordinates */
};

/* Replaces coordinates of the shape added last, which are parts of the image, by pixels. */
static void scale(struct shapes *shapes)
{
    struct gi_shape *shape = &shapes->all[shapes->nscaled++];
    double *v = gi_small_calloc((size_t)shape->n, sizeof *v);
    for (int i = 0; i < shape->n; i++)
        v[i] = shape->v[i] * (i % 2 ? shapes->height : shapes->width);
    if (shape->kind == GI_SHAPE_CIRCLE)
        v[2] = shape->v[2] * fmin(shapes->width, shapes->height);
    shape->v = v;
}

static void add(struct shapes *shapes, const struct draw *draw, const struct gi_shape *shape,
                int kind)
{
    struct gi_shape *one = &shapes->all[shapes->n++];
    *one = *shape;
    if (one->ink.alpha < 0)
        one->ink = draw->color.alpha >= 0 ? draw->color : inks[kind % NINKS];
    if (one->fill.alpha < 0)
        one->fill = draw->fill.alpha >= 0 ? draw->fill : (struct gi_ink){0};
    one->width = one->width > 0 ? one->width : shapes->line;
    one->size = one->size > 0 ? one->size : shapes->letters;
}

/* Adds a shape of the table or of an option. */
static void add_placed(struct shapes *shapes, const struct draw *draw, const struct gi_shape *shape,
                       int kind)
{
    add(shapes, draw, shape, kind);
    if (draw->params->normalized)
        scale(shapes);
}

static void free_shapes(struct shapes *shapes)
{
    for (size_t i = 0; i < shapes->nscaled; i++)
        free(shapes->all[i].v);
    free(shapes->all);
}

/* The length of a pixel in metres, by --pixel-size or by the file. */
static enum gi_status pixel_of(double *metres, const struct draw *draw,
                               const struct gi_metadata *metadata, struct gi_err *err)
{
    *metres = draw->pixel;
    if (!(*metres > 0) && !metadata)
        return gi_fail(err, GI_E_UNSUPPORTED, "--scale-bar: before an analysis want --pixel-size");
    if (!(*metres > 0) && metadata->dpi_x > 0 && !metadata->no_unit)
        *metres = 0.0254 / metadata->dpi_x;
    return *metres > 0 ? GI_OK
                       : gi_fail(err, GI_E_UNSUPPORTED,
                                 "--scale-bar: the file has no resolution: want --pixel-size");
}

/* Adds text or scale bar. `v` and `text` stay the caller's. */
static void add_text(struct shapes *shapes, const struct draw *draw, enum gi_shape_kind kind,
                     double v[3], const char *text)
{
    const struct gi_draw_params *p = draw->params;
    double margin = shapes->letters / 2;
    v[0] = p->at.n ? p->at.v[0] : floor(margin);
    v[1] = p->at.n ? p->at.v[1] : floor(margin);
    const struct gi_shape shape = {.kind = kind,
                                   .v = v,
                                   .n = 3,
                                   .text = text,
                                   .ink.alpha = -1,
                                   .fill.alpha = -1,
                                   .gravity = p->gravity,
                                   .width = NAN,
                                   .size = NAN};
    add(shapes, draw, &shape, 0);
}

/* The label of a scale bar: the number and the unit as they were given. */
static char *bar_label(const char *text)
{
    const char *unit = text + strcspn(text, "abcdefghijklmnopqrstuvwxyz\xc2\xce");
    int n = (int)(unit - text) - (unit > text && unit[-1] == ' ');
    bool micro = strcmp(unit, "um") == 0;
    return gi_small_format("%.*s %s", n, text, micro ? "\xc2\xb5m" : unit);
}

/* Warns of a table none of whose rows was for an image, which is an error with --strict. */
static enum gi_status check_matched(const void *self, const char *input, struct gi_err *err)
{
    const struct draw *draw = self;
    const char *first = gi_shapes_table_first(&draw->table), *table = draw->params->table;
    const char *none = input ? input : "an image of the batch";
    if (!first || !draw->any || draw->matched)
        return GI_OK;
    if (draw->strict)
        return gi_fail(err, GI_E_FORMAT, "--strict: %s: no row names %s; the first row names %s",
                       table, none, first);
    gi_cli_warn("%s: no row names %s; the first row names %s", table, none, first);
    return GI_OK;
}

/* Adds the shapes of the table that are for the image. If it is the only one, and there are none, a
 * strict run fails before the image is saved. */
static enum gi_status add_rows(struct shapes *shapes, struct draw *draw,
                               const struct gi_drawn_item *item, struct gi_err *err)
{
    for (size_t i = 0; i < draw->table.n; i++)
        if (gi_shape_row_is_for(&draw->table.rows[i], item->name))
            add_placed(shapes, draw, &draw->table.rows[i].shape, draw->table.rows[i].kind);
    atomic_store(&draw->any, true);
    if (shapes->n)
        atomic_store(&draw->matched, true);
    return item->only && draw->strict ? check_matched(draw, item->name, err) : GI_OK;
}

/* Draws all shapes of the image. */
static enum gi_status draw_shapes(void *self, struct gi_image *made, int *x, int *y,
                                  const struct gi_drawn_item *item, int width, int height,
                                  struct gi_err *err)
{
    struct draw *draw = self;
    const struct gi_draw_params *p = draw->params;
    int side = width < height ? width : height;
    double text_at[3] = {0}, bar_at[3] = {0}, metres = 0;
    char *text = NULL, *label = NULL;
    struct gi_list list = {0};
    struct shapes shapes = {
        .all = gi_small_calloc(draw->table.n + draw->nshapes + 2, sizeof *shapes.all),
        .width = width,
        .height = height,
        .line = p->width > 0 ? p->width : 1 + side / SIDE_PER_STEP,
        .letters = p->size > 0 ? p->size : fmax(10, height / LINES_PER_PICTURE)};
    enum gi_status status = add_rows(&shapes, draw, item, err);
    for (size_t i = 0; i < draw->nshapes; i++)
        add_placed(&shapes, draw, &draw->shapes[i], 0);
    if (p->text && !status && !(status = gi_list_add(&list, item->name, err))) {
        const struct gi_naming naming = {.template = p->text, .index = &item->number};
        if (item->metadata) /* without it, or without a date there, the file is read for {date} */
            gi_exif_date(list.inputs[0].date, item->metadata->exif, item->metadata->exif_nbytes);
        add_text(&shapes, draw, GI_SHAPE_TEXT, text_at, text = gi_naming_output(&naming, &list, 0));
    }
    if (p->scale_bar && !status && !(status = pixel_of(&metres, draw, item->metadata, err))) {
        bar_at[2] = floor(draw->bar / metres + 0.5);
        if (!(bar_at[2] >= 1 && bar_at[2] <= width))
            status = gi_fail(err, GI_E_USAGE, "--scale-bar %s: is %.4g pixels long: want 1 to %d",
                             p->scale_bar, draw->bar / metres, width);
        add_text(&shapes, draw, GI_SHAPE_BAR, bar_at, label = bar_label(p->scale_bar));
    }
    const struct gi_drawing drawing = {width, height, shapes.all, shapes.n, p->font};
    if (!status)
        status = gi_drawing_make(made, x, y, &drawing, err);
    gi_list_free(&list);
    free_shapes(&shapes);
    free(label);
    free(text);
    return status;
}

/* ---- the command and its steps ---- */

static enum gi_status open_draw(void **self, const void *params, const struct gi_io_params *io,
                                struct gi_err *err)
{
    struct draw *draw = *self = gi_small_calloc(1, sizeof *draw);
    draw->params = params;
    draw->strict = io->strict;
    return read_options(draw, io, err);
}

static void close_draw(void **self)
{
    struct draw *draw = *self;
    *self = NULL;
    for (size_t i = 0; draw && i < draw->nshapes; i++)
        free(draw->shapes[i].v);
    if (draw) {
        free(draw->shapes);
        gi_shapes_table_free(&draw->table);
    }
    free(draw);
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    return gi_command_filter.run(self, params, operands, noperands, err);
}

static const struct gi_drawings drawings = {open_draw, draw_shapes, check_matched, close_draw};

const struct gi_command gi_command_draw = {
    .name = "draw",
    .operands = "INPUT OUTPUT",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_draw,
    .drawings = &drawings,
    .run = run,
};
