/* gpuimg montage: arranges many images in a grid on one sheet.
 * SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/run/device_options.h"
#include "cli/run/n_to_one.h"
#include "filters/geometry/gravity.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SET_OWN, SET_IO };

extern const struct gi_filter gi_filter_resize;

struct params {
    int columns, rows, gap, margin, gravity;
    struct gi_extent cell;
    bool fill, stretch, no_enlarge, progress;
    const char *report;
    struct gi_border_params border; /* parameters of --background */
};

static const struct gi_option options[] = {
    {.name = "columns",
     .letter = 'c',
     .type = GI_OPT_INT,
     .offset = offsetof(struct params, columns),
     .min = 1,
     .max = 10000,
     .help = "Number of images per row; by default the sheet has about as many columns as rows"},
    {.name = "rows",
     .letter = 'r',
     .type = GI_OPT_INT,
     .offset = offsetof(struct params, rows),
     .min = 1,
     .max = 10000,
     .help = "Number of rows; by default as many as the images need"},
    {.name = "cell",
     .letter = 's',
     .type = GI_OPT_EXTENT,
     .offset = offsetof(struct params, cell),
     .default_text = "256x256",
     .metavar = "WxH",
     .form = "WIDTHxHEIGHT",
     .help = "Width and height of a cell in pixels"},
    {.name = "fill",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, fill),
     .help = "Make each image cover its cell, and cut off the rest"},
    {.name = "stretch",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, stretch),
     .help = "Make each image exactly as large as its cell; this changes the aspect ratio"},
    {.name = "no-enlarge",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, no_enlarge),
     .help = "Do not enlarge images that are smaller than their cell"},
    {.name = "gap",
     .letter = 'g',
     .type = GI_OPT_INT,
     .offset = offsetof(struct params, gap),
     .default_text = "8",
     .min = 0,
     .max = 10000,
     .unit = "px",
     .help = "Space between cells"},
    {.name = "margin",
     .type = GI_OPT_INT,
     .offset = offsetof(struct params, margin),
     .default_text = "8",
     .min = 0,
     .max = 10000,
     .unit = "px",
     .help = "Space around all cells"},
    GI_GRAVITY_OPTION(struct params, "center", "Where an image is in its cell"),
    GI_ADDED_VALUE_OPTION(struct params, border, "Background of the sheet"),
    GI_N_TO_ONE_OPTIONS(struct params, report, progress),
    {0},
};

/* The images for the sheet, resized, and the properties that they share. */
struct sheet {
    const struct params *params;
    /* Its metadata has the colour profile of the first image, if all images have the same. */
    struct gi_n_to_one job;
    struct gi_image *images; /* n images; memory for all */
    int n;
    int columns, rows, width, height; /* width and height of a cell in pixels */
};

/* ---- images ---- */

/* Returns parameters of resize; the caller frees them. */
static void *resize_params(const struct sheet *sheet, struct gi_err *err)
{
    const struct params *p = sheet->params;
    char size[64];
    const struct gi_option *rows = gi_filter_resize.options;
    void *params = gi_filter_params(&gi_filter_resize, err);
    if (!params)
        return NULL;
    snprintf(size, sizeof size, "%dx%d", sheet->width, sheet->height);
    enum gi_status status = gi_option_set(params, rows, "size", size, err);
    if (!status && p->no_enlarge)
        status = gi_option_set(params, rows, "no-enlarge", NULL, err);
    if (!status && (p->fill || p->stretch))
        status = gi_option_set(params, rows, p->fill ? "fill" : "stretch", NULL, err);
    if (!status)
        status = gi_filter_resize.check(params, err);
    if (status)
        free(params);
    return status ? NULL : params;
}

/* Keeps the profile of the first image as long as all images have the same profile. */
static void keep_profile(struct sheet *sheet, const struct gi_metadata *metadata)
{
    struct gi_metadata *kept = &sheet->job.metadata;
    if (sheet->n == 0 && metadata->icc && (kept->icc = malloc(metadata->icc_nbytes))) {
        memcpy(kept->icc, metadata->icc, metadata->icc_nbytes);
        kept->icc_nbytes = metadata->icc_nbytes;
    } else if (kept->icc && (kept->icc_nbytes != metadata->icc_nbytes ||
                             memcmp(kept->icc, metadata->icc, kept->icc_nbytes))) {
        gi_metadata_free(kept);
    }
}

static enum gi_status take(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_metadata *metadata, struct gi_err *err)
{
    struct sheet *sheet = self;
    (void)item;
    (void)err;
    keep_profile(sheet, metadata);
    sheet->images[sheet->n++] = *image;
    *image = (struct gi_image){0};
    return GI_OK;
}

/* ---- the sheet ---- */

/* Returns the shape of the sheet. Its type is the type with the most bits among the images. It has
 * colour if any image has colour, and alpha if any image has alpha. */
static struct gi_image shape_of(const struct sheet *sheet)
{
    const struct params *p = sheet->params;
    struct gi_image shape = {.type = GI_U8};
    bool colour = false, alpha = false;
    for (int i = 0; i < sheet->n; i++) {
        const struct gi_image *image = &sheet->images[i];
        shape.type = image->type > shape.type ? image->type : shape.type;
        colour = colour || gi_colour_channels(image) == 3;
        alpha = alpha || gi_has_alpha(image);
    }
    shape.channels = (colour ? 3 : 1) + alpha;
    shape.width = 2 * p->margin + sheet->columns * sheet->width + (sheet->columns - 1) * p->gap;
    shape.height = 2 * p->margin + sheet->rows * sheet->height + (sheet->rows - 1) * p->gap;
    return shape;
}

/* Copies n pixels. `to` must have all channels of `from`. */
static void copy_pixels(char *to, int made, const char *from, int channels, int n, size_t nbytes,
                        const char *opaque)
{
    bool alpha = channels % 2 == 0;
    int colours = channels - alpha, want = made % 2 ? made : made - 1;
    for (int x = 0; x < n; x++) {
        for (int c = 0; c < want; c++, to += nbytes)
            memcpy(to, from + (size_t)(colours == 1 ? 0 : c) * nbytes, nbytes);
        if (made > want) {
            memcpy(to, alpha ? from + (size_t)colours * nbytes : opaque, nbytes);
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

static enum gi_status put(const struct sheet *sheet, const struct gi_image *made, int i,
                          const char *opaque, struct gi_err *err)
{
    const struct params *p = sheet->params;
    struct gi_image image;
    enum gi_status status = gi_image_convert(&image, &sheet->images[i], made->type, err);
    if (status)
        return status;
    enum gi_gravity gravity = (enum gi_gravity)p->gravity;
    int left = p->margin + i % sheet->columns * (sheet->width + p->gap) +
               gi_gravity_left(gravity, sheet->width - image.width);
    int top = p->margin + i / sheet->columns * (sheet->height + p->gap) +
              gi_gravity_above(gravity, sheet->height - image.height);
    size_t nbytes = gi_type_nbytes(made->type);
    for (int y = 0; y < image.height; y++)
        copy_pixels((char *)gi_row(made, top + y) + (size_t)left * (size_t)made->channels * nbytes,
                    made->channels, gi_row(&image, y), image.channels, image.width, nbytes, opaque);
    gi_image_free(&image);
    return GI_OK;
}

static enum gi_status finish(void *self, struct gi_image *made, struct gi_err *err)
{
    const struct sheet *sheet = self;
    struct gi_image shape = shape_of(sheet);
    struct gi_border_params border = sheet->params->border;
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
        status = gi_image_alloc(made, shape.width, shape.height, shape.channels, shape.type, err);
    if (status)
        return status;
    fill(made, pixel);
    for (int i = 0; i < sheet->n && !status; i++)
        status = put(sheet, made, i, opaque, err);
    if (status)
        gi_image_free(made);
    return status;
}

/* ---- the command ---- */

/* Chooses the numbers of columns and rows and the size of a cell for `n` images. */
static enum gi_status lay_out(struct sheet *sheet, int n, uint64_t max_pixels, struct gi_err *err)
{
    const struct params *p = sheet->params;
    const struct gi_extent *cell = &p->cell;
    if (gi_length_is_open(&cell->width) || gi_length_is_open(&cell->height) ||
        cell->width.percent || cell->height.percent)
        return gi_fail(err, GI_E_USAGE, "--cell: want width and height in pixels, as 256x256");
    if (p->fill && p->stretch)
        return gi_fail(err, GI_E_USAGE, "--fill, --stretch: want one of them");
    sheet->width = gi_side_pixels(&cell->width, 1);
    sheet->height = gi_side_pixels(&cell->height, 1);
    sheet->columns = p->columns ? p->columns
                     : p->rows  ? (n + p->rows - 1) / p->rows
                                : (int)ceil(sqrt(n));
    sheet->rows = p->rows ? p->rows : (n + sheet->columns - 1) / sheet->columns;
    if ((long long)sheet->columns * sheet->rows < n)
        return gi_fail(err, GI_E_USAGE, "%d images: %d columns of %d rows have room for %lld", n,
                       sheet->columns, sheet->rows, (long long)sheet->columns * sheet->rows);
    double pixels = ((double)sheet->width + p->gap) * sheet->columns *
                    ((double)sheet->height + p->gap) * sheet->rows;
    if (pixels > (double)max_pixels || pixels > GI_PIXELS_MAX)
        return gi_fail(err, GI_E_LIMIT, "a sheet of %.3g pixels: want at most %llu (--max-pixels)",
                       pixels, (unsigned long long)max_pixels);
    return GI_OK;
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct params *p = params[SET_OWN];
    const struct gi_io_params *io = params[SET_IO];
    struct gi_chain_step step = {.filter = &gi_filter_resize};
    const struct gi_chain chain = {.steps = &step, .n = 1};
    struct sheet sheet = {.params = p,
                          .job = {.command = self,
                                  .params = params,
                                  .report = p->report,
                                  .progress = p->progress,
                                  .chain = &chain,
                                  .self = &sheet,
                                  .take = take,
                                  .finish = finish}};
    enum gi_status status = gi_n_to_one_list(&sheet.job, operands, noperands, err);
    size_t n = sheet.job.n;
    if (!status)
        status = lay_out(&sheet, n < INT_MAX ? (int)n : INT_MAX, io->limits.max_pixels, err);
    if (!status && !(step.args.params[GI_SET_STEP_FILTER] = resize_params(&sheet, err)))
        status = err->status;
    if (!status && !(sheet.images = calloc(n, sizeof *sheet.images)))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a sheet");
    if (!status)
        status = gi_n_to_one_run(&sheet.job, err);
    for (int i = 0; i < sheet.n; i++)
        gi_image_free(&sheet.images[i]);
    free(sheet.images);
    gi_n_to_one_close(&sheet.job);
    free(step.args.params[GI_SET_STEP_FILTER]);
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
              "The report of --report has a line per input and then a line for the sheet. In "
              "that line, the field \"inputs\" holds the number of inputs.",
    .examples = "gpuimg montage *.jpg sheet.jpg\n"
                "gpuimg montage *.png sheet.png --columns 4 --gap 16 --cell 320x240\n"
                "gpuimg montage a.png b.png strip.png --rows 1 --fill --background 255",
    .min_operands = 2,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .run = run,
};
