/* Circles in a mask of edges, by the Hough transform.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "filters/regions/edge_pixels.h"

struct gi_circles_params {
    double min_radius, max_radius; /* pixels; max_radius NAN: half the shorter side of the image */
    double min_distance;           /* between two centres, in pixels; NAN: min_radius */
    int threshold;                 /* circles have more votes */
    double min_arc;                /* degrees of the circle that have edge pixels */
    int count;                     /* 0: all */
};

struct gi_circle {
    double x, y;   /* centre; the centre of the upper left pixel is at 0,0 */
    double radius; /* pixels */
    int votes;     /* number of edge pixels that are at most 1 pixel away from the circle */
};

/* Circles by descending votes; those of equal votes by y, then x. */
struct gi_circles {
    uint64_t n;
    struct gi_circle *circles; /* owned */
    uint64_t nedges;           /* number of edge pixels in the image */
};

/* An edge pixel with the direction across its edge, a unit vector whose sign is arbitrary. */
struct gi_edge_normal {
    float x, y, across_x, across_y;
};

/* Edge pixels that have a direction, in raster order; rows[y] is the index of the first pixel in
 * row y or below (filters/regions/circle_fit.c). */
struct gi_edge_normals {
    const struct gi_edge_pixels *edges;
    uint64_t n;
    struct gi_edge_normal *normals; /* owned */
    uint64_t *rows;                 /* owned; height + 1 */
};

/* Finds the directions as the minor axis of the edge pixels at most `reach` columns and rows away.
 * Free with gi_edge_normals_free(), also after an error. Errors: GI_E_MEMORY. */
enum gi_status gi_edge_normals_find(struct gi_queue *queue, struct gi_edge_normals *normals,
                                    const struct gi_edge_pixels *edges, int reach,
                                    struct gi_err *err);
void gi_edge_normals_free(struct gi_edge_normals *normals);

/* Finds the circle around a centre that is off by at most `away` pixels: the radius by a histogram
 * of distances, which has room for max_radius + 3 counts, then centre and radius by least squares.
 * Returns false if there is none that fulfils the parameters. */
bool gi_circle_fit(struct gi_circle *circle, int *counts, const struct gi_edge_normals *normals,
                   double x, double y, double away, const struct gi_circles_params *p);

/* Result: struct gi_circles. */
extern const struct gi_filter gi_filter_circles;
