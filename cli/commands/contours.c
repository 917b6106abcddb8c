/* gpuimg contours: writes the outlines of regions as polygons.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/reporter.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/paths/output.h"
#include "cli/tables/contours_table.h"
#include "cli/tables/table_file.h"
#include "cli/text.h"

#include <string.h>

struct output_params {
    int format; /* 0: the suffix decides; n above 0: enum gi_contours_format n - 1 */
    bool no_clobber;
};

static const struct gi_choice formats[] = {
    {"auto", NULL, "the format of the table's suffix; on standard output CSV"},
    {"csv", NULL, "a line of names, then a line per contour"},
    {"geojson", NULL, "a FeatureCollection, with a polygon per region"},
    {"svg", NULL, "a drawing with a path per region"},
    {"json", "geojson", NULL},
    {0},
};

static const struct gi_option output_options[] = {
    {GI_OPTION("format", CHOICE, struct output_params, format), .default_text = "auto",
     .choices = formats, .help = "Format of the table"},
    {GI_OPTION("no-clobber", FLAG, struct output_params, no_clobber),
     .help = "Never replace a file that exists"},
    {0},
};

static enum gi_status pick_format(enum gi_contours_format *format, const char *path, int asked,
                                  struct gi_err *err)
{
    *format = GI_CONTOURS_CSV;
    if (asked)
        *format = (enum gi_contours_format)(asked - 1);
    else if (gi_text_has_suffix(path, "geojson json"))
        *format = GI_CONTOURS_GEOJSON;
    else if (gi_text_has_suffix(path, "svg"))
        *format = GI_CONTOURS_SVG;
    else if (strcmp(path, "-") != 0 && !gi_text_has_suffix(path, "csv"))
        return gi_fail(err, GI_E_USAGE,
                       "%s: want a name that ends in .csv, .geojson, .json or .svg, or --format",
                       path);
    return GI_OK;
}

static enum gi_status check(const char *input, const char *to, const void *arg, void *params,
                            struct gi_err *err)
{
    const struct output_params *output = arg;
    enum gi_contours_format format;
    enum gi_status status = pick_format(&format, to, output->format, err);
    return status ? status : gi_table_file_check_path(input, to, output->no_clobber, err);
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    const struct output_params *output = report->output;
    const struct gi_contours_view view = {report->result, report->image, report->file};
    enum gi_contours_format format;
    struct gi_sink *sink = NULL;
    if (report->table) {
        format = report->json || gi_text_has_suffix(report->to, "geojson") ? GI_CONTOURS_GEOJSON
                 : gi_text_has_suffix(report->to, "svg")                   ? GI_CONTOURS_SVG
                                                                           : GI_CONTOURS_CSV;
        return gi_contours_write(report->table, &view, format, err);
    }
    enum gi_status status = pick_format(&format, report->to, output->format, err);
    if (!status)
        status = gi_bundle_open(report->bundle, &sink, report->to, output->no_clobber, err);
    if (!status)
        status = gi_contours_write(sink, &view, format, err);
    if (!status)
        status = gi_bundle_keep(report->bundle, &sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_contours,
    .options = output_options,
    .output_nbytes = sizeof(struct output_params),
    .check = check,
    .write = write_report,
    .suffixes = "csv json geojson svg",
};

const struct gi_command gi_command_contours = {
    .name = "contours",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg contours mask.png regions.geojson\n"
                "gpuimg contours coins.png coins.svg --threshold otsu --simplify 1.5\n"
                "gpuimg contours labels.png cells.csv --by-label\n"
                "gpuimg contours masks/*.png --out-dir outlines --suffix .svg\n"
                "gpuimg run 'gaussian --sigma 1 | threshold | contours' coins.png > coins.csv",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", output_options, sizeof(struct output_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_contours,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
