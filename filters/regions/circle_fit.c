/* Directions of edges, and circles that fit edge pixels.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/regions/circles.h"
#include "kernels/kernels.h"

enum { STEPS = 6, SECTORS_MAX = 4096, BAND = 64 /* rows */ };

static const double elongated = 0.3; /* smallest difference of the axes' moments over their sum */
static const double aligned = 0.9;   /* cosine of the largest angle between normal and radius */
static const double tolerance = 1.0; /* largest distance of a vote from the circle, in pixels */

/* ---- directions ---- */

/* Finds the minor axis of the edge pixels around a pixel. Returns false if they have no direction,
 * as inside of an area. */
static bool find_normal(struct gi_edge_normal *normal, const struct gi_edge_pixels *edges,
                        struct gi_edge_pixel at, int reach)
{
    const int left = at.x < reach ? 0 : at.x - reach, top = at.y < reach ? 0 : at.y - reach;
    const int right = at.x + reach < edges->width ? at.x + reach : edges->width - 1;
    const int bottom = at.y + reach < edges->height ? at.y + reach : edges->height - 1;
    int xx = 0, xy = 0, yy = 0;
    for (int y = top; y <= bottom; y++) {
        const uint8_t *row = edges->mask + (size_t)y * (size_t)edges->width;
        for (int x = left; x <= right; x++) {
            const int dx = x - at.x, dy = y - at.y, in = row[x];
            xx += in * dx * dx, xy += in * dx * dy, yy += in * dy * dy;
        }
    }
    /* The major axis has half the angle of (xx - yy, 2 xy); the minor axis is across it. */
    const double u = xx - yy, v = 2.0 * xy, length = sqrt(u * u + v * v);
    const double cosine = length > 0 ? sqrt((length + u) / (2 * length)) : 1;
    const double sine = length > 0 ? sqrt((length - u) / (2 * length)) : 0;
    *normal = (struct gi_edge_normal){(float)at.x, (float)at.y, (float)(v < 0 ? sine : -sine),
                                      (float)cosine};
    return xx + yy > 0 && length >= elongated * (xx + yy);
}

/* The work of threads on bands of rows. rows[y] of the normals is the index of the first edge pixel
 * of row y, from which on the row's normals are stored. */
struct finding {
    const struct gi_edge_normals *normals;
    int reach;
    uint64_t *found; /* number of normals per row */
};

static void find_normals(void *arg, int index, void *scratch)
{
    const struct finding *finding = arg;
    const struct gi_edge_normals *to = finding->normals;
    const struct gi_edge_pixels *edges = to->edges;
    const int top = index * BAND, bottom = edges->height - top < BAND ? edges->height : top + BAND;
    for (int y = top; y < bottom; y++) {
        uint64_t n = to->rows[y];
        for (uint64_t i = n; i < to->rows[y + 1]; i++)
            n += find_normal(&to->normals[n], edges, edges->pixels[i], finding->reach);
        finding->found[y] = n - to->rows[y];
    }
}

enum gi_status gi_edge_normals_find(struct gi_queue *queue, struct gi_edge_normals *normals,
                                    const struct gi_edge_pixels *edges, int reach,
                                    struct gi_err *err)
{
    const size_t height = (size_t)edges->height;
    *normals =
        (struct gi_edge_normals){.edges = edges,
                                 .normals = malloc((edges->n + 1) * sizeof *normals->normals),
                                 .rows = malloc((height + 1) * sizeof *normals->rows)};
    const struct finding finding = {normals, reach, malloc((height + 1) * sizeof *finding.found)};
    enum gi_status status = GI_OK;
    if (!normals->normals || !normals->rows || !finding.found)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %llu edge pixels",
                         (unsigned long long)edges->n);
    for (uint64_t y = 0, i = 0; y <= height && !status; y++) {
        while (i < edges->n && (uint64_t)edges->pixels[i].y < y)
            i++;
        normals->rows[y] = i;
    }
    if (!status)
        status = queue->k->jobs(queue, (edges->height - 1) / BAND + 1, find_normals,
                                (void *)(uintptr_t)&finding, 0, err);
    for (size_t y = 0; y <= height && !status; y++) {
        const uint64_t from = normals->rows[y], n = y < height ? finding.found[y] : 0;
        memmove(&normals->normals[normals->n], &normals->normals[from],
                n * sizeof *normals->normals);
        normals->rows[y] = normals->n;
        normals->n += n;
    }
    free(finding.found);
    return status;
}

void gi_edge_normals_free(struct gi_edge_normals *normals)
{
    free(normals->normals);
    free(normals->rows);
    *normals = (struct gi_edge_normals){0};
}

/* ---- edge pixels around a centre ---- */

/* An edge pixel relative to a centre: its distance, and the unit vector towards it. */
struct ray {
    double distance, x, y;
};

/* Walks through the edge pixels whose direction agrees with a circle around the centre. */
struct walk {
    const struct gi_edge_normals *normals;
    double x, y, least, most; /* centre, and limits of the distance */
    int row, bottom;
    /* In `row`: where pixels are near enough and too near, as distances from x, and the index of
     * the next pixel. */
    double half, inner;
    uint64_t i;
};

/* Returns the index of the first pixel of a row at x or to the right. */
static uint64_t first_from(const struct gi_edge_normals *normals, int row, double x)
{
    uint64_t low = normals->rows[row], high = normals->rows[row + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (normals->normals[middle].x < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void begin_row(struct walk *walk)
{
    const double dy = walk->row - walk->y;
    if (walk->row >= walk->bottom)
        return;
    const double most = walk->most * walk->most - dy * dy;
    const double least = walk->least * walk->least - dy * dy;
    walk->half = most > 0 ? sqrt(most) : 0;
    walk->inner = least > 0 ? sqrt(least) : 0;
    walk->i = first_from(walk->normals, walk->row, walk->x - walk->half);
}

static struct walk walk_begin(const struct gi_edge_normals *normals, double x, double y,
                              double least, double most)
{
    const double top = fmax(0, ceil(y - most));
    const double bottom = fmin(normals->edges->height, floor(y + most) + 1);
    struct walk walk = {.normals = normals,
                        .x = x,
                        .y = y,
                        .least = fmax(least, 1e-3),
                        .most = most,
                        .row = (int)top,
                        .bottom = (int)fmax(bottom, 0)};
    begin_row(&walk);
    return walk;
}

static bool walk_next(struct ray *ray, struct walk *walk)
{
    const struct gi_edge_normals *all = walk->normals;
    for (; walk->row < walk->bottom; walk->row++, begin_row(walk)) {
        const double dy = walk->row - walk->y;
        for (; walk->i < all->rows[walk->row + 1]; walk->i++) {
            const struct gi_edge_normal *at = &all->normals[walk->i];
            const double dx = at->x - walk->x;
            if (dx > walk->half)
                break;
            if (fabs(dx) < walk->inner) {
                const uint64_t next = first_from(all, walk->row, walk->x + walk->inner);
                walk->i = next > walk->i ? next - 1 : walk->i; /* equal: the sum was rounded */
                continue;
            }
            const double distance = sqrt(dx * dx + dy * dy);
            if (distance < walk->least ||
                fabs(dx * at->across_x + dy * at->across_y) < aligned * distance)
                continue;
            *ray = (struct ray){distance, dx / distance, dy / distance};
            walk->i++;
            return true;
        }
    }
    return false;
}

/* ---- the fit ---- */

/* Returns the radius with the largest part of its circumference in edge pixels, of the histogram
 * of distances within `away` pixels; 0: none. */
static double find_radius(int *counts, const struct gi_edge_normals *normals, double x, double y,
                          double away, const struct gi_circles_params *p)
{
    const int low = (int)floor(fmax(0, p->min_radius - away)), high = (int)ceil(p->max_radius) + 1;
    struct walk walk = walk_begin(normals, x, y, low, high);
    struct ray ray;
    double best = 0, most = 0;
    memset(counts, 0, ((size_t)high + 2) * sizeof *counts);
    while (walk_next(&ray, &walk))
        counts[(int)lrint(ray.distance)]++;
    for (int r = low > 0 ? low : 1; r <= high; r++) {
        double n = 0;
        for (int i = r - (int)away; i <= r + (int)away; i++)
            n += i >= 0 && i <= high ? counts[i] : 0;
        if (n / r > most) {
            most = n / r;
            best = r;
        }
    }
    return best;
}

/* Solves the symmetric 3 x 3 system a v = b by Cramer's rule. Returns false if it is singular. */
static bool solve(double v[3], const double a[6], const double b[3])
{
    const double xx = a[0], xy = a[1], xz = a[2], yy = a[3], yz = a[4], zz = a[5];
    const double inverse[6] = {yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy,
                               xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy};
    const double det = xx * inverse[0] + xy * inverse[1] + xz * inverse[2];
    if (!(fabs(det) > 1e-9 * zz * zz * zz))
        return false;
    v[0] = (inverse[0] * b[0] + inverse[1] * b[1] + inverse[2] * b[2]) / det;
    v[1] = (inverse[1] * b[0] + inverse[3] * b[1] + inverse[4] * b[2]) / det;
    v[2] = (inverse[2] * b[0] + inverse[4] * b[1] + inverse[5] * b[2]) / det;
    return true;
}

/* Makes a step of Gauss and Newton towards the circle with the smallest sum of squared distances
 * to the edge pixels that are at most `reach` away from the present one. */
static bool improve(struct gi_circle *circle, const struct gi_edge_normals *normals, double reach)
{
    struct walk walk =
        walk_begin(normals, circle->x, circle->y, circle->radius - reach, circle->radius + reach);
    double a[6] = {0}, b[3] = {0}, v[3];
    struct ray ray;
    while (walk_next(&ray, &walk)) {
        const double miss = ray.distance - circle->radius;
        a[0] += ray.x * ray.x, a[1] += ray.x * ray.y, a[2] += ray.x;
        a[3] += ray.y * ray.y, a[4] += ray.y, a[5] += 1;
        b[0] += ray.x * miss, b[1] += ray.y * miss, b[2] += miss;
    }
    if (!solve(v, a, b) || sqrt(v[0] * v[0] + v[1] * v[1]) > 2 * reach)
        return false;
    circle->x += v[0], circle->y += v[1], circle->radius += v[2];
    return circle->radius > 0;
}

/* Counts the votes. Returns the degrees of the circle with votes, in sectors of two pixels. */
static double measure(struct gi_circle *circle, const struct gi_edge_normals *normals)
{
    const int n = (int)fmin(SECTORS_MAX, fmax(8, floor(acos(-1) * circle->radius)));
    struct walk walk = walk_begin(normals, circle->x, circle->y, circle->radius - tolerance,
                                  circle->radius + tolerance);
    bool sectors[SECTORS_MAX] = {false};
    struct ray ray;
    int filled = 0;
    circle->votes = 0;
    while (walk_next(&ray, &walk)) {
        const int sector = (int)((atan2(ray.y, ray.x) / acos(-1) + 1) / 2 * n) % n;
        circle->votes++;
        filled += !sectors[sector];
        sectors[sector] = true;
    }
    return 360.0 * filled / n;
}

bool gi_circle_fit(struct gi_circle *circle, int *counts, const struct gi_edge_normals *normals,
                   double x, double y, double away, const struct gi_circles_params *p)
{
    *circle = (struct gi_circle){x, y, find_radius(counts, normals, x, y, away, p), 0};
    if (circle->radius == 0)
        return false;
    for (int i = 0; i < STEPS; i++) /* the band becomes narrower in the first half */
        if (!improve(circle, normals, tolerance + 0.5 + away * fmax(0, 1 - 2.0 * i / STEPS)))
            return false;
    if (circle->radius < p->min_radius - 0.5 || circle->radius > p->max_radius + 0.5)
        return false;
    return measure(circle, normals) >= p->min_arc && circle->votes > p->threshold;
}
