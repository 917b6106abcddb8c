/* Contours: the borders of connected regions as polygons.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_contours_params {
    struct gi_level at;
    bool invert;
    bool by_label;   /* each value above 0 is the label of a region */
    int points;      /* enum gi_contour_points */
    double simplify; /* tolerance in pixels; NAN: none */
};

enum gi_contour_points {
    GI_CONTOUR_CORNERS, /* where the direction changes */
    GI_CONTOUR_ALL,     /* every pixel of the border */
};

struct gi_contour_point {
    int32_t x, y;
};

/* A closed polygon through the centres of the pixels of a border. From each point the next one is
 * reached with the region on the left, as seen on a screen: outer borders run counterclockwise, and
 * borders around holes clockwise. */
struct gi_contour {
    uint32_t label; /* of the region; 1 in a mask */
    bool hole;      /* the border between the region and a hole in it */
    int64_t parent; /* the contour directly around this one, of the same label; -1: none */
    uint64_t first; /* index of the first point, which is the first in raster order */
    uint64_t n;     /* number of points, 1 or more */
};

/* Contours in raster order of their first points; a parent is before its children. */
struct gi_contours {
    uint64_t n, npoints;
    struct gi_contour *contours;     /* owned */
    struct gi_contour_point *points; /* owned */
    /* Numbers of elements that there is memory for. */
    uint64_t room, room_points;
};

/* Traces the borders of the regions of `labels`, a GI_U32 image in host memory whose labels are
 * at most `largest`, or a mask of GI_U8, whose samples are 255 or 0 and whose label is 1. Adds to
 * *contours, which is zeroed before, and freed by the caller also after an error
 * (filters/regions/contour_trace.c). Errors: GI_E_MEMORY, GI_E_UNSUPPORTED for more than INT32_MAX
 * contours. */
enum gi_status gi_contours_trace(struct gi_contours *contours, const struct gi_image *labels,
                                 uint32_t largest, struct gi_err *err);

/* Removes points (filters/regions/contour_points.c). gi_contour_corners() keeps those of `n` points
 * where the direction changes, and gi_contour_simplify() those that the algorithm of Douglas and
 * Peucker needs for a polygon at most `tolerance` pixels away. Both return the new number of
 * points. `spare` has room for n points, and `stack` for 2 n + 4 indices. */
uint64_t gi_contour_corners(struct gi_contour_point *points, uint64_t n);
uint64_t gi_contour_simplify(struct gi_contour_point *points, struct gi_contour_point *spare,
                             uint64_t *stack, uint64_t n, double tolerance);

/* The result is a struct gi_contours. */
extern const struct gi_filter gi_filter_contours;
