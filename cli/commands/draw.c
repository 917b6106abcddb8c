/* gpuimg draw: draws shapes, text, the boxes of a table and a scale bar on images.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/inputs/driver.h"
#include "cli/log.h"
#include "cli/paths/names.h"
#include "cli/plot/cairo.h"
#include "cli/run/imaging.h"
#include "cli/tables/extract_outputs.h"
#include "cli/tables/shapes_table.h"
#include "filters/geometry/gravity.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/small.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SET_DRAW, SET_IO, SET_DEVICE, SET_BATCH };

extern const struct gi_filter gi_filter_composite;

struct draw_params {
    const char *boxes, *lines, *circles, *polygons; /* joined by GI_OPTION_NEXT */
    const char *text, *table, *scale_bar, *pixel_size, *font;
    const char *color, *fill;
    struct gi_reals at;
    int gravity;
    double size, width; /* pixels; NAN: by the size of the image */
};

static const struct gi_option options[] = {
    {GI_OPTION("box", TEXT, struct draw_params, boxes), .repeats = true,
     .metavar = "X,Y,WIDTH,HEIGHT",
     .help = "Draw a rectangle, with its line inside; this option and the next three may be given "
             "several times"},
    {GI_OPTION("line", TEXT, struct draw_params, lines), .repeats = true, .metavar = "X1,Y1,X2,Y2",
     .help = "Draw a line"},
    {GI_OPTION("circle", TEXT, struct draw_params, circles), .repeats = true,
     .metavar = "X,Y,RADIUS", .help = "Draw a circle"},
    {GI_OPTION("polygon", TEXT, struct draw_params, polygons), .repeats = true,
     .metavar = "'X,Y X,Y X,Y...'", .help = "Draw a closed polygon"},
    {GI_OPTION("table", PATH, struct draw_params, table), .letter = 't', .metavar = "FILE",
     .help = "Draw a shape for each row of this CSV table, such as the boxes of a detector or "
             "those of gpuimg extract"},
    {GI_OPTION("text", TEXT, struct draw_params, text), .metavar = "TEXT", .form = "'{name}'",
     .help = "Write this text, with the fields of --out, such as {name} and {date}"},
    {GI_OPTION("scale-bar", TEXT, struct draw_params, scale_bar), .metavar = "LENGTH",
     .form = "20um",
     .help = "Draw a bar of this length with its label, by the resolution of the file or by "
             "--pixel-size; the units are nm, um, mm, cm, m, km and in"},
    {GI_OPTION("pixel-size", TEXT, struct draw_params, pixel_size), .metavar = "LENGTH",
     .form = "0.32um", .help = "Length of a pixel's side, for --scale-bar"},
    GI_GRAVITY_OPTION(struct draw_params, "northwest", "Where text and scale bar are"),
    {GI_OPTION("at", REALS, struct draw_params, at), .also = "position", .least = 2, .most = 2,
     .min = -1000000, .max = 1000000, .unit = "px", .metavar = "X,Y",
     .help = "Offset of text and scale bar from the place of --gravity, inwards; by default half "
             "of --size"},
    {GI_OPTION("color", TEXT, struct draw_params, color), .also = "colour", .letter = 'c',
     .metavar = "COLOUR",
     .help = "Colour of lines and text: a name, #rrggbb or #rrggbbaa; by default yellow, and the "
             "classes of a table have different ones"},
    {GI_OPTION("fill", TEXT, struct draw_params, fill), .metavar = "COLOUR",
     .help = "Colour inside of shapes and behind text; without it there is none"},
    {GI_OPTION("width", REAL, struct draw_params, width), .letter = 'w', .min = 0.1, .max = 1000,
     .unit = "px", .help = "Width of lines; by default 1, and 1 more per 350 pixels of the image"},
    {GI_OPTION("size", REAL, struct draw_params, size), .letter = 's', .min = 1, .max = 10000,
     .unit = "px",
     .help = "Size of letters; by default a 30th of the height of the image, at least 10"},
    {GI_OPTION("font", TEXT, struct draw_params, font), .default_text = "sans-serif",
     .metavar = "NAME", .help = "Family of the font, as fontconfig names it (fc-list : family)"},
    {0},
};

/* The shapes for every image. */
struct draw {
    const struct draw_params *params;
    struct gi_shapes_table table;
    struct gi_shape *shapes; /* of the options */
    size_t nshapes;
    struct gi_ink color, fill;
    double bar, pixel;        /* --scale-bar and --pixel-size in metres; 0: not given */
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

static enum gi_status read_options(struct draw *draw, const struct gi_io_params *io,
                                   struct gi_err *err)
{
    const struct draw_params *p = draw->params;
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
    if (!status && p->table && (status = gi_shapes_table_read(&draw->table, p->table, err)))
        gi_err_prefix(err, "--table");
    return status ? status : gi_cairo_open(&cairo, err);
}

/* ---- the shapes of an image ---- */

/* The shapes of one image, with their style. */
struct shapes {
    struct gi_shape *all;
    size_t n;
    double line, letters; /* widths that are not given */
};

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

/* The length of a pixel in metres, by --pixel-size or by the file. */
static enum gi_status pixel_of(double *metres, const struct draw *draw,
                               const struct gi_metadata *metadata, struct gi_err *err)
{
    *metres = draw->pixel;
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
    const struct draw_params *p = draw->params;
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

/* Draws all shapes of the image. */
static enum gi_status draw_shapes(struct gi_image *made, int *x, int *y, struct draw *draw,
                                  const struct gi_item *item, const struct gi_image *image,
                                  const struct gi_metadata *metadata, struct gi_err *err)
{
    const struct draw_params *p = draw->params;
    int side = image->width < image->height ? image->width : image->height;
    double text_at[3] = {0}, bar_at[3] = {0}, metres = 0;
    char *text = NULL, *label = NULL;
    struct gi_list list = {0};
    enum gi_status status = GI_OK;
    struct shapes shapes = {
        .all = gi_small_calloc(draw->table.n + draw->nshapes + 2, sizeof *shapes.all),
        .line = p->width > 0 ? p->width : 1 + side / SIDE_PER_STEP,
        .letters = p->size > 0 ? p->size : fmax(10, image->height / LINES_PER_PICTURE)};
    for (size_t i = 0; i < draw->table.n; i++)
        if (gi_shape_row_is_for(&draw->table.rows[i], item->line.input))
            add(&shapes, draw, &draw->table.rows[i].shape, draw->table.rows[i].kind);
    atomic_store(&draw->any, true);
    if (shapes.n)
        atomic_store(&draw->matched, true);
    for (size_t i = 0; i < draw->nshapes; i++)
        add(&shapes, draw, &draw->shapes[i], 0);
    if (p->text && !(status = gi_list_add(&list, item->line.input, err))) {
        const uint64_t index = item->source.place;
        const struct gi_naming naming = {.template = p->text, .index = &index};
        add_text(&shapes, draw, GI_SHAPE_TEXT, text_at, text = gi_naming_output(&naming, &list, 0));
    }
    if (p->scale_bar && !status && !(status = pixel_of(&metres, draw, metadata, err))) {
        bar_at[2] = floor(draw->bar / metres + 0.5);
        if (!(bar_at[2] >= 1 && bar_at[2] <= image->width))
            status = gi_fail(err, GI_E_USAGE, "--scale-bar %s: is %.4g pixels long: want 1 to %d",
                             p->scale_bar, draw->bar / metres, image->width);
        add_text(&shapes, draw, GI_SHAPE_BAR, bar_at, label = bar_label(p->scale_bar));
    }
    const struct gi_drawing drawing = {image->width, image->height, shapes.all, shapes.n, p->font};
    if (!status)
        status = gi_drawing_make(made, x, y, &drawing, err);
    gi_list_free(&list);
    free(shapes.all);
    free(label);
    free(text);
    return status;
}

/* ---- the work on an image ---- */

/* Composites the drawing onto the image, by the operation composite. */
static enum gi_status put_on(struct gi_image *made, struct gi_imaging *imaging,
                             struct gi_item *item, const struct gi_image *image,
                             const struct gi_image *drawing, int x, int y, struct gi_err *err)
{
    const struct gi_filter *filter = &gi_filter_composite;
    void *params = gi_filter_params(filter);
    char *place = gi_small_format("%d,%d", x, y);
    const struct gi_step step = {
        .filter = filter, .params = params, .others = drawing, .nothers = 1};
    enum gi_status status = gi_option_set(params, filter->options, "with", "the drawing", err);
    if (!status)
        status = gi_option_set(params, filter->options, "position", place, err);
    if (!status)
        status = gi_imaging_step(imaging, &item->line, made, image, &step, NULL, err);
    free(place);
    free(params);
    return status;
}

/* Warns of a table none of whose rows was for an image, which is an error with --strict. `input` is
 * the only image, or NULL for a batch. */
static enum gi_status check_matched(const struct draw *draw, const struct gi_io_params *io,
                                    const char *input, struct gi_err *err)
{
    const char *first = gi_shapes_table_first(&draw->table), *table = draw->params->table;
    const char *none = input ? input : "an image of the batch";
    if (!first || !draw->any || draw->matched)
        return GI_OK;
    if (io->strict)
        return gi_fail(err, GI_E_FORMAT, "--strict: %s: no row names %s; the first row names %s",
                       table, none, first);
    gi_cli_warn("%s: no row names %s; the first row names %s", table, none, first);
    return GI_OK;
}

static enum gi_status draw_item(void *self, const struct gi_batch_files *files,
                                struct gi_imaging *imaging, struct gi_item *item,
                                struct gi_err *err)
{
    struct draw *draw = self;
    const struct gi_io_params *io = gi_imaging_options(imaging)->io;
    struct gi_image image = {0}, drawing = {0}, made = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    int x = 0, y = 0;
    enum gi_status status = gi_imaging_load(imaging, item, &image, &metadata, &info, false, err);
    bool loaded = !status;
    if (!status)
        status = draw_shapes(&drawing, &x, &y, draw, item, &image, &metadata, err);
    if (!status && !files && io->strict) /* before the image is saved */
        status = check_matched(draw, io, item->line.input, err);
    if (!status)
        status = put_on(&made, imaging, item, &image, &drawing, x, y, err);
    if (status && loaded && files)
        gi_err_prefix(err, "%s", item->line.input);
    gi_gain_map_drop(&metadata, "of the old samples");
    if (!status)
        status = gi_imaging_save(imaging, item, &made, &metadata, NULL, false, err);
    gi_image_free(&image);
    gi_image_free(&drawing);
    gi_image_free(&made);
    gi_metadata_free(&metadata);
    return status;
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    struct draw draw = {.params = params[SET_DRAW]};
    const struct gi_batch_work work = {.self = &draw, .run = draw_item};
    bool many = gi_batch_is_wanted(params[SET_BATCH]);
    const struct gi_batch_job job = {
        .command = self, .params = params, .work = &work, .text = many ? "draw" : NULL};
    const struct gi_io_params *io = params[SET_IO];
    enum gi_status status = read_options(&draw, io, err);
    if (!status && !many)
        status = gi_cli_check_save(operands[1], io, err);
    status = gi_cli_missing_first(status, operands, 1, err);
    if (!status)
        status = gi_drive(&job, operands, noperands, err);
    if (!status)
        status = check_matched(&draw, io, many ? NULL : operands[0], err);
    for (size_t i = 0; i < draw.nshapes; i++)
        free(draw.shapes[i].v);
    free(draw.shapes);
    gi_shapes_table_free(&draw.table);
    return status;
}

const struct gi_command gi_command_draw = {
    .name = "draw",
    .group = GI_GROUP_IMAGES,
    .operands = "INPUT OUTPUT",
    .summary = "Draw boxes, lines, circles, text and scale bars (annotate)",
    .manual =
        "Shapes and text are drawn by cairo, with smooth edges, on a transparent image of 8 bits, "
        "which is composited onto the input as gpuimg composite does. So images of 16 bits and "
        "floats keep their depth, with colours as parts of full scale, and CPU and CUDA give the "
        "same bytes. A gray image becomes one in colour if the drawing has colour. Coordinates "
        "are pixels from the upper left; parts outside the image are left out. Without text the "
        "result depends on the version of cairo at most; with text also on the fonts of the "
        "system.\n\n"
        "--table is a CSV table with a row per shape, whose columns are found by their names: x "
        "and y with w and h, xmin, ymin, xmax and ymax, x1, y1, x2 and y2, or bbox_x, bbox_y, "
        "bbox_width and bbox_height, as gpuimg extract and most detectors write them. Columns "
        "that may be there: file (also filename, image, image_path), which chooses the rows of "
        "each image of a batch, or else image_id, a name that may lack its suffix; label (class, "
        "name, category) and score (confidence), which are written above "
        "a box; shape (box, line, circle, polygon or text), radius, points (\"X,Y X,Y X,Y\"), "
        "color, fill, line_width and size. Each class has a colour of its own. Other columns are "
        "ignored.\n\n"
        "Options draw in this order: the table, boxes, lines, circles, polygons, text and scale "
        "bar. A line or circle goes through the centres of the pixels that are named, and the "
        "line of a box is inside it. A scale bar is rounded to whole pixels.\n\n"
        "draw is no step of a chain, because the drawing depends on the size, the name and the "
        "resolution of each image, and not for tars, streams of several images and video. A pipe "
        "joins both: gpuimg run 'gaussian | normalize' in.png png:- | gpuimg draw - out.png.",
    .examples =
        "gpuimg draw photo.jpg marked.jpg --box 120,80,200,150 --color red --width 4\n"
        "gpuimg draw cells.png boxes.png --table regions.csv --size 14\n"
        "gpuimg draw photo.jpg signed.jpg --text '{name}' --gravity southwest --fill '#00000080'\n"
        "gpuimg draw cells.png scaled.png --scale-bar 20um --pixel-size 0.32um --gravity "
        "southeast\n"
        "gpuimg draw photos/*.jpg --table detections.csv --out-dir drawn",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{"Options", options, sizeof(struct draw_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .run = run,
};
