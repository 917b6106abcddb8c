/* Runs a pipeline in bands of rows. To compute a band, the last step requests the rows of its
 * source that it needs. To compute these rows, the step before requests rows of its source, and so
 * on up to the source image. So a band includes the halos of all later steps, limited to the image,
 * and every step sees the image's borders where they are. Bands do not change a byte of the result.
 * SPDX-License-Identifier: MIT */
#include "filters/execution.h"
#include "kernels/kernels.h"

/* Rows of a step's result. `image` owns the memory, and `view` refers to the requested rows in
 * it. */
struct rows {
    struct gi_image image, view;
};

static enum gi_status rows_of(struct gi_execution *execution, int i, struct gi_span span,
                              struct rows *rows, struct gi_err *err);

static void release(struct gi_execution *execution, struct rows *rows)
{
    execution->queue->k->release(execution->queue, &rows->image);
}

/* Returns the shape of the result of step i, or the shape of the source if i is -1. */
static struct gi_image shape_after(const struct gi_execution *execution, int i)
{
    return i < 0 ? execution->pipeline->plans[0].sources[0] : execution->pipeline->plans[i].result;
}

/* Like rows_of(), for a span that extends past the ends of the image. The image repeats there,
 * and the rows are assembled from pieces. */
static enum gi_status wrapped_rows_of(struct gi_execution *execution, int i, struct gi_span span,
                                      struct rows *rows, struct gi_err *err)
{
    const struct gi_kernels *k = execution->queue->k;
    struct gi_image shape = shape_after(execution, i);
    int height = shape.height;
    enum gi_status status = k->alloc(execution->queue, &rows->image, shape.width,
                                     span.bottom - span.top, shape.channels, shape.type, err);
    if (status)
        return status;
    rows->view = rows->image;
    for (int y = span.top; y < span.bottom && !status;) {
        int in = gi_border_index(y, height, GI_BORDER_WRAP);
        int n = span.bottom - y < height - in ? span.bottom - y : height - in;
        struct rows piece;
        struct gi_image to = gi_image_rows(&rows->image, y - span.top, y - span.top + n);
        status = rows_of(execution, i, (struct gi_span){in, in + n}, &piece, err);
        if (!status) {
            status = k->copy(execution->queue, &to, &piece.view, err);
            release(execution, &piece);
        }
        y += n;
    }
    if (status)
        release(execution, rows);
    return status;
}

static enum gi_status source_rows(struct gi_execution *execution, struct gi_span span,
                                  struct rows *rows, struct gi_err *err)
{
    struct gi_image host;
    enum gi_status status = GI_OK;
    if (execution->rows)
        status = execution->rows->read(execution->rows->self, &host, span.top, span.bottom, err);
    else
        host = gi_image_rows(execution->src, span.top, span.bottom);
    if (!status)
        status = gi_execution_upload(execution, &rows->image, &host, err);
    rows->view = rows->image;
    return status;
}

/* Runs plan i on its sources. srcs[0] is loaded and begins at row src_y. */
static enum gi_status run_plan(struct gi_execution *execution, int i, struct gi_span span,
                               int src_y, struct gi_image *srcs, struct rows *rows,
                               struct gi_err *err)
{
    const struct gi_plan *plan = &execution->pipeline->plans[i];
    const struct gi_kernels *k = execution->queue->k;
    struct gi_image shape = plan->result;
    bool near = plan->dependency == GI_DEPENDENCY_LOCAL;
    int dst_y = near ? src_y : span.top, height = near ? srcs[0].height : span.bottom - span.top;
    enum gi_status status = k->alloc(execution->queue, &rows->image, shape.width, height,
                                     shape.channels, shape.type, err);
    if (status)
        return status;
    struct gi_work work = {.dst = &rows->image,
                           .srcs = srcs,
                           .dst_y = dst_y,
                           .src_y = src_y,
                           .state = execution->states[i]};
    status = gi_execution_plan(execution, i, &work, err);
    rows->view = gi_image_rows(&rows->image, span.top - dst_y, span.bottom - dst_y);
    if (status)
        release(execution, rows);
    return status;
}

static bool past_ends(struct gi_span span, int height)
{
    return span.top < 0 || span.bottom > height;
}

/* Returns whether a step computes the same rows if its source is repeated periodically. This is so
 * if the border of the step wraps around, or if a row depends on a single row only. Then only the
 * rows of the source are assembled from pieces. Assembling the rows of every step would double the
 * work with each step. */
static bool repeats(const struct gi_plan *plan, struct gi_span span)
{
    long long in = (long long)span.bottom - span.top + 2LL * plan->halo;
    return plan->dependency == GI_DEPENDENCY_LOCAL && plan->nsources == 1 &&
           in < plan->sources[0].height && (plan->border == GI_BORDER_WRAP || plan->halo == 0);
}

/* Computes the rows `span` of the result of step i. The result repeats periodically past its
 * ends. */
static enum gi_status rows_of(struct gi_execution *execution, int i, struct gi_span span,
                              struct rows *rows, struct gi_err *err)
{
    while (i >= 0 && !execution->pipeline->plans[i].filter->run)
        i--; /* an analysis passes its source on */
    const struct gi_plan *plan = i < 0 ? NULL : &execution->pipeline->plans[i];
    bool past = past_ends(span, shape_after(execution, i).height);
    if (past && !(plan && repeats(plan, span)))
        return wrapped_rows_of(execution, i, span, rows, err);
    if (!plan)
        return source_rows(execution, span, rows, err);
    struct gi_span need = past ? (struct gi_span){span.top - plan->halo, span.bottom + plan->halo}
                               : gi_plan_needs(plan, span.top, span.bottom);
    struct rows in;
    struct gi_image srcs[GI_SOURCES_MAX];
    enum gi_status status = rows_of(execution, i - 1, need, &in, err);
    if (status)
        return status;
    srcs[0] = in.view;
    status = gi_execution_others(execution, i, srcs, need.top, need.bottom, err);
    if (!status) {
        status = run_plan(execution, i, span, need.top, srcs, rows, err);
        gi_execution_release_others(execution, i, srcs);
    }
    release(execution, &in);
    return status;
}

static int bands_of(int height, int rows)
{
    return height / rows + (height % rows != 0);
}

static struct gi_span band_at(int band, int height, int rows)
{
    int top = band * rows;
    return (struct gi_span){top, height - top < rows ? height : top + rows};
}

/* Runs one measuring pass of step i over all rows of its sources. */
static enum gi_status measure_pass(struct gi_execution *execution, int i, int pass, int rows,
                                   struct gi_err *err)
{
    const struct gi_plan *plan = &execution->pipeline->plans[i];
    int height = plan->sources[0].height;
    enum gi_status status = GI_OK;
    for (int band = 0; band < bands_of(height, rows) && !status; band++) {
        struct gi_span span = band_at(band, height, rows), need = span;
        struct rows in;
        struct gi_image srcs[GI_SOURCES_MAX];
        if (plan->wide)
            need = gi_plan_needs(plan, span.top, span.bottom);
        status = rows_of(execution, i - 1, need, &in, err);
        if (status)
            break;
        srcs[0] = in.view;
        status = gi_execution_others(execution, i, srcs, need.top, need.bottom, err);
        if (!status) {
            struct gi_look look = {pass, srcs, span.top - need.top, need.bottom - span.bottom};
            status = gi_execution_measure(execution, i, &look, err);
            gi_execution_release_others(execution, i, srcs);
        }
        release(execution, &in);
    }
    return status;
}

/* Makes rows of the result of step i, or of the source if i is -1, in the host image `host`. */
static enum gi_status download_rows(struct gi_execution *execution, int i,
                                    const struct gi_image *host, struct gi_span span,
                                    struct gi_err *err)
{
    struct rows out;
    enum gi_status status = rows_of(execution, i, span, &out, err);
    if (status)
        return status;
    status = gi_execution_download_into(execution, host, &out.view, err);
    release(execution, &out);
    return status;
}

enum gi_status gi_execution_result_rows(struct gi_execution *execution, const struct gi_image *host,
                                        struct gi_span span, struct gi_err *err)
{
    return download_rows(execution, execution->pipeline->n - 1, host, span, err);
}

enum gi_status gi_execution_result_band(struct gi_execution *execution, struct gi_image *image,
                                        struct gi_image *view, struct gi_span span,
                                        struct gi_err *err)
{
    struct rows out;
    enum gi_status status = rows_of(execution, execution->pipeline->n - 1, span, &out, err);
    if (status)
        return status;
    int top = (int)(((char *)out.view.data - (char *)out.image.data) / (ptrdiff_t)out.image.stride);
    status = gi_execution_download(execution, image, &out.image, err);
    if (!status)
        *view = gi_image_rows(image, top, top + span.bottom - span.top);
    return status;
}

/* Collects all rows of the result of step i in the host image `dst`, which is allocated here. */
static enum gi_status collect(struct gi_execution *execution, int i, struct gi_image *dst, int rows,
                              struct gi_err *err)
{
    struct gi_image shape = shape_after(execution, i);
    enum gi_status status =
        gi_image_alloc(dst, shape.width, shape.height, shape.channels, shape.type, err);
    if (status)
        return status;
    int nbands = bands_of(shape.height, rows);
    for (int band = 0; band < nbands && !status; band++) {
        struct gi_span span = band_at(band, shape.height, rows);
        struct gi_image host = gi_image_rows(dst, span.top, span.bottom);
        status = download_rows(execution, i, &host, span, err);
    }
    if (execution->times)
        execution->times->bands =
            nbands > execution->times->bands ? nbands : execution->times->bands;
    if (status)
        gi_image_free(dst);
    return status;
}

enum gi_status gi_execution_bands_begin(struct gi_execution *execution, int rows,
                                        struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < execution->pipeline->n && !status; i++) {
        const struct gi_plan *plan = &execution->pipeline->plans[i];
        if (execution->sides && execution->sides[i].copy_out)
            status = collect(execution, i - 1, execution->sides[i].copy_out, rows, err);
        int passes = plan->passes + plan->band_passes;
        if (!status && plan->band_passes)
            status = gi_execution_new_state(execution, i, err);
        for (int pass = 0; pass < passes && !status; pass++)
            status = measure_pass(execution, i, pass, rows, err);
        if (execution->times && passes) {
            int nbands = bands_of(plan->sources[0].height, rows);
            execution->times->bands =
                nbands > execution->times->bands ? nbands : execution->times->bands;
        }
        if (!status)
            status = gi_execution_settle(execution, i, err);
        if (!status)
            status = gi_execution_check_bands(execution, err);
        plan = &execution->pipeline->plans[i];
        if (!status && !plan->filter->run)
            status = plan->filter->analysis.conclude(plan, execution->sides[i].result,
                                                     execution->states[i], err);
    }
    return status;
}

enum gi_status gi_execution_bands(struct gi_execution *execution, struct gi_image *dst, int rows,
                                  struct gi_err *err)
{
    enum gi_status status = gi_execution_bands_begin(execution, rows, err);
    return status || !dst ? status : collect(execution, execution->pipeline->n - 1, dst, rows, err);
}

/* ---- what fits ---- */

/* Returns the bytes of a row on the device, where rows are aligned. */
static double row_on_device(const struct gi_image *image, const struct gi_device_limits *limits)
{
    size_t align = limits->row_align;
    return (double)((gi_row_nbytes(image) + align - 1) / align * align);
}

/* Returns the maximum number of source rows that `n` rows of a plan's result need. The rows at the
 * top, in the middle and at the bottom of the result are examined. */
static int most_needed(const struct gi_plan *plan, int n)
{
    int height = plan->result.height, most = 0;
    const int tops[] = {0, (height - n) / 2, height - n};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        struct gi_span need = gi_plan_needs(plan, tops[i], tops[i] + n);
        most = need.bottom - need.top > most ? need.bottom - need.top : most;
    }
    return most;
}

int gi_execution_needs(const struct gi_execution *execution, int rows)
{
    for (int i = execution->pipeline->n - 1; i >= 0; i--) {
        const struct gi_plan *plan = &execution->pipeline->plans[i];
        int height = plan->result.height;
        if (plan->filter->run)
            rows = most_needed(plan, rows < height ? rows : height);
    }
    return rows;
}

/* Returns whether n rows of the result of step `last`, and all rows that they need, fit on the
 * device. The sources and the result of each plan must fit at the same time. Rows that wrap around
 * are assembled from pieces, one piece at a time. An analysis may allocate as many bytes as its
 * input has. */
static bool fits(const struct gi_execution *execution, const struct gi_device_limits *limits,
                 int last, int n)
{
    for (int i = last; i >= 0; i--) {
        const struct gi_plan *plan = &execution->pipeline->plans[i];
        double out = row_on_device(&plan->result, limits) * n;
        int in = plan->filter->run ? most_needed(plan, n) : n;
        double all = out;
        for (int j = 0; j < plan->nsources; j++) {
            bool whole =
                j && (plan->dependency == GI_DEPENDENCY_GLOBAL || plan->filter->sources.beside);
            all += row_on_device(&plan->sources[j], limits) *
                   (whole ? (size_t)plan->sources[j].height : (size_t)in);
        }
        if (plan->masked) /* the result without its alpha, and alphas */
            all += 2 * out;
        if (plan->parts) /* colours and alpha apart, before and after */
            all += out + row_on_device(&plan->sources[0], limits) * in;
        if (in < plan->sources[0].height && plan->border == GI_BORDER_WRAP)
            all += row_on_device(&plan->sources[0], limits) * in;
        if (all > (double)limits->free_nbytes || in > limits->rows || n > limits->rows)
            return false;
        n = in;
    }
    return true;
}

/* Returns the largest n for which fits() is true, at most the height of the result of step `last`,
 * or 0 if no row fits. */
static int most_rows(const struct gi_execution *execution, const struct gi_device_limits *limits,
                     int last)
{
    int fit = 0, over = execution->pipeline->plans[last].result.height + 1;
    while (over - fit > 1) {
        int n = fit + (over - fit) / 2;
        *(fits(execution, limits, last, n) ? &fit : &over) = n;
    }
    return fit;
}

enum gi_status gi_execution_fit(const struct gi_execution *execution, int *rows, bool *whole,
                                struct gi_err *err)
{
    const struct gi_pipeline *pipeline = execution->pipeline;
    struct gi_device_limits limits;
    execution->queue->k->limits(execution->queue, &limits);
    if (execution->nbytes && execution->nbytes < limits.free_nbytes)
        limits.free_nbytes = execution->nbytes;
    *rows = 0;
    *whole = true;
    for (int i = 0; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        size_t in = gi_row_nbytes(&plan->sources[0]), out = gi_row_nbytes(&plan->result);
        size_t row = in > out ? in : out;
        if (row > limits.row_nbytes)
            return gi_fail(err, GI_E_DEVICE_MEMORY, "a row of %zu bytes: the device takes %zu", row,
                           limits.row_nbytes);
        int fit = most_rows(execution, &limits, i);
        *whole = *whole && fit == plan->result.height;
        *rows = i == 0 || fit < *rows ? fit : *rows;
    }
    return GI_OK;
}
