/* gpuimg extract: writes the connected components of an image as table, label image, mask, overlay,
 * crops and points.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/reporter.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/log.h"
#include "cli/paths/crop_names.h"
#include "cli/paths/output.h"
#include "cli/tables/columns.h"
#include "cli/tables/extract_outputs.h"
#include "cli/text.h"
#include "filters/tone/auto_threshold.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imgio/npy.h"

static const struct gi_choice formats[] = {
    {"auto", NULL, "the format of the table's suffix; on standard output CSV"},
    {"csv", NULL, "a line of names, then a line per region"},
    {"json", NULL, "one object"},
    {"jsonl", NULL, "an object per region, one per line"},
    {0},
};

static const struct gi_option output_options[] = {
    {GI_OPTION("format", CHOICE, struct gi_extract_output, format), .default_text = "auto",
     .choices = formats, .help = "Format of the table"},
    {GI_OPTION("labels", PATH, struct gi_extract_output, labels), .metavar = "FILE",
     .help = "Write a label image: each pixel has the label of its region, or 0. A .png, .pgm or "
             ".pam file has 16 bits, a .npy file has 32 bits, and a .pfm file has floats"},
    {GI_OPTION("labels-picture", PATH, struct gi_extract_output, labels_picture), .metavar = "FILE",
     .help = "Write an image to look at: each region has a colour of its own, on black"},
    {GI_OPTION("mask", PATH, struct gi_extract_output, mask), .metavar = "FILE",
     .help = "Write a mask: white inside regions, black outside"},
    {GI_OPTION("overlay", PATH, struct gi_extract_output, overlay), .metavar = "FILE",
     .help = "Write the input with a box and its label drawn at each region; in images of 16 bits "
             "and of floats the samples from the 0.1th to the 99.9th percentile become 0 to full "
             "scale"},
    {GI_OPTION("crops", PATH, struct gi_extract_output, crops), .metavar = "DIR",
     .help = "Write the part of the input at each bounding box into this new or empty folder, as "
             "region-000001.png and so on by label"},
    {GI_OPTION("force", FLAG, struct gi_extract_output, force),
     .help = "Let --crops replace a folder that holds only crops of an earlier run"},
    {GI_OPTION("crop-margin", INT, struct gi_extract_output, crop_margin), .default_text = "0",
     .min = 0, .max = 1000000, .unit = "px",
     .help = "Make each crop larger than the bounding box by this on each side"},
    {GI_OPTION("crop-format", TEXT, struct gi_extract_output, crop_format), .default_text = "png",
     .metavar = "NAME", .help = "Format of the crops, and suffix of their names"},
    {GI_OPTION("points", PATH, struct gi_extract_output, points), .metavar = "FILE",
     .help = "Write a list of the pixels of all regions in raster order, with x, y and value, as "
             ".csv or .npy (a structured array)"},
    {GI_OPTION("pixel-size", TEXT, struct gi_extract_output, pixel_size), .metavar = "LENGTH",
     .help = "Side of a pixel with its unit, as in 0.32um (micrometres or microns): areas, "
             "perimeters, centroids, axes "
             "and diameters are then in that unit, and the names of their columns end in it; "
             "bounding boxes stay in pixels"},
    GI_COMPRESSION_OPTION(struct gi_extract_output, compression),
    {GI_OPTION("no-clobber", FLAG, struct gi_extract_output, no_clobber),
     .help = "Never replace a file that exists"},
    {0},
};

static enum gi_status pick_format(enum gi_table_format *format, const char *path, int asked,
                                  struct gi_err *err)
{
    *format = GI_TABLE_CSV;
    if (asked)
        *format = (enum gi_table_format)(asked - 1);
    else if (gi_text_has_suffix(path, "json"))
        *format = GI_TABLE_JSON;
    else if (gi_text_has_suffix(path, "jsonl ndjson"))
        *format = GI_TABLE_JSONL;
    else if (strcmp(path, "-") != 0 && !gi_text_has_suffix(path, "csv"))
        return gi_fail(err, GI_E_USAGE,
                       "%s: want a name that ends in .csv, .json or .jsonl, or "
                       "--format",
                       path);
    return GI_OK;
}

/* Before any file is changed, checks that no two outputs have the same path, that no output is an
 * input, and that every output can be written. */
static enum gi_status check_paths(const char *image, const char *mask, const char *labels,
                                  const char *table, const struct gi_extract_output *output,
                                  struct gi_err *err)
{
    const struct {
        const char *name, *path, *file;
    } results[] = {
        {"TABLE", table, table},
        {"--points", output->points, output->points},
        {"--labels", output->labels, output->labels ? gi_output_file(output->labels) : NULL},
        {"--labels-picture", output->labels_picture,
         output->labels_picture ? gi_output_file(output->labels_picture) : NULL},
        {"--mask", output->mask, output->mask ? gi_output_file(output->mask) : NULL},
        {"--overlay", output->overlay, output->overlay ? gi_output_file(output->overlay) : NULL},
        {"--crops", output->crops, output->crops}};
    size_t n = sizeof results / sizeof *results;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i && results[i].path; j++)
            if (results[j].path && gi_output_same(results[i].file, results[j].file))
                return gi_fail(err, GI_E_USAGE,
                               "%s %s and %s %s: both go to %s, want a place for each",
                               results[j].name, results[j].path, results[i].name, results[i].path,
                               strcmp(results[i].file, "-") == 0 ? "standard output" : "one file");
    const char *outputs[sizeof results / sizeof *results + 1] = {NULL};
    const char *const inputs[] = {image, mask ? mask : labels, NULL};
    for (size_t i = 0, used = 0; i < n; i++)
        if (results[i].path)
            outputs[used++] = results[i].path;
    enum gi_status status = gi_output_check_plain("TABLE", table, err);
    if (!status)
        status = gi_output_check_plain("--points", output->points, err);
    if (!status)
        status = gi_output_check_plain("--crops", output->crops, err);
    if (!status)
        status = gi_output_check_inputs(outputs, inputs, err);
    for (size_t i = 0; i < n - 1 && !status; i++)
        if (results[i].path)
            status = gi_output_check(results[i].file, output->no_clobber, err);
    if (!status && output->crops)
        status = gi_output_check_folder("--crops", output->crops, "crops",
                                        output->force ? gi_crop_is_name : NULL, err);
    return !status && output->crops ? gi_output_check_inside("--crops", output->crops, inputs, err)
                                    : status;
}

/* Sets in `params` which parts of the result the outputs need. */
static enum gi_status check(const char *image, const char *table, const void *arg, void *params,
                            struct gi_err *err)
{
    const struct gi_extract_output *output = arg;
    struct gi_extract_params *asked = params;
    enum gi_table_format format;
    asked->labels = output->labels || output->labels_picture || output->mask;
    asked->points = output->points;
    enum gi_status status = pick_format(&format, table, output->format, err);
    if (!status && output->points && strcmp(output->points, "-") != 0 &&
        !gi_npy_is(output->points) && !gi_text_has_suffix(output->points, "csv"))
        status = gi_fail(err, GI_E_USAGE, "--points %s: want a name that ends in .csv or .npy",
                         output->points);
    if (!status)
        status = gi_extract_check_images(output, err);
    if (!status)
        status =
            gi_extract_pixel_size(&(double){0}, &(const char *){NULL}, output->pixel_size, err);
    return status ? status
                  : check_paths(image, asked->mask_image, asked->labels_image, table, output, err);
}

enum gi_status gi_extract_pixel_size(double *size, const char **unit, const char *text,
                                     struct gi_err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *end;
    *size = 1;
    *unit = "";
    if (!text)
        return GI_OK;
    *size = strtod(text, &end);
    *unit = end + strspn(end, " ");
    if (strcmp(*unit, "\u00b5m") == 0 || strcmp(*unit, "\u03bcm") == 0) /* both are written as mu */
        *unit = "um";
    size_t n = strspn(*unit, letters);
    if (end == text || !(*size > 0 && *size < 1e9) || n < 1 || n > 8 || (*unit)[n])
        return gi_fail(err, GI_E_USAGE,
                       "--pixel-size %s: want a length above 0 with a unit, as in 0.32um", text);
    return GI_OK;
}

static bool wants_image(const void *arg)
{
    const struct gi_extract_output *output = arg;
    return output->overlay || output->crops;
}

struct sinks {
    struct gi_sink *table, *points;
    bool columned; /* the table is for a terminal: CSV in memory, which is printed in columns */
};

static enum gi_status write_all(struct sinks *sinks, const struct gi_extract_view *view,
                                enum gi_table_format format, struct gi_err *err)
{
    enum gi_status status = gi_extract_images(view, err);
    if (!status && sinks->points)
        status = gi_extract_points(sinks->points, view, view->output->points, err);
    if (!status)
        status = gi_extract_table(sinks->table, view, format, err);
    if (!status && sinks->points)
        status = gi_bundle_keep(view->bundle, &sinks->points, false, err);
    if (!status)
        status = sinks->columned ? gi_columns_end(&sinks->table, err)
                                 : gi_bundle_keep(view->bundle, &sinks->table, false, err);
    return status;
}

/* Tells a person at a terminal what was found: "21 regions above 85 (otsu)". */
static void tell(const struct gi_extract *extract, const struct gi_extract_params *asked)
{
    char level[64] = " in the mask", of[32] = "", method[24] = "";
    if (asked->at.kind == GI_LEVEL_AUTO)
        snprintf(method, sizeof method, " (%s)", gi_threshold_methods[asked->at.method].name);
    if (asked->labels_image)
        snprintf(level, sizeof level, " in the label image");
    else if (!asked->mask_image)
        snprintf(level, sizeof level, " %s %.6g%s", asked->invert ? "not above" : "above",
                 extract->threshold, method);
    if (extract->n != extract->found)
        snprintf(of, sizeof of, " of %lu", (unsigned long)extract->found);
    gi_cli_note("%lu%s region%s%s", (unsigned long)extract->n, of,
                extract->n == 1 && !*of ? "" : "s", level);
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_extract_output *output = report->output;
    const struct gi_extract_params *asked = report->params;
    enum gi_table_format format;
    struct sinks sinks = {0};
    struct gi_extract_view view = {.extract = report->result,
                                   .image = report->image,
                                   .metadata = report->metadata,
                                   .file = report->file,
                                   .connectivity = asked->connectivity ? 8 : 4,
                                   .masked = asked->mask_image || asked->labels_image,
                                   .output = output,
                                   .threads = report->threads,
                                   .bundle = report->bundle};
    enum gi_status status =
        gi_extract_pixel_size(&view.pixel_size, &view.unit, output->pixel_size, err);
    if (status)
        return status;
    if (report->table)
        return gi_extract_table(report->table, &view, report->json ? GI_TABLE_JSON : GI_TABLE_CSV,
                                err);
    status = pick_format(&format, report->to, output->format, err);
    sinks.columned = !output->format && strcmp(report->to, "-") == 0 && isatty(STDOUT_FILENO);
    if (!status)
        status = sinks.columned ? gi_sink_open_memory(&sinks.table, "standard output", err)
                                : gi_bundle_open(report->bundle, &sinks.table, report->to,
                                                 output->no_clobber, err);
    if (!status && output->points)
        status =
            gi_bundle_open(report->bundle, &sinks.points, output->points, output->no_clobber, err);
    if (!status)
        status = write_all(&sinks, &view, format, err);
    gi_sink_abandon(&sinks.points);
    gi_sink_abandon(&sinks.table);
    if (!status)
        tell(view.extract, asked);
    return status;
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_extract,
    .options = output_options,
    .output_nbytes = sizeof(struct gi_extract_output),
    .check = check,
    .wants_image = wants_image,
    .write = write_report,
};

const struct gi_command gi_command_extract = {
    .name = "extract",
    .operands = "INPUT [TABLE]",
    .examples =
        "gpuimg extract coins.png\n"
        "gpuimg extract coins.png coins.json --min-area 50 --overlay found.png\n"
        "gpuimg extract cells.png cells.csv --threshold 50% --labels labels.npy --crops cells/\n"
        "gpuimg extract map.png --mask-image mask.png --points points.npy\n"
        "gpuimg extract green.tif cells.csv --labels-image labels.png --descriptors\n"
        "gpuimg extract dust.png --descriptors --json | jq '[.regions[] | select(.circularity > "
        "0.9) | .area]'",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", output_options, sizeof(struct gi_extract_output)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_extract,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
