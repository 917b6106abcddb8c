/* Finds local maxima: samples that are equal to the maximum of a square around them. The backend
 * computes the maxima, and the host compares and sorts.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/regions/host_image.h"
#include "filters/regions/peaks.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"

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

/* Returns the level that peaks of these samples are above. *flat becomes whether all are equal. */
static double level_of(bool *flat, const struct gi_image *samples, const struct gi_peaks_rule *rule)
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
    const double level = isnan(rule->level) ? least : rule->level, share = rule->share * most;
    return rule->share > 0 && share > level ? share : level;
}

enum gi_status gi_peaks_add(struct gi_peaks *to, struct gi_peak peak, struct gi_err *err)
{
    if (to->n == to->room) {
        uint64_t room = to->room ? 2 * to->room : 256;
        struct gi_peak *larger = realloc(to->peaks, (size_t)room * sizeof *larger);
        if (!larger)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %llu peaks", (unsigned long long)room);
        to->peaks = larger;
        to->room = room;
    }
    to->peaks[to->n++] = peak;
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
                status = gi_peaks_add(peaks, (struct gi_peak){x, y, v}, err);
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
    if (distance <= 1) { /* no two pixels are nearer */
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

enum gi_status gi_peaks_order(struct gi_peaks *peaks, int distance, int count, int width,
                              int height, struct gi_err *err)
{
    if (!peaks->n)
        return GI_OK;
    qsort(peaks->peaks, (size_t)peaks->n, sizeof *peaks->peaks, by_value);
    return space(peaks, distance, count ? (uint64_t)count : UINT64_MAX, width, height, err);
}

enum gi_status gi_peaks_find(struct gi_queue *queue, struct gi_peaks *peaks,
                             const struct gi_image *gray, const struct gi_peaks_rule *rule,
                             struct gi_err *err)
{
    struct levels levels = {.level = 0};
    bool flat = false;
    enum gi_status status = download(queue, &levels, gray, rule->min_distance, err);
    if (!status)
        levels.level = level_of(&flat, &levels.samples, rule);
    if (!status && !flat)
        status = find(peaks, &levels, rule->keep_border ? 0 : rule->min_distance, err);
    gi_image_free(&levels.samples);
    gi_image_free(&levels.maxima);
    return status ? status
                  : gi_peaks_order(peaks, rule->min_distance, rule->count, gray->width,
                                   gray->height, err);
}

void gi_peaks_free(void *result)
{
    struct gi_peaks *peaks = result;
    free(peaks->peaks);
    *peaks = (struct gi_peaks){0};
}

void gi_peaks_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_peaks *peaks = result;
    gi_digest_integer(digest, (int64_t)peaks->n);
    for (uint64_t i = 0; i < peaks->n; i++) {
        gi_digest_integer(digest, peaks->peaks[i].x);
        gi_digest_integer(digest, peaks->peaks[i].y);
        gi_digest_reals(digest, &peaks->peaks[i].value, 1);
    }
}
