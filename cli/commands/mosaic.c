/* gpuimg mosaic: puts images at known places into one image.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/device_options.h"
#include "cli/commands.h"
#include "cli/inputs/n_to_one.h"
#include "cli/run/counted_nodata.h"
#include "cli/tables/places_table.h"
#include "filters/geometry/mosaic.h"
#include "filters/tone/curve.h"
#include "imgio/nodata.h"

enum { SET_OWN, SET_IO };

struct mosaic_params {
    int blend;
    bool alpha, progress;
    struct gi_extent size;
    const char *report;
    struct gi_border_params border; /* parameters of --background */
};

enum { BLEND_OVER, BLEND_LINEAR };
static const struct gi_choice blends[] = {
    [BLEND_OVER] = {"over", NULL, "later images replace earlier ones"},
    [BLEND_LINEAR] = {"linear", NULL,
                      "means, weighted by the distance from the nearest side of each image"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("blend", CHOICE, struct mosaic_params, blend), .letter = 'b', .default_text = "over",
     .choices = blends, .help = "Value of a pixel where images overlap"},
    {GI_OPTION("size", EXTENT, struct mosaic_params, size), .letter = 's', .metavar = "WxH",
     .form = "WIDTHxHEIGHT",
     .help = "Size of the mosaic in pixels, whose upper left pixel is at 0, 0; parts outside are "
             "left out. By default the mosaic is the bounding box of all images"},
    {GI_OPTION("alpha", FLAG, struct mosaic_params, alpha), .letter = 'a',
     .help = "Add alpha: pixels that no image covers are transparent"},
    GI_ADDED_VALUE_OPTION(
        struct mosaic_params, border,
        "Value of pixels that no image covers, unless the images have a value of pixels "
        "without data"),
    GI_N_TO_ONE_OPTIONS(struct mosaic_params, report, progress),
    {0},
};

struct run {
    const struct mosaic_params *params;
    struct gi_n_to_one job;
    struct gi_places_table places;
    struct gi_image shape;   /* of the mosaic */
    struct gi_nodata nodata; /* value of the first image that has one */
    int64_t left, top;       /* place of its upper left pixel */
    struct gi_mosaic mosaic;
};

/* ---- the shape ---- */

/* Adds an image to the shape, whose right and lower side are at *right and *bottom. */
static void widen(struct run *run, int64_t *right, int64_t *bottom,
                  const struct gi_place_row *place, const struct gi_image *image, bool first)
{
    bool color = gi_color_channels(image) == 3 || (!first && gi_color_channels(&run->shape) == 3);
    bool alpha = gi_has_alpha(image) || (!first && gi_has_alpha(&run->shape));
    int64_t r = (int64_t)place->x + image->width, b = (int64_t)place->y + image->height;
    run->shape.type = first || image->type > run->shape.type ? image->type : run->shape.type;
    run->shape.channels = (color ? 3 : 1) + alpha;
    run->left = first || place->x < run->left ? place->x : run->left;
    run->top = first || place->y < run->top ? place->y : run->top;
    *right = first || r > *right ? r : *right;
    *bottom = first || b > *bottom ? b : *bottom;
}

/* Reads the headers of all images, and finds the shape of the mosaic. */
static enum gi_status find_shape(struct run *run, const struct gi_io_params *io, struct gi_err *err)
{
    const struct mosaic_params *p = run->params;
    const struct gi_loading loading = {.again = true};
    struct gi_io_params head = *io;
    int64_t right = 0, bottom = 0;
    head.passed.header_only = true;
    for (size_t i = 0; i < run->places.n; i++) {
        const struct gi_place_row *place = &run->places.rows[i];
        struct gi_image image;
        struct gi_metadata metadata = {0};
        struct gi_file_info info = {0};
        enum gi_status status =
            gi_cli_load_by(&image, &metadata, &info, place->file, &head, &loading, err);
        if (!status && !run->nodata.given)
            status = gi_nodata_find(&run->nodata, io->nodata, &metadata, &info, &image, err);
        gi_metadata_free(&metadata);
        if (status)
            return status;
        struct gi_image shape = gi_cli_shape(io, &image);
        widen(run, &right, &bottom, place, &shape, i == 0);
    }
    if (!gi_length_is_open(&p->size.width)) {
        run->left = run->top = 0;
        right = gi_side_pixels(&p->size.width, 1);
        bottom = gi_side_pixels(&p->size.height, 1);
    }
    if (right - run->left > INT_MAX || bottom - run->top > INT_MAX)
        return gi_fail(err, GI_E_LIMIT, "a mosaic of %lld x %lld pixels: want sides of at most %d",
                       (long long)(right - run->left), (long long)(bottom - run->top), INT_MAX);
    run->shape.width = (int)(right - run->left);
    run->shape.height = (int)(bottom - run->top);
    if (p->alpha && !gi_has_alpha(&run->shape))
        run->shape.channels++;
    return gi_limits_check(&io->limits, &run->shape, err);
}

static enum gi_status begin(struct run *run, const struct gi_io_params *io, struct gi_err *err)
{
    struct gi_border_params border = run->params->border;
    struct gi_err warning = {0};
    char pixel[GI_PIXEL_NBYTES_MAX] = {0};
    border.mode = GI_BORDER_VALUE;
    const struct gi_border_spec value = gi_border_spec_from(&border, &run->shape);
    if (!run->params->alpha && !run->nodata.given)
        gi_border_pixel(pixel, &value, &run->shape);
    enum gi_status status = gi_color_check(&warning, &border.value, "background", &run->shape, err);
    if (!status)
        status = gi_cli_warn_or_fail(&warning, NULL, io, err);
    struct gi_image shape = run->shape;
    bool hides = run->nodata.given && !gi_has_alpha(&shape);
    shape.channels += hides;
    if (!status)
        status =
            gi_mosaic_new(&run->mosaic, &shape, pixel, run->params->blend == BLEND_LINEAR, err);
    if (run->nodata.given)
        run->mosaic.made.mask = hides ? GI_MASK_HIDDEN : GI_MASK_SHOWN;
    return status;
}

/* ---- images ---- */

static enum gi_status take(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_metadata *metadata, struct gi_err *err)
{
    struct run *run = self;
    const struct gi_place_row *place = &run->places.rows[item->source.place];
    int64_t x = place->x - run->left, y = place->y - run->top;
    const double map[] = {1, 0, (double)-x, 0, 1, (double)-y}; /* of the mosaic to the image */
    gi_n_to_one_place(metadata, map);
    if (run->nodata.given)
        gi_nodata_remove(metadata);
    else if (image->type != run->shape.type)
        gi_nodata_drop(metadata, "samples have another type");
    item->line.place = (struct gi_line_place){(int)x, (int)y, image->width, image->height};
    return gi_mosaic_add(&run->mosaic, image, x, y, err);
}

static enum gi_status finish(void *self, struct gi_image *made, struct gi_err *err)
{
    struct run *run = self;
    gi_mosaic_end(&run->mosaic, made);
    if (!run->nodata.given)
        return GI_OK;
    gi_nodata_name_written(&run->job.metadata, &run->nodata, run->shape.type, run->job.io);
    return gi_nodata_restore(made, &run->nodata, run->job.metadata.light, err);
}

/* ---- the command ---- */

/* Makes the list of inputs from the table. */
static enum gi_status list(struct run *run, const char *table, char *output, struct gi_err *err)
{
    enum gi_status status = gi_places_table_read(&run->places, table, err);
    if (status)
        return status;
    char **operands = calloc(run->places.n + 1, sizeof *operands);
    if (!operands || run->places.n >= INT_MAX) {
        free(operands);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu places", run->places.n);
    }
    for (size_t i = 0; i < run->places.n; i++)
        operands[i] = run->places.rows[i].file;
    operands[run->places.n] = output;
    status = gi_n_to_one_list(&run->job, operands, (int)run->places.n + 1, err);
    free(operands);
    if (!status && run->job.n != run->places.n)
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         "%s: %zu rows, and %zu images: want one image per row, as doc.tif[0]",
                         table, run->places.n, run->job.n);
    return status;
}

static enum gi_status run_command(const struct gi_command *self, void *const *params,
                                  char **operands, int noperands, struct gi_err *err)
{
    const struct mosaic_params *p = params[SET_OWN];
    const struct gi_io_params *io = params[SET_IO];
    struct run run = {.params = p,
                      .job = {.work = {.command = self,
                                       .params = params,
                                       .report = p->report,
                                       .list = operands[0],
                                       .progress = p->progress,
                                       .hides_nodata = true,
                                       .self = &run,
                                       .take = take,
                                       .finish = finish}}};
    bool open[] = {gi_length_is_open(&p->size.width), gi_length_is_open(&p->size.height)};
    enum gi_status status = GI_OK;
    if (open[0] != open[1] || p->size.width.percent || p->size.height.percent)
        status = gi_fail(err, GI_E_USAGE, "--size: want width and height in pixels, as 4000x3000");
    if (!status)
        status = list(&run, operands[0], operands[1], err);
    if (!status)
        status = find_shape(&run, io, err);
    if (!status)
        status = begin(&run, io, err);
    if (!status)
        status = gi_n_to_one_run(&run.job, err);
    gi_mosaic_free(&run.mosaic);
    gi_n_to_one_close(&run.job);
    gi_places_table_free(&run.places);
    return status;
}

const struct gi_command gi_command_mosaic = {
    .name = "mosaic",
    .group = GI_GROUP_IMAGES,
    .operands = "TABLE OUTPUT",
    .summary = "Mosaic: stitch tiles or scans with known positions into one image",
    .manual =
        "TABLE is a CSV file with the columns file, x and y: an image, and the place of its upper "
        "left pixel in whole pixels, which may be negative. Other columns are ignored. A relative "
        "path in the column file is relative to the current folder, not to that of TABLE. The "
        "mosaic is the bounding box of all images, or has the --size.\n\n"
        "Where images overlap, later rows replace earlier ones. With --blend linear each pixel is "
        "the mean of the images, weighted by the distance from the nearest side of each image, so "
        "that no seams are visible. Pixels whose alpha is 0 leave what is below; alpha also "
        "weights the mean. Images of 16 bits or floats keep their depth: the mosaic has the "
        "deepest sample type of the images, colour if one has colour, and alpha if one has alpha "
        "or with --alpha.\n\n"
        "Pixels without data, which have the value of --nodata or of the tag GDAL_NODATA of their "
        "file, leave what is below, too, and are not blended. The pixels of the mosaic that no "
        "data cover get that value, and a TIFF has the tag; if files have several values, it is "
        "that of the first one in TABLE that has one.\n\n"
        "The report of --report has the field \"place\" of each input in the mosaic. Memory holds "
        "the mosaic, with --blend linear 24 to 40 bytes more per pixel, and some images. Places "
        "are found by gpuimg find, for example, and gpuimg tiles cuts the mosaic.",
    .examples = "gpuimg mosaic places.csv whole.tif\n"
                "gpuimg mosaic places.csv whole.tif --blend linear\n"
                "gpuimg mosaic places.csv whole.png --alpha --size 4000x3000\n"
                "gpuimg mosaic places.csv whole.tif --nodata 0",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{"Options", options, sizeof(struct mosaic_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .run = run_command,
};
