/* Maxima of differences of Gaussians in three dimensions, column, row and scale. The backend
 * computes the differences and their maxima over 3 x 3 pixels, and the host compares three scales.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/convolution/weights.h"
#include "filters/regions/blobs.h"
#include "imgio/small.h"
#include "kernels/arithmetic.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"

enum { LEVELS = 3 };

/* The standard deviation of a scale, by products, which are the same on every machine. */
static double sigma_of(const struct gi_blobs_params *p, int scale)
{
    double sigma = p->min_sigma;
    while (scale-- > 0)
        sigma *= p->ratio;
    return sigma;
}

int gi_blobs_scales(const struct gi_blobs_params *p)
{
    int n = 1;
    for (double sigma = p->min_sigma * p->ratio; sigma <= p->max_sigma * (1 + 1e-12); n++)
        sigma *= p->ratio;
    return n;
}

/* A difference in host memory, and its maxima over 3 x 3 pixels. */
struct level {
    struct gi_image samples, maxima;
};

static void level_free(struct level *level)
{
    gi_image_free(&level->samples);
    gi_image_free(&level->maxima);
    *level = (struct level){{0}, {0}};
}

/* Makes `smooth`, which the caller releases, from an image of floats. */
static enum gi_status smoothed(struct gi_queue *queue, struct gi_image *smooth,
                               const struct gi_image *floats, double sigma, struct gi_err *err)
{
    const struct gi_gaussian gaussian = {.k = 2 * (int)(4 * sigma + 0.5) + 1, .sigma = sigma};
    float *taps = gi_small_calloc((size_t)gaussian.k, sizeof *taps);
    struct gi_separable spec = {.row = taps,
                                .col = taps,
                                .nrow = gaussian.k,
                                .ncol = gaussian.k,
                                .row_anchor = gaussian.k / 2,
                                .col_anchor = gaussian.k / 2,
                                .border = {.mode = GI_BORDER_MIRROR}};
    spec.sum = (float)gi_gaussian_taps(taps, &gaussian);
    enum gi_status status =
        queue->k->alloc(queue, smooth, floats->width, floats->height, 1, GI_F32, err);
    if (!status) {
        status = queue->k->convolve_separable(queue, smooth, floats, &spec, err);
        if (status)
            queue->k->release(queue, smooth);
    }
    free(taps);
    return status;
}

/* Makes `level` of a difference, which is released. */
static enum gi_status download(struct gi_queue *queue, struct level *level,
                               struct gi_image *difference, struct gi_err *err)
{
    const struct gi_min_max spec = {.width = 3,
                                    .height = 3,
                                    .anchor_x = 1,
                                    .anchor_y = 1,
                                    .greatest = true,
                                    .border = {.mode = GI_BORDER_CLAMP}};
    struct gi_image maxima = {0};
    enum gi_status status =
        queue->k->alloc(queue, &maxima, difference->width, difference->height, 1, GI_F32, err);
    if (!status) {
        status = queue->k->min_max(queue, &maxima, difference, &spec, err);
        if (!status)
            status = queue->k->download(queue, &level->maxima, &maxima, NULL, err);
        else
            queue->k->release(queue, &maxima);
    }
    if (!status)
        return queue->k->download(queue, &level->samples, difference, NULL, err);
    queue->k->release(queue, difference);
    return status;
}

/* Makes a level from `smooth`, of the same scale, which becomes that of the next one, smoothed with
 * `sigma`. With `invert` the level is negated. */
static enum gi_status next_level(struct gi_queue *queue, struct level *level,
                                 struct gi_image *smooth, const struct gi_image *floats,
                                 double sigma, bool invert, struct gi_err *err)
{
    struct gi_image smoother;
    enum gi_status status = smoothed(queue, &smoother, floats, sigma, err);
    if (status)
        return status;
    const struct gi_arithmetic minus = {
        .op = GI_ARITHMETIC_SUBTRACT, .other = invert ? smooth : &smoother, .plain = true};
    status = queue->k->arithmetic(queue, smooth, invert ? &smoother : smooth, &minus, err);
    if (!status)
        status = download(queue, level, smooth, err);
    else
        queue->k->release(queue, smooth);
    *smooth = smoother;
    return status;
}

static enum gi_status add(struct gi_blobs *to, const struct gi_blob *blob, struct gi_err *err)
{
    if (to->n == to->room) {
        uint64_t room = to->room ? 2 * to->room : 256;
        struct gi_blob *larger = realloc(to->blobs, (size_t)room * sizeof *larger);
        if (!larger)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %llu blobs", (unsigned long long)room);
        to->blobs = larger;
        to->room = room;
    }
    to->blobs[to->n++] = *blob;
    return GI_OK;
}

/* Sets the centre of a blob to the maximum of the quadratic polynomial that has the gradient and
 * the second differences at its pixel, if that is at most 1 px away: the centre is (column, row) -
 * H^-1 g. At the sides of the image it stays. Source: M. Brown and D. Lowe, Invariant features
 * from interest point groups, BMVC 2002. */
static void refine(struct gi_blob *blob, const struct gi_image *samples)
{
    const int x = blob->column, y = blob->row;
    double v[3][3];
    blob->x = x;
    blob->y = y;
    if (x < 1 || y < 1 || x + 1 >= samples->width || y + 1 >= samples->height)
        return;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            v[j][i] = (double)((const float *)gi_row(samples, y - 1 + j))[x - 1 + i];
    const double gx = (v[1][2] - v[1][0]) / 2, gy = (v[2][1] - v[0][1]) / 2;
    const double xx = v[1][2] - 2 * v[1][1] + v[1][0], yy = v[2][1] - 2 * v[1][1] + v[0][1];
    const double xy = (v[2][2] - v[2][0] - v[0][2] + v[0][0]) / 4, det = xx * yy - xy * xy;
    const double dx = (xy * gy - yy * gx) / det, dy = (xy * gx - xx * gy) / det;
    if (xx < 0 && det > 0 && fabs(dx) <= 1 && fabs(dy) <= 1) {
        blob->x += dx;
        blob->y += dy;
    }
}

/* Adds the maxima of levels[1]; those around it may be empty. */
static enum gi_status add_maxima(struct gi_blobs *blobs, const struct level levels[LEVELS],
                                 const struct gi_blobs_params *p, int scale, struct gi_err *err)
{
    const double factor = 1 / (p->ratio - 1);
    const double sigma = sigma_of(p, scale);
    const struct gi_image *samples = &levels[1].samples;
    enum gi_status status = GI_OK;
    for (int y = 0; y < samples->height && !status; y++) {
        const float *row = gi_row(samples, y), *rows[LEVELS];
        for (int i = 0; i < LEVELS; i++)
            rows[i] = levels[i].maxima.data ? gi_row(&levels[i].maxima, y) : NULL;
        for (int x = 0; x < samples->width && !status; x++) {
            const float v = row[x];
            if ((double)v * factor > blobs->highest)
                blobs->highest = (double)v * factor;
            if (!((double)v * factor > p->threshold) || v != rows[1][x] ||
                (rows[0] && v < rows[0][x]) || (rows[2] && v < rows[2][x]))
                continue;
            struct gi_blob blob = {.sigma = sigma,
                                   .radius = sqrt(2) * sigma,
                                   .response = (double)v * factor,
                                   .column = x,
                                   .row = y,
                                   .scale = scale};
            refine(&blob, samples);
            status = add(blobs, &blob, err);
        }
    }
    return status;
}

enum gi_status gi_blobs_find(struct gi_queue *queue, struct gi_blobs *blobs,
                             const struct gi_image *gray, const struct gi_blobs_params *p,
                             struct gi_err *err)
{
    const int nscales = gi_blobs_scales(p);
    struct level levels[LEVELS] = {{{0}, {0}}, {{0}, {0}}, {{0}, {0}}};
    struct gi_image floats, smooth;
    enum gi_status status =
        queue->k->alloc(queue, &floats, gray->width, gray->height, 1, GI_F32, err);
    if (status)
        return status;
    status = queue->k->convert(queue, &floats, gray, NULL, err);
    if (!status)
        status = smoothed(queue, &smooth, &floats, p->min_sigma, err);
    if (status) {
        queue->k->release(queue, &floats);
        return status;
    }
    for (int i = 0; i <= nscales && !status; i++) {
        if (i < nscales)
            status =
                next_level(queue, &levels[2], &smooth, &floats, sigma_of(p, i + 1), p->invert, err);
        if (!status && i)
            status = add_maxima(blobs, levels, p, i - 1, err);
        level_free(&levels[0]);
        levels[0] = levels[1];
        levels[1] = levels[2];
        levels[2] = (struct level){{0}, {0}};
    }
    for (int i = 0; i < LEVELS; i++)
        level_free(&levels[i]);
    if (smooth.data)
        queue->k->release(queue, &smooth);
    queue->k->release(queue, &floats);
    return status;
}
