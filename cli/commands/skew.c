/* gpuimg skew: prints the angle of a scanned page, as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/tables/cells.h"
#include "cli/tables/table_file.h"
#include "filters/geometry/skew.h"

static const struct gi_column columns[] = {
    GI_COLUMN("angle", "degrees", REAL, struct gi_skew, angle_deg),
    GI_COLUMN("score", NULL, REAL, struct gi_skew, score),
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    static const struct gi_cell_style style = {.digits = 9, .missing = ""};
    const struct gi_skew *skew = report->result;
    const struct gi_cells_table table = {columns, NCOLUMNS, skew, 1, sizeof *skew};
    if (format == GI_TABLE_NPY)
        return gi_cells_table_npy(sink, &table, err);
    if (format == GI_TABLE_JSON) {
        json_t *object = gi_report_json(report->file, report->image, report->maxval);
        gi_cells_json(object, columns, NCOLUMNS, skew);
        return gi_json_print(out, object, 0, err);
    }
    if (format == GI_TABLE_CSV) {
        gi_cells_table_csv(out, &table, &style);
        return GI_OK;
    }
    gi_report_print_head(out, report->file, report->image, report->maxval);
    if (isnan(skew->angle_deg))
        fprintf(out, "\nno lines of text, score %.2f\n", skew->score);
    else
        fprintf(out, "\nangle %.2f degrees, score %.2f\n", skew->angle_deg, skew->score);
    return GI_OK;
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    return gi_table_file_write(report, print, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_skew,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = gi_table_file_check,
    .write = write_report,
};

const struct gi_command gi_command_skew = {
    .name = "skew",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg skew scan.png\n"
                "gpuimg skew scan.png skew.json --max-angle 30\n"
                "gpuimg skew pages/*.tif --table -    # one row per page, on standard output\n"
                "gpuimg run 'crop --size 80% --gravity center | skew' scan.png",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_skew,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
