/* Border following. The image is scanned row by row; each border is followed once, when its first
 * pixel is met, and marks its pixels with its number. The last border that a row has crossed tells
 * which border is around a new one. Source: S. Suzuki and K. Abe, Topological structural analysis
 * of digitized binary images by border following, CVGIP 30(1), 1985, algorithm 1 for 8-connected
 * regions. All labels are traced in one scan: for the borders of a label the pixels of other labels
 * are background.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/contours.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

/* Steps to the eight neighbours, counterclockwise as seen on a screen, from the right. */
static const int step_x[8] = {1, 1, 0, -1, -1, -1, 0, 1}, step_y[8] = {0, -1, -1, -1, 0, 1, 1, 1};

/* The last border that the present row has crossed in pixels of a label. */
struct last {
    int32_t row; /* for which `border` is set */
    int64_t border;
};

struct trace {
    struct gi_contours *contours;
    const struct gi_image *labels;
    /* For each pixel 0, or the number of a border that contains it, counted from 1: negative if the
     * pixel to the right is background that the border has passed. */
    int32_t *marks;
    struct last *last; /* by label */
    int width, height;
};

/* Returns the label of column x of a row: in a mask 1, or 0. */
static inline uint32_t label_in(const void *row, int x, enum gi_type type)
{
    return type == GI_U8 ? ((const uint8_t *)row)[x] != 0 : ((const uint32_t *)row)[x];
}

static uint32_t label_at(const struct trace *t, int x, int y)
{
    if (x < 0 || y < 0 || x >= t->width || y >= t->height)
        return 0;
    return label_in(gi_row(t->labels, y), x, t->labels->type);
}

static int32_t *mark_at(const struct trace *t, int x, int y)
{
    return &t->marks[(size_t)y * (size_t)t->width + (size_t)x];
}

/* Makes room for one element more in `*list`, whose elements have `nbytes` bytes. */
static enum gi_status grow(void *list, uint64_t n, uint64_t *room, size_t nbytes,
                           struct gi_err *err)
{
    void *old, *larger;
    if (n < *room)
        return GI_OK;
    memcpy(&old, list, sizeof old);
    uint64_t more = *room ? 2 * *room : 64;
    larger = more < SIZE_MAX / nbytes ? realloc(old, (size_t)more * nbytes) : NULL;
    if (!larger)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %llu points or contours",
                       (unsigned long long)more);
    memcpy(list, &larger, sizeof larger);
    *room = more;
    return GI_OK;
}

static enum gi_status add_point(struct gi_contours *to, int x, int y, struct gi_err *err)
{
    enum gi_status status =
        grow(&to->points, to->npoints, &to->room_points, sizeof *to->points, err);
    if (!status)
        to->points[to->npoints++] = (struct gi_contour_point){x, y};
    return status;
}

/* Returns the first direction in which a neighbour of (x, y) has the label, from the one after
 * `from` on, in steps of `turn`: 1 counterclockwise, 7 clockwise. Returns -1 if there is none. */
static int find(const struct trace *t, int x, int y, int from, int turn, uint32_t label)
{
    for (int i = 1; i <= 8; i++) {
        int d = (from + i * turn) & 7;
        if (label_at(t, x + step_x[d], y + step_y[d]) == label)
            return d;
    }
    return -1;
}

/* Follows the border number `border` from (x, y), whose neighbour in the direction `from` is
 * background, and adds its points. */
static enum gi_status follow(struct trace *t, int x, int y, int from, int32_t border,
                             struct gi_err *err)
{
    const uint32_t label = label_at(t, x, y);
    const int start_x = x, start_y = y, last = find(t, x, y, from, 7, label);
    int back = last; /* direction of the border's previous pixel */
    enum gi_status status = GI_OK;
    if (last < 0) { /* a single pixel */
        *mark_at(t, x, y) = -border;
        return add_point(t->contours, x, y, err);
    }
    while (!status) {
        int next = find(t, x, y, back, 1, label);
        int turned = ((next - back - 1) & 7) + 1;       /* directions looked at, 1 to 8 */
        bool right = ((0 - back - 1) & 7) + 1 < turned; /* the one to the right among them */
        int32_t *mark = mark_at(t, x, y);
        status = add_point(t->contours, x, y, err);
        if (right)
            *mark = -border;
        else if (*mark == 0)
            *mark = border;
        x += step_x[next];
        y += step_y[next];
        back = (next + 4) & 7;
        if (x == start_x && y == start_y && back == last)
            return status;
    }
    return status;
}

/* Adds the border that begins at (x, y). */
static enum gi_status add_border(struct trace *t, int x, int y, bool hole, struct last *last,
                                 struct gi_err *err)
{
    struct gi_contours *to = t->contours;
    enum gi_status status = grow(&to->contours, to->n, &to->room, sizeof *to->contours, err);
    if (!status && to->n == INT32_MAX)
        status = gi_fail(err, GI_E_UNSUPPORTED, "more than %d contours", INT32_MAX);
    if (status)
        return status;
    int64_t parent = last->border;
    /* A border inside a border of the same kind has the same parent as that border. */
    if (parent >= 0 && to->contours[parent].hole == hole)
        parent = to->contours[parent].parent;
    struct gi_contour *contour = &to->contours[to->n++];
    *contour = (struct gi_contour){
        .label = label_at(t, x, y), .hole = hole, .parent = parent, .first = to->npoints};
    status = follow(t, x, y, hole ? 0 : 4, (int32_t)to->n, err);
    contour->n = to->npoints - contour->first;
    return status;
}

/* Returns the first column from x on, of a row of a mask, where a border may be: neither eight
 * pixels of background nor, with both neighbours, of foreground that no border contains. */
static int skip_bytes(const uint8_t *row, const int32_t *marks, int x, int width)
{
    for (uint64_t at, foreground, after; x > 0 && x + 9 <= width; x += 8) {
        memcpy(&at, row + x, sizeof at);
        if (at == 0)
            continue;
        memcpy(&foreground, row + x - 1, sizeof foreground);
        memcpy(&after, row + x + 1, sizeof after);
        int32_t marked = 0;
        for (int i = 0; i < 8; i++)
            marked |= marks[x + i];
        if (marked || ~(at & foreground & after))
            break;
    }
    return x;
}

/* The function is inline, so that the type may be a constant. */
static inline enum gi_status scan_row(struct trace *t, int y, enum gi_type type, struct gi_err *err)
{
    const void *labels = gi_row(t->labels, y);
    enum gi_status status = GI_OK;
    for (int x = 0; x < t->width && !status; x++) {
        if (type == GI_U8)
            x = skip_bytes(labels, mark_at(t, 0, y), x, t->width);
        const uint32_t label = label_in(labels, x, type);
        if (!label)
            continue;
        const int32_t *mark = mark_at(t, x, y);
        const bool begins = x == 0 || label_in(labels, x - 1, type) != label,
                   ends = x + 1 == t->width || label_in(labels, x + 1, type) != label;
        if (!*mark && !begins && !ends)
            continue;
        struct last *last = &t->last[label];
        if (last->row != y + 1)
            *last = (struct last){y + 1, -1};
        if (*mark == 0 && begins) {
            status = add_border(t, x, y, false, last, err);
        } else if (*mark >= 0 && ends) {
            if (*mark > 0)
                last->border = *mark - 1;
            status = add_border(t, x, y, true, last, err);
        }
        if (*mark)
            last->border = (int64_t)abs(*mark) - 1;
    }
    return status;
}

enum gi_status gi_contours_trace(struct gi_contours *contours, const struct gi_image *labels,
                                 uint32_t largest, struct gi_err *err)
{
    size_t npixels = (size_t)labels->width * (size_t)labels->height;
    struct trace t = {contours, labels, NULL, NULL, labels->width, labels->height};
    t.marks = gi_samples_alloc((npixels + 1) * sizeof *t.marks);
    t.last = calloc((size_t)largest + 1, sizeof *t.last);
    enum gi_status status =
        t.marks && t.last
            ? GI_OK
            : gi_fail(err, GI_E_MEMORY, "out of memory: contours of %zu pixels", npixels);
    if (!status)
        memset(t.marks, 0, npixels * sizeof *t.marks);
    for (int y = 0; y < t.height && !status; y++)
        status = labels->type == GI_U8 ? scan_row(&t, y, GI_U8, err) : scan_row(&t, y, GI_U32, err);
    free(t.marks);
    free(t.last);
    return status;
}
