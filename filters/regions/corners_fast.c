/* The corner detector FAST-9-16. A pixel is compared with opposite pixels of its circle first: 9
 * consecutive pixels of 16 have one of each pair of opposite ones, so most pixels need few
 * comparisons.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/regions/corners.h"

enum { RADIUS = 3, CIRCLE = 16, ARC = 9 };

/* The circle, clockwise from below. */
static const int circle[CIRCLE][2] = {{0, 3},  {1, 3},  {2, 2},  {3, 1},   {3, 0},   {3, -1},
                                      {2, -2}, {1, -3}, {0, -3}, {-1, -3}, {-2, -2}, {-3, -1},
                                      {-3, 0}, {-3, 1}, {-2, 2}, {-1, 3}};

/* Returns the largest difference that all pixels of an arc have: the maximum over arcs of the
 * minimum of d, where d are the differences on the circle. */
static double arc_difference(const double d[CIRCLE])
{
    double most = -INFINITY;
    for (int i = 0; i < CIRCLE; i++) {
        double least = d[i];
        for (int j = 1; j < ARC && least > most; j++)
            least = d[(i + j) % CIRCLE] >= least ? least : d[(i + j) % CIRCLE]; /* or NaN */
        most = least > most ? least : most;
    }
    return most;
}

/* Returns the difference of the corner at column x of rows[RADIUS], or 0 if it is no corner. */
static double difference_at(const void *const rows[2 * RADIUS + 1], int x, enum gi_type type,
                            double contrast)
{
    const double center = gi_sample(rows[RADIUS], (size_t)x, type);
    double brighter[CIRCLE], darker[CIRCLE];
    bool bright = true, dark = true;
    for (int i = 0; i < CIRCLE / 2 && (bright || dark); i++) {
        bool above = false, below = false;
        for (int j = i; j < CIRCLE; j += CIRCLE / 2) {
            const int *at = circle[j];
            brighter[j] = gi_sample(rows[RADIUS + at[1]], (size_t)(x + at[0]), type) - center;
            darker[j] = -brighter[j];
            above = above || brighter[j] > contrast;
            below = below || darker[j] > contrast;
        }
        bright = bright && above;
        dark = dark && below;
    }
    const double up = bright ? arc_difference(brighter) : 0,
                 down = dark ? arc_difference(darker) : 0;
    const double most = up > down ? up : down;
    return most > contrast ? most : 0;
}

/* Fills the scores of corners in the row in the middle. The circle's lowest and highest pixels are
 * compared first; the function is inline, so that the type may be a constant. */
static inline void score_corners(double *scores, const void *const rows[2 * RADIUS + 1], int width,
                                 enum gi_type type, double contrast)
{
    for (int x = RADIUS; x < width - RADIUS; x++) {
        const double center = gi_sample(rows[RADIUS], (size_t)x, type);
        const double below = fabs(gi_sample(rows[2 * RADIUS], (size_t)x, type) - center),
                     above = fabs(gi_sample(rows[0], (size_t)x, type) - center);
        if (!(below > contrast || above > contrast))
            continue;
        const double most = difference_at(rows, x, type, contrast);
        if (most > 0)
            scores[x] = type == GI_F32 ? most : most - 1;
    }
}

/* Fills the scores of row y: below 0 where there is no corner. */
static void score_row(double *scores, const struct gi_image *gray, int y, double contrast)
{
    const void *rows[2 * RADIUS + 1];
    for (int x = 0; x < gray->width; x++)
        scores[x] = -1;
    if (y < RADIUS || y >= gray->height - RADIUS)
        return;
    for (int i = 0; i <= 2 * RADIUS; i++)
        rows[i] = gi_row(gray, y - RADIUS + i);
    if (gray->type == GI_U8)
        score_corners(scores, rows, gray->width, GI_U8, contrast);
    else
        score_corners(scores, rows, gray->width, gray->type, contrast);
}

/* Returns whether the score at column x of rows[1] is above those of its neighbours and above 0. */
static bool is_greatest(const double *const rows[3], int x)
{
    const double score = rows[1][x];
    bool greatest = true;
    if (!(score > 0))
        return false;
    for (int j = 0; j < 3; j++)
        for (int i = x - 1; i <= x + 1; i++)
            greatest = greatest && (score > rows[j][i] || (j == 1 && i == x));
    return greatest;
}

enum gi_status gi_fast_corners(struct gi_peaks *corners, const struct gi_image *gray,
                               double contrast, bool suppress, struct gi_err *err)
{
    const size_t width = (size_t)gray->width;
    double *scores = malloc(3 * width * sizeof *scores); /* of three rows in turn */
    enum gi_status status = GI_OK;
    if (!scores)
        return gi_fail(err, GI_E_MEMORY, "out of memory: scores of %d pixels", gray->width);
    for (int y = RADIUS - 1; y <= RADIUS; y++)
        score_row(&scores[(size_t)(y % 3) * width], gray, y, contrast);
    for (int y = RADIUS; y < gray->height - RADIUS && !status; y++) {
        const double *rows[3];
        score_row(&scores[(size_t)((y + 1) % 3) * width], gray, y + 1, contrast);
        for (int i = 0; i < 3; i++)
            rows[i] = &scores[(size_t)((y - 1 + i) % 3) * width];
        for (int x = RADIUS; x < gray->width - RADIUS && !status; x++)
            if (suppress ? is_greatest(rows, x) : rows[1][x] >= 0)
                status = gi_peaks_add(corners, (struct gi_peak){x, y, rows[1][x]}, err);
    }
    free(scores);
    return status;
}
