/* Segments by the progressive probabilistic Hough transform (J. Matas, C. Galambos, J. Kittler,
 * Robust detection of lines using the progressive probabilistic Hough transform, CVIU 78(1), 2000).
 * Unlike there, a line is fitted to the pixels that were found on it and followed again, because
 * a long segment leaves the corridor of a line whose angle is rounded.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include <math.h>
#include <stdlib.h>

#include "filters/random.h"
#include "filters/regions/hough.h"

enum { FITS = 8 /* per segment, at most */ };

/* States of a pixel. TAKEN: it belongs to a segment. BESIDE, ABOVE: it or a neighbour in its row,
 * or in its column, is an edge pixel. */
enum { VOTED = 1, TAKEN = 2, BESIDE = 4, ABOVE = 8 };

struct search {
    const struct gi_lines_params *p;
    const struct gi_hough_space *space;
    const struct gi_edge_pixels *edges;
    uint8_t *states; /* as edges->mask */
};

/* A line through a pixel. If it is not `steep`, its points are (u, v) = (x, y), else (y, x), and v
 * is a function of u: v0 + slope * (u - u0). */
struct track {
    bool steep;
    int u0;
    double v0, slope;
    int first, last;     /* values of u at the ends */
    int first_v, last_v; /* of the edge pixels at the ends */
    int n, free;         /* number of edge pixels, and of those that are not TAKEN */
    double u, v, uu, uv; /* sums of u - u0, of v - v0 at the beginning, and of products */
};

static size_t index_of(const struct search *search, const struct track *track, int u, int v)
{
    const int x = track->steep ? v : u, y = track->steep ? u : v;
    return (size_t)y * (size_t)search->edges->width + (size_t)x;
}

static bool has(const struct search *search, const struct track *track, int u, int v)
{
    return gi_edge_pixels_has(search->edges, track->steep ? v : u, track->steep ? u : v);
}

/* Finds the edge pixel at u that is nearest to the track and at most one pixel away. */
static bool find(int *found, const struct search *search, const struct track *track, int u)
{
    const double exact = track->v0 + track->slope * (u - track->u0);
    const int v = (int)lrint(exact), side = exact < v ? -1 : 1;
    const int most = track->steep ? search->edges->width : search->edges->height;
    if (v >= 0 && v < most &&
        !(search->states[index_of(search, track, u, v)] & (track->steep ? BESIDE : ABOVE)))
        return false;
    const int order[] = {v, v + side, v - side};
    for (int i = 0; i < 3; i++)
        if (has(search, track, u, order[i])) {
            *found = order[i];
            return true;
        }
    return false;
}

/* Follows the track from u0 in direction `step`, 1 or -1, and adds its pixels to the sums; `base`
 * is subtracted from v. */
static void follow(struct track *track, const struct search *search, int step, double base)
{
    const int most = track->steep ? search->edges->height : search->edges->width;
    int gap = 0;
    for (int u = track->u0 + (step > 0 ? 0 : -1); u >= 0 && u < most; u += step) {
        int v;
        if (!find(&v, search, track, u)) {
            if (++gap > search->p->max_gap)
                return;
            continue;
        }
        gap = 0;
        const double du = u - track->u0, dv = v - base;
        track->n++;
        track->free += !(search->states[index_of(search, track, u, v)] & TAKEN);
        track->u += du, track->v += dv;
        track->uu += du * du, track->uv += du * dv;
        if (u <= track->first)
            track->first = u, track->first_v = v;
        if (u >= track->last)
            track->last = u, track->last_v = v;
    }
}

/* Finds the pixels around the line of an angle through a pixel. */
static struct track track_of(const struct search *search, struct gi_edge_pixel at, int angle)
{
    const double c = search->space->cosines[angle], s = search->space->sines[angle];
    struct track track = {.steep = fabs(c) > fabs(s)};
    const int v0 = track.steep ? at.x : at.y;
    track.u0 = track.steep ? at.y : at.x;
    track.v0 = v0;
    track.slope = track.steep ? -s / c : -c / s;
    for (int i = 0; i < FITS; i++) {
        const struct track before = track;
        track.first = track.last = track.u0;
        track.first_v = track.last_v = v0;
        track.n = track.free = 0;
        track.u = track.v = track.uu = track.uv = 0;
        follow(&track, search, 1, v0);
        follow(&track, search, -1, v0);
        const double spread = track.n * track.uu - track.u * track.u;
        if ((i && before.n == track.n && before.first == track.first &&
             before.last == track.last) ||
            track.n < 2 || spread <= 0)
            break;
        track.slope = (track.n * track.uv - track.u * track.v) / spread;
        track.v0 = v0 + (track.v - track.slope * track.u) / track.n;
    }
    return track;
}

static struct gi_hough_line line_of(const struct track *track)
{
    const double length = sqrt(1 + track->slope * track->slope), degree = acos(-1) / 180;
    /* The unit vector across the line: of (u, v) it is (-slope, 1). */
    double across_u = -track->slope / length, across_v = 1 / length;
    double c = track->steep ? across_v : across_u, s = track->steep ? across_u : across_v;
    double rho = across_u * track->u0 + across_v * track->v0;
    if (s < 0 || (s == 0 && c < 0))
        c = -c, s = -s, rho = -rho;
    struct gi_hough_line line = {.rho = rho, .theta = atan2(s, c) / degree, .votes = track->n};
    line.theta = line.theta < 180 ? line.theta : 0; /* rounded up: rho is that of 180 degrees */
    line.x1 = track->steep ? track->first_v : track->first;
    line.y1 = track->steep ? track->first : track->first_v;
    line.x2 = track->steep ? track->last_v : track->last;
    line.y2 = track->steep ? track->last : track->last_v;
    return line;
}

/* Adds 1 or -1 to the cells of the lines through a pixel. Returns the angle of the first one with
 * the most votes. */
static int vote(const struct search *search, struct gi_edge_pixel at, int votes)
{
    int best = 0;
    int32_t most = INT32_MIN;
    for (int angle = 0; angle < search->space->nangles; angle++) {
        const int r = gi_hough_cell(search->space, angle, at);
        int32_t *cell = gi_hough_row(search->space, angle) + r;
        *cell += votes;
        if (*cell > most)
            most = *cell, best = angle;
    }
    return best;
}

/* Takes the pixels of a segment, and withdraws their votes. */
static void take(const struct search *search, const struct track *track)
{
    for (int u = track->first; u <= track->last; u++) {
        const int v = (int)lrint(track->v0 + track->slope * (u - track->u0));
        for (int side = v - 1; side <= v + 1; side++) {
            if (!has(search, track, u, side))
                continue;
            uint8_t *state = &search->states[index_of(search, track, u, side)];
            const struct gi_edge_pixel at = {track->steep ? side : u, track->steep ? u : side};
            if (*state & VOTED)
                vote(search, at, -1);
            *state = (uint8_t)((*state | TAKEN) & ~VOTED);
        }
    }
}

static double length_of(const struct gi_hough_line *line)
{
    const double dx = line->x2 - line->x1, dy = line->y2 - line->y1;
    return sqrt(dx * dx + dy * dy);
}

static enum gi_status try_pixel(struct gi_hough_lines *lines, const struct search *search,
                                struct gi_edge_pixel at, struct gi_err *err)
{
    uint8_t *state = &search->states[(size_t)at.y * (size_t)search->edges->width + (size_t)at.x];
    if (*state & TAKEN)
        return GI_OK;
    *state |= VOTED;
    const int angle = vote(search, at, 1);
    if (gi_hough_row(search->space, angle)[gi_hough_cell(search->space, angle, at)] <=
        search->p->threshold)
        return GI_OK;
    const struct track track = track_of(search, at, angle);
    struct gi_hough_line line = line_of(&track);
    if (length_of(&line) < search->p->min_length || 2 * track.free <= track.n)
        return GI_OK;
    take(search, &track);
    if (line.x1 > line.x2) {
        const struct gi_hough_line other = line;
        line.x1 = other.x2, line.y1 = other.y2;
        line.x2 = other.x1, line.y2 = other.y1;
    }
    return gi_hough_add(lines, &line, err);
}

static int by_length(const void *first, const void *second)
{
    const struct gi_hough_line *a = first, *b = second;
    const double p[] = {-length_of(a), a->y1, a->x1, a->y2, a->x2};
    const double q[] = {-length_of(b), b->y1, b->x1, b->y2, b->x2};
    for (int i = 0; i < 5; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* Sets BESIDE and ABOVE. */
static void find_neighbours(const struct search *search)
{
    const struct gi_edge_pixels *edges = search->edges;
    const size_t width = (size_t)edges->width;
    for (int y = 0; y < edges->height; y++) {
        const uint8_t *row = edges->mask + (size_t)y * width, *above = y ? row - width : row,
                      *below = y + 1 < edges->height ? row + width : row;
        uint8_t *states = search->states + (size_t)y * width;
        for (size_t x = 0; x < width; x++)
            states[x] = (uint8_t)((row[x] | above[x] | below[x]) * ABOVE);
        for (size_t x = 0; x < width; x++)
            states[x] |=
                (uint8_t)((row[x] | row[x ? x - 1 : 0] | row[x + 1 < width ? x + 1 : x]) * BESIDE);
    }
}

/* Puts the pixels in a random order (R. Durstenfeld, Algorithm 235, CACM 7(7), 1964). */
static void shuffle(struct gi_edge_pixel *pixels, uint64_t n, int seed)
{
    for (uint64_t i = n; i > 1; i--) {
        const uint64_t j = gi_random_bits(i, seed, "lines") % i;
        const struct gi_edge_pixel swapped = pixels[i - 1];
        pixels[i - 1] = pixels[j];
        pixels[j] = swapped;
    }
}

enum gi_status gi_hough_segments_find(struct gi_hough_lines *lines, struct gi_hough_space *space,
                                      struct gi_edge_pixels *edges, const struct gi_lines_params *p,
                                      struct gi_err *err)
{
    struct search search = {p, space, edges,
                            gi_samples_alloc((size_t)edges->width * (size_t)edges->height)};
    enum gi_status status = GI_OK;
    if (!search.states)
        return gi_fail(err, GI_E_MEMORY, "out of memory: states of %llu edge pixels",
                       (unsigned long long)edges->n);
    find_neighbours(&search);
    shuffle(edges->pixels, edges->n, p->seed);
    for (uint64_t i = 0; i < edges->n && !status; i++)
        status = try_pixel(lines, &search, edges->pixels[i], err);
    free(search.states);
    if (!status && lines->n)
        qsort(lines->lines, (size_t)lines->n, sizeof *lines->lines, by_length);
    return status;
}
