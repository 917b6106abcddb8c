/* gpuimg peaks: prints the local maxima of an image, as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/tables/rows_table.h"
#include "filters/regions/peaks.h"

static const struct gi_column columns[] = {
    GI_COLUMN("x", NULL, INT, struct gi_peak, x),
    GI_COLUMN("y", NULL, INT, struct gi_peak, y),
    GI_COLUMN("value", NULL, REAL, struct gi_peak, value),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_peaks *peaks = report->result;
    const struct gi_rows_table table = {
        .row = "peak",
        .rows = "peaks",
        .cells = {columns, COLUMNS, peaks->peaks, peaks->n, sizeof *peaks->peaks}};
    return gi_rows_table_print(out, sink, format, report, &table, err);
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    return gi_table_file_write(report, print, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_peaks,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = gi_table_file_check,
    .write = write_report,
};

const struct gi_command gi_command_peaks = {
    .name = "peaks",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg peaks sky.png --threshold 50% --min-distance 10\n"
                "gpuimg peaks spots.tif spots.csv --min-distance 5 --count 100\n"
                "gpuimg peaks distances.pfm centres.npy --min-distance 20 --keep-border\n"
                "gpuimg run 'gaussian --sigma 2 | peaks --min-distance 8' cells.png > cells.txt",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_peaks,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
