/* Running a filter on a host image, whole or in bands. Bands change no byte: each carries the rows
 * that its own rows need, and where the image ends the band ends too.
 * SPDX-License-Identifier: MIT */
#include "filters/run.h"

#include <stdlib.h>
#include <string.h>

/* Backends start rows at multiples of their own; none so far at more than this. */
enum { ROW_ALIGN = 512 };

/* Slots of the backend's stopwatch. */
enum { START, UPLOADED, DONE, DOWNLOADED };

/* One image under one filter. */
struct job {
    struct gi_queue *queue;
    const struct gi_filter *filter;
    const void *params;
    const struct gi_image *src; /* host */
    struct gi_halo halo;
    void *state; /* NULL without `measure` */
    size_t state_nbytes;
    int passes;
    struct gi_run_times times;
};

static enum gi_status job_make(struct job *job, struct gi_queue *queue, const struct gi_image *src,
                               const struct gi_filter *filter, const void *params,
                               struct gi_err *err)
{
    *job = (struct job){.queue = queue, .filter = filter, .params = params, .src = src};
    if (filter->halo)
        job->halo = filter->halo(params);
    if (!filter->passes)
        return GI_OK;
    job->passes = filter->passes(src, params);
    job->state_nbytes = filter->state_nbytes(src, params);
    job->state = calloc(1, job->state_nbytes);
    return job->state ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: %s", filter->name);
}

static void job_free(struct job *job, struct gi_run_times *times)
{
    if (times)
        *times = job->times;
    free(job->state);
}

static double image_nbytes(const struct gi_image *image)
{
    return (double)gi_row_nbytes(image) * image->height;
}

/* Rows of images like `src` that fit on the backend when `images` of them are there at once. */
static enum gi_status rows_that_fit(int *rows, const struct job *job, int images,
                                    struct gi_err *err)
{
    size_t nbytes, row_nbytes;
    int rows_max;
    job->queue->k->limits(job->queue, &nbytes, &rows_max, &row_nbytes);
    size_t row = gi_row_nbytes(job->src);
    if (row > row_nbytes)
        return gi_fail(err, GI_E_DEVICE_MEMORY, "a row of %zu bytes: the device takes %zu", row,
                       row_nbytes);
    size_t fit = nbytes / ((row + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN * (size_t)images);
    *rows = fit < (size_t)rows_max ? (int)fit : rows_max;
    return GI_OK;
}

/* Adds what the stopwatch shows; slot `to` and those before it were marked. */
static enum gi_status note_times(struct job *job, int to, double nbytes, struct gi_err *err)
{
    enum gi_status status = job->queue->k->sync(job->queue, err);
    if (status)
        return status;
    double (*elapsed_ms)(struct gi_queue *, int, int) = job->queue->k->elapsed_ms;
    job->times.upload_ms += elapsed_ms(job->queue, START, UPLOADED);
    job->times.kernels_ms += elapsed_ms(job->queue, UPLOADED, DONE);
    if (to == DOWNLOADED)
        job->times.download_ms += elapsed_ms(job->queue, DONE, DOWNLOADED);
    job->times.kernel_nbytes += nbytes;
    return GI_OK;
}

/* Uploads between the marks START and UPLOADED. */
static enum gi_status upload(struct job *job, struct gi_image *image, const struct gi_image *host,
                             struct gi_err *err)
{
    job->queue->k->mark(job->queue, START);
    enum gi_status status = job->queue->k->upload(job->queue, image, host, err);
    if (!status)
        job->queue->k->mark(job->queue, UPLOADED);
    return status;
}

static enum gi_status measure(struct job *job, int pass, const struct gi_image *band,
                              struct gi_err *err)
{
    return job->filter->measure(job->queue, job->state, pass, band, job->params, err);
}

/* All passes over an image that is on the backend whole. */
static enum gi_status measure_whole(struct job *job, const struct gi_image *image,
                                    struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int pass = 0; pass < job->passes && !status; pass++)
        status = measure(job, pass, image, err);
    return status;
}

static enum gi_status measure_band(struct job *job, int pass, const struct gi_image *host,
                                   struct gi_err *err)
{
    struct gi_image band;
    enum gi_status status = upload(job, &band, host, err);
    if (status)
        return status;
    status = measure(job, pass, &band, err);
    job->queue->k->mark(job->queue, DONE);
    if (!status)
        status = note_times(job, DONE, image_nbytes(host), err);
    job->queue->k->release(job->queue, &band);
    return status;
}

/* All passes in bands of at most `rows` rows; starts over with less where memory runs out. */
static enum gi_status measure_bands(struct job *job, int rows, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (; rows > 0; rows /= 2) {
        memset(job->state, 0, job->state_nbytes);
        for (int pass = 0; pass < job->passes && !status; pass++)
            for (int y = 0; y < job->src->height && !status; y += rows) {
                int left = job->src->height - y;
                struct gi_image band = gi_image_rows(job->src, y, y + (left < rows ? left : rows));
                status = measure_band(job, pass, &band, err);
                job->times.bands++;
            }
        if (status != GI_E_DEVICE_MEMORY || rows == 1)
            return status;
        status = GI_OK;
    }
    return gi_fail(err, GI_E_DEVICE_MEMORY, "out of device memory: not even a row fits");
}

/* dst, made here, = rows `top` to `bottom` of the image tiled above and below. */
static enum gi_status wrapped_rows(struct gi_image *dst, const struct gi_image *src, int top,
                                   int bottom, struct gi_err *err)
{
    enum gi_status status =
        gi_image_alloc(dst, src->width, bottom - top, src->channels, src->type, err);
    for (int y = top; y < bottom && !status; y++)
        memcpy(gi_row(dst, y - top), gi_row(src, gi_border_index(y, src->height, GI_BORDER_WRAP)),
               gi_row_nbytes(src));
    return status;
}

/* The plan on `in` (on the backend), and of its result the rows skip <= y < skip + rows as the host
 * image `out`, made here. */
static enum gi_status plan(struct job *job, struct gi_image *out, const struct gi_image *in,
                           int skip, int rows, struct gi_err *err)
{
    const struct gi_kernels *k = job->queue->k;
    struct gi_image result;
    enum gi_status status =
        k->alloc(job->queue, &result, in->width, in->height, in->channels, in->type, err);
    if (status)
        return status;
    status = job->filter->run(job->queue, &result, in, job->params, job->state, err);
    k->mark(job->queue, DONE);
    if (!status && rows == in->height) {
        status = k->download(job->queue, out, &result, err); /* takes the result */
    } else {
        struct gi_image part = gi_image_rows(&result, skip, skip + rows);
        if (!status)
            status = k->download(job->queue, out, &part, err);
        k->release(job->queue, &result);
    }
    if (status)
        return status;
    k->mark(job->queue, DOWNLOADED);
    status = note_times(job, DOWNLOADED, 2 * image_nbytes(out), err);
    if (status)
        gi_image_free(out);
    return status;
}

/* Rows y0 <= y < y1 of the result as the host image `out`, made here. */
static enum gi_status filter_band(struct job *job, struct gi_image *out, int y0, int y1,
                                  struct gi_err *err)
{
    const struct gi_image *src = job->src;
    bool wraps = job->halo.border == GI_BORDER_WRAP;
    int top = y0 - job->halo.rows, bottom = y1 + job->halo.rows;
    struct gi_image host, in;
    enum gi_status status = GI_OK;
    if (wraps && (top < 0 || bottom > src->height)) {
        status = wrapped_rows(&host, src, top, bottom, err);
    } else {
        top = top < 0 ? 0 : top;
        bottom = bottom > src->height ? src->height : bottom;
        host = gi_image_rows(src, top, bottom);
    }
    if (!status)
        status = upload(job, &in, &host, err);
    if (!status) {
        status = plan(job, out, &in, y0 - top, y1 - y0, err);
        job->queue->k->release(job->queue, &in);
    }
    gi_image_free(&host);
    return status;
}

/* The whole result in bands of at most `rows` rows, halved where memory runs out. */
static enum gi_status filter_bands(struct job *job, struct gi_image *dst, int rows,
                                   struct gi_err *err)
{
    const struct gi_image *src = job->src;
    enum gi_status status =
        gi_image_alloc(dst, src->width, src->height, src->channels, src->type, err);
    for (int y = 0; y < src->height && !status;) {
        int left = src->height - y, n = left < rows ? left : rows;
        struct gi_image band;
        status = filter_band(job, &band, y, y + n, err);
        if (status == GI_E_DEVICE_MEMORY && rows > 1) {
            rows = n / 2 > 0 ? n / 2 : 1;
            status = GI_OK;
            continue;
        }
        for (int i = 0; i < n && !status; i++)
            memcpy(gi_row(dst, y + i), gi_row(&band, i), gi_row_nbytes(src));
        if (!status)
            gi_image_free(&band);
        job->times.bands++;
        y += n;
    }
    if (status)
        gi_image_free(dst);
    return status;
}

/* Measures and filters with one upload. */
static enum gi_status filter_whole(struct job *job, struct gi_image *dst, struct gi_err *err)
{
    struct gi_image in;
    enum gi_status status = upload(job, &in, job->src, err);
    if (status)
        return status;
    job->times.bands = 1;
    status = measure_whole(job, &in, err);
    if (!status)
        status = plan(job, dst, &in, 0, in.height, err);
    if (!status)
        job->times.kernel_nbytes += job->passes * image_nbytes(job->src);
    job->queue->k->release(job->queue, &in);
    return status;
}

static enum gi_status filter_job(struct job *job, struct gi_image *dst, struct gi_err *err)
{
    int rows; /* source and result at once, halo included */
    enum gi_status status = rows_that_fit(&rows, job, 2, err);
    if (status)
        return status;
    if (rows >= job->src->height) {
        status = filter_whole(job, dst, err);
        if (status != GI_E_DEVICE_MEMORY)
            return status;
        status = GI_OK;
        rows = job->src->height / 2;
    } else if (rows <= 2 * job->halo.rows) {
        return gi_fail(err, GI_E_DEVICE_MEMORY,
                       "out of device memory: %d rows fit, a row of the result needs %d", rows,
                       2 * job->halo.rows + 1);
    }
    job->times = (struct gi_run_times){0};
    if (job->passes)
        status = measure_bands(job, rows, err);
    int own = rows - 2 * job->halo.rows;
    return status ? status : filter_bands(job, dst, own > 0 ? own : 1, err);
}

enum gi_status gi_run_filter(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_filter *filter,
                             const void *params, struct gi_run_times *times, struct gi_err *err)
{
    struct job job;
    enum gi_status status = job_make(&job, queue, src, filter, params, err);
    if (!status)
        status = filter_job(&job, dst, err);
    if (!status && err)
        *err = (struct gi_err){0}; /* memory that ran out on the way was got over */
    job_free(&job, times);
    return status;
}

static enum gi_status analyse_whole(struct job *job, void *result, struct gi_err *err)
{
    struct gi_image in;
    enum gi_status status = upload(job, &in, job->src, err);
    if (status)
        return status;
    job->times.bands = 1;
    if (job->filter->analyse)
        status = job->filter->analyse(job->queue, result, &in, job->params, err);
    else
        status = measure_whole(job, &in, err);
    job->queue->k->mark(job->queue, DONE);
    int looks = job->passes ? job->passes : 1;
    if (!status)
        status = note_times(job, DONE, looks * image_nbytes(job->src), err);
    job->queue->k->release(job->queue, &in);
    return status;
}

static enum gi_status analyse_job(struct job *job, void *result, struct gi_err *err)
{
    const struct gi_image *src = job->src;
    int rows; /* the image, and at most as much again that is made from it */
    enum gi_status status = rows_that_fit(&rows, job, 2, err);
    if (status)
        return status;
    bool fits = rows >= src->height;
    if (fits)
        status = analyse_whole(job, result, err);
    bool full = !fits || status == GI_E_DEVICE_MEMORY;
    if (full && job->filter->analyse)
        return gi_fail(err, GI_E_DEVICE_MEMORY,
                       "out of device memory: %s needs all %d x %d pixels there at once",
                       job->filter->name, src->width, src->height);
    if (full) {
        job->times = (struct gi_run_times){0};
        status = measure_bands(job, fits ? src->height / 2 : rows, err);
    }
    if (!status && job->filter->conclude)
        status = job->filter->conclude(result, src, job->params, job->state, err);
    return status;
}

enum gi_status gi_run_analysis(struct gi_queue *queue, void *result, const struct gi_image *src,
                               const struct gi_filter *filter, const void *params,
                               struct gi_run_times *times, struct gi_err *err)
{
    struct job job;
    enum gi_status status = job_make(&job, queue, src, filter, params, err);
    if (!status)
        status = analyse_job(&job, result, err);
    if (!status && err)
        *err = (struct gi_err){0};
    job_free(&job, times);
    return status;
}
