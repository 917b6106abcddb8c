/* The differences of two images, sample by sample: how many there are, the largest one and the mean
 * squared error. Pieces of rows that are equal are found by memcmp() and left out.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/statistics/compare_work.h"

enum { PIECE = GI_COMPARE_PIECE };

struct row_sums {
    double squares, max;
    uint64_t samples, differing;
};

struct differences {
    const struct gi_compare_work *work;
    struct row_sums *rows; /* height * channels entries */
    bool squares;          /* they are wanted */
};

enum gi_status gi_compare_pieces(struct gi_compare_work *work, struct gi_err *err)
{
    work->npieces = (gi_row_samples(work->a) - 1) / PIECE + 1;
    work->differs = calloc((size_t)work->a->height, work->npieces);
    return work->differs ? GI_OK
                         : gi_fail(err, GI_E_MEMORY, "out of memory: differences of %d rows",
                                   work->a->height);
}

/* Returns whether all `n` floats are finite. */
static bool all_finite(const float *samples, size_t n)
{
    bool odd = false;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &samples[i], sizeof bits);
        odd |= (bits & 0x7f800000) == 0x7f800000;
    }
    return !odd;
}

void gi_compare_mark(const struct gi_compare_work *work, int y)
{
    size_t size = gi_type_nbytes(work->a->type);
    const char *a = gi_row(work->a, y), *b = gi_row(work->b, y);
    uint8_t *differs = work->differs + (size_t)y * work->npieces;
    for (size_t i = 0; i < work->npieces; i++) {
        size_t at = i * PIECE, n = gi_compare_piece(work, at);
        differs[i] = memcmp(a + at * size, b + at * size, n * size) != 0 ||
                     (work->a->type == GI_F32 && !all_finite((const float *)a + at, n));
    }
}

/* Sets d[i] to the distances of `n` samples from sample `at` of row y on; those that are not
 * compared get 0. */
static void load_distances(double d[PIECE], const struct gi_compare_work *work, int y, size_t at,
                           size_t n)
{
    const void *a = gi_row(work->a, y), *b = gi_row(work->b, y);
    const uint8_t *ignored = gi_compare_ignored_row(work, y);
    if (work->a->type == GI_U8)
        for (size_t i = 0; i < n; i++)
            d[i] = abs(((const uint8_t *)a)[at + i] - ((const uint8_t *)b)[at + i]);
    else if (work->a->type == GI_U16)
        for (size_t i = 0; i < n; i++)
            d[i] = abs(((const uint16_t *)a)[at + i] - ((const uint16_t *)b)[at + i]);
    else
        for (size_t i = 0; i < n; i++)
            d[i] = gi_compare_distance((double)((const float *)a)[at + i],
                                       (double)((const float *)b)[at + i]);
    for (size_t i = 0; ignored && i < n; i++)
        if (ignored[(at + i) / (size_t)work->a->channels])
            d[i] = 0;
}

static void add_piece(const struct differences *all, int y, size_t at)
{
    const struct gi_compare_work *work = all->work;
    size_t n = gi_compare_piece(work, at), channels = (size_t)work->a->channels;
    double d[PIECE], tolerance = work->rules->tolerance;
    load_distances(d, work, y, at, n);
    for (size_t k = 0; k < channels; k++) {
        struct row_sums *sums = &all->rows[(size_t)y * channels + (at + k) % channels];
        double max = sums->max, squares = sums->squares;
        uint64_t differing = 0;
        for (size_t i = k; i < n; i += channels) {
            max = d[i] > max ? d[i] : max;
            differing += d[i] > tolerance;
        }
        for (size_t i = k; i < n && all->squares; i += channels)
            squares += d[i] * d[i];
        sums->max = max;
        sums->squares = squares;
        sums->differing += differing;
    }
}

static void measure_row(void *arg, int y, void *scratch)
{
    const struct differences *all = arg;
    const struct gi_compare_work *work = all->work;
    const uint8_t *ignored = gi_compare_ignored_row(work, y);
    uint64_t samples = (uint64_t)work->a->width;
    (void)scratch;
    for (int x = 0; ignored && x < work->a->width; x++)
        samples -= ignored[x];
    for (int c = 0; c < work->a->channels; c++)
        all->rows[(size_t)y * (size_t)work->a->channels + (size_t)c].samples = samples;
    gi_compare_mark(work, y);
    for (size_t i = 0; i < work->npieces; i++)
        if (work->differs[(size_t)y * work->npieces + i])
            add_piece(all, y, i * PIECE);
}

/* Adds the sums of the rows, from the top down. */
static void sum_up(struct gi_comparison *result, const struct differences *all)
{
    const struct gi_image *image = all->work->a;
    for (int c = 0; c < image->channels; c++) {
        struct gi_difference *channel = &result->channels[c];
        for (int y = 0; y < image->height; y++) {
            const struct row_sums *row =
                &all->rows[(size_t)y * (size_t)image->channels + (size_t)c];
            channel->mse += row->squares; /* NAN unless it is asked */
            channel->max = fmax(channel->max, row->max);
            channel->differing += row->differing;
            channel->samples += row->samples;
        }
    }
}

enum gi_status gi_compare_differences(struct gi_comparison *result,
                                      const struct gi_compare_work *work, struct gi_err *err)
{
    struct differences all = {.work = work, .squares = !isnan(result->all.mse)};
    all.rows = calloc((size_t)work->a->height * (size_t)work->a->channels, sizeof *all.rows);
    if (!all.rows)
        return gi_fail(err, GI_E_MEMORY, "out of memory: sums of %d rows", work->a->height);
    enum gi_status status =
        work->queue->k->jobs(work->queue, work->a->height, measure_row, &all, 0, err);
    if (!status)
        sum_up(result, &all);
    free(all.rows);
    return status;
}

/* Makes the mean of the sum of squares. */
static void finish(struct gi_difference *difference, double full)
{
    if (isnan(difference->mse))
        return;
    difference->mse /= (double)difference->samples;
    difference->psnr =
        difference->mse > 0 ? 10 * log10(full * full / difference->mse) : (double)INFINITY;
}

void gi_compare_rows_end(struct gi_comparison *result)
{
    double full = gi_type_full_scale(result->type);
    for (int c = 0; c < result->nchannels; c++) {
        struct gi_difference *channel = &result->channels[c];
        result->all.mse += channel->mse;
        result->all.samples += channel->samples;
        result->all.differing += channel->differing;
        result->all.max = fmax(result->all.max, channel->max);
        finish(channel, full);
    }
    finish(&result->all, full);
}
