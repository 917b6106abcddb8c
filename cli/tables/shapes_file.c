/* Writes tables of shapes and their overlays.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/shapes_file.h"

#include "cli/log.h"

#include <stdlib.h>

const struct gi_option gi_shapes_file_options[] = {
    GI_TABLE_FILE_OPTIONS(struct gi_shapes_file_params, table),
    {GI_OPTION("overlay", PATH, struct gi_shapes_file_params, overlay), .metavar = "FILE",
     .help = "Write the input with what was found drawn on it"},
    {0},
};

enum gi_status gi_shapes_file_check(const char *input, const char *to, const void *arg,
                                    void *params, struct gi_err *err)
{
    const struct gi_shapes_file_params *output = arg;
    const char *const inputs[] = {input, NULL};
    enum gi_status status = gi_table_file_check(input, to, &output->table, params, err);
    return status ? status
                  : gi_table_file_check_image(output->overlay, "--overlay", to, inputs,
                                              &output->table, err);
}

bool gi_shapes_file_wants_image(const void *output)
{
    return ((const struct gi_shapes_file_params *)output)->overlay != NULL;
}

static enum gi_status save_overlay(const struct gi_findings *report,
                                   const struct gi_overlay_shape *shapes, uint64_t n,
                                   struct gi_err *err)
{
    const struct gi_shapes_file_params *output = report->output;
    const struct gi_io_params io = gi_table_file_io(&output->table, report->bundle);
    struct gi_image image = {0};
    enum gi_status status =
        gi_overlay_shapes(&image, report->image, shapes, n, report->threads, err);
    if (!status)
        status = gi_cli_save(&image, NULL, output->overlay, &io, report->threads, err);
    gi_image_free(&image);
    return status;
}

void gi_shapes_file_warn_dense(const struct gi_findings *report, uint64_t nedges)
{
    double part = (double)nedges / report->image->width / report->image->height;
    if (part > 0.5)
        gi_cli_warn("%s: %.0f %% of the pixels are edges: want a mask of edges, as the operation "
                    "canny makes it",
                    report->file, 100 * part);
}

enum gi_status gi_shapes_file_write(const struct gi_findings *report, gi_table_print_fn *print,
                                    struct gi_overlay_shape (*shape_of)(const void *result,
                                                                        uint64_t i),
                                    uint64_t n, struct gi_err *err)
{
    const struct gi_shapes_file_params *output = report->output;
    if (output->overlay && !report->table) {
        struct gi_overlay_shape *shapes = malloc(((size_t)n + 1) * sizeof *shapes);
        if (!shapes)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %llu shapes", (unsigned long long)n);
        for (uint64_t i = 0; i < n; i++)
            shapes[i] = shape_of(report->result, i);
        enum gi_status status = save_overlay(report, shapes, n, err);
        free(shapes);
        if (status)
            return status;
    }
    return gi_table_file_write(report, print, err);
}
