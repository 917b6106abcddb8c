/* gpuimg find: prints the places where a template fits, and writes a map of scores and an overlay.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/paths/output.h"
#include "cli/plot/overlay.h"
#include "cli/tables/rows_table.h"

#include <stdlib.h>

#include "filters/statistics/find.h"

struct find_output {
    struct gi_table_file_params table; /* first, for the functions of tables */
    const char *map, *overlay;
};

static const struct gi_option output_options[] = {
    GI_TABLE_FILE_OPTIONS(struct find_output, table),
    {GI_OPTION("map", PATH, struct find_output, map), .metavar = "FILE",
     .help = "Write the score at each place as an image of floats, such as .npy, .tif or .pfm; in "
             "formats of integers 0 is black and 1 is white"},
    {GI_OPTION("overlay", PATH, struct find_output, overlay), .metavar = "FILE",
     .help = "Write the input with a numbered box at each place, the best first"},
    {0},
};

/* ---- the table ---- */

static const struct gi_column columns[] = {
    GI_COLUMN("x", "px", INT, struct gi_hit, x),
    GI_COLUMN("y", "px", INT, struct gi_hit, y),
    GI_COLUMN("width", "px", INT, struct gi_hit, width),
    GI_COLUMN("height", "px", INT, struct gi_hit, height),
    GI_COLUMN("score", NULL, REAL, struct gi_hit, score),
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static void add_json(json_t *object, const struct gi_findings *report)
{
    const struct gi_find_params *p = report->params;
    json_object_set_new(object, "method", json_string(gi_find_methods[p->method].name));
}

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_find *find = report->result;
    const struct gi_rows_table table = {
        .row = "place",
        .rows = "places",
        .cells = {columns, NCOLUMNS, find->hits, find->n, sizeof *find->hits},
        .digits = 9, /* of a float */
        .add_json = add_json};
    return gi_rows_table_print(out, sink, format, report, &table, err);
}

/* ---- images ---- */

static enum gi_status save_overlay(const struct gi_findings *report, const struct gi_io_params *io,
                                   struct gi_err *err)
{
    const struct find_output *output = report->output;
    const struct gi_find *find = report->result;
    struct gi_extract boxes = {.n = (uint32_t)find->n,
                               .regions = calloc(find->n + 1, sizeof *boxes.regions)};
    struct gi_image image;
    if (!boxes.regions)
        return gi_fail(err, GI_E_MEMORY, "out of memory: the boxes of %zu places", find->n);
    for (size_t i = 0; i < find->n; i++) {
        const struct gi_hit *hit = &find->hits[i];
        boxes.regions[i].min_x = (uint32_t)hit->x;
        boxes.regions[i].min_y = (uint32_t)hit->y;
        boxes.regions[i].max_x = (uint32_t)(hit->x + hit->width - 1);
        boxes.regions[i].max_y = (uint32_t)(hit->y + hit->height - 1);
    }
    enum gi_status status = gi_overlay(&image, report->image, &boxes, report->threads, err);
    free(boxes.regions);
    if (status)
        return status;
    status = gi_cli_save(&image, NULL, output->overlay, io, report->threads, err);
    gi_image_free(&image);
    return status;
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    const struct find_output *output = report->output;
    const struct gi_find *find = report->result;
    const struct gi_io_params io = gi_table_file_io(&output->table, report->bundle);
    enum gi_status status = GI_OK;
    if (!report->table && output->map)
        status = gi_cli_save(&find->map, NULL, output->map, &io, report->threads, err);
    if (!status && !report->table && output->overlay)
        status = save_overlay(report, &io, err);
    return status ? status : gi_table_file_write(report, print, err);
}

/* ---- the command ---- */

static bool wants_image(const void *output)
{
    return ((const struct find_output *)output)->overlay != NULL;
}

static enum gi_status check(const char *input, const char *to, const void *arg, void *params,
                            struct gi_err *err)
{
    const struct find_output *output = arg;
    struct gi_find_params *p = params;
    const char *const inputs[] = {input, p->template, NULL};
    p->map = output->map != NULL;
    enum gi_status status = gi_table_file_check(input, to, &output->table, params, err);
    if (!status)
        status = gi_table_file_check_image(output->map, "--map", to, inputs, &output->table, err);
    if (!status)
        status = gi_table_file_check_image(output->overlay, "--overlay", to, inputs, &output->table,
                                           err);
    if (!status && output->map && output->overlay &&
        gi_output_same(gi_output_file(output->map), gi_output_file(output->overlay)))
        status = gi_fail(err, GI_E_USAGE, "--map %s, --overlay %s: want a file for each",
                         output->map, output->overlay);
    return status;
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_find_places,
    .options = output_options,
    .output_nbytes = sizeof(struct find_output),
    .check = check,
    .wants_image = wants_image,
    .write = write_report,
};

const struct gi_command gi_command_find_places = {
    .name = "find",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg find page.png --template logo.png\n"
                "gpuimg find page.png hits.csv --template logo.png --count 1 --min-score 0.6\n"
                "gpuimg find page.png --template logo.png --gray --overlay found.png\n"
                "gpuimg find page.png --template logo.png --method sqdiff --map scores.npy\n"
                "gpuimg find screens/*.png --template logo.png --table hits.csv",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", output_options, sizeof(struct find_output)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_find_places,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
