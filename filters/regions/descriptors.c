/* Shape descriptors of regions. Second-order moments of the pixels are exact, summed run by run.
 * Convex hulls are made by the monotone chain (Andrew 1979) over the ends of each row. As in
 * scikit-image, the hull contains the middles of the four sides of each pixel, and its area is the
 * number of pixels whose centres it contains. All comparisons are made in integers.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/descriptors.h"

#include <math.h>
#include <stdlib.h>

/* Products of 33-bit coordinates have 66 bits, and sums of products have 126 bits. */
__extension__ typedef __int128 wide;

/* First and last column of the pixels of a region in one row. */
struct extent {
    int32_t from, to;
};

/* Sums over the pixels of a region, with coordinates relative to its bounding box. */
struct moments {
    wide xx, xy, yy;
};

/* A point in units of half pixels, from the centre of the first pixel of the bounding box. */
struct point {
    int64_t x, y;
};

/* A convex hull as two chains of points, the left one and the right one, from top to bottom. */
struct hull {
    struct point *left, *right;
    size_t nleft, nright;
};

/* Adds the run of columns a to b in row y. */
static void add_run(struct moments *m, wide a, wide b, wide y)
{
    wide count = b - a + 1, before = a - 1;
    wide sum = count * (a + b) / 2;
    m->xx += b * (b + 1) * (2 * b + 1) / 6 - before * (before + 1) * (2 * before + 1) / 6;
    m->xy += y * sum;
    m->yy += count * y * y;
}

/* Collects moments and extents of all regions. The extents of region i begin at
 * extents[first[i]]. */
static void collect(struct moments *moments, struct extent *extents, const uint64_t *first,
                    const struct gi_region_sums *regions, const struct gi_image *labels)
{
    for (int y = 0; y < labels->height; y++) {
        const uint32_t *row = gi_row(labels, y);
        for (int x = 0, end; x < labels->width; x = end) {
            for (end = x + 1; end < labels->width && row[end] == row[x]; end++)
                ;
            if (!row[x])
                continue;
            uint32_t i = row[x] - 1;
            int32_t a = x - (int32_t)regions[i].min_x, b = end - 1 - (int32_t)regions[i].min_x;
            int32_t dy = y - (int32_t)regions[i].min_y;
            struct extent *extent = &extents[first[i] + (uint64_t)dy];
            add_run(&moments[i], a, b, dy);
            extent->from = extent->from < a ? extent->from : a;
            extent->to = extent->to > b ? extent->to : b;
        }
    }
}

/* Returns a * d - b * c without cancellation (Kahan). */
static double difference_of_products(double a, double d, double b, double c)
{
    double bc = b * c, error = fma(-b, c, bc);
    return fma(a, d, -bc) + error;
}

/* Computes the ellipse with the same central moments as the region. The eigenvalues of the inertia
 * tensor are 1/16 of the squared full axes (scikit-image, _regionprops.py). */
static void set_ellipse(struct gi_shape_descriptors *d, const struct moments *m,
                        const struct gi_region_sums *sums)
{
    wide n = sums->area, x = (wide)sums->sum_x - n * sums->min_x;
    wide y = (wide)sums->sum_y - n * sums->min_y;
    double square = (double)n * (double)n;
    double xx = (double)(n * m->xx - x * x) / square, yy = (double)(n * m->yy - y * y) / square;
    double xy = (double)(n * m->xy - x * y) / square;
    double half = (xx - yy) / 2, large = (xx + yy) / 2 + sqrt(half * half + xy * xy);
    double small = large > 0 ? difference_of_products(xx, yy, xy, xy) / large : 0;
    small = fmin(fmax(small, 0), large); /* rounding */
    d->major_axis = 4 * sqrt(large);
    d->minor_axis = 4 * sqrt(small);
    d->eccentricity = large > 0 ? sqrt(1 - small / large) : 0;
    d->orientation_deg = atan2(2 * xy, yy - xx) * (90 / 3.14159265358979323846);
    if (xx == yy && xy == 0)
        d->orientation_deg = -45; /* as in scikit-image */
}

/* Appends a point to a chain of n points, and drops points before it that are not convex. `side` is
 * 1 for the left chain and -1 for the right chain. Returns the new length. */
static size_t append(struct point *chain, size_t n, struct point p, int side)
{
    while (n >= 2) {
        const struct point *a = &chain[n - 2], *b = &chain[n - 1];
        wide cross = (wide)(b->x - a->x) * (p.y - a->y) - (wide)(b->y - a->y) * (p.x - a->x);
        if (side * cross < 0)
            break;
        n--;
    }
    chain[n] = p;
    return n + 1;
}

/* Makes the convex hull of the middles of the pixels' sides. */
static void make_hull(struct hull *hull, const struct extent *rows, int64_t nrows)
{
    hull->nleft = hull->nright = 0;
    for (int64_t y = -1; y < 2 * nrows; y++) { /* in half pixels; odd y are between two rows */
        const struct extent *above = &rows[y > 0 ? (y - 1) / 2 : 0];
        const struct extent *below = &rows[(y + 1) / 2 < nrows ? (y + 1) / 2 : nrows - 1];
        if (y % 2 == 0)
            above = below = &rows[y / 2];
        if (above->from > above->to && below->from > below->to)
            continue; /* rows between the parts of a label */
        int64_t from = 2 * (int64_t)(above->from < below->from ? above->from : below->from);
        int64_t to = 2 * (int64_t)(above->to > below->to ? above->to : below->to);
        /* For even y, the hull contains the outer sides of the first and last pixel of a row. */
        int64_t out = y % 2 == 0;
        hull->nleft = append(hull->left, hull->nleft, (struct point){from - out, y}, 1);
        hull->nright = append(hull->right, hull->nright, (struct point){to + out, y}, -1);
    }
}

/* Returns the smallest column x with 2 x >= c, or if `upper` is set, the largest column x with 2 x
 * <= c, where c is the x of the chain at height y. *at is the index of a point of the chain that is
 * not below y, and advances with y. */
static int64_t column_at(const struct point *chain, size_t *at, int64_t y, bool upper)
{
    while (chain[*at + 1].y < y)
        ++*at;
    const struct point *a = &chain[*at], *b = &chain[*at + 1];
    wide over = (wide)(b->x - a->x) * (y - a->y), rise = 2 * (wide)(b->y - a->y);
    wide value = (wide)a->x * (b->y - a->y) + over; /* 2 x = value / (b->y - a->y) */
    wide quotient = value / rise, rest = value % rise;
    if (upper)
        return (int64_t)(quotient - (rest < 0));
    return (int64_t)(quotient + (rest > 0));
}

/* Replaces the extents of the region by the extents of the pixels inside the hull. Returns the
 * number of pixels inside the hull. */
static uint64_t fill_hull(struct extent *rows, int64_t nrows, const struct hull *hull)
{
    uint64_t count = 0;
    size_t left = 0, right = 0;
    for (int64_t y = 0; y < nrows; y++) {
        rows[y].from = (int32_t)column_at(hull->left, &left, 2 * y, false);
        rows[y].to = (int32_t)column_at(hull->right, &right, 2 * y, true);
        count += (uint64_t)(rows[y].to - rows[y].from) + 1;
    }
    return count;
}

/* Returns the largest distance between two points of the hull, in pixels. All pairs are compared,
 * because a hull on a grid has few points, about (2 height)^(2/3). */
static double diameter(const struct hull *hull)
{
    double best = 0;
    for (size_t i = 0; i < hull->nleft + hull->nright; i++)
        for (size_t j = 0; j < i; j++) {
            struct point a = i < hull->nleft ? hull->left[i] : hull->right[i - hull->nleft];
            struct point b = j < hull->nleft ? hull->left[j] : hull->right[j - hull->nleft];
            double x = (double)(a.x - b.x), y = (double)(a.y - b.y), square = x * x + y * y;
            best = best > square ? best : square;
        }
    return sqrt(best) / 2;
}

static void set_hull(struct gi_shape_descriptors *d, struct hull *hull, struct extent *rows,
                     const struct gi_region_sums *sums)
{
    int64_t nrows = (int64_t)sums->max_y - sums->min_y + 1;
    make_hull(hull, rows, nrows);
    d->solidity = (double)sums->area / (double)fill_hull(rows, nrows, hull);
    /* `rows` are now the pixels inside the hull; their hull reaches half a pixel farther. */
    make_hull(hull, rows, nrows);
    d->feret_diameter = diameter(hull);
}

/* Memory for all regions. */
struct shapes {
    uint64_t *first; /* index of the first extent of each region */
    struct moments *moments;
    struct extent *extents; /* of each row of each region */
    struct hull hull;
};

static void shapes_free(struct shapes *shapes)
{
    free(shapes->first);
    free(shapes->moments);
    free(shapes->extents);
    free(shapes->hull.left);
    free(shapes->hull.right);
}

/* Collects moments and extents. The caller calls shapes_free(), also after an error. */
static enum gi_status shapes_make(struct shapes *shapes, const struct gi_region_sums *regions,
                                  uint32_t n, const struct gi_image *labels, struct gi_err *err)
{
    size_t chain = 2 * (size_t)labels->height + 1;
    uint64_t nrows = 0;
    for (uint32_t i = 0; i < n; i++)
        nrows += (uint64_t)regions[i].max_y - regions[i].min_y + 1;
    *shapes = (struct shapes){.first = malloc(((size_t)n + 1) * sizeof *shapes->first),
                              .moments = calloc((size_t)n + 1, sizeof *shapes->moments),
                              .extents = malloc((nrows + 1) * sizeof *shapes->extents),
                              .hull = {.left = malloc(chain * sizeof *shapes->hull.left),
                                       .right = malloc(chain * sizeof *shapes->hull.right)}};
    if (!shapes->first || !shapes->moments || !shapes->extents || !shapes->hull.left ||
        !shapes->hull.right)
        return gi_fail(err, GI_E_MEMORY, "out of memory: shapes of %u regions", n);
    for (uint64_t i = 0; i < nrows; i++)
        shapes->extents[i] = (struct extent){INT32_MAX, -1};
    for (uint64_t i = 0, at = 0; i < n; i++) {
        shapes->first[i] = at;
        at += (uint64_t)regions[i].max_y - regions[i].min_y + 1;
    }
    collect(shapes->moments, shapes->extents, shapes->first, regions, labels);
    return GI_OK;
}

enum gi_status gi_shape_descriptors(struct gi_shape_descriptors *descriptors,
                                    const struct gi_region_sums *regions, uint32_t n,
                                    const struct gi_image *labels, struct gi_err *err)
{
    struct shapes shapes;
    enum gi_status status = shapes_make(&shapes, regions, n, labels, err);
    for (uint32_t i = 0; i < n && !status; i++) {
        set_ellipse(&descriptors[i], &shapes.moments[i], &regions[i]);
        set_hull(&descriptors[i], &shapes.hull, &shapes.extents[shapes.first[i]], &regions[i]);
    }
    shapes_free(&shapes);
    return status;
}

enum gi_status gi_convex_hulls(struct gi_image *labels, const struct gi_region_sums *regions,
                               uint32_t n, struct gi_err *err)
{
    struct shapes shapes;
    enum gi_status status = shapes_make(&shapes, regions, n, labels, err);
    for (uint32_t i = 0; i < n && !status; i++) {
        struct extent *rows = &shapes.extents[shapes.first[i]];
        int64_t nrows = (int64_t)regions[i].max_y - regions[i].min_y + 1;
        make_hull(&shapes.hull, rows, nrows);
        fill_hull(rows, nrows, &shapes.hull);
        for (int64_t y = 0; y < nrows; y++) {
            uint32_t *row = gi_row(labels, (int)(regions[i].min_y + y));
            for (int32_t x = rows[y].from; x <= rows[y].to; x++)
                row[(size_t)x + regions[i].min_x] = 1;
        }
    }
    for (int y = 0; y < labels->height && !status; y++) {
        uint32_t *row = gi_row(labels, y);
        for (int x = 0; x < labels->width; x++)
            row[x] = row[x] > 0;
    }
    shapes_free(&shapes);
    return status;
}
