/* Lines by the standard Hough transform (R. Duda, P. Hart, Use of the Hough transformation to
 * detect lines and curves in pictures, CACM 15(1), 1972), with the accumulator and the peaks of
 * OpenCV's HoughLines(). SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/regions/hough.h"
#include "kernels/kernels.h"

/* ---- votes ---- */

struct voting {
    const struct gi_hough_space *space;
    const struct gi_edge_pixels *edges;
};

/* Counts the votes of all pixels for one angle, whose row fits in the cache. */
static void vote(void *arg, int angle, void *scratch)
{
    const struct voting *voting = arg;
    int32_t *row = gi_hough_row(voting->space, angle);
    (void)scratch;
    for (uint64_t i = 0; i < voting->edges->n; i++)
        row[gi_hough_cell(voting->space, angle, voting->edges->pixels[i])]++;
}

/* ---- lines ---- */

/* Clips a line to the image, whose pixels have centres 0 to right and 0 to bottom. A line that
 * passes outside, because its distance is rounded, becomes the nearest corner. */
static void clip(struct gi_hough_line *line, double c, double s, double right, double bottom)
{
    const double base[2] = {line->rho * c, line->rho * s}, way[2] = {-s, c};
    const double most[2] = {right, bottom};
    double from = -INFINITY, to = INFINITY;
    for (int i = 0; i < 2; i++) {
        const double a = -base[i] / way[i], b = (most[i] - base[i]) / way[i];
        if (way[i] == 0 && (base[i] < 0 || base[i] > most[i]))
            to = -INFINITY;
        if (way[i] == 0)
            continue;
        from = fmax(from, fmin(a, b));
        to = fmin(to, fmax(a, b));
    }
    if (from <= to) {
        line->x1 = base[0] + from * way[0], line->y1 = base[1] + from * way[1];
        line->x2 = base[0] + to * way[0], line->y2 = base[1] + to * way[1];
        return;
    }
    double nearest = INFINITY;
    for (int i = 0; i < 4; i++) {
        const double x = i & 1 ? right : 0, y = i & 2 ? bottom : 0;
        const double far = fabs(x * c + y * s - line->rho);
        if (far < nearest) {
            nearest = far;
            line->x1 = line->x2 = x;
            line->y1 = line->y2 = y;
        }
    }
}

/* Returns a number to a thousandth of a pixel, within 0 to `most`. */
static double place(double v, double most)
{
    return fmin(fmax(rint(v * 1000) / 1000 + 0.0, 0), most);
}

static struct gi_hough_line line_of(const struct gi_hough_space *space, int angle, int rho,
                                    const struct gi_lines_params *p, const struct voting *voting)
{
    const double right = voting->edges->width - 1, bottom = voting->edges->height - 1;
    struct gi_hough_line line = {.rho = (rho - space->middle) * p->rho,
                                 .theta = angle * p->theta,
                                 .votes = gi_hough_row(space, angle)[rho]};
    const double radians = line.theta * (acos(-1) / 180);
    /* Along the sides of the image, exactly. */
    clip(&line, line.theta == 90 ? 0 : cos(radians), line.theta == 0 ? 0 : sin(radians), right,
         bottom);
    line.x1 = place(line.x1, right), line.x2 = place(line.x2, right);
    line.y1 = place(line.y1, bottom), line.y2 = place(line.y2, bottom);
    if (line.x1 > line.x2 || (line.x1 == line.x2 && line.y1 > line.y2)) {
        const struct gi_hough_line other = line;
        line.x1 = other.x2, line.y1 = other.y2;
        line.x2 = other.x1, line.y2 = other.y1;
    }
    return line;
}

static int by_votes(const void *first, const void *second)
{
    const struct gi_hough_line *a = first, *b = second;
    if (a->votes != b->votes)
        return a->votes > b->votes ? -1 : 1;
    return a->theta != b->theta ? (a->theta > b->theta) - (a->theta < b->theta)
                                : (a->rho > b->rho) - (a->rho < b->rho);
}

/* Adds the cells that have more votes than the threshold and than their four neighbours; of equal
 * neighbours the first counts. */
static enum gi_status find_peaks(struct gi_hough_lines *lines, const struct voting *voting,
                                 const struct gi_lines_params *p, struct gi_err *err)
{
    const struct gi_hough_space *space = voting->space;
    enum gi_status status = GI_OK;
    for (int angle = 0; angle < space->nangles; angle++) {
        const int32_t *row = gi_hough_row(space, angle), *before = gi_hough_row(space, angle - 1);
        const int32_t *after = gi_hough_row(space, angle + 1);
        for (int r = 0; r < space->nrho && !status; r++) {
            if (row[r] <= p->threshold || row[r] <= row[r - 1] || row[r] < row[r + 1] ||
                row[r] <= before[r] || row[r] < after[r])
                continue;
            const struct gi_hough_line line = line_of(space, angle, r, p, voting);
            status = gi_hough_add(lines, &line, err);
        }
    }
    return status;
}

enum gi_status gi_hough_lines_find(struct gi_hough_lines *lines, struct gi_hough_space *space,
                                   const struct gi_edge_pixels *edges,
                                   const struct gi_lines_params *p, struct gi_queue *queue,
                                   struct gi_err *err)
{
    struct voting voting = {space, edges};
    enum gi_status status = queue->k->jobs(queue, space->nangles, vote, &voting, 0, err);
    if (!status)
        status = find_peaks(lines, &voting, p, err);
    if (!status && lines->n)
        qsort(lines->lines, (size_t)lines->n, sizeof *lines->lines, by_votes);
    return status;
}
