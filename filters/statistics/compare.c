/* Comparison of two host images: differences and structural similarity (SSIM), in double precision,
 * row by row on all CPU threads. Each row has its own sums, which are then added from the top down,
 * so that the result does not depend on the number of threads.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/parallel.h"

enum {
    WINDOW = 11,
    BAND = 16, /* rows per job */
    PIECE =
        256, /* samples of a row that are processed at once, a constant so that loops vectorise */
};

struct row_sums {
    double squares, max, ssim;
    uint64_t samples, differing, windows;
};

struct work {
    const struct gi_image *a, *b;
    struct row_sums *rows; /* height * channels entries */
    int nx, ny;            /* size of the SSIM window, odd */
    double wx[WINDOW], wy[WINDOW];
    double c1, c2; /* (K * full scale)^2 */
    double tolerance;
    const uint8_t *ignored; /* a byte per pixel, row by row: 1 if the pixel is not compared; NULL:
                               all are compared */
};

static const uint8_t *ignored_row(const struct work *work, int y)
{
    return work->ignored ? work->ignored + (size_t)y * (size_t)work->a->width : NULL;
}

static void measure_row(const struct work *work, int y)
{
    const void *a = gi_row(work->a, y), *b = gi_row(work->b, y);
    const uint8_t *ignored = ignored_row(work, y);
    int channels = work->a->channels;
    struct row_sums *sums = &work->rows[(size_t)y * (size_t)channels];
    for (int c = 0; c < channels; c++) {
        double squares = 0, max = 0;
        uint64_t differing = 0, samples = 0;
        for (size_t i = (size_t)c; i < gi_row_samples(work->a); i += (size_t)channels) {
            if (ignored && ignored[i / (size_t)channels])
                continue;
            samples++;
            double d =
                gi_compare_distance(gi_sample(a, i, work->a->type), gi_sample(b, i, work->b->type));
            squares += d * d;
            max = d > max ? d : max;
            differing += d > work->tolerance;
        }
        sums[c].samples = samples;
        sums[c].squares = squares;
        sums[c].max = max;
        sums[c].differing = differing;
    }
}

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

/* Applies the window down the columns. For each sample of a row, computes the weighted sums of x,
 * y, x^2 + y^2 and x * y over rows y0 to y0 + ny - 1. */
static void weigh_columns(const struct work *work, int y0, double *const sums[4])
{
    size_t samples = gi_row_samples(work->a);
    for (size_t at = 0; at < samples; at += PIECE) {
        double piece[4][PIECE] = {{0}}, x[PIECE] = {0}, y[PIECE] = {0};
        for (int j = 0; j < work->ny; j++) {
            double w = work->wy[j];
            load(x, work->a, y0 + j, at);
            load(y, work->b, y0 + j, at);
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
}

/* Computes the SSIM of PIECE windows, whose first samples are the samples of the row from `at`
 * on. */
static void similarities(double ssim[PIECE], const struct work *work, double *const sums[4],
                         size_t at)
{
    size_t channels = (size_t)work->a->channels;
    double m[4][PIECE] = {{0}};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < work->nx; j++) {
            const double *from = sums[k] + at + (size_t)j * channels;
            double w = work->wx[j];
            for (int i = 0; i < PIECE; i++)
                m[k][i] += w * from[i];
        }
    double c1 = work->c1, c2 = work->c2;
    for (int i = 0; i < PIECE; i++) {
        double xy = m[0][i] * m[1][i], xx_yy = m[0][i] * m[0][i] + m[1][i] * m[1][i];
        ssim[i] =
            (2 * xy + c1) * (2 * (m[3][i] - xy) + c2) / ((xx_yy + c1) * (m[2][i] - xx_yy + c2));
    }
}

/* Returns the number of samples in a row of sums, because the last piece may extend past the
 * row. */
static size_t scratch_samples(const struct gi_image *image)
{
    return gi_row_samples(image) + PIECE;
}

/* Sets skip[x] to 1 if the window whose first pixel is (x, y0) contains an ignored pixel. */
static void find_skipped(uint8_t *skip, const struct work *work, int y0)
{
    int last = -1; /* last column with an ignored pixel in the rows of the window */
    for (int x = 0; x < work->a->width; x++) {
        for (int j = 0; j < work->ny; j++)
            if (ignored_row(work, y0 + j)[x])
                last = x;
        int first = x - work->nx + 1;
        if (first >= 0)
            skip[first] = last >= first;
    }
}

/* Adds up, per channel, the SSIM of all windows whose first row is y0. */
static void similarity_row(const struct work *work, int y0, double *scratch)
{
    size_t samples = gi_row_samples(work->a), channels = (size_t)work->a->channels;
    size_t windows = samples - (size_t)(work->nx - 1) * channels;
    double *sums[4];
    for (size_t k = 0; k < 4; k++)
        sums[k] = scratch + k * scratch_samples(work->a);
    struct row_sums *rows = &work->rows[(size_t)y0 * channels];
    uint8_t *skip = work->ignored ? (uint8_t *)(scratch + 4 * scratch_samples(work->a)) : NULL;
    if (skip)
        find_skipped(skip, work, y0);
    weigh_columns(work, y0, sums);
    for (size_t at = 0; at < windows; at += PIECE) {
        size_t n = windows - at < PIECE ? windows - at : PIECE;
        double ssim[PIECE];
        similarities(ssim, work, sums, at);
        for (size_t i = 0; i < n; i++) {
            struct row_sums *row = &rows[(at + i) % channels];
            if (skip && skip[(at + i) / channels])
                continue;
            row->ssim += ssim[i];
            row->windows++;
        }
    }
}

static void band_job(void *arg, int index, void *scratch)
{
    const struct work *work = arg;
    int height = work->a->height, top = index * BAND;
    int end = height - top < BAND ? height : top + BAND;
    for (int y = top; y < end; y++) {
        measure_row(work, y);
        if (work->ny <= height - y)
            similarity_row(work, y, scratch);
    }
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

static void finish(struct gi_difference *difference, double squares, double full)
{
    difference->mse = squares / (double)difference->samples;
    difference->psnr =
        difference->mse > 0 ? 10 * log10(full * full / difference->mse) : (double)INFINITY;
}

static void sum_up(struct gi_comparison *result, const struct work *work)
{
    const struct gi_image *image = work->a;
    double full = gi_type_full_scale(image->type), all_squares = 0;
    *result = (struct gi_comparison){.type = image->type, .nchannels = image->channels};
    for (int c = 0; c < image->channels; c++) {
        struct gi_difference *channel = &result->channels[c];
        double squares = 0;
        uint64_t windows = 0;
        for (int y = 0; y < image->height; y++) {
            const struct row_sums *row =
                &work->rows[(size_t)y * (size_t)image->channels + (size_t)c];
            squares += row->squares;
            channel->max = fmax(channel->max, row->max);
            channel->differing += row->differing;
            channel->ssim += row->ssim;
            channel->samples += row->samples;
            windows += row->windows;
        }
        channel->ssim = windows ? channel->ssim / (double)windows : 1;
        finish(channel, squares, full);
        all_squares += squares;
        result->all.samples += channel->samples;
        result->all.differing += channel->differing;
        result->all.max = fmax(result->all.max, channel->max);
        result->all.ssim += channel->ssim / image->channels;
    }
    finish(&result->all, all_squares, full);
}

static const char *type_name(enum gi_type type)
{
    return type == GI_U8 ? "8-bit" : type == GI_U16 ? "16-bit" : "float";
}

static enum gi_status check_shapes(const struct gi_image *x, const struct gi_image *y,
                                   struct gi_err *err)
{
    bool size = x->width == y->width && x->height == y->height;
    if (size && x->channels == y->channels)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "%d x %d, %d channel%s, %s against %d x %d, %d channel%s, %s: want the same %s",
                   x->width, x->height, x->channels, x->channels == 1 ? "" : "s",
                   type_name(x->type), y->width, y->height, y->channels,
                   y->channels == 1 ? "" : "s", type_name(y->type),
                   size ? "channels: --visible ignores those that say nothing, and --gray compares "
                          "in gray"
                        : "size, as gpuimg crop or gpuimg resize makes it");
}

enum gi_status gi_compare_match(struct gi_image *converted, const struct gi_image **a,
                                const struct gi_image **b, struct gi_err *err)
{
    const struct gi_image *x = *a, *y = *b;
    *converted = (struct gi_image){0};
    enum gi_status status = check_shapes(x, y, err);
    if (status || x->type == y->type)
        return status;
    bool first = x->type < y->type;
    status = gi_image_convert(converted, first ? x : y, first ? y->type : x->type, err);
    *(first ? a : b) = converted;
    return status;
}

/* The work is done on the host in double precision. For each sample, 4 sums are taken over 11 rows
 * and over 11 columns. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->on_host = true;
    plan->cost = (struct gi_cost){.other = 8 * 2 * WINDOW};
    return check_shapes(&plan->sources[0], &plan->sources[1], err);
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_compare_rules *p = plan->params;
    const struct gi_image *a = &srcs[0], *b = &srcs[1];
    struct gi_image converted;
    uint8_t *ignored = NULL;
    enum gi_status status = gi_compare_match(&converted, &a, &b, err);
    if (!status)
        status = gi_compare_ignored(&ignored, p, a, err);
    double full = gi_type_full_scale(a->type);
    struct work work = {.a = a,
                        .b = b,
                        .c1 = pow(0.01 * full, 2),
                        .c2 = pow(0.03 * full, 2),
                        .tolerance = p->tolerance,
                        .ignored = ignored};
    work.nx = window(work.wx, a->width);
    work.ny = window(work.wy, a->height);
    work.rows = status ? NULL : calloc((size_t)a->height * (size_t)a->channels, sizeof *work.rows);
    if (!status && !work.rows)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: sums of %d rows", a->height);
    if (!status)
        status = queue->k->jobs(
            queue, (a->height - 1) / BAND + 1, band_job, &work,
            4 * scratch_samples(a) * sizeof(double) + (ignored ? (size_t)a->width : 0), err);
    if (!status)
        sum_up(result, &work);
    free(work.rows);
    free(ignored);
    gi_image_free(&converted);
    return status;
}

static void digest_difference(struct gi_digest *digest, const struct gi_difference *difference)
{
    const double reals[] = {difference->max, difference->mse, difference->psnr, difference->ssim};
    gi_digest_integer(digest, (int64_t)difference->samples);
    gi_digest_integer(digest, (int64_t)difference->differing);
    gi_digest_reals(digest, reals, 4);
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_comparison *comparison = result;
    gi_digest_integer(digest, (int)comparison->type);
    gi_digest_integer(digest, comparison->nchannels);
    digest_difference(digest, &comparison->all);
    for (int c = 0; c < comparison->nchannels; c++)
        digest_difference(digest, &comparison->channels[c]);
}

static const struct gi_option options[] = {
    {GI_OPTION("tolerance", REAL, struct gi_compare_rules, tolerance), .default_text = "0",
     .min = 0, .max = 1e9, .metavar = "N",
     .help = "Samples that differ by at most this many sample values count as equal"},
    {GI_OPTION("ignore-region", TEXT, struct gi_compare_rules, regions), .metavar = "WxH+X+Y",
     .help = "Leave out the pixels of this rectangle, whose upper left pixel is X,Y; several "
             "rectangles are separated by commas"},
    {0},
};

const struct gi_filter gi_filter_compare = {
    .name = "compare",
    .group = GI_GROUP_MEASUREMENT,
    .summary = "Compare two images: PSNR, SSIM, largest difference",
    .manual = "Prints the number of samples that differ, the largest absolute difference, the "
              "mean squared error (mse), the peak signal-to-noise ratio (psnr) and the mean "
              "structural similarity (ssim), for the whole image and for each channel. psnr = 10 "
              "log10(full scale^2 / mse); for equal images it is infinite, in JSON null. The "
              "images must have the same size and channels. If their depths differ, the image "
              "with fewer bits is converted to the depth of the other first.\n\n"
              "With --visible only what is seen counts. Colours do not count where alpha is 0 in "
              "one of the images, only the alphas do. An alpha that is opaque everywhere in both "
              "images, or that one of them lacks, is left out, and so are two of three colour "
              "channels if R, G and B are equal everywhere in both; otherwise gray stands for "
              "equal R, G and B, and no alpha for an opaque one. So an opaque RGBA image can equal "
              "an RGB image, or a gray one.\n\n"
              "Without limits the exit status is 1 if a sample differs by more than --tolerance, "
              "and 0 otherwise, as in cmp; a regression test needs nothing else. With limits "
              "(--max-diff, --min-psnr, --min-ssim, --max-differing) it is 1 if one of them does "
              "not hold, and 0 otherwise. It is 2 if a file cannot be read or the images cannot be "
              "compared. --quiet prints nothing. The pixels of --ignore and --ignore-region are "
              "left out of all numbers, and so are SSIM windows that contain one of them.\n\n"
              "Many pairs can be compared in one command, which then prints a table with a row "
              "per pair. A and B may be two folders, whose files are paired by their paths below "
              "the folders. --pairs names a file that lists the pairs. With --tar, A and B are "
              "tars, whose images are paired by their names; a leading ./ is ignored. The order "
              "of the images in the two tars may differ: an image waits in memory for its "
              "partner, as far as --memory allows. gpuimg compare does not search a folder for "
              "duplicates (dedupe); it compares the given pairs.\n\n"
              "SSIM is that of Wang, Bovik, Sheikh and Simoncelli, 2004, with Gaussian windows "
              "of 11 x 11 pixels and sigma 1.5 that are wholly inside the image, K1 = 0.01, K2 = "
              "0.03, and the population covariance. If a side of the image is shorter than 11 "
              "pixels, the window has the largest odd length that fits.",
    .options = options,
    .params_nbytes = sizeof(struct gi_compare_rules),
    .check = gi_compare_rules_check,
    .sources.min = 2,
    .sources.max = 2,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_comparison),
    .analysis.run = analyse,
    .analysis.digest = result_digest,
};
