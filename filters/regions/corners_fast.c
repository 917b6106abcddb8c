/* The corner detector FAST-9-16. A pixel is compared with opposite pixels of its circle first: 9
 * consecutive pixels of 16 have one of each pair of opposite ones, so most pixels need few
 * comparisons. Bytes are compared so by vectors. Threads take bands of rows.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/regions/corners.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum { RADIUS = 3, CIRCLE = 16, ARC = 9, BAND = 64 /* rows */ };

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

/* Scores of a row of pixels: below 0 where there is no corner. */
struct scores {
    double *at;
    int *corners, n; /* columns of the corners */
};

static inline uint8_t lower(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

static inline uint8_t higher(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

/* Sets maybe[x] unless one of four pairs of opposite pixels has no pixel brighter by more than
 * `contrast`, and one has no pixel darker by that. */
static void find_candidates(uint8_t *restrict maybe, const void *const rows[2 * RADIUS + 1],
                            int width, uint8_t contrast)
{
    const uint8_t *top = rows[0], *upper = rows[1], *middle = rows[3], *under = rows[5],
                  *bottom = rows[6];
    for (int x = RADIUS; x < width - RADIUS; x++) {
        const uint8_t v = middle[x], a = top[x], b = bottom[x], c = middle[x - 3],
                      d = middle[x + 3], e = upper[x - 2], f = under[x + 2], g = upper[x + 2],
                      h = under[x - 2];
        const uint8_t high = lower(lower(higher(a, b), higher(c, d)),
                                   lower(higher(e, f), higher(g, h))),
                      low = higher(higher(lower(a, b), lower(c, d)),
                                   higher(lower(e, f), lower(g, h)));
        const uint8_t above = (uint8_t)(higher(high, v) - v), below = (uint8_t)(v - lower(low, v));
        maybe[x] = higher(above, below) > contrast;
    }
}

/* Adds the corner at column x, if there is one. The function is inline, so that the type may be a
 * constant. */
static inline void score_pixel(struct scores *scores, const void *const rows[2 * RADIUS + 1], int x,
                               enum gi_type type, double contrast)
{
    const double most = difference_at(rows, x, type, contrast);
    if (!(most > 0))
        return;
    scores->at[x] = type == GI_F32 ? most : most - 1;
    scores->corners[scores->n++] = x;
}

static void score_bytes(struct scores *scores, const void *const rows[2 * RADIUS + 1], int width,
                        double contrast, uint8_t *maybe)
{
    find_candidates(maybe, rows, width, contrast < 255 ? (uint8_t)contrast : 255);
    for (int x = RADIUS; x < width - RADIUS; x++) {
        uint64_t eight = 1;
        if (x + 8 <= width - RADIUS)
            memcpy(&eight, maybe + x, sizeof eight);
        if (!eight)
            x += 7;
        else if (maybe[x])
            score_pixel(scores, rows, x, GI_U8, contrast);
    }
}

/* Scores row y. Other types than bytes are compared with the circle's lowest and highest pixels
 * first. */
static void score_row(struct scores *scores, const struct gi_image *gray, int y, double contrast,
                      uint8_t *maybe)
{
    const int width = gray->width;
    const void *rows[2 * RADIUS + 1];
    for (int x = 0; x < width; x++)
        scores->at[x] = -1;
    scores->n = 0;
    if (y < RADIUS || y >= gray->height - RADIUS)
        return;
    for (int i = 0; i <= 2 * RADIUS; i++)
        rows[i] = gi_row(gray, y - RADIUS + i);
    if (gray->type == GI_U8) {
        score_bytes(scores, rows, width, contrast, maybe);
        return;
    }
    for (int x = RADIUS; x < width - RADIUS; x++) {
        const double center = gi_sample(rows[RADIUS], (size_t)x, gray->type);
        const double below = fabs(gi_sample(rows[2 * RADIUS], (size_t)x, gray->type) - center),
                     above = fabs(gi_sample(rows[0], (size_t)x, gray->type) - center);
        if (below > contrast || above > contrast)
            score_pixel(scores, rows, x, gray->type, contrast);
    }
}

/* Returns whether the score at column x of rows[1] is above those of its neighbours and above 0. */
static bool is_greatest(const struct scores *const rows[3], int x)
{
    const double score = rows[1]->at[x];
    bool greatest = true;
    if (!(score > 0))
        return false;
    for (int j = 0; j < 3; j++)
        for (int i = x - 1; i <= x + 1; i++)
            greatest = greatest && (score > rows[j]->at[i] || (j == 1 && i == x));
    return greatest;
}

struct band {
    struct gi_peaks corners;
    enum gi_status status;
    struct gi_err fault;
};

struct detection {
    const struct gi_image *gray;
    double contrast;
    bool suppress;
    struct band *bands;
};

/* Finds the corners of a band. `scratch` holds the scores of three rows in turn. */
static void find_in_band(void *arg, int index, void *scratch)
{
    const struct detection *detection = arg;
    const struct gi_image *gray = detection->gray;
    const size_t width = (size_t)gray->width;
    struct band *band = &detection->bands[index];
    struct scores scores[3];
    double *at = scratch;
    int *corners = (int *)(at + 3 * width);
    uint8_t *maybe = (uint8_t *)(corners + 3 * width);
    int top = RADIUS + index * BAND, bottom = gray->height - RADIUS;
    bottom = bottom - top < BAND ? bottom : top + BAND;
    for (size_t i = 0; i < 3; i++)
        scores[i] = (struct scores){at + i * width, corners + i * width, 0};
    for (int y = top - 1; y <= top; y++)
        score_row(&scores[y % 3], gray, y, detection->contrast, maybe);
    for (int y = top; y < bottom && !band->status; y++) {
        const struct scores *rows[3];
        score_row(&scores[(y + 1) % 3], gray, y + 1, detection->contrast, maybe);
        for (int i = 0; i < 3; i++)
            rows[i] = &scores[(y - 1 + i) % 3];
        for (int i = 0; i < rows[1]->n && !band->status; i++) {
            const int x = rows[1]->corners[i];
            if (!detection->suppress || is_greatest(rows, x))
                band->status = gi_peaks_add(&band->corners, (struct gi_peak){x, y, rows[1]->at[x]},
                                            &band->fault);
        }
    }
}

enum gi_status gi_fast_corners(struct gi_queue *queue, struct gi_peaks *corners,
                               const struct gi_image *gray, double contrast, bool suppress,
                               struct gi_err *err)
{
    const int rows = gray->height - 2 * RADIUS, nbands = rows > 0 ? (rows - 1) / BAND + 1 : 0;
    const size_t nbytes = 3 * (sizeof(double) + sizeof(int)) + 1; /* per column */
    struct detection detection = {gray, contrast, suppress,
                                  gi_small_calloc((size_t)nbands + 1, sizeof(struct band))};
    enum gi_status status = GI_OK;
    if (nbands)
        status = queue->k->jobs(queue, nbands, find_in_band, &detection,
                                (size_t)gray->width * nbytes, err);
    for (int i = 0; i < nbands; i++) {
        struct band *band = &detection.bands[i];
        if (!status && band->status && err)
            *err = band->fault;
        status = status ? status : band->status;
        for (uint64_t k = 0; k < band->corners.n && !status; k++)
            status = gi_peaks_add(corners, band->corners.peaks[k], err);
        gi_peaks_free(&band->corners);
    }
    free(detection.bands);
    return status;
}
