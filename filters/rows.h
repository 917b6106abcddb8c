/* Runs a pipeline from a source of rows to rows, for images that are larger than memory. Rows of
 * the result are made in bands, when they are read. SPDX-License-Identifier: MIT */
#pragma once

#include "filters/pipeline.h"
#include "imgio/rows.h"

struct gi_pipeline_rows;

/* Begins a run in which each band takes at most `nbytes` bytes, with all rows that it needs, and
 * makes the measuring passes over all rows of the source. All arguments must outlive *rows, which
 * gi_pipeline_rows_close() frees. `sides` is as in gi_pipeline_run(), for steps without outputs but
 * warnings and placements. Errors: as gi_pipeline_run(). GI_E_DEVICE_MEMORY if a step needs whole
 * images, or if not even one row takes so few bytes. */
enum gi_status gi_pipeline_rows_open(struct gi_pipeline_rows **rows,
                                     const struct gi_pipeline *pipeline, struct gi_queue *queue,
                                     const struct gi_row_source *source, size_t nbytes,
                                     const struct gi_side *sides, struct gi_err *err);
void gi_pipeline_rows_close(struct gi_pipeline_rows **rows);

/* Returns the shape of the result; `data` is NULL. */
struct gi_image gi_pipeline_rows_shape(const struct gi_pipeline_rows *rows);
/* Returns the rows of the result, in host memory. Valid until gi_pipeline_rows_close(). */
struct gi_row_source gi_pipeline_rows_result(struct gi_pipeline_rows *rows);
