/* Decides between blobs that overlap, and measures their flux.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/regions/blobs.h"

/* ---- overlap ---- */

static int in_raster_order(const struct gi_blob *a, const struct gi_blob *b)
{
    return a->row != b->row ? (a->row > b->row) - (a->row < b->row)
                            : (a->column > b->column) - (a->column < b->column);
}

static int by_response(const void *first, const void *second)
{
    const struct gi_blob *a = first, *b = second;
    if (a->response != b->response)
        return a->response > b->response ? -1 : 1;
    return a->scale != b->scale ? (a->scale < b->scale) - (a->scale > b->scale)
                                : in_raster_order(a, b);
}

static int by_scale(const void *first, const void *second)
{
    const struct gi_blob *a = first, *b = second;
    return a->scale != b->scale ? (a->scale < b->scale) - (a->scale > b->scale) : by_response(a, b);
}

/* Returns the part of the area of the smaller disc that the discs around the maxima share. Source:
 * E. Weisstein, Circle-circle intersection, MathWorld. */
static double overlap_of(const struct gi_blob *a, const struct gi_blob *b)
{
    const double large = a->radius > b->radius ? a->radius : b->radius;
    const double r1 = a->radius / large, r2 = b->radius / large, least = r1 < r2 ? r1 : r2;
    const double dx = a->column - b->column, dy = a->row - b->row,
                 d = sqrt(dx * dx + dy * dy) / large;
    if (d > r1 + r2)
        return 0;
    if (d <= fabs(r1 - r2))
        return 1;
    const double u = fmax(-1, fmin(1, (d * d + r1 * r1 - r2 * r2) / (2 * d * r1)));
    const double v = fmax(-1, fmin(1, (d * d + r2 * r2 - r1 * r1) / (2 * d * r2)));
    const double product = (r1 + r2 - d) * (d + r1 - r2) * (d - r1 + r2) * (d + r1 + r2);
    const double area = r1 * r1 * acos(u) + r2 * r2 * acos(v) - sqrt(fabs(product)) / 2;
    return area / (acos(-1) * least * least);
}

/* The blobs of a scale that are kept, by square cells: lists of their numbers. */
struct grid {
    double side; /* px; a blob of the scale can only overlap smaller ones within a cell's side */
    int across, down;
    int64_t *first; /* of each cell, or -1; NULL: the scale has no blob */
};

static enum gi_status grid_open(struct grid *grid, double radius, int width, int height,
                                struct gi_err *err)
{
    grid->side = fmax(2 * radius, 2);
    grid->across = (int)((width - 1) / grid->side) + 1;
    grid->down = (int)((height - 1) / grid->side) + 1;
    const size_t n = (size_t)grid->across * (size_t)grid->down;
    grid->first = malloc(n * sizeof *grid->first);
    if (!grid->first)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu cells of blobs", n);
    for (size_t i = 0; i < n; i++)
        grid->first[i] = -1;
    return GI_OK;
}

static bool is_covered(const struct grid *grid, const int64_t *next, const struct gi_blob *blobs,
                       const struct gi_blob *blob, double overlap)
{
    const int column = (int)(blob->column / grid->side), row = (int)(blob->row / grid->side);
    for (int v = row - 1; v <= row + 1; v++)
        for (int u = column - 1; u <= column + 1; u++) {
            if (u < 0 || u >= grid->across || v < 0 || v >= grid->down)
                continue;
            for (int64_t i = grid->first[(size_t)v * (size_t)grid->across + (size_t)u]; i >= 0;
                 i = next[i])
                if (overlap_of(&blobs[i], blob) > overlap)
                    return true;
        }
    return false;
}

/* Keeps the blobs, sorted by scale, that no kept one covers. `next` and `grids` are workspace. */
static enum gi_status keep(struct gi_blobs *blobs, struct grid *grids, int ngrids, int64_t *next,
                           double overlap, int width, int height, struct gi_err *err)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < blobs->n; i++) {
        const struct gi_blob blob = blobs->blobs[i];
        bool covered = false;
        for (int j = blob.scale; j < ngrids && !covered; j++)
            covered = grids[j].first && is_covered(&grids[j], next, blobs->blobs, &blob, overlap);
        if (covered)
            continue;
        struct grid *grid = &grids[blob.scale];
        if (!grid->first && grid_open(grid, blob.radius, width, height, err))
            return GI_E_MEMORY;
        int64_t *cell = &grid->first[(size_t)(blob.row / grid->side) * (size_t)grid->across +
                                     (size_t)(blob.column / grid->side)];
        blobs->blobs[n] = blob;
        next[n] = *cell;
        *cell = (int64_t)n++;
    }
    blobs->n = n;
    return GI_OK;
}

enum gi_status gi_blobs_prune(struct gi_blobs *blobs, const struct gi_blobs_params *p, int width,
                              int height, struct gi_err *err)
{
    const int ngrids = gi_blobs_scales(p);
    if (!blobs->n)
        return GI_OK;
    struct grid *grids = calloc((size_t)ngrids, sizeof *grids);
    int64_t *next = malloc((size_t)blobs->n * sizeof *next);
    enum gi_status status = GI_OK;
    if (!grids || !next)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: overlaps of %llu blobs",
                         (unsigned long long)blobs->n);
    if (!status && p->overlap < 1) {
        qsort(blobs->blobs, (size_t)blobs->n, sizeof *blobs->blobs, by_scale);
        status = keep(blobs, grids, ngrids, next, p->overlap, width, height, err);
    }
    for (int i = 0; grids && i < ngrids; i++)
        free(grids[i].first);
    free(grids);
    free(next);
    if (status)
        return status;
    qsort(blobs->blobs, (size_t)blobs->n, sizeof *blobs->blobs, by_response);
    blobs->n = p->count && blobs->n > (uint64_t)p->count ? (uint64_t)p->count : blobs->n;
    return GI_OK;
}

/* ---- flux ---- */

static int by_size(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static int limited(double v, int most)
{
    return v < 0 ? 0 : v > most ? most : (int)v;
}

/* The samples around a blob. */
struct rings {
    double sum;     /* of the aperture */
    size_t n;       /* pixels of the aperture */
    double *values; /* of the annulus; room for all pixels of a square around it */
    size_t nvalues;
};

static void collect(struct rings *rings, const struct gi_blob *blob, const struct gi_image *gray,
                    double aperture)
{
    const double inner = GI_BLOBS_INNER * aperture, outer = GI_BLOBS_OUTER * aperture;
    const int left = limited(floor(blob->x - outer), gray->width);
    const int right = limited(ceil(blob->x + outer) + 1, gray->width);
    const int bottom = limited(ceil(blob->y + outer) + 1, gray->height);
    for (int y = limited(floor(blob->y - outer), gray->height); y < bottom; y++)
        for (int x = left; x < right; x++) {
            const double v = gi_sample(gi_row(gray, y), (size_t)x, gray->type);
            const double dx = x - blob->x, dy = y - blob->y, square = dx * dx + dy * dy;
            if (square <= aperture * aperture) {
                rings->sum += v;
                rings->n++;
            } else if (square > inner * inner && square <= outer * outer && !isnan(v)) {
                rings->values[rings->nvalues++] = v;
            }
        }
}

enum gi_status gi_blobs_measure(struct gi_blobs *blobs, const struct gi_image *gray,
                                double aperture, struct gi_err *err)
{
    double largest = 0;
    for (uint64_t i = 0; i < blobs->n; i++)
        largest = fmax(largest, blobs->blobs[i].radius);
    const double reach =
        GI_BLOBS_OUTER * (isnan(aperture) ? GI_BLOBS_APERTURE * largest : aperture);
    const size_t side = (size_t)(2 * reach + 4);
    const size_t across = side < (size_t)gray->width ? side : (size_t)gray->width;
    const size_t down = side < (size_t)gray->height ? side : (size_t)gray->height;
    double *values = malloc(across * down * sizeof *values);
    if (!values)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu x %zu samples", across, down);
    for (uint64_t i = 0; i < blobs->n; i++) {
        struct gi_blob *blob = &blobs->blobs[i];
        struct rings rings = {.values = values};
        collect(&rings, blob, gray, isnan(aperture) ? GI_BLOBS_APERTURE * blob->radius : aperture);
        const size_t n = rings.nvalues;
        qsort(values, n, sizeof *values, by_size);
        const double median = n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : NAN;
        blob->flux = rings.sum - (double)rings.n * median;
    }
    free(values);
    return GI_OK;
}
