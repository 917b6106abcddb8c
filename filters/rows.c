/* Runs a pipeline from a source of rows to rows.
 * SPDX-License-Identifier: MIT */
#include "filters/rows.h"

#include <math.h>
#include <stdlib.h>

#include "filters/execution.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

struct gi_pipeline_rows {
    struct gi_execution execution;
    int most;                 /* rows of a band */
    struct gi_image bands[2]; /* host; the rows that were read last, and those before them */
    int turn;                 /* index of the former */
};

/* Returns how often bands of execution->nbytes read a row of the source. */
static double times_read(const struct gi_execution *execution)
{
    int rows, height = gi_pipeline_result(execution->pipeline).height;
    bool whole;
    if (gi_execution_fit(execution, &rows, &whole, NULL) || rows == 0)
        return INFINITY;
    double bands = rows < height ? (double)height / rows : 1;
    return bands * gi_execution_needs(execution, rows) / gi_execution_needs(execution, height);
}

double gi_pipeline_rows_size(size_t *nbytes, const struct gi_pipeline *pipeline,
                             struct gi_queue *queue, size_t least, size_t most)
{
    struct gi_execution execution = {.pipeline = pipeline, .queue = queue, .nbytes = least};
    double times = times_read(&execution);
    while (times > GI_READS_FEW && execution.nbytes < most) {
        execution.nbytes = execution.nbytes < most / 2 ? 2 * execution.nbytes : most;
        times = times_read(&execution);
    }
    *nbytes = execution.nbytes;
    return times;
}

static bool is_in_order(const struct gi_plan *plan)
{
    int last = 0;
    if (plan->dependency == GI_DEPENDENCY_LOCAL)
        return plan->border != GI_BORDER_WRAP || plan->halo == 0;
    for (int y = 0; y < plan->result.height; y++) {
        int top = gi_plan_needs(plan, y, y + 1).top;
        if (top < last)
            return false;
        last = top;
    }
    return true;
}

bool gi_pipeline_rows_in_order(const struct gi_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->nsteps; i++)
        if (i >= pipeline->n || !is_in_order(&pipeline->plans[i]))
            return false;
    return true;
}

static enum gi_status begin(struct gi_pipeline_rows *rows, struct gi_err *err)
{
    struct gi_execution *execution = &rows->execution;
    bool whole;
    enum gi_status status = gi_execution_begin(execution, 0, err);
    if (!status)
        status = gi_execution_fit(execution, &rows->most, &whole, err);
    if (!status && rows->most == 0)
        status = gi_fail(err, GI_E_DEVICE_MEMORY, "out of memory: a row and all that it needs");
    if (!status)
        status = gi_execution_check_bands(execution, err);
    if (!status)
        status = gi_execution_bands_begin(execution, rows->most, err);
    if (!status)
        gi_execution_tell(execution);
    return status;
}

enum gi_status gi_pipeline_rows_open(struct gi_pipeline_rows **out,
                                     const struct gi_pipeline *pipeline, struct gi_queue *queue,
                                     const struct gi_row_source *source, size_t nbytes,
                                     const struct gi_side *sides, struct gi_err *err)
{
    struct gi_pipeline_rows *rows = *out = gi_small_calloc(1, sizeof *rows);
    rows->execution = (struct gi_execution){
        .pipeline = pipeline, .queue = queue, .rows = source, .nbytes = nbytes, .sides = sides};
    rows->execution.states = gi_small_calloc((size_t)pipeline->nsteps, sizeof(void *));
    enum gi_status status = begin(rows, err);
    if (status)
        gi_pipeline_rows_close(out);
    return status;
}

void gi_pipeline_rows_close(struct gi_pipeline_rows **out)
{
    struct gi_pipeline_rows *rows = *out;
    *out = NULL;
    if (!rows)
        return;
    for (int i = 0; rows->execution.states && i < rows->execution.pipeline->nsteps; i++)
        free(rows->execution.states[i]);
    free(rows->execution.states);
    gi_pipeline_free(&rows->execution.own);
    gi_image_free(&rows->bands[0]);
    gi_image_free(&rows->bands[1]);
    free(rows);
}

struct gi_image gi_pipeline_rows_shape(const struct gi_pipeline_rows *rows)
{
    return gi_pipeline_result(rows->execution.pipeline);
}

/* Makes rows of the result, in bands if they are more than fit. */
static enum gi_status read_rows(void *self, struct gi_image *view, int top, int bottom,
                                struct gi_err *err)
{
    struct gi_pipeline_rows *rows = self;
    const struct gi_image shape = gi_pipeline_rows_shape(rows);
    int n = bottom - top;
    enum gi_status status = GI_OK;
    rows->turn = !rows->turn;
    struct gi_image *band = &rows->bands[rows->turn];
    if (n <= rows->most) {
        gi_image_free(band);
        return gi_execution_result_band(&rows->execution, band, view, (struct gi_span){top, bottom},
                                        err);
    }
    if (!band->data || band->height < n) {
        gi_image_free(band);
        status = gi_image_alloc(band, shape.width, n, shape.channels, shape.type, err);
    }
    for (int y = 0; y < n && !status; y += rows->most) {
        int end = n - y < rows->most ? n : y + rows->most;
        struct gi_image part = gi_image_rows(band, y, end);
        status = gi_execution_result_rows(&rows->execution, &part,
                                          (struct gi_span){top + y, top + end}, err);
    }
    if (!status)
        *view = gi_image_rows(band, 0, n);
    return status;
}

struct gi_row_source gi_pipeline_rows_result(struct gi_pipeline_rows *rows)
{
    return (struct gi_row_source){.self = rows, .most = rows->most, .read = read_rows};
}
