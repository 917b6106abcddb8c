/* gpuimg lines: writes straight lines as text, CSV, JSON or .npy, and draws them.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/tables/rows_table.h"
#include "cli/tables/shapes_file.h"
#include "filters/regions/hough.h"

#include <stdlib.h>

/* A line, and the shape that gpuimg draw --table reads. */
struct row {
    struct gi_hough_line line;
    const char *shape;
};

static const struct gi_column columns[] = {
    GI_COLUMN("shape", NULL, TEXT, struct row, shape),
    GI_COLUMN("rho", NULL, REAL, struct row, line.rho),
    GI_COLUMN("theta", NULL, REAL, struct row, line.theta),
    GI_COLUMN("votes", NULL, INT, struct row, line.votes),
    GI_COLUMN("x1", NULL, REAL, struct row, line.x1),
    GI_COLUMN("y1", NULL, REAL, struct row, line.y1),
    GI_COLUMN("x2", NULL, REAL, struct row, line.x2),
    GI_COLUMN("y2", NULL, REAL, struct row, line.y2),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_hough_lines *lines = report->result;
    const bool shapes = format == GI_TABLE_CSV || format == GI_TABLE_JSON; /* for programs */
    struct row *rows = malloc(((size_t)lines->n + 1) * sizeof *rows);
    if (!rows)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %llu lines", (unsigned long long)lines->n);
    for (uint64_t i = 0; i < lines->n; i++)
        rows[i] = (struct row){lines->lines[i], "line"};
    const struct gi_rows_table table = {
        .row = "line",
        .rows = "lines",
        .cells = {columns + !shapes, COLUMNS - !shapes, rows, lines->n, sizeof *rows},
        .digits = 9};
    enum gi_status status = gi_rows_table_print(out, sink, format, report, &table, err);
    free(rows);
    return status;
}

static struct gi_overlay_shape shape_of(const void *result, uint64_t i)
{
    const struct gi_hough_line *line = &((const struct gi_hough_lines *)result)->lines[i];
    return (struct gi_overlay_shape){.x = line->x1, .y = line->y1, .x2 = line->x2, .y2 = line->y2};
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_hough_lines *lines = report->result;
    gi_shapes_file_warn_dense(report, lines->nedges);
    return gi_shapes_file_write(report, print, shape_of, lines->n, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_lines,
    .options = gi_shapes_file_options,
    .output_nbytes = sizeof(struct gi_shapes_file_params),
    .check = gi_shapes_file_check,
    .wants_image = gi_shapes_file_wants_image,
    .write = write_report,
};

const struct gi_command gi_command_lines = {
    .name = "lines",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg lines edges.png --threshold 80 --count 20\n"
                "gpuimg lines edges.png segments.csv --method probabilistic --min-length 50\n"
                "gpuimg lines edges.png lines.json --overlay drawn.png\n"
                "gpuimg run 'canny | lines --method probabilistic --to lines.csv' photo.jpg",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_shapes_file_options, sizeof(struct gi_shapes_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_lines,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
