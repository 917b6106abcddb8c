/* Lines in a mask of edges, by the Hough transform.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "filters/filter.h"
#include "filters/regions/edge_pixels.h"

enum gi_lines_method { GI_LINES_HOUGH, GI_LINES_PROBABILISTIC };

struct gi_lines_params {
    int method;        /* enum gi_lines_method */
    double rho;        /* distance between two parallel lines that are told apart, in pixels */
    double theta;      /* angle between two lines that are told apart, in degrees */
    int threshold;     /* lines have more votes */
    double min_length; /* of a segment, in pixels */
    double max_gap;    /* number of pixels */
    int seed, count;   /* count 0: all */
};

/* The line x cos(theta) + y sin(theta) = rho, or a segment of it. The centre of the upper left
 * pixel is at 0,0, and y grows downwards. */
struct gi_hough_line {
    double rho;            /* pixels */
    double theta;          /* degrees, 0 <= theta < 180 */
    int votes;             /* number of edge pixels */
    double x1, y1, x2, y2; /* end points in the image, the left one first, else the upper one */
};

struct gi_hough_lines {
    uint64_t n, room;            /* number of lines, and of lines that there is memory for */
    struct gi_hough_line *lines; /* owned */
    uint64_t nedges;             /* number of edge pixels in the image */
};

/* Adds a line. Errors: GI_E_MEMORY. */
enum gi_status gi_hough_add(struct gi_hough_lines *lines, const struct gi_hough_line *line,
                            struct gi_err *err);

/* The accumulator: a row per angle n, which is n * theta, and a cell in it per distance. Around the
 * cells is a border of one cell. */
struct gi_hough_space {
    int nangles, nrho;      /* number of cells */
    int middle;             /* number of the cell for rho = 0 */
    float *cosines, *sines; /* owned; of the angles, divided by the step of rho */
    int32_t *cells;         /* owned; votes */
};

/* Makes a space with as many cells as OpenCV's HoughLines() has. Free with gi_hough_space_free(),
 * also after an error. Errors: GI_E_MEMORY, GI_E_LIMIT for too many cells. */
enum gi_status gi_hough_space_make(struct gi_hough_space *space, const struct gi_lines_params *p,
                                   int width, int height, struct gi_err *err);
void gi_hough_space_free(struct gi_hough_space *space);
/* Returns the memory of such a space in bytes. */
size_t gi_hough_space_nbytes(const struct gi_lines_params *p, int width, int height);

/* Returns the row of an angle, whose cells are -1 to nrho: -1 and nrho are the border. */
static inline int32_t *gi_hough_row(const struct gi_hough_space *space, int angle)
{
    return space->cells + (size_t)(angle + 1) * ((size_t)space->nrho + 2) + 1;
}

/* Returns the cell in that row for the lines through a pixel. All arithmetic is that of OpenCV: two
 * products and a sum of floats, each rounded, and rounding half to even. The result is -1 to nrho:
 * the distance of a pixel is less than width + height, of which the row holds twice as many, and
 * rounding the number of cells loses at most half a cell at each end. */
static inline int gi_hough_cell(const struct gi_hough_space *space, int angle,
                                struct gi_edge_pixel at)
{
    const float along_x = (float)at.x * space->cosines[angle];
    return (int)lrintf(along_x + (float)at.y * space->sines[angle]) + space->middle;
}

/* Finds lines (filters/regions/hough_lines.c) and segments (filters/regions/hough_segments.c), the
 * best first, in *lines, which is empty before and which the caller frees, also after an error.
 * gi_hough_segments_find() leaves the edge pixels in another order. Errors: GI_E_MEMORY. */
enum gi_status gi_hough_lines_find(struct gi_hough_lines *lines, struct gi_hough_space *space,
                                   const struct gi_edge_pixels *edges,
                                   const struct gi_lines_params *p, struct gi_queue *queue,
                                   struct gi_err *err);
enum gi_status gi_hough_segments_find(struct gi_hough_lines *lines, struct gi_hough_space *space,
                                      struct gi_edge_pixels *edges, const struct gi_lines_params *p,
                                      struct gi_err *err);

/* Result: struct gi_hough_lines. */
extern const struct gi_filter gi_filter_lines;
