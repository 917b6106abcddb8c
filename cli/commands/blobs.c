/* gpuimg blobs: prints the blobs of an image, as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/tables/rows_table.h"
#include "filters/regions/blobs.h"

static const struct gi_column columns[] = {
    GI_COLUMN("x", NULL, REAL, struct gi_blob, x),
    GI_COLUMN("y", NULL, REAL, struct gi_blob, y),
    GI_COLUMN("sigma", NULL, REAL, struct gi_blob, sigma),
    GI_COLUMN("radius", NULL, REAL, struct gi_blob, radius),
    GI_COLUMN("flux", NULL, REAL, struct gi_blob, flux),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_blobs *blobs = report->result;
    char note[96];
    snprintf(note, sizeof note, ": the highest response is %.3g, not above --threshold",
             blobs->highest);
    const struct gi_rows_table table = {
        .row = "blob",
        .rows = "blobs",
        .note = blobs->n ? NULL : note,
        .cells = {columns, COLUMNS, blobs->blobs, blobs->n, sizeof *blobs->blobs}};
    return gi_rows_table_print(out, sink, format, report, &table, err);
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    return gi_table_file_write(report, print, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_blobs,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = gi_table_file_check,
    .write = write_report,
};

const struct gi_command gi_command_blobs = {
    .name = "blobs",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg blobs sky.tif stars.csv --threshold 0.02 --max-sigma 4\n"
                "gpuimg blobs cells.png cells.json --min-sigma 4 --max-sigma 20 --invert\n"
                "gpuimg blobs stack/*.tif --table stars.csv --aperture 6 --count 500",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_blobs,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
