/* Runs a pipeline from a source of rows to rows, for images that are larger than memory. Rows of
 * the result are made in bands, when they are read. SPDX-License-Identifier: MIT */
#pragma once

#include "filters/pipeline.h"
#include "imgio/rows.h"

struct gi_pipeline_rows;

/* Reading rows so often costs less than the memory of the whole image. */
#define GI_READS_FEW 1.25

/* Chooses the number of bytes of a band, from `least` to `most`, by doubling it, and returns how
 * often bands of that size read a row of the source, as neighbours share rows. The number of bytes
 * is the smallest with which that is at most GI_READS_FEW, or the largest. Returns INFINITY if not
 * even one row takes so few bytes. Steps behind a late plan are left out. */
double gi_pipeline_rows_size(size_t *nbytes, const struct gi_pipeline *pipeline,
                             struct gi_queue *queue, size_t least, size_t most);

/* Returns whether bands from top to bottom read the source so too, apart from passes over all of
 * it. False if that is not known, because a plan is late. */
bool gi_pipeline_rows_in_order(const struct gi_pipeline *pipeline);

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
/* Returns the rows of the result, in host memory. Valid until gi_pipeline_rows_close(). A view is
 * valid until the second next call of its `read`. */
struct gi_row_source gi_pipeline_rows_result(struct gi_pipeline_rows *rows);
