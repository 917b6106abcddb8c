/* gpuimg corners: prints the corners of an image, as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/tables/rows_table.h"
#include "filters/regions/corners.h"

static const struct gi_column columns[] = {
    GI_COLUMN("x", NULL, INT, struct gi_peak, x),
    GI_COLUMN("y", NULL, INT, struct gi_peak, y),
    GI_COLUMN("score", NULL, REAL, struct gi_peak, value),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_peaks *corners = report->result;
    const struct gi_rows_table table = {
        .row = "corner",
        .rows = "corners",
        .digits = 9, /* of a float */
        .cells = {columns, COLUMNS, corners->peaks, corners->n, sizeof *corners->peaks}};
    return gi_rows_table_print(out, sink, format, report, &table, err);
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    return gi_table_file_write(report, print, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_corners,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = gi_table_file_check,
    .write = write_report,
};

const struct gi_command gi_command_corners = {
    .name = "corners",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg corners photo.jpg --count 20 --min-distance 10\n"
                "gpuimg corners photo.jpg corners.csv --method shi-tomasi --sigma 2\n"
                "gpuimg corners frames/*.png --table corners.csv --method fast --threshold 20",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_corners,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
