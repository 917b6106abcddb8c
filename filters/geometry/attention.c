/* Scores an image of 32 x 32 pixels, as libvips' smartcrop does for interesting=attention. The
 * primitive `resample` reduces the rows, whose results each depend on one row, so that bands change
 * nothing, and the host does all else in double, in a fixed order.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/color/spaces.h"
#include "filters/geometry/resample_weights.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum { CELLS = GI_ATTENTION_CELLS };

enum gi_status gi_attention_plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct gi_resample_places row = gi_resample_all(src->width, CELLS);
    const struct gi_resample_places col = gi_resample_all(src->height, CELLS);
    return gi_resample_tables(plan, GI_RESAMPLE_LANCZOS3, &row, &col, false, err) ? GI_OK
                                                                                  : GI_E_MEMORY;
}

/* Reduces the rows of the band to CELLS pixels each, in host memory, which the caller frees. */
static enum gi_status reduce_rows(const struct gi_plan *plan, struct gi_queue *queue,
                                  struct gi_image *host, const struct gi_image *band,
                                  struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    static const float one = 1;
    struct gi_resample spec = *(const struct gi_resample *)plan->tables;
    int32_t *first = gi_small_calloc(2 * (size_t)band->height, sizeof *first);
    for (int y = 0; y < band->height; y++)
        first[y] = y;
    spec.col = (struct gi_resample_side){.n = band->height,
                                         .taps = 1,
                                         .nphases = 1,
                                         .first = first,
                                         .phase = first + band->height,
                                         .weights = &one};
    struct gi_image made;
    enum gi_status status =
        k->alloc(queue, &made, CELLS, band->height, band->channels, band->type, err);
    if (!status) {
        status = k->resample(queue, &made, band, &spec, err);
        if (status)
            k->release(queue, &made);
        else
            status = k->download(queue, host, &made, NULL, err);
    }
    free(first);
    return status;
}

/* Adds the row with `weight` to the sums of a row of cells. */
static void add_row(double sums[CELLS][3], double weight, const struct gi_image *row)
{
    const double full = gi_type_full_scale(row->type);
    const int n = row->channels, colors = n < 3 ? 1 : 3;
    for (int x = 0; x < CELLS; x++) {
        double alpha = n % 2 ? 1 : gi_sample(row->data, (size_t)(x * n + n - 1), row->type) / full;
        for (int c = 0; c < colors; c++) {
            double v = gi_sample(row->data, (size_t)(x * n + c), row->type) * alpha;
            sums[x][c] += v > -INFINITY && v < INFINITY ? weight * v : 0;
        }
    }
}

enum gi_status gi_attention_measure(const struct gi_plan *plan, struct gi_queue *queue,
                                    struct gi_attention *state, const struct gi_image *band,
                                    struct gi_err *err)
{
    const struct gi_resample_side *col = &((const struct gi_resample *)plan->tables)->col;
    struct gi_image host;
    enum gi_status status = reduce_rows(plan, queue, &host, band, err);
    if (status)
        return status;
    for (int y = 0; y < band->height; y++) {
        const struct gi_image row = gi_image_rows(&host, y, y + 1);
        for (int i = 0; i < CELLS; i++) {
            int tap = state->rows + y - col->first[i];
            if (tap >= 0 && tap < col->taps)
                add_row(state->sums[i], col->weights[col->phase[i] * col->taps + tap], &row);
        }
    }
    state->rows += band->height;
    gi_image_free(&host);
    return GI_OK;
}

/* Returns the linear light of the sample, which is rounded to the levels of the type. */
static double linear_of(double sum, enum gi_type type)
{
    const double full = gi_type_full_scale(type), levels = type == GI_U8 ? 255 : 65535;
    double v = floor(sum / full * levels + 0.5) / levels;
    return gi_srgb_light(v > 0 ? v < 1 ? v : 1 : 0);
}

/* Computes CIE XYZ (D65), whose Y is 0 to 100. */
static void find_xyz(double xyz[3], const double sums[3], const struct gi_image *src)
{
    static const double matrix[3][3] = {
        {41.24, 35.76, 18.05}, {21.26, 71.52, 7.22}, {1.93, 11.92, 95.05}};
    double rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = linear_of(sums[src->channels < 3 ? 0 : c], src->type);
    for (int i = 0; i < 3; i++)
        xyz[i] = matrix[i][0] * rgb[0] + matrix[i][1] * rgb[1] + matrix[i][2] * rgb[2];
}

/* The curve of CIE L*a*b*. */
static double lab_curve(double t)
{
    return t < 0.008856 ? 7.787 * t + 16.0 / 116 : cbrt(t);
}

/* Returns the score of a colour: up to 100 for the direction of skin in XYZ, from smartcrop.js, and
 * a* of CIE L*a*b*, which is the saturation of red. Dark colours have none. */
static double color_score(const double xyz[3])
{
    static const double skin[3] = {0.78, 0.57, 0.44};
    double length = sqrt(xyz[0] * xyz[0] + xyz[1] * xyz[1] + xyz[2] * xyz[2]), sum = 0;
    if (xyz[1] <= 5)
        return 0;
    for (int i = 0; i < 3; i++)
        sum += (xyz[i] / length - skin[i]) * (xyz[i] / length - skin[i]);
    return 100 - 100 * sqrt(sum) + 500 * (lab_curve(xyz[0] / 95.047) - lab_curve(xyz[1] / 100));
}

static int limit(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* Blurs the scores by a Gaussian whose integer weights are at least a fifth of that in the middle,
 * with the border mode clamp. */
static void blur(double scores[CELLS][CELLS], double sigma)
{
    double weights[CELLS], rows[CELLS][CELLS], sum = 20;
    int radius = 0;
    for (int i = 1; i < CELLS; i++) {
        double v = exp(-i * i / (2 * sigma * sigma));
        if (v < 0.2)
            break;
        weights[radius = i] = rint(20 * v);
        sum += 2 * weights[i];
    }
    weights[0] = 20;
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            rows[y][x] = 0;
            for (int i = -radius; i <= radius; i++)
                rows[y][x] += weights[abs(i)] * scores[limit(y + i, 0, CELLS - 1)][x];
        }
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            scores[y][x] = 0;
            for (int i = -radius; i <= radius; i++)
                scores[y][x] += weights[abs(i)] * rows[y][limit(x + i, 0, CELLS - 1)] / (sum * sum);
        }
}

/* Computes the scores: those of colours, and 5 times the magnitude of the Laplacian of Y. */
static void find_scores(double scores[CELLS][CELLS], const struct gi_attention *state,
                        const struct gi_image *src)
{
    double xyz[CELLS][CELLS][3];
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++)
            find_xyz(xyz[y][x], state->sums[y][x], src);
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            double around =
                xyz[limit(y - 1, 0, CELLS - 1)][x][1] + xyz[limit(y + 1, 0, CELLS - 1)][x][1] +
                xyz[y][limit(x - 1, 0, CELLS - 1)][1] + xyz[y][limit(x + 1, 0, CELLS - 1)][1];
            scores[y][x] = 5 * fabs(4 * xyz[y][x][1] - around) + color_score(xyz[y][x]);
        }
}

void gi_attention_find(int *left, int *top, const struct gi_attention *state,
                       const struct gi_image *src, int width, int height)
{
    double scores[CELLS][CELLS], best = -INFINITY;
    double across = (double)width / src->width * CELLS, down = (double)height / src->height * CELLS;
    double sigma = sqrt(across * across + down * down) / 10;
    int x = 0, y = 0;
    find_scores(scores, state, src);
    blur(scores, sigma > 1 ? sigma : 1);
    for (int i = 0; i < CELLS * CELLS; i++)
        if (scores[i / CELLS][i % CELLS] > best) {
            best = scores[i / CELLS][i % CELLS];
            x = (int)((int64_t)(i % CELLS) * src->width / CELLS);
            y = (int)((int64_t)(i / CELLS) * src->height / CELLS);
        }
    *left = limit(x - width / 2, 0, src->width - width);
    *top = limit(y - height / 2, 0, src->height - height);
}
