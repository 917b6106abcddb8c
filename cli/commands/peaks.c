/* gpuimg peaks: prints the local maxima of an image, as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/tables/cells.h"
#include "cli/tables/table_file.h"
#include "filters/regions/peaks.h"

static const struct gi_column columns[] = {
    GI_COLUMN("x", NULL, INT, struct gi_peak, x),
    GI_COLUMN("y", NULL, INT, struct gi_peak, y),
    GI_COLUMN("value", NULL, REAL, struct gi_peak, value),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_text(FILE *out, const struct gi_findings *report)
{
    const struct gi_peaks *peaks = report->result;
    gi_report_print_head(out, report->file, report->image, report->maxval);
    fprintf(out, "\n%llu peak%s\n\n%9s %9s %14s\n", (unsigned long long)peaks->n,
            peaks->n == 1 ? "" : "s", "x", "y", "value");
    for (uint64_t i = 0; i < peaks->n; i++)
        fprintf(out, "%9d %9d %14.6g\n", peaks->peaks[i].x, peaks->peaks[i].y,
                peaks->peaks[i].value);
}

static enum gi_status print_json(FILE *out, const struct gi_findings *report,
                                 const struct gi_cells_table *table, struct gi_err *err)
{
    json_t *object = gi_report_json(report->file, report->image, report->maxval);
    json_object_set_new(object, "peaks", gi_cells_table_json(table));
    return gi_json_print(out, object, 0, err);
}

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    static const struct gi_cell_style style = {.missing = ""};
    const struct gi_peaks *peaks = report->result;
    const struct gi_cells_table table = {columns, COLUMNS, peaks->peaks, peaks->n,
                                         sizeof *peaks->peaks};
    if (format == GI_TABLE_NPY)
        return gi_cells_table_npy(sink, &table, err);
    if (format == GI_TABLE_JSON)
        return print_json(out, report, &table, err);
    if (format == GI_TABLE_CSV)
        gi_cells_table_csv(out, &table, &style);
    else
        print_text(out, report);
    return GI_OK;
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
