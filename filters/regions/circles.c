/* Finds circles in a mask of edges by the Hough transform with directions of edges (C. Kimme, D.
 * Ballard, J. Sklansky, Finding circles by an array of accumulators, CACM 18(2), 1975). The mask is
 * copied to the host.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/circles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/tone/luma.h"
#include "kernels/kernels.h"

enum {
    CENTRES_MAX = 4096,   /* centres that are tested */
    CENTRES_MIN = 32,     /* the same, for radii as large as the image */
    CENTRES_PER_AREA = 4, /* the same, per square of the smallest radius */
    REACH_MIN = 3,        /* of the pixels that a direction is found from */
    REACH_MAX = 6,
    RADII_PER_BAND = 4,
    BANDS_MAX = 64,
};

/* A cell of the accumulator covers the error of a centre: the error of a direction, about 1/40,
 * times the largest radius of an octave. */
static const double radius_per_cell = 40;

static const struct gi_option options[] = {
    {GI_OPTION("min-radius", REAL, struct gi_circles_params, min_radius), .letter = 'r',
     .default_text = "5", .min = 3, .max = 100000, .unit = "px", .help = "Smallest radius"},
    {GI_OPTION("max-radius", REAL, struct gi_circles_params, max_radius), .letter = 'R', .min = 3,
     .max = 100000, .unit = "px",
     .help = "Largest radius; by default half the shorter side of the image"},
    {GI_OPTION("min-distance", REAL, struct gi_circles_params, min_distance), .letter = 'd',
     .min = 0, .max = 100000, .unit = "px",
     .help = "Circles whose centre is nearer to that of one with more votes are left out; by "
             "default --min-radius"},
    {GI_OPTION("threshold", INT, struct gi_circles_params, threshold), .letter = 't',
     .default_text = "15", .min = 1, .max = 2147483647, .unit = "votes",
     .help = "Only circles with more edge pixels than this"},
    {GI_OPTION("min-arc", REAL, struct gi_circles_params, min_arc), .default_text = "180", .min = 1,
     .max = 360, .unit = "degrees",
     .help = "Only circles with edge pixels along at least this much of them"},
    {GI_OPTION("count", INT, struct gi_circles_params, count), .default_text = "0", .min = 0,
     .max = 2147483647, .unit = "circles",
     .help = "At most this many, those with the most votes; 0 means all"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_circles_params *p = params;
    if (p->max_radius < p->min_radius)
        return gi_fail(err, GI_E_USAGE, "--max-radius %g: want at least --min-radius, %g",
                       p->max_radius, p->min_radius);
    return GI_OK;
}

/* Sets the values that follow from the shape of the image. */
static struct gi_circles_params params_for(const struct gi_circles_params *params,
                                           const struct gi_image *src)
{
    struct gi_circles_params p = *params;
    const int shorter = src->width < src->height ? src->width : src->height;
    const double most = sqrt((double)src->width * src->width + (double)src->height * src->height);
    if (isnan(p.max_radius))
        p.max_radius = fmax(p.min_radius, shorter / 2.0);
    p.max_radius = fmin(p.max_radius, fmax(most, p.min_radius));
    p.min_distance = isnan(p.min_distance) ? p.min_radius : p.min_distance;
    return p;
}

/* ---- centres ---- */

/* Votes for centres in square cells of `side` pixels, with a border of one cell. */
struct accumulator {
    int across, down; /* cells without the border */
    double side;
    int32_t *votes;
};

struct centre {
    double x, y;
    int64_t votes;
};

static int32_t *cell(const struct accumulator *to, int column, int row)
{
    return &to->votes[((size_t)row + 1) * ((size_t)to->across + 2) + (size_t)column + 1];
}

static enum gi_status accumulator_make(struct accumulator *to, const struct gi_image *src,
                                       const struct gi_circles_params *p, struct gi_err *err)
{
    to->side = fmax(1, p->max_radius / radius_per_cell);
    to->across = (int)((src->width - 0.5) / to->side) + 1;
    to->down = (int)((src->height - 0.5) / to->side) + 1;
    to->votes = gi_samples_alloc(((size_t)to->across + 2) * ((size_t)to->down + 2) *
                                 sizeof *to->votes); /* cleared by vote_band() */
    return to->votes ? GI_OK
                     : gi_fail(err, GI_E_MEMORY, "out of memory: an accumulator of %d x %d cells",
                               to->across, to->down);
}

/* The work of threads, which vote for a band of rows of the accumulator each. */
struct voting {
    const struct accumulator *to;
    const struct gi_edge_normals *normals;
    const struct gi_circles_params *p;
    int nbands;
};

/* An edge pixel votes for the cells across its edge in both directions, once for each cell of the
 * rows top to bottom - 1. */
static void vote(const struct voting *voting, const struct gi_edge_normal *at, int top, int bottom)
{
    const struct accumulator *to = voting->to;
    const struct gi_circles_params *p = voting->p;
    for (int sign = -1; sign <= 1; sign += 2) {
        int32_t *before = NULL;
        for (double r = p->min_radius; r <= p->max_radius + 0.5; r += to->side) {
            const double x = (at->x + sign * r * at->across_x + 0.5) / to->side;
            const double y = (at->y + sign * r * at->across_y + 0.5) / to->side;
            if (!(x >= 0 && x < to->across && y >= 0 && y < to->down))
                break;
            int32_t *now = cell(to, (int)x, (int)y);
            if ((int)y >= top && (int)y < bottom)
                *now += now != before;
            before = now;
        }
    }
}

/* Clears a band of the accumulator, and lets the edge pixels vote for it that are near enough. */
static void vote_band(void *arg, int index, void *scratch)
{
    const struct voting *voting = arg;
    const struct accumulator *to = voting->to;
    const int top = (int)((int64_t)to->down * index / voting->nbands);
    const int bottom = (int)((int64_t)to->down * (index + 1) / voting->nbands);
    const int first = index ? top : -1, last = index + 1 < voting->nbands ? bottom : bottom + 1;
    memset(cell(to, -1, first), 0,
           (size_t)(last - first) * ((size_t)to->across + 2) * sizeof *to->votes);
    const double height = voting->normals->edges->height, reach = voting->p->max_radius + 3;
    const int y0 = (int)fmin(height, fmax(0, top * to->side - reach));
    const int y1 = (int)fmin(height, bottom * to->side + reach);
    const uint64_t end = voting->normals->rows[y1];
    for (uint64_t i = voting->normals->rows[y0]; i < end; i++)
        vote(voting, &voting->normals->normals[i], top, bottom);
}

static enum gi_status vote_all(struct gi_queue *queue, const struct accumulator *to,
                               const struct gi_edge_normals *normals,
                               const struct gi_circles_params *p, struct gi_err *err)
{
    /* Edge pixels between two bands vote in both, so that bands are as high as several radii. */
    const double fit = to->down * to->side / (RADII_PER_BAND * p->max_radius);
    struct voting voting = {to, normals, p, (int)fmin(BANDS_MAX, fmax(1, fit))};
    return queue->k->jobs(queue, voting.nbands, vote_band, &voting, 0, err);
}

static int by_centre_votes(const void *first, const void *second)
{
    const struct centre *a = first, *b = second;
    if (a->votes != b->votes)
        return a->votes > b->votes ? -1 : 1;
    return a->y != b->y ? (a->y > b->y) - (a->y < b->y) : (a->x > b->x) - (a->x < b->x);
}

/* Returns the votes of a cell and its neighbours, and where their centre is. */
static struct centre centre_at(const struct accumulator *from, int column, int row)
{
    struct centre centre = {0};
    for (int v = row - 1; v <= row + 1; v++)
        for (int u = column - 1; u <= column + 1; u++) {
            const int32_t votes = *cell(from, u, v);
            centre.votes += votes;
            centre.x += (double)votes * u, centre.y += (double)votes * v;
        }
    centre.x = (centre.x / (double)centre.votes + 0.5) * from->side - 0.5;
    centre.y = (centre.y / (double)centre.votes + 0.5) * from->side - 0.5;
    return centre;
}

/* Makes the list of cells that have at least as many votes as their neighbours, the most first. */
static enum gi_status find_centres(struct centre **centres, size_t *n,
                                   const struct accumulator *from,
                                   const struct gi_circles_params *p, struct gi_err *err)
{
    size_t room = 0;
    *n = 0;
    for (int row = 0; row < from->down; row++)
        for (int column = 0; column < from->across; column++) {
            const int32_t *at = cell(from, column, row), *above = at - from->across - 2;
            const int32_t *below = at + from->across + 2, votes = *at;
            if (votes == 0 || votes <= at[-1] || votes < at[1] || votes <= above[-1] ||
                votes <= above[0] || votes <= above[1] || votes < below[-1] || votes < below[0] ||
                votes < below[1])
                continue;
            const struct centre centre = centre_at(from, column, row);
            if (centre.votes <= p->threshold)
                continue;
            if (*n == room) {
                room = room ? 2 * room : 256;
                struct centre *larger = realloc(*centres, room * sizeof *larger);
                if (!larger)
                    return gi_fail(err, GI_E_MEMORY, "out of memory: %zu centres", room);
                *centres = larger;
            }
            (*centres)[(*n)++] = centre;
        }
    if (*n)
        qsort(*centres, *n, sizeof **centres, by_centre_votes);
    const double area = from->side * from->side * from->across * from->down;
    const double most = CENTRES_MIN + CENTRES_PER_AREA * area / (p->min_radius * p->min_radius);
    *n = *n < most ? *n : (size_t)most;
    *n = *n < CENTRES_MAX ? *n : CENTRES_MAX;
    return GI_OK;
}

/* ---- circles ---- */

/* The work of threads, which test a centre each. */
struct testing {
    const struct centre *centres;
    const struct gi_edge_normals *normals;
    const struct gi_circles_params *p;
    double away;
    struct gi_circle *circles; /* their votes are 0 if there is no circle */
};

static void test_centre(void *arg, int index, void *scratch)
{
    const struct testing *testing = arg;
    const struct centre *centre = &testing->centres[index];
    struct gi_circle *circle = &testing->circles[index];
    if (!gi_circle_fit(circle, scratch, testing->normals, centre->x, centre->y, testing->away,
                       testing->p))
        circle->votes = 0;
}

/* Adds the circles around `n` centres. */
static enum gi_status test_all(struct gi_queue *queue, struct gi_circles *circles,
                               const struct testing *testing, size_t n, struct gi_err *err)
{
    struct testing work = *testing;
    const size_t nbytes = ((size_t)testing->p->max_radius + 4) * sizeof(int);
    struct gi_circle *larger =
        realloc(circles->circles, ((size_t)circles->n + n + 1) * sizeof *larger);
    if (!larger)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu circles", n);
    circles->circles = larger;
    work.circles = &larger[circles->n];
    enum gi_status status = GI_OK;
    if (n)
        status = queue->k->jobs(queue, (int)n, test_centre, &work, nbytes, err);
    for (size_t i = 0; i < n && !status; i++)
        if (work.circles[i].votes)
            larger[circles->n++] = work.circles[i];
    return status;
}

/* Adds the circles of one octave of radii. */
static enum gi_status find_octave(struct gi_queue *queue, struct gi_circles *circles,
                                  const struct gi_edge_pixels *edges, const struct gi_image *src,
                                  const struct gi_circles_params *p, struct gi_err *err)
{
    const int reach = (int)fmin(REACH_MAX, fmax(REACH_MIN, p->min_radius / 2));
    struct gi_edge_normals normals;
    struct accumulator to = {0};
    struct centre *centres = NULL;
    size_t n = 0;
    enum gi_status status = gi_edge_normals_find(queue, &normals, edges, reach, err);
    if (!status)
        status = accumulator_make(&to, src, p, err);
    if (!status)
        status = vote_all(queue, &to, &normals, p, err);
    if (!status)
        status = find_centres(&centres, &n, &to, p, err);
    const struct testing testing = {centres, &normals, p, 1 + 1.5 * to.side, NULL};
    if (!status)
        status = test_all(queue, circles, &testing, n, err);
    gi_edge_normals_free(&normals);
    free(to.votes);
    free(centres);
    return status;
}

static int by_votes(const void *first, const void *second)
{
    const struct gi_circle *a = first, *b = second;
    if (a->votes != b->votes)
        return a->votes > b->votes ? -1 : 1;
    const double p[] = {a->y, a->x, a->radius}, q[] = {b->y, b->x, b->radius};
    for (int i = 0; i < 3; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* Leaves out circles that are too near to a better one, or that are the same. */
static void space(struct gi_circles *circles, double distance)
{
    const double reach = fmax(distance, 2) + 1; /* beyond it, rounding included, none is near */
    uint64_t n = 0;
    for (uint64_t i = 0; i < circles->n; i++) {
        const struct gi_circle circle = circles->circles[i];
        bool near = false;
        for (uint64_t j = 0; j < n && !near; j++) {
            const struct gi_circle *other = &circles->circles[j];
            const double dx = other->x - circle.x, dy = other->y - circle.y;
            if (fabs(dx) > reach || fabs(dy) > reach)
                continue;
            const double away = sqrt(dx * dx + dy * dy);
            near = away < distance || (away < 2 && fabs(other->radius - circle.radius) < 2);
        }
        if (!near)
            circles->circles[n++] = circle;
    }
    circles->n = n;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const size_t npixels = (size_t)src->width * (size_t)src->height;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes =
        gi_edge_pixels_nbytes(src) + npixels * (sizeof(struct gi_edge_normal) + sizeof(int32_t));
    plan->scratch_nbytes = gi_luma_nbytes(src);
    plan->cost.other = 200.0 / src->channels;
    return GI_OK;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_circles_params p = params_for(plan->params, srcs);
    struct gi_circles *circles = result;
    struct gi_circles_params octave = p;
    struct gi_edge_pixels edges;
    enum gi_status status = gi_edge_pixels_find(&edges, queue, srcs, err);
    for (double r = p.min_radius; r <= p.max_radius && !status && edges.n; r *= 2) {
        octave.min_radius = r;
        octave.max_radius = fmin(2 * r, p.max_radius);
        status = find_octave(queue, circles, &edges, srcs, &octave, err);
    }
    circles->nedges = edges.n;
    gi_edge_pixels_free(&edges);
    if (status || !circles->n)
        return status;
    qsort(circles->circles, (size_t)circles->n, sizeof *circles->circles, by_votes);
    space(circles, p.min_distance);
    if (p.count && circles->n > (uint64_t)p.count)
        circles->n = (uint64_t)p.count;
    return GI_OK;
}

static void result_free(void *result)
{
    struct gi_circles *circles = result;
    free(circles->circles);
    *circles = (struct gi_circles){0};
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_circles *circles = result;
    gi_digest_integer(digest, (int64_t)circles->n);
    for (uint64_t i = 0; i < circles->n; i++) {
        const struct gi_circle *circle = &circles->circles[i];
        gi_digest_integer(digest, circle->votes);
        gi_digest_reals(digest, (const double[]){circle->x, circle->y, circle->radius}, 3);
    }
}

const struct gi_filter gi_filter_circles = {
    .name = "circles",
    .group = GI_GROUP_REGIONS,
    .summary = "Circles: find circles and their radii (Hough transform)",
    .manual =
        "Finds circles in a mask of edges, whose pixels that are not 0 are edges: run 'canny | "
        "circles'. TABLE has a row per circle: its centre x, y (from 0, in the centre of the upper "
        "left pixel), its radius, and its votes, the number of edge pixels that are at most one "
        "pixel away from it. The circles with the most votes are first. gpuimg draw --table draws "
        "the table on any picture, and --overlay draws on the mask. Without TABLE the rows are "
        "printed.\n\n"
        "Each edge pixel votes for the points across its edge, on both sides, at a distance of "
        "--min-radius to --max-radius. The direction across is the minor axis of the edge pixels "
        "at "
        "most 3 to 6 columns and rows away (more for larger radii); pixels inside of areas have "
        "none. Votes are counted in square "
        "cells whose side is a 40th of the largest radius of an octave of radii, at least one "
        "pixel. The cells of an octave with the most votes are tested (at most 4096; for large "
        "radii 4 "
        "per square of the smallest radius, and 32): the radius is the one "
        "with the largest part of its circumference in edge pixels, and centre and radius are "
        "then fitted to these pixels by least squares. The centre is inside the image, the circle "
        "need not be. A circle has more votes than --threshold and edge pixels along at least "
        "--min-arc degrees, in sectors of two pixels.\n\n"
        "Source: C. Kimme, D. Ballard, J. Sklansky, Finding circles by an array of accumulators, "
        "CACM 18(2), 1975, and H. Yuen, J. Princen, J. Illingworth, J. Kittler, Comparative study "
        "of Hough transform methods for circle finding, Image and Vision Computing 8(1), 1990.",
    .options = options,
    .params_nbytes = sizeof(struct gi_circles_params),
    .check = check,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_circles),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};
