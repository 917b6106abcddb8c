/* Structural similarity of two images (SSIM), on one scale and on five (MS-SSIM). Windows in which
 * the images are equal have the similarity 1 exactly, and are not computed.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/statistics/compare_work.h"

enum {
    WINDOW = 11,
    BAND = 16, /* rows per job */
    PIECE = GI_COMPARE_PIECE,
    SCALES = 5,
};

/* Z. Wang, E. P. Simoncelli, A. C. Bovik: Multi-scale structural similarity for image quality
 * assessment, 2003, section 3.2. */
static const double exponents[SCALES] = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};

/* Sums over windows. `contrast` is that of the factor of contrast and structure, without
 * luminance. */
struct sums {
    double ssim, contrast;
    uint64_t windows;
};

/* Two images on one scale. */
struct scale {
    struct gi_compare_work work;
    struct sums *rows; /* height * channels entries */
    int nx, ny;        /* size of the window, odd */
    double wx[WINDOW], wy[WINDOW];
    double c1, c2; /* (K * full scale)^2 */
    bool contrast; /* it is asked */
};

static inline void load_samples(double *to, const struct gi_image *image, int y, size_t at,
                                size_t n)
{
    const void *row = gi_row(image, y);
    if (image->type == GI_U8)
        for (size_t i = 0; i < n; i++)
            to[i] = ((const uint8_t *)row)[at + i];
    else if (image->type == GI_U16)
        for (size_t i = 0; i < n; i++)
            to[i] = ((const uint16_t *)row)[at + i];
    else
        for (size_t i = 0; i < n; i++)
            to[i] = (double)((const float *)row)[at + i];
}

/* Loads a piece of a row. Entries past the end of the row are unchanged. */
static void load(double to[PIECE], const struct gi_image *image, int y, size_t at)
{
    size_t left = gi_row_samples(image) - at;
    if (left >= PIECE)
        load_samples(to, image, y, at, PIECE);
    else
        load_samples(to, image, y, at, left);
}

/* Applies the window down the columns of a piece. For each sample, computes the weighted sums of x,
 * y, x^2 + y^2 and x * y over rows y0 to y0 + ny - 1. */
static void weigh_columns(const struct scale *scale, int y0, size_t at, double *const sums[4])
{
    double piece[4][PIECE] = {{0}}, x[PIECE] = {0}, y[PIECE] = {0};
    for (int j = 0; j < scale->ny; j++) {
        double w = scale->wy[j];
        load(x, scale->work.a, y0 + j, at);
        load(y, scale->work.b, y0 + j, at);
        for (int i = 0; i < PIECE; i++) {
            piece[0][i] += w * x[i];
            piece[1][i] += w * y[i];
            piece[2][i] += w * (x[i] * x[i] + y[i] * y[i]);
            piece[3][i] += w * (x[i] * y[i]);
        }
    }
    for (int k = 0; k < 4; k++)
        memcpy(sums[k] + at, piece[k], sizeof piece[k]);
}

/* Computes the SSIM of PIECE windows, whose first samples are the samples of the row from `at` on,
 * and the factor of contrast and structure if that is asked. */
static void similarities(double ssim[PIECE], double contrast[PIECE], const struct scale *scale,
                         double *const sums[4], size_t at)
{
    size_t channels = (size_t)scale->work.a->channels;
    double m[4][PIECE] = {{0}};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < scale->nx; j++) {
            const double *from = sums[k] + at + (size_t)j * channels;
            double w = scale->wx[j];
            for (int i = 0; i < PIECE; i++)
                m[k][i] += w * from[i];
        }
    double c1 = scale->c1, c2 = scale->c2;
    for (int i = 0; i < PIECE; i++) {
        double xy = m[0][i] * m[1][i], xx_yy = m[0][i] * m[0][i] + m[1][i] * m[1][i];
        ssim[i] =
            (2 * xy + c1) * (2 * (m[3][i] - xy) + c2) / ((xx_yy + c1) * (m[2][i] - xx_yy + c2));
        if (scale->contrast)
            contrast[i] = (2 * (m[3][i] - xy) + c2) / (m[2][i] - xx_yy + c2);
    }
}

/* Returns the number of samples in a row of sums, because windows of the last piece may extend past
 * the row. */
static size_t scratch_samples(const struct gi_compare_work *work)
{
    return (work->npieces + 1) * PIECE;
}

/* Sets skip[x] to 1 if the window whose first pixel is (x, y0) contains an ignored pixel, else to
 * 0. Returns whether there is one in these rows; if not, `skip` is not set. */
static bool find_skipped(uint8_t *skip, const struct scale *scale, int y0)
{
    const size_t width = (size_t)scale->work.a->width;
    bool any = false;
    for (int j = 0; j < scale->ny; j++) {
        const uint8_t *row = gi_compare_ignored_row(&scale->work, y0 + j);
        const uint8_t *first = memchr(row, 1, width);
        if (first && !any)
            memset(skip, 0, width);
        any = any || first;
        for (size_t x = first ? (size_t)(first - row) : width; x < width; x++)
            skip[x] |= row[x];
    }
    int last = -1; /* last column with an ignored pixel in the rows of the window */
    for (int x = 0; x < scale->work.a->width && any; x++) {
        int first = x - scale->nx + 1;
        last = skip[x] ? x : last;
        if (first >= 0)
            skip[first] = last >= first;
    }
    return any;
}

/* Returns whether the images differ in a piece of the rows of the windows whose first row is y0. */
static bool piece_differs(const struct scale *scale, int y0, size_t piece)
{
    const struct gi_compare_work *work = &scale->work;
    const uint8_t *differs = work->differs + (size_t)y0 * work->npieces + piece;
    bool any = false;
    for (int j = 0; j < scale->ny && piece < work->npieces; j++)
        any |= differs[(size_t)j * work->npieces];
    return any;
}

/* Adds up, per channel, the SSIM of the n windows whose first samples begin at `at` in row y0.
 * `ssim` and `contrast` are NULL if all are 1. */
static void add_windows(struct sums *rows, const struct scale *scale, const uint8_t *skip,
                        const double *ssim, const double *contrast, size_t at, size_t n)
{
    size_t channels = (size_t)scale->work.a->channels;
    for (size_t k = 0; k < channels && k < n; k++) {
        struct sums sum = rows[(at + k) % channels];
        size_t windows = (n - k - 1) / channels + 1;
        for (size_t i = k; i < n && (skip || ssim); i += channels) {
            if (skip && skip[(at + i) / channels]) {
                windows--;
                continue;
            }
            sum.ssim += ssim ? ssim[i] : 0;
            sum.contrast += ssim && scale->contrast ? contrast[i] : 0;
        }
        sum.ssim += ssim ? 0 : (double)windows;
        sum.contrast += ssim ? 0 : (double)windows;
        sum.windows += windows;
        rows[(at + k) % channels] = sum;
    }
}

/* Adds up the SSIM of all windows whose first row is y0. */
static void similarity_row(const struct scale *scale, int y0, double *scratch)
{
    const struct gi_compare_work *work = &scale->work;
    size_t channels = (size_t)work->a->channels, samples = gi_row_samples(work->a);
    size_t windows = samples - (size_t)(scale->nx - 1) * channels;
    double *sums[4];
    for (size_t k = 0; k < 4; k++)
        sums[k] = scratch + k * scratch_samples(work);
    struct sums *rows = &scale->rows[(size_t)y0 * channels];
    uint8_t *skip = work->ignored ? (uint8_t *)(scratch + 4 * scratch_samples(work)) : NULL;
    if (skip && !find_skipped(skip, scale, y0))
        skip = NULL;
    bool here = piece_differs(scale, y0, 0), weighed = false;
    for (size_t p = 0, at = 0; at < windows; p++, at += PIECE) {
        bool after = piece_differs(scale, y0, p + 1), needed = here || after;
        size_t n = windows - at < PIECE ? windows - at : PIECE;
        double ssim[PIECE], contrast[PIECE];
        here = after;
        if (needed && !weighed)
            weigh_columns(scale, y0, at, sums);
        weighed = needed && at + PIECE < samples;
        if (weighed)
            weigh_columns(scale, y0, at + PIECE, sums);
        if (needed)
            similarities(ssim, contrast, scale, sums, at);
        add_windows(rows, scale, skip, needed ? ssim : NULL, contrast, at, n);
    }
}

static void band_job(void *arg, int index, void *scratch)
{
    const struct scale *scale = arg;
    int height = scale->work.a->height, top = index * BAND;
    int end = height - top < BAND ? height : top + BAND;
    for (int y = top; y < end; y++)
        if (scale->ny <= height - y)
            similarity_row(scale, y, scratch);
}

/* Computes the weights of a Gaussian window (sigma 1.5) along a side of n pixels. Returns how many
 * weights there are. */
static int window(double *weights, int n)
{
    int size = n >= WINDOW ? WINDOW : n - (n % 2 == 0);
    double sum = 0;
    for (int i = 0; i < size; i++) {
        double x = i - size / 2;
        weights[i] = exp(-x * x / (2 * 1.5 * 1.5));
        sum += weights[i];
    }
    for (int i = 0; i < size; i++)
        weights[i] /= sum;
    return size;
}

/* Sets the mean similarity of each channel on one scale; 1 if no window is compared. Errors:
 * GI_E_MEMORY. */
static enum gi_status measure(struct sums mean[GI_MAX_CHANNELS], struct scale *scale,
                              struct gi_err *err)
{
    const struct gi_compare_work *work = &scale->work;
    size_t channels = (size_t)work->a->channels, height = (size_t)work->a->height;
    size_t nbytes =
        4 * scratch_samples(work) * sizeof(double) + (work->ignored ? (size_t)work->a->width : 0);
    scale->nx = window(scale->wx, work->a->width);
    scale->ny = window(scale->wy, work->a->height);
    scale->rows = calloc(height * channels, sizeof *scale->rows);
    if (!scale->rows)
        return gi_fail(err, GI_E_MEMORY, "out of memory: sums of %zu rows", height);
    enum gi_status status = work->queue->k->jobs(work->queue, (work->a->height - 1) / BAND + 1,
                                                 band_job, scale, nbytes, err);
    for (size_t c = 0; c < channels && !status; c++) {
        struct sums all = {0};
        for (size_t y = 0; y < height; y++) {
            const struct sums *row = &scale->rows[y * channels + c];
            all.ssim += row->ssim;
            all.contrast += row->contrast;
            all.windows += row->windows;
        }
        mean[c].ssim = all.windows ? all.ssim / (double)all.windows : 1;
        mean[c].contrast = all.windows ? all.contrast / (double)all.windows : 1;
    }
    free(scale->rows);
    return status;
}

/* ---- smaller scales ---- */

/* The images of half the size, and those they are made from. */
struct halves {
    const struct gi_compare_work *from;
    struct gi_image a, b;
    uint8_t *ignored;
    struct gi_compare_work work;
};

/* Sets row y of `to` to the means of 2 x 2 samples. The last row or column of an odd size is
 * repeated. Means of up to 4 scales of 16-bit samples are exact. `scratch` holds two rows. */
static void halve_row(const struct gi_image *to, const struct gi_image *from, int y,
                      double *scratch)
{
    size_t samples = gi_row_samples(from), channels = (size_t)from->channels;
    double *rows[2] = {scratch, scratch + samples};
    float *out = gi_row(to, y);
    for (int j = 0; j < 2; j++)
        load_samples(rows[j], from, 2 * y + j < from->height ? 2 * y + j : 2 * y, 0, samples);
    for (size_t x = 0; x < (size_t)to->width; x++)
        for (size_t c = 0; c < channels; c++) {
            size_t left = 2 * x * channels + c;
            size_t right = 2 * x + 1 < (size_t)from->width ? left + channels : left;
            double sum = (rows[0][left] + rows[0][right]) + (rows[1][left] + rows[1][right]);
            out[x * channels + c] = (float)(sum / 4);
        }
}

static void halve_job(void *arg, int y, void *scratch)
{
    struct halves *half = arg;
    const struct gi_compare_work *from = half->from;
    size_t rows = 2 * y + 1 < from->a->height ? 2 : 1;
    halve_row(&half->a, from->a, y, scratch);
    if (memchr(from->differs + (size_t)(2 * y) * from->npieces, 1, rows * from->npieces))
        halve_row(&half->b, from->b, y, scratch);
    else
        memcpy(gi_row(&half->b, y), gi_row(&half->a, y), gi_row_nbytes(&half->a));
    gi_compare_mark(&half->work, y);
    for (int j = 2 * y; from->ignored && j < 2 * y + 2 && j < from->a->height; j++)
        for (int x = 0; x < from->a->width; x++)
            half->ignored[(size_t)y * (size_t)half->a.width + (size_t)x / 2] |=
                gi_compare_ignored_row(from, j)[x];
}

static void free_halves(struct halves *half)
{
    gi_image_free(&half->a);
    gi_image_free(&half->b);
    free(half->ignored);
    free(half->work.differs);
}

/* Makes the images of half the size, rounded up. The caller frees them, also after an error.
 * Errors: GI_E_MEMORY. */
static enum gi_status halve(struct halves *half, const struct gi_compare_work *from,
                            struct gi_err *err)
{
    int width = (from->a->width + 1) / 2, height = (from->a->height + 1) / 2;
    *half = (struct halves){.from = from};
    enum gi_status status = gi_image_alloc(&half->a, width, height, from->a->channels, GI_F32, err);
    if (!status)
        status = gi_image_alloc(&half->b, width, height, from->a->channels, GI_F32, err);
    if (status)
        return status;
    half->work = *from;
    half->work.a = &half->a;
    half->work.b = &half->b;
    half->work.differs = NULL;
    if (from->ignored)
        half->work.ignored = half->ignored = calloc((size_t)width, (size_t)height);
    if (from->ignored && !half->ignored)
        return gi_fail(err, GI_E_MEMORY, "out of memory: pixels to ignore");
    status = gi_compare_pieces(&half->work, err);
    size_t nbytes = 2 * gi_row_samples(from->a) * sizeof(double);
    return status ? status
                  : from->queue->k->jobs(from->queue, height, halve_job, half, nbytes, err);
}

/* ---- the result ---- */

/* Multiplies the factor of one scale into ms_ssim of each channel. A negative mean counts as 0. */
static void multiply(struct gi_comparison *result, const struct sums *mean, int scale)
{
    for (int c = 0; c < result->nchannels; c++) {
        double factor = scale == SCALES - 1 ? mean[c].ssim : mean[c].contrast;
        result->channels[c].ms_ssim *= pow(factor < 0 ? 0 : factor, exponents[scale]);
    }
}

enum gi_status gi_compare_similarities(struct gi_comparison *result,
                                       const struct gi_compare_work *work, struct gi_err *err)
{
    double full = gi_type_full_scale(work->a->type);
    bool differs = memchr(work->differs, 1, work->npieces * (size_t)work->a->height);
    int side = work->a->width < work->a->height ? work->a->width : work->a->height;
    bool multi = work->rules->metrics & GI_COMPARE_MS_SSIM && side >= GI_COMPARE_MS_SSIM_SIDE;
    struct scale scale = {
        .work = *work, .c1 = pow(0.01 * full, 2), .c2 = pow(0.03 * full, 2), .contrast = multi};
    struct halves halves[2] = {{0}};
    struct sums mean[GI_MAX_CHANNELS] = {{0}};
    enum gi_status status = GI_OK;
    for (int c = 0; c < result->nchannels && multi; c++)
        result->channels[c].ms_ssim = 1;
    for (int c = 0; c < result->nchannels; c++)
        mean[c] = (struct sums){.ssim = 1, .contrast = 1};
    if (differs && (multi || work->rules->metrics & GI_COMPARE_SSIM))
        status = measure(mean, &scale, err);
    for (int c = 0; c < result->nchannels && work->rules->metrics & GI_COMPARE_SSIM; c++)
        result->channels[c].ssim = mean[c].ssim;
    for (int i = 1; i < SCALES && multi && differs && !status; i++) {
        multiply(result, mean, i - 1);
        free_halves(&halves[i % 2]);
        status = halve(&halves[i % 2], &scale.work, err);
        scale.work = halves[i % 2].work;
        if (!status)
            status = measure(mean, &scale, err);
    }
    if (multi && !status)
        multiply(result, mean, SCALES - 1);
    free_halves(&halves[0]);
    free_halves(&halves[1]);
    result->all.ssim = result->all.ms_ssim = 0;
    for (int c = 0; c < result->nchannels; c++) {
        result->all.ssim += result->channels[c].ssim / result->nchannels;
        result->all.ms_ssim += result->channels[c].ms_ssim / result->nchannels;
    }
    return status;
}
