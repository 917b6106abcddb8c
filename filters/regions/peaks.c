/* Peaks of an image: samples that are equal to the maximum of a square around them. The backend
 * computes the maxima, and the host compares and sorts.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/regions/host_image.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"

enum { DISTANCE_MAX = 2000 };

static const struct gi_option options[] = {
    {GI_OPTION("min-distance", INT, struct gi_peaks_params, min_distance), .letter = 'd',
     .default_text = "1", .min = 1, .max = DISTANCE_MAX, .unit = "px",
     .help =
         "A peak is the maximum of all pixels that are at most this many columns and rows away"},
    {GI_OPTION("threshold", LEVEL, struct gi_peaks_params, at), .also = "at", .letter = 't',
     .help = "Only peaks above this level; by default above the minimum of the image"},
    {GI_OPTION("count", INT, struct gi_peaks_params, count), .default_text = "0", .min = 0,
     .max = 2147483647, .unit = "peaks",
     .help = "At most this many peaks, the highest; 0 means all"},
    {GI_OPTION("keep-border", FLAG, struct gi_peaks_params, keep_border),
     .help = "Find peaks also where fewer than --min-distance pixels are between them and a side "
             "of the image"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes =
        2 * (size_t)src->width * (size_t)src->height * (size_t)gi_type_nbytes(src->type);
    plan->scratch_nbytes = plan->array_nbytes + gi_luma_nbytes(src);
    plan->cost.other = 60.0 / src->channels;
    return GI_OK;
}

/* What the host compares. */
struct levels {
    struct gi_image samples, maxima; /* in host memory */
    double level;                    /* peaks are above it */
};

static enum gi_status download(struct gi_queue *queue, struct levels *levels,
                               const struct gi_image *gray, int distance, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    const int side = 2 * distance + 1;
    struct gi_min_max spec = {.width = side,
                              .height = side,
                              .anchor_x = distance,
                              .anchor_y = distance,
                              .greatest = true,
                              .border = {.mode = GI_BORDER_CLAMP}};
    struct gi_image maxima = {0};
    enum gi_status status = k->alloc(queue, &maxima, gray->width, gray->height, 1, gray->type, err);
    if (!status)
        status = k->min_max(queue, &maxima, gray, &spec, err);
    if (!status)
        status = k->download(queue, &levels->maxima, &maxima, NULL, err);
    if (maxima.data)
        k->release(queue, &maxima);
    return status ? status : gi_host_copy(queue, &levels->samples, gray, err);
}

/* Finds the smallest sample. *flat becomes whether all are equal. */
static double smallest(bool *flat, const struct gi_image *samples)
{
    double least = INFINITY, most = -INFINITY;
    for (int y = 0; y < samples->height; y++) {
        const void *row = gi_row(samples, y);
        for (int x = 0; x < samples->width; x++) {
            double v = gi_sample(row, (size_t)x, samples->type);
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
    }
    *flat = !(least < most);
    return least;
}

static enum gi_status add(struct gi_peaks *to, int x, int y, double value, struct gi_err *err)
{
    if (to->n == to->room) {
        uint64_t room = to->room ? 2 * to->room : 256;
        struct gi_peak *larger = realloc(to->peaks, (size_t)room * sizeof *larger);
        if (!larger)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %llu peaks", (unsigned long long)room);
        to->peaks = larger;
        to->room = room;
    }
    to->peaks[to->n++] = (struct gi_peak){x, y, value};
    return GI_OK;
}

static enum gi_status find(struct gi_peaks *peaks, const struct levels *levels, int border,
                           struct gi_err *err)
{
    const struct gi_image *samples = &levels->samples;
    const int right = samples->width - border, bottom = samples->height - border;
    enum gi_status status = GI_OK;
    for (int y = border; y < bottom && !status; y++) {
        const void *row = gi_row(samples, y), *around = gi_row(&levels->maxima, y);
        for (int x = border; x < right && !status; x++) {
            double v = gi_sample(row, (size_t)x, samples->type);
            if (v > levels->level && v == gi_sample(around, (size_t)x, samples->type))
                status = add(peaks, x, y, v, err);
        }
    }
    return status;
}

static int by_value(const void *first, const void *second)
{
    const struct gi_peak *a = first, *b = second;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->y != b->y ? (a->y > b->y) - (a->y < b->y) : (a->x > b->x) - (a->x < b->x);
}

/* Leaves out peaks that are less than `distance` away from one before, which has the same value
 * then. Cells of that size hold one peak each. */
static enum gi_status space(struct gi_peaks *peaks, int distance, uint64_t most, int width,
                            int height, struct gi_err *err)
{
    if (distance == 1) { /* no two pixels are nearer */
        peaks->n = peaks->n < most ? peaks->n : most;
        return GI_OK;
    }
    const int across = (width - 1) / distance + 1, down = (height - 1) / distance + 1;
    const struct gi_peak **cells = calloc((size_t)across * (size_t)down, sizeof *cells);
    uint64_t n = 0;
    if (!cells)
        return gi_fail(err, GI_E_MEMORY, "out of memory: distances of %llu peaks",
                       (unsigned long long)peaks->n);
    for (uint64_t i = 0; i < peaks->n && n < most; i++) {
        const struct gi_peak peak = peaks->peaks[i];
        const int column = peak.x / distance, row = peak.y / distance;
        bool near = false;
        for (int v = row - 1; v <= row + 1; v++)
            for (int u = column - 1; u <= column + 1; u++) {
                const struct gi_peak *other = u >= 0 && u < across && v >= 0 && v < down
                                                  ? cells[(size_t)v * (size_t)across + (size_t)u]
                                                  : NULL;
                near = near || (other && abs(other->x - peak.x) < distance &&
                                abs(other->y - peak.y) < distance);
            }
        if (near)
            continue;
        peaks->peaks[n] = peak;
        cells[(size_t)row * (size_t)across + (size_t)column] = &peaks->peaks[n++];
    }
    peaks->n = n;
    free(cells);
    return GI_OK;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_peaks_params *p = plan->params;
    const bool by_luma = gi_luma_decides(srcs, false);
    struct levels levels = {.level = gi_level_number(&p->at, srcs->type)};
    struct gi_peaks *peaks = result;
    struct gi_image gray;
    float lo, hi;
    bool flat = false;
    enum gi_status status = gi_judge_make(queue, &gray, srcs, by_luma, err);
    if (status)
        return status;
    if (p->at.kind == GI_LEVEL_AUTO)
        status = gi_level_find(queue, &levels.level, &p->at, &lo, &hi, &gray, err);
    if (!status)
        status = download(queue, &levels, &gray, p->min_distance, err);
    gi_judge_release(queue, &gray, by_luma);
    if (!status) {
        double least = smallest(&flat, &levels.samples);
        levels.level = p->at.kind == GI_LEVEL_UNSET ? least : levels.level;
    }
    if (!status && !flat)
        status = find(peaks, &levels, p->keep_border ? 0 : p->min_distance, err);
    gi_image_free(&levels.samples);
    gi_image_free(&levels.maxima);
    if (status || !peaks->n)
        return status;
    qsort(peaks->peaks, (size_t)peaks->n, sizeof *peaks->peaks, by_value);
    return space(peaks, p->min_distance, p->count ? (uint64_t)p->count : UINT64_MAX, srcs->width,
                 srcs->height, err);
}

static void result_free(void *result)
{
    struct gi_peaks *peaks = result;
    free(peaks->peaks);
    *peaks = (struct gi_peaks){0};
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_peaks *peaks = result;
    gi_digest_integer(digest, (int64_t)peaks->n);
    for (uint64_t i = 0; i < peaks->n; i++) {
        gi_digest_integer(digest, peaks->peaks[i].x);
        gi_digest_integer(digest, peaks->peaks[i].y);
        gi_digest_reals(digest, &peaks->peaks[i].value, 1);
    }
}

const struct gi_filter gi_filter_peaks = {
    .name = "peaks",
    .group = GI_GROUP_REGIONS,
    .summary = "Peaks: local maxima with a minimum distance",
    .manual =
        "Finds the pixels that are the maximum of the square of 2 D + 1 pixels per side around "
        "them, where D is --min-distance, and that are above --threshold. In a colour image the "
        "luma is compared. TABLE gets a row per peak with its column x, its row y (both from 0, in "
        "the upper left corner) and its value, the highest first; peaks of equal value are in "
        "raster order. Without TABLE the rows are printed.\n\n"
        "Where neighbours are equal, as on a plateau, a peak that is less than D columns and D "
        "rows away from one before is left out. Peaks that are less than D pixels away from a "
        "side of the image are left out, unless --keep-border is given, and an image whose pixels "
        "are all equal has none. NaN is no peak.\n\n"
        "Noise has many peaks: smooth the image before, as in run 'gaussian --sigma 2 | peaks'. "
        "The peaks are those of scikit-image's peak_local_max(), whose threshold_abs is "
        "--threshold, and num_peaks is --count.",
    .options = options,
    .params_nbytes = sizeof(struct gi_peaks_params),
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_peaks),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};
