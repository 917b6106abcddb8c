/* Tables of shapes that an analysis found, with an overlay beside the table.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/plot/overlay.h"
#include "cli/tables/table_file.h"

/* The options of these reporters; struct gi_findings has them as `output`. */
struct gi_shapes_file_params {
    struct gi_table_file_params table; /* first, for the functions of tables */
    const char *overlay;               /* NULL: none */
};

extern const struct gi_option gi_shapes_file_options[];

/* gi_reporter.check and wants_image of these reporters. */
enum gi_status gi_shapes_file_check(const char *input, const char *to, const void *output,
                                    void *params, struct gi_err *err);
bool gi_shapes_file_wants_image(const void *output);

/* Warns if most pixels of the image are edges, as those of a photograph are, and not of a mask. */
void gi_shapes_file_warn_dense(const struct gi_findings *report, uint64_t nedges);

/* The gi_reporter.write of these reporters. Writes the table, which `print` prints, and the overlay
 * if there is one. shape_of() returns row i of the result, which has `n` rows, as a shape. */
enum gi_status gi_shapes_file_write(const struct gi_findings *report, gi_table_print_fn *print,
                                    struct gi_overlay_shape (*shape_of)(const void *result,
                                                                        uint64_t i),
                                    uint64_t n, struct gi_err *err);
