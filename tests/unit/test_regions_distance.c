/* The distance transform gives the results of a search of all sites (kernels/regions.h), for each
 * kind of result, in images with few, many and no sites.
 * Sources: distance
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "patterns.h"
#include "kernels/regions.h"

#include <math.h>

static void draw_any(struct walk_case *c)
{
    struct gi_distance *spec = WALK_SPEC(c, struct gi_distance);
    bool inverts = walk_between(c, 0, 1);
    *spec = (struct gi_distance){.kind = (enum gi_distance_kind)(c->turn % 6),
                                 .above = pattern_level(c->type),
                                 .invert = inverts,
                                 .within = walk_between(c, 0, 60)};
    struct gi_image *src = walk_source(c, c->width, c->height, 1, c->type);
    draw_pattern(c, src);
}

/* Draws no site, or up to four sites anywhere, so that they are far from most pixels. */
static void draw_few(struct walk_case *c)
{
    draw_any(c);
    struct gi_distance *spec = c->spec;
    struct gi_image *src = &c->srcs[0].image;
    int sites = walk_between(c, 0, 4);
    *spec = (struct gi_distance){
        .kind = spec->kind, .within = (int64_t)walk_between(c, 0, 700) * walk_between(c, 0, 700)};
    for (int y = 0; y < c->height; y++)
        memset(gi_row(src, y), 0, gi_row_nbytes(src));
    for (int i = 0; i < sites; i++) {
        int y = walk_between(c, 0, c->height - 1), x = walk_between(c, 0, c->width - 1);
        exact_put(src, y, x, 0, (float)(i + 1) / 4 * gi_type_full_scale(c->type));
    }
}

/* A site, and the cost by which it is compared. */
struct site {
    long x, y;
    long long cost;
};

/* Returns the nearest of n sites, which are sorted by column and row. */
static struct site nearest(const struct site *sites, size_t n, long x, long y,
                           enum gi_distance_kind kind)
{
    struct site best = {-1, -1, -1};
    for (size_t i = 0; i < n; i++) {
        long dx = labs(sites[i].x - x), dy = labs(sites[i].y - y);
        long long cost = kind == GI_DISTANCE_CITY_BLOCK   ? dx + dy
                         : kind == GI_DISTANCE_CHESSBOARD ? (dx > dy ? dx : dy)
                                                          : (long long)dx * dx + (long long)dy * dy;
        if (best.cost < 0 || cost < best.cost)
            best = (struct site){sites[i].x, sites[i].y, cost};
    }
    return best;
}

static void put_result(struct gi_image *want, const struct gi_image *src, int x, int y,
                       const struct site *site, const struct gi_distance *spec)
{
    bool none = site->cost < 0;
    float distance = none                                  ? INFINITY
                     : spec->kind == GI_DISTANCE_EUCLIDEAN ? (float)sqrtl((long double)site->cost)
                                                           : (float)site->cost;
    if (spec->kind == GI_DISTANCE_PLACE) {
        exact_put(want, y, x, 0, (float)site->x);
        exact_put(want, y, x, 1, (float)site->y);
    } else if (spec->kind == GI_DISTANCE_SAMPLE) {
        bool near = !none && site->cost <= spec->within;
        exact_put(want, y, x, 0, near ? exact_sample(src, (int)site->y, (int)site->x, 0) : 0);
    } else {
        exact_put(want, y, x, 0, distance);
    }
}

static void define(struct walk_case *c)
{
    const struct gi_distance *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    bool places = spec->kind == GI_DISTANCE_PLACE, copies = spec->kind == GI_DISTANCE_SAMPLE;
    enum gi_type type = places ? GI_F32 : copies ? c->type : (enum gi_type)(c->turn / 6 % 3);
    struct gi_image *want = walk_result(c, c->width, c->height, places ? 2 : 1, type);
    struct site *sites = walk_alloc(c, (size_t)c->width * (size_t)c->height * sizeof *sites);
    size_t n = 0;
    for (int x = 0; x < c->width; x++)
        for (int y = 0; y < c->height; y++)
            if (is_on(src, spec->above, spec->invert, x, y))
                sites[n++] = (struct site){x, y, 0};
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            struct site site = nearest(sites, n, x, y, spec->kind);
            put_result(want, src, x, y, &site, spec);
        }
}

static const int usual[][2] = {{1, 1},  {1, 17},  {17, 1},   {31, 33},
                               {67, 5}, {64, 64}, {130, 37}, {0, 0}};
/* Wider and higher than the part of a row that CUDA searches from each pixel, and than its tiles.
 */
static const int far[][2] = {{1, 700}, {700, 1}, {900, 9}, {257, 300}, {1100, 70}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("distance", "patterns", draw_any, define, .sizes = usual),
    WALK_ROW("distance", "few sites", draw_few, define, .sizes = far),
};

WALK_ROWS(rows)
