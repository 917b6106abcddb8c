/* gpuimg montage: arranges many images in a grid on one sheet.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/commands.h"
#include "cli/inputs/n_to_one.h"
#include "cli/paths/names.h"
#include "cli/plot/cairo.h"
#include "cli/plot/label.h"
#include "filters/geometry/gravity.h"
#include "filters/tone/curve.h"
#include "imgio/nodata.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SET_OWN, SET_IO };

extern const struct gi_filter gi_filter_resize;

struct montage_params {
    int columns, rows, gap, gravity;
    double margin; /* NAN: the gap */
    struct gi_extent cell;
    bool fill, stretch, no_enlarge, no_normalize, progress;
    const char *report, *label;
    struct gi_border_params border; /* parameters of --background */
};

static const struct gi_option options[] = {
    {GI_OPTION("columns", INT, struct montage_params, columns), .letter = 'c', .min = 1,
     .max = 10000,
     .help = "Number of images per row; by default the sheet has about as many columns as rows"},
    {GI_OPTION("rows", INT, struct montage_params, rows), .letter = 'r', .min = 1, .max = 10000,
     .help = "Number of rows; by default as many as the images need"},
    {GI_OPTION("cell", EXTENT, struct montage_params, cell), .letter = 's',
     .default_text = "256x256", .metavar = "WxH", .form = "WIDTHxHEIGHT",
     .help = "Width and height of a cell in pixels"},
    {GI_OPTION("fill", FLAG, struct montage_params, fill),
     .help = "Make each image cover its cell, and cut off the rest"},
    {GI_OPTION("stretch", FLAG, struct montage_params, stretch),
     .help = "Make each image exactly as large as its cell; this changes the aspect ratio"},
    {GI_OPTION("no-enlarge", FLAG, struct montage_params, no_enlarge),
     .help = "Do not enlarge images that are smaller than their cell"},
    {GI_OPTION("no-normalize", FLAG, struct montage_params, no_normalize),
     .help = "Keep the samples of images of 16 bits and of floats. Without this option each of "
             "these images is stretched from its 0.1th and 99.9th percentile to black and white, "
             "because it might be black otherwise"},
    {GI_OPTION("label", TEXT, struct montage_params, label), .metavar = "TEXT", .form = "'{name}'",
     .help = "Write this text under each image. Fields: {name} is the name of the input, {stem} "
             "the name without suffix, {dir} its folder, {index} its number from 1, {page} the "
             "number of its page from 0, {date} as for --out of batches"},
    {GI_OPTION("gap", INT, struct montage_params, gap), .letter = 'g', .default_text = "8",
     .min = 0, .max = 10000, .unit = "px", .help = "Space between cells"},
    {GI_OPTION("margin", REAL, struct montage_params, margin), .min = 0, .max = 10000, .unit = "px",
     .help = "Space around all cells, in whole pixels; by default that of --gap"},
    GI_GRAVITY_OPTION(struct montage_params, "center", "Where an image is in its cell"),
    GI_ADDED_VALUE_OPTION(struct montage_params, border, "Background of the sheet"),
    GI_N_TO_ONE_OPTIONS(struct montage_params, report, progress),
    {0},
};

/* The images for the sheet, resized, and the properties that they share. */
struct sheet {
    const struct montage_params *params;
    struct gi_n_to_one job;
    struct gi_image *images; /* n images; memory for all */
    char **labels;           /* of the images; NULL: without --label */
    int n;
    int columns, rows, width, height; /* width and height of a cell in pixels */
    int label;                        /* height of a label below a cell; 0: none */
    int margin;                       /* pixels around all cells */
};

/* Return the position of a cell's upper left pixel. */
static int left_of(const struct sheet *sheet, int i)
{
    return sheet->margin + i % sheet->columns * (sheet->width + sheet->params->gap);
}

static int top_of(const struct sheet *sheet, int i)
{
    return sheet->margin + i / sheet->columns * (sheet->height + sheet->label + sheet->params->gap);
}

/* Sets the place of an image in its cell. */
static struct gi_line_place place_of(const struct sheet *sheet, int i, const struct gi_image *image)
{
    enum gi_gravity gravity = (enum gi_gravity)sheet->params->gravity;
    return (struct gi_line_place){
        .x = left_of(sheet, i) + gi_gravity_left(gravity, sheet->width - image->width),
        .y = top_of(sheet, i) + gi_gravity_above(gravity, sheet->height - image->height),
        .width = image->width,
        .height = image->height};
}

/* ---- images ---- */

static enum gi_status set_resize(void *params, const struct sheet *sheet, struct gi_err *err)
{
    const struct montage_params *p = sheet->params;
    const struct gi_option *rows = gi_filter_resize.options;
    char size[64];
    snprintf(size, sizeof size, "%dx%d", sheet->width, sheet->height);
    enum gi_status status = gi_option_set(params, rows, "size", size, err);
    if (!status && p->no_enlarge)
        status = gi_option_set(params, rows, "no-enlarge", NULL, err);
    if (!status && (p->fill || p->stretch))
        status = gi_option_set(params, rows, p->fill ? "fill" : "stretch", NULL, err);
    return status ? status : gi_filter_resize.check(params, err);
}

/* Makes the steps for each image, normalization and resize. Frees nothing after an error. */
static enum gi_status make_steps(struct gi_chain *chain, const struct sheet *sheet,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (!sheet->params->no_normalize)
        chain->steps[chain->n++].filter = &gi_filter_normalize_base;
    chain->steps[chain->n++].filter = &gi_filter_resize;
    for (int i = 0; i < chain->n && !status; i++) {
        struct gi_chain_step *step = &chain->steps[i];
        void *params = step->args.params[GI_SET_STEP_FILTER] = gi_filter_params(step->filter);
        if (step->filter == &gi_filter_resize)
            status = set_resize(params, sheet, err);
        else
            status = gi_option_set(params, step->filter->options, "percentiles", "0.1,99.9", err);
    }
    return status;
}

/* Makes the text under the next image. */
static void name_label(struct sheet *sheet, const struct gi_item *item)
{
    const uint64_t index = (uint64_t)sheet->n;
    const struct gi_pages *pages = item->source.pages;
    const struct gi_naming naming = {.template = sheet->params->label,
                                     .pages = true,
                                     .page = pages ? gi_pages_number(pages, item->source.page) : 0,
                                     .index = &index};
    sheet->labels[sheet->n] = gi_naming_output(&naming, &sheet->job.list, item->source.place);
}

static enum gi_status take(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_metadata *metadata, struct gi_err *err)
{
    struct sheet *sheet = self;
    if (sheet->labels)
        name_label(sheet, item);
    gi_n_to_one_place(metadata, NULL);
    gi_nodata_drop(metadata, "not of the whole sheet");
    item->line.place = place_of(sheet, sheet->n, image);
    sheet->images[sheet->n++] = *image;
    *image = (struct gi_image){0};
    return GI_OK;
}

/* ---- the sheet ---- */

/* Returns the shape of the sheet. Its type is the type with the most bits among the images. It has
 * colour if any image has colour, and alpha if any image has alpha. */
static struct gi_image shape_of(const struct sheet *sheet)
{
    const struct montage_params *p = sheet->params;
    struct gi_image shape = {.type = GI_U8};
    bool color = false, alpha = false;
    for (int i = 0; i < sheet->n; i++) {
        const struct gi_image *image = &sheet->images[i];
        shape.type = image->type > shape.type ? image->type : shape.type;
        color = color || gi_color_channels(image) == 3;
        alpha = alpha || gi_has_alpha(image);
    }
    shape.channels = (color ? 3 : 1) + alpha;
    shape.width = 2 * sheet->margin + sheet->columns * sheet->width + (sheet->columns - 1) * p->gap;
    shape.height = 2 * sheet->margin + sheet->rows * (sheet->height + sheet->label) +
                   (sheet->rows - 1) * p->gap;
    return shape;
}

/* Copies n pixels. `to` must have all channels of `from`. */
static void copy_pixels(char *to, int made, const char *from, int channels, int n, size_t nbytes,
                        const char *opaque)
{
    bool alpha = channels % 2 == 0;
    int colors = channels - alpha, want = made % 2 ? made : made - 1;
    for (int x = 0; x < n; x++) {
        for (int c = 0; c < want; c++, to += nbytes)
            memcpy(to, from + (size_t)(colors == 1 ? 0 : c) * nbytes, nbytes);
        if (made > want) {
            memcpy(to, alpha ? from + (size_t)colors * nbytes : opaque, nbytes);
            to += nbytes;
        }
        from += (size_t)channels * nbytes;
    }
}

/* Fills the sheet with the pixel of the background. */
static void fill(const struct gi_image *made, const char *pixel)
{
    size_t nbytes = (size_t)made->channels * gi_type_nbytes(made->type);
    for (int y = 0; y < made->height; y++)
        for (int x = 0; x < made->width; x++)
            memcpy((char *)gi_row(made, y) + (size_t)x * nbytes, pixel, nbytes);
}

/* Copies the image to the sheet, with its upper left pixel at (left, top). */
static enum gi_status put_at(const struct gi_image *made, const struct gi_image *from, int left,
                             int top, const char *opaque, struct gi_err *err)
{
    struct gi_image image;
    size_t nbytes = gi_type_nbytes(made->type);
    enum gi_status status = gi_image_convert(&image, from, made->type, err);
    if (status)
        return status;
    for (int y = 0; y < image.height; y++)
        copy_pixels((char *)gi_row(made, top + y) + (size_t)left * (size_t)made->channels * nbytes,
                    made->channels, gi_row(&image, y), image.channels, image.width, nbytes, opaque);
    gi_image_free(&image);
    return GI_OK;
}

/* Draws all labels, black or white, whichever differs more from the background. */
static enum gi_status draw_labels(unsigned char **samples, struct gi_label_style *style,
                                  const struct sheet *sheet, const struct gi_image *made,
                                  const struct gi_border_spec *paper, struct gi_err *err)
{
    double full = gi_type_full_scale(made->type);
    bool gray = gi_color_channels(made) == 1;
    const double rgb[3] = {paper->value[0] / full, paper->value[gray ? 0 : 1] / full,
                           paper->value[gray ? 0 : 2] / full};
    double ink = gi_luma(rgb) > 0.5 ? 0 : 1;
    *style = (struct gi_label_style){.width = sheet->width,
                                     .height = sheet->label,
                                     .channels = gray ? 1 : 3,
                                     .paper = {rgb[0], rgb[1], rgb[2], 1},
                                     .ink = {ink, ink, ink, 1}};
    return gi_labels(samples, style, sheet->labels, sheet->n, err);
}

/* Puts the labels under their cells. */
static enum gi_status put_labels(const struct sheet *sheet, const struct gi_image *made,
                                 const struct gi_border_spec *paper, const char *opaque,
                                 struct gi_err *err)
{
    unsigned char *samples;
    struct gi_label_style style;
    enum gi_status status = draw_labels(&samples, &style, sheet, made, paper, err);
    size_t row = (size_t)style.width * (size_t)style.channels;
    for (int i = 0; i < sheet->n && !status; i++) {
        const struct gi_image label = {.width = style.width,
                                       .height = style.height,
                                       .channels = style.channels,
                                       .type = GI_U8,
                                       .stride = row,
                                       .data = samples + (size_t)i * row * (size_t)style.height};
        status =
            put_at(made, &label, left_of(sheet, i), top_of(sheet, i) + sheet->height, opaque, err);
    }
    free(samples);
    return status;
}

static enum gi_status put(const struct sheet *sheet, const struct gi_image *made, int i,
                          const char *opaque, struct gi_err *err)
{
    const struct gi_image *image = &sheet->images[i];
    const struct gi_line_place place = place_of(sheet, i, image);
    return put_at(made, image, place.x, place.y, opaque, err);
}

static enum gi_status finish(void *self, struct gi_image *made, struct gi_err *err)
{
    const struct sheet *sheet = self;
    struct gi_image shape = shape_of(sheet);
    struct gi_border_params border = sheet->params->border;
    struct gi_err warning = {0};
    border.mode = GI_BORDER_VALUE;
    struct gi_border_spec paper = gi_border_spec_from(&border, &shape),
                          full = {.mode = GI_BORDER_VALUE};
    char pixel[GI_PIXEL_NBYTES_MAX], opaque[GI_PIXEL_NBYTES_MAX];
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        full.value[c] = gi_type_full_scale(shape.type);
    gi_border_pixel(pixel, &paper, &shape);
    gi_border_pixel(opaque, &full, &shape);
    enum gi_status status = gi_limits_check(&sheet->job.io->limits, &shape, err);
    if (!status)
        status = gi_color_check(&warning, &border.value, "background", &shape, err);
    if (!status)
        status = gi_cli_warn_or_fail(&warning, NULL, sheet->job.io, err);
    if (!status)
        status = gi_image_alloc(made, shape.width, shape.height, shape.channels, shape.type, err);
    if (status)
        return status;
    fill(made, pixel);
    for (int i = 0; i < sheet->n && !status; i++)
        status = put(sheet, made, i, opaque, err);
    if (!status && sheet->label)
        status = put_labels(sheet, made, &paper, opaque, err);
    if (status)
        gi_image_free(made);
    return status;
}

/* ---- the command ---- */

/* Chooses the numbers of columns and rows and the size of a cell for `n` images. */
static enum gi_status lay_out(struct sheet *sheet, int n, uint64_t max_pixels, struct gi_err *err)
{
    const struct montage_params *p = sheet->params;
    const struct gi_extent *cell = &p->cell;
    if (gi_length_is_open(&cell->width) || gi_length_is_open(&cell->height) ||
        cell->width.percent || cell->height.percent)
        return gi_fail(err, GI_E_USAGE, "--cell: want width and height in pixels, as 256x256");
    if (p->margin != floor(p->margin) && !isnan(p->margin))
        return gi_fail(err, GI_E_USAGE, "--margin %.10g: want whole pixels", p->margin);
    sheet->margin = isnan(p->margin) ? p->gap : (int)p->margin;
    if (p->fill && p->stretch)
        return gi_fail(err, GI_E_USAGE, "--fill, --stretch: want one of them");
    sheet->width = gi_side_pixels(&cell->width, 1);
    sheet->height = gi_side_pixels(&cell->height, 1);
    sheet->label = p->label ? gi_label_height(sheet->height) : 0;
    sheet->columns = p->columns ? p->columns
                     : p->rows  ? (n + p->rows - 1) / p->rows
                                : (int)ceil(sqrt(n));
    sheet->rows = p->rows ? p->rows : (n + sheet->columns - 1) / sheet->columns;
    if ((long long)sheet->columns * sheet->rows < n)
        return gi_fail(err, GI_E_USAGE, "%d images: %d columns of %d rows have room for %lld", n,
                       sheet->columns, sheet->rows, (long long)sheet->columns * sheet->rows);
    double pixels = ((double)sheet->width + p->gap) * sheet->columns *
                    ((double)sheet->height + sheet->label + p->gap) * sheet->rows;
    if (pixels > (double)max_pixels || pixels > GI_PIXELS_MAX)
        return gi_fail(err, GI_E_LIMIT, "a sheet of %.3g pixels: want at most %llu (--max-pixels)",
                       pixels, (unsigned long long)max_pixels);
    return GI_OK;
}

/* Checks --label before any work. */
static enum gi_status check_label(const struct montage_params *p, struct gi_err *err)
{
    struct gi_cairo cairo;
    const struct gi_naming naming = {.template = p->label, .pages = true, .option = "--label"};
    enum gi_status status = p->label ? gi_naming_check(&naming, err) : GI_OK;
    return status || !p->label ? status : gi_cairo_open(&cairo, err);
}

static void free_sheet(struct sheet *sheet)
{
    for (int i = 0; i < sheet->n; i++)
        gi_image_free(&sheet->images[i]);
    for (int i = 0; i < sheet->n && sheet->labels; i++)
        free(sheet->labels[i]);
    free(sheet->images);
    free(sheet->labels);
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct montage_params *p = params[SET_OWN];
    const struct gi_io_params *io = params[SET_IO];
    struct gi_chain_step steps[2] = {{0}};
    struct gi_chain chain = {.steps = steps};
    struct sheet sheet = {.params = p,
                          .job = {.work = {.command = self,
                                           .params = params,
                                           .report = p->report,
                                           .progress = p->progress,
                                           .chain = &chain,
                                           .self = &sheet,
                                           .take = take,
                                           .finish = finish}}};
    enum gi_status status = check_label(p, err);
    if (!status)
        status = gi_n_to_one_list(&sheet.job, operands, noperands, err);
    size_t n = sheet.job.n;
    if (!status)
        status = lay_out(&sheet, n < INT_MAX ? (int)n : INT_MAX, io->limits.max_pixels, err);
    if (!status)
        status = make_steps(&chain, &sheet, err);
    if (!status && (!(sheet.images = calloc(n, sizeof *sheet.images)) ||
                    (p->label && !(sheet.labels = calloc(n, sizeof *sheet.labels)))))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a sheet");
    if (!status)
        status = gi_n_to_one_run(&sheet.job, err);
    free_sheet(&sheet);
    gi_n_to_one_close(&sheet.job);
    for (int i = 0; i < chain.n; i++)
        free(steps[i].args.params[GI_SET_STEP_FILTER]);
    return status;
}

const struct gi_command gi_command_montage = {
    .name = "montage",
    .group = GI_GROUP_IMAGES,
    .operands = "INPUT... OUTPUT",
    .summary = "Montage: many images on one contact sheet",
    .manual = "The result is a contact sheet with a cell for each image, filled row by row. Each "
              "image is resized to fit its cell and placed there by --gravity. Several images "
              "are read and resized at the same time, and only the resized ones stay in "
              "memory.\n\n"
              "The sheet has the deepest sample type of the images (8 bits, 16 bits or float). "
              "It has colour if one of the images has colour, and alpha if one of them has "
              "alpha; images without alpha are opaque in the sheet. It has the ICC profile of "
              "the images if all have the same.\n\n"
              "Labels are drawn by cairo in the sans-serif font of the machine, so their pixels "
              "may differ between machines.\n\n"
              "The report of --report has a line per input and then a line for the sheet. In "
              "that line, the field \"inputs\" holds the number of inputs. The field \"place\" of "
              "an input says where its image is in the sheet, in pixels, as the coordinates of "
              "its upper left pixel, its width and its height. So a sheet of sprites is made by "
              "--gap 0 --no-enlarge, and its report is the list of their places.",
    .examples = "gpuimg montage *.jpg sheet.jpg\n"
                "gpuimg montage *.png sheet.png --columns 4 --gap 16 --cell 320x240\n"
                "gpuimg montage a.png b.png strip.png --rows 1 --fill --background 255\n"
                "gpuimg montage *.png sprites.png --cell 64x64 --gap 0 --background "
                "transparent --report places.jsonl\n"
                "gpuimg montage stack.tif pages.png --label '{name}, page {page}'",
    .min_operands = 2,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct montage_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .run = run,
};
