/* Removes points of contours. The polygons are those of OpenCV: gi_contour_corners() does as its
 * CHAIN_APPROX_SIMPLE, and gi_contour_simplify() as approxPolyDP() for closed curves.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/contours.h"

#include <math.h>

uint64_t gi_contour_corners(struct gi_contour_point *points, uint64_t n)
{
    uint64_t kept = 0;
    if (n < 2)
        return n;
    const struct gi_contour_point first = points[0];
    struct gi_contour_point before = points[n - 1];
    for (uint64_t i = 0; i < n; i++) {
        struct gi_contour_point at = points[i], next = i + 1 < n ? points[i + 1] : first;
        if (next.x - at.x != at.x - before.x || next.y - at.y != at.y - before.y)
            points[kept++] = at;
        before = at;
    }
    return kept;
}

/* Returns twice the area of the triangle. */
static double area(struct gi_contour_point a, struct gi_contour_point b, struct gi_contour_point p)
{
    return fabs((double)(p.y - a.y) * (double)(b.x - a.x) -
                (double)(p.x - a.x) * (double)(b.y - a.y));
}

static double squared_distance(struct gi_contour_point a, struct gi_contour_point b)
{
    double x = (double)(b.x - a.x), y = (double)(b.y - a.y);
    return x * x + y * y;
}

/* Finds the point that is farthest from points[from], the first of them after it. Returns their
 * squared distance, and 0 if all points are equal. */
static double farthest(uint64_t *at, const struct gi_contour_point *points, uint64_t n,
                       uint64_t from)
{
    double most = 0;
    for (uint64_t i = 1; i < n; i++) {
        uint64_t j = (from + i) % n;
        double square = squared_distance(points[from], points[j]);
        if (square > most) {
            most = square;
            *at = j;
        }
    }
    return most;
}

/* Douglas and Peucker's recursion, with a stack of ranges [from, to] of the closed curve. Writes
 * the points that are kept to `kept`. */
static uint64_t split(struct gi_contour_point *kept, uint64_t *stack, uint64_t depth,
                      const struct gi_contour_point *points, uint64_t n, double square)
{
    uint64_t count = 0;
    while (depth) {
        uint64_t to = stack[--depth], from = stack[--depth], best = from;
        double most = 0;
        for (uint64_t i = (from + 1) % n; i != to; i = (i + 1) % n) {
            double twice = area(points[from], points[to], points[i]);
            if (twice > most) {
                most = twice;
                best = i;
            }
        }
        if (most * most <= square * squared_distance(points[from], points[to])) {
            kept[count++] = points[from];
            continue;
        }
        stack[depth++] = best;
        stack[depth++] = to;
        stack[depth++] = from;
        stack[depth++] = best;
    }
    return count;
}

/* Removes points of a closed curve that are close to the line between their neighbours, but no
 * points on horizontal and vertical lines, as OpenCV. */
static uint64_t clean(struct gi_contour_point *points, uint64_t n, double square)
{
    uint64_t left = n, write = 0, read = 1 % n;
    struct gi_contour_point before = points[n - 1], at = points[0];
    for (uint64_t i = 0; i < n && left > 2; i++) {
        struct gi_contour_point next = points[read];
        read = (read + 1) % n;
        double dx = (double)(next.x - before.x), dy = (double)(next.y - before.y);
        double twice = area(before, next, at);
        double onward = (double)(at.x - before.x) * (double)(next.x - at.x) +
                        (double)(at.y - before.y) * (double)(next.y - at.y);
        bool drop = twice * twice <= 0.5 * square * (dx * dx + dy * dy) && dx != 0 && dy != 0 &&
                    onward >= 0;
        points[write] = before = drop ? next : at;
        write = (write + 1) % n;
        at = next;
        if (drop) {
            left--;
            at = points[read];
            read = (read + 1) % n;
            i++;
        }
    }
    return left;
}

uint64_t gi_contour_simplify(struct gi_contour_point *points, struct gi_contour_point *spare,
                             uint64_t *stack, uint64_t n, double tolerance)
{
    const double square = tolerance * tolerance;
    uint64_t from = 0, to = 0;
    double most = 0;
    for (int i = 0; i < 3; i++) { /* two points that are far apart */
        from = to;
        most = farthest(&to, points, n, from);
    }
    if (n < 2 || most <= square) {
        points[0] = points[from];
        return 1;
    }
    stack[0] = to;
    stack[1] = from;
    stack[2] = from;
    stack[3] = to;
    uint64_t count = split(spare, stack, 4, points, n, square);
    count = clean(spare, count, square);
    for (uint64_t i = 0; i < count; i++)
        points[i] = spare[i];
    return count;
}
