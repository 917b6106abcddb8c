/* gpuimg circles: writes circles as text, CSV, JSON or .npy, and draws them.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/tables/rows_table.h"
#include "cli/tables/shapes_file.h"
#include "filters/regions/circles.h"

static const struct gi_column columns[] = {
    GI_COLUMN("x", NULL, REAL, struct gi_circle, x),
    GI_COLUMN("y", NULL, REAL, struct gi_circle, y),
    GI_COLUMN("radius", NULL, REAL, struct gi_circle, radius),
    GI_COLUMN("votes", NULL, INT, struct gi_circle, votes),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_circles *circles = report->result;
    const struct gi_rows_table table = {
        .row = "circle",
        .rows = "circles",
        .cells = {columns, COLUMNS, circles->circles, circles->n, sizeof *circles->circles},
        .digits = 9};
    return gi_rows_table_print(out, sink, format, report, &table, err);
}

static struct gi_overlay_shape shape_of(const void *result, uint64_t i)
{
    const struct gi_circle *circle = &((const struct gi_circles *)result)->circles[i];
    return (struct gi_overlay_shape){
        .circle = true, .x = circle->x, .y = circle->y, .radius = circle->radius};
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_circles *circles = report->result;
    gi_shapes_file_warn_dense(report, circles->nedges);
    return gi_shapes_file_write(report, print, shape_of, circles->n, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_circles,
    .options = gi_shapes_file_options,
    .output_nbytes = sizeof(struct gi_shapes_file_params),
    .check = gi_shapes_file_check,
    .wants_image = gi_shapes_file_wants_image,
    .write = write_report,
};

const struct gi_command gi_command_circles = {
    .name = "circles",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg circles edges.png --min-radius 20 --max-radius 60\n"
                "gpuimg circles edges.png circles.csv --count 10 --overlay drawn.png\n"
                "gpuimg circles edges.png circles.npy --min-distance 50 --min-arc 240\n"
                "gpuimg run 'canny --sigma 2 | circles --min-radius 20 --to circles.csv' coins.png",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_shapes_file_options, sizeof(struct gi_shapes_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_circles,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
