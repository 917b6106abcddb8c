/* gpuimg align: prints the shift between two images, and writes the moved image.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/paths/output.h"
#include "cli/tables/cells.h"
#include "cli/tables/table_file.h"

#include <stdlib.h>

#include "filters/geometry/align.h"
#include "filters/pipeline.h"
#include "imgio/metadata/geo.h"
#include "kernels/kernels.h"

struct align_output {
    struct gi_table_file_params table; /* first, for the functions of tables */
    const char *aligned;
};

static const struct gi_option output_options[] = {
    GI_TABLE_FILE_OPTIONS(struct align_output, table),
    {GI_OPTION("aligned", PATH, struct align_output, aligned), .letter = 'a', .metavar = "FILE",
     .help = "Write the input, moved as found, with bicubic interpolation; pixels outside are "
             "black, or transparent if there is alpha"},
    {0},
};

static const struct gi_column columns[] = {
    GI_COLUMN("dx", "px", REAL, struct gi_align, dx),
    GI_COLUMN("dy", "px", REAL, struct gi_align, dy),
    GI_COLUMN("angle", "degrees", REAL, struct gi_align, angle_deg),
    GI_COLUMN("scale", NULL, REAL, struct gi_align, scale),
    GI_COLUMN("score", NULL, REAL, struct gi_align, score),
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static enum gi_status print_json(FILE *out, const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_align *found = report->result;
    json_t *object = gi_report_json(report->file, report->image, report->maxval);
    char matrix[GI_ALIGN_MATRIX_NBYTES];
    gi_cells_json(object, columns, NCOLUMNS, found);
    gi_align_matrix_text(matrix, found);
    json_object_set_new(object, "matrix", json_string(matrix));
    return gi_json_print(out, object, 0, err);
}

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    static const struct gi_cell_style style = {.digits = 9, .missing = ""};
    const struct gi_align *found = report->result;
    const struct gi_cells_table table = {columns, NCOLUMNS, found, 1, sizeof *found};
    if (format == GI_TABLE_NPY)
        return gi_cells_table_npy(sink, &table, err);
    if (format == GI_TABLE_JSON)
        return print_json(out, report, err);
    if (format == GI_TABLE_CSV) {
        gi_cells_table_csv(out, &table, &style);
        return GI_OK;
    }
    gi_report_print_head(out, report->file, report->image, report->maxval);
    fprintf(out, "\nshift %.4f,%.4f, ", found->dx, found->dy);
    if (!gi_align_only_moves(found))
        fprintf(out, "angle %.4f, scale %.6f, ", found->angle_deg, found->scale);
    fprintf(out, "score %.4f\n", found->score);
    return GI_OK;
}

/* ---- the moved image ---- */

/* Writes the moved image with the metadata of the input, whose positions move too. */
static enum gi_status save_moved(const struct gi_image *moved, const struct gi_findings *report,
                                 const char *path, const struct gi_io_params *io,
                                 struct gi_err *err)
{
    static const struct gi_metadata none;
    const struct gi_align *found = report->result;
    const double map[] = {1, 0, -found->dx, 0, 1, -found->dy};
    struct gi_metadata metadata;
    enum gi_status status =
        gi_metadata_copy(&metadata, report->metadata ? report->metadata : &none, err);
    if (!status)
        gi_geo_move(&metadata, gi_align_only_moves(found) ? map : NULL, false, moved);
    if (!status)
        status = gi_cli_save(moved, &metadata, path, io, report->threads, err);
    gi_metadata_free_copy(&metadata);
    return status;
}

static enum gi_status save_aligned(const struct gi_findings *report, struct gi_err *err)
{
    const struct align_output *output = report->output;
    const struct gi_open_options open = {.threads = report->threads};
    const struct gi_io_params io = gi_table_file_io(&output->table, report->bundle);
    struct gi_queue *queue = NULL;
    struct gi_image moved;
    const struct gi_filter *filter;
    void *params;
    enum gi_status status = gi_align_step(&filter, &params, report->result, err);
    if (!status)
        status = gi_queue_open_alone(&queue, gi_kernels_cpu(), &open, err);
    if (!status)
        status = gi_run_one(queue, &moved, NULL, report->image, filter, params, err);
    if (!status) {
        status = save_moved(&moved, report, output->aligned, &io, err);
        gi_image_free(&moved);
    }
    if (queue)
        gi_queue_close_alone(&queue);
    free(params);
    return status;
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    const struct align_output *output = report->output;
    enum gi_status status = GI_OK;
    if (!report->table && output->aligned)
        status = save_aligned(report, err);
    return status ? status : gi_table_file_write(report, print, err);
}

/* ---- the command ---- */

static bool wants_image(const void *output)
{
    return ((const struct align_output *)output)->aligned != NULL;
}

static enum gi_status check(const char *input, const char *to, const void *arg, void *params,
                            struct gi_err *err)
{
    const struct align_output *output = arg;
    const struct gi_align_params *p = params;
    const char *const inputs[] = {input, p->reference, NULL};
    enum gi_status status = gi_table_file_check(input, to, &output->table, params, err);
    return status ? status
                  : gi_table_file_check_image(output->aligned, "--aligned", to, inputs,
                                              &output->table, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_align,
    .options = output_options,
    .output_nbytes = sizeof(struct align_output),
    .check = check,
    .wants_image = wants_image,
    .write = write_report,
};

const struct gi_command gi_command_align = {
    .name = "align",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg align b.png --reference a.png\n"
                "gpuimg align b.png --reference a.png --aligned moved.png\n"
                "gpuimg align b.png shift.json --reference a.png\n"
                "gpuimg align scan2.png --reference scan1.png --rotate --scale --aligned over.png\n"
                "gpuimg align b.png b.json --reference a.png --refine affine\n"
                "gpuimg align frames/*.png --reference first.png --table shifts.csv",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", output_options, sizeof(struct align_output)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_align,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
