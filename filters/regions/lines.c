/* Finds straight lines in a mask of edges. The mask is copied to the host, which votes.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "filters/regions/hough.h"
#include "filters/tone/luma.h"
#include "kernels/kernels.h"

enum {
    VOTES = 100, /* the default of --threshold */
    VOTES_PROBABILISTIC = 10,
    MIN_LENGTH = 30,
    MAX_GAP = 3,
    CELLS_MAX = 1 << 28,
};

static const struct gi_choice methods[] = {
    {"hough", NULL, "lines across the image, by the standard Hough transform"},
    {"probabilistic", NULL, "segments, by the progressive probabilistic Hough transform"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("method", CHOICE, struct gi_lines_params, method), .letter = 'm',
     .default_text = "hough", .choices = methods, .help = "What is found"},
    {GI_OPTION("threshold", INT, struct gi_lines_params, threshold), .letter = 't', .min = 1,
     .max = 2147483647, .unit = "votes",
     .help = "Only lines with more votes than this; by default 100, and with --method "
             "probabilistic 10, which begin the search for a segment"},
    {GI_OPTION("count", INT, struct gi_lines_params, count), .default_text = "0", .min = 0,
     .max = 2147483647, .unit = "lines",
     .help = "At most this many, those with the most votes, or the longest segments; 0 means all"},
    {GI_OPTION("rho", REAL, struct gi_lines_params, rho), .default_text = "1", .min = 0.1,
     .max = 1000, .unit = "px", .help = "Step between the distances of lines from the upper left"},
    {GI_OPTION("theta", REAL, struct gi_lines_params, theta), .default_text = "1", .min = 0.05,
     .max = 180, .unit = "degrees", .help = "Step between the angles of lines"},
    {GI_OPTION("min-length", REAL, struct gi_lines_params, min_length), .min = 1, .max = 1000000,
     .unit = "px",
     .help = "With --method probabilistic: leave out shorter segments; by default 30"},
    {GI_OPTION("max-gap", REAL, struct gi_lines_params, max_gap), .min = 0, .max = 1000000,
     .unit = "px",
     .help = "With --method probabilistic: a segment may have gaps of at most this many pixels; by "
             "default 3"},
    {GI_OPTION("seed", INT, struct gi_lines_params, seed), .min = 0, .max = 2147483647,
     .help = "With --method probabilistic: another number draws the pixels in another order"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    struct gi_lines_params *p = params;
    const bool segments = p->method == GI_LINES_PROBABILISTIC;
    const char *option = !isnan(p->min_length) ? "min-length"
                         : !isnan(p->max_gap)  ? "max-gap"
                         : p->seed             ? "seed"
                                               : NULL;
    if (!segments && option)
        return gi_fail(err, GI_E_USAGE, "--%s: want --method probabilistic with it", option);
    if (!p->threshold)
        p->threshold = segments ? VOTES_PROBABILISTIC : VOTES;
    if (segments && isnan(p->min_length))
        p->min_length = MIN_LENGTH;
    if (segments && isnan(p->max_gap))
        p->max_gap = MAX_GAP;
    return GI_OK;
}

/* ---- the accumulator ---- */

/* Returns the number of angles, all below 180 degrees, and of distances, as OpenCV counts them. */
static int count_angles(float step)
{
    int n = (int)floor(acos(-1) / step) + 1;
    return n > 1 && fabs(acos(-1) - (n - 1) * (double)step) < step / 2 ? n - 1 : n;
}

static float step_of(const struct gi_lines_params *p)
{
    return (float)(p->theta * acos(-1) / 180);
}

static int count_rhos(const struct gi_lines_params *p, int width, int height)
{
    return (int)lrint((2 * ((double)width + height) + 1) / (float)p->rho);
}

static double count_cells(const struct gi_lines_params *p, int width, int height)
{
    return (count_angles(step_of(p)) + 2.0) * (count_rhos(p, width, height) + 2.0);
}

size_t gi_hough_space_nbytes(const struct gi_lines_params *p, int width, int height)
{
    return (size_t)(count_cells(p, width, height) * sizeof(int32_t));
}

enum gi_status gi_hough_space_make(struct gi_hough_space *space, const struct gi_lines_params *p,
                                   int width, int height, struct gi_err *err)
{
    const double ncells = count_cells(p, width, height);
    const float step = step_of(p), finer = 1 / (float)p->rho;
    *space = (struct gi_hough_space){.nangles = count_angles(step),
                                     .nrho = count_rhos(p, width, height)};
    space->middle = (space->nrho - 1) / 2;
    if (ncells > CELLS_MAX)
        return gi_fail(err, GI_E_LIMIT,
                       "--rho %g, --theta %g: make an accumulator of %.0f cells: want at most %d, "
                       "with larger steps",
                       p->rho, p->theta, ncells, CELLS_MAX);
    space->cosines = malloc((size_t)space->nangles * sizeof *space->cosines);
    space->sines = malloc((size_t)space->nangles * sizeof *space->sines);
    space->cells = calloc((size_t)ncells, sizeof *space->cells);
    if (!space->cosines || !space->sines || !space->cells)
        return gi_fail(err, GI_E_MEMORY, "out of memory: an accumulator of %.0f cells", ncells);
    float angle = 0;
    for (int n = 0; n < space->nangles; n++, angle += step) {
        space->cosines[n] = (float)(cos(angle) * finer);
        space->sines[n] = (float)(sin(angle) * finer);
    }
    return GI_OK;
}

void gi_hough_space_free(struct gi_hough_space *space)
{
    free(space->cosines);
    free(space->sines);
    free(space->cells);
    *space = (struct gi_hough_space){0};
}

enum gi_status gi_hough_add(struct gi_hough_lines *lines, const struct gi_hough_line *line,
                            struct gi_err *err)
{
    if (lines->n == lines->room) {
        uint64_t room = lines->room ? 2 * lines->room : 64;
        struct gi_hough_line *larger = realloc(lines->lines, (size_t)room * sizeof *larger);
        if (!larger)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %llu lines", (unsigned long long)room);
        lines->lines = larger;
        lines->room = room;
    }
    lines->lines[lines->n++] = *line;
    return GI_OK;
}

/* ---- the operation ---- */

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_lines_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes = gi_edge_pixels_nbytes(src);
    plan->scratch_nbytes = gi_luma_nbytes(src) + gi_hough_space_nbytes(p, src->width, src->height);
    plan->cost.other = 60.0 / src->channels;
    return GI_OK;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_lines_params *p = plan->params;
    struct gi_hough_lines *lines = result;
    struct gi_edge_pixels edges;
    struct gi_hough_space space;
    enum gi_status status = gi_hough_space_make(&space, p, srcs->width, srcs->height, err);
    if (!status) {
        status = gi_edge_pixels_find(&edges, queue, srcs, err);
        if (!status && p->method == GI_LINES_HOUGH)
            status = gi_hough_lines_find(lines, &space, &edges, p, queue, err);
        else if (!status)
            status = gi_hough_segments_find(lines, &space, &edges, p, err);
        lines->nedges = edges.n;
        gi_edge_pixels_free(&edges);
    }
    gi_hough_space_free(&space);
    if (p->count && lines->n > (uint64_t)p->count)
        lines->n = (uint64_t)p->count;
    return status;
}

static void result_free(void *result)
{
    struct gi_hough_lines *lines = result;
    free(lines->lines);
    *lines = (struct gi_hough_lines){0};
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_hough_lines *lines = result;
    gi_digest_integer(digest, (int64_t)lines->n);
    for (uint64_t i = 0; i < lines->n; i++) {
        const struct gi_hough_line *line = &lines->lines[i];
        gi_digest_integer(digest, line->votes);
        gi_digest_reals(
            digest,
            (const double[]){line->rho, line->theta, line->x1, line->y1, line->x2, line->y2}, 6);
    }
}

const struct gi_filter gi_filter_lines = {
    .name = "lines",
    .group = GI_GROUP_REGIONS,
    .summary = "Lines: find straight lines and segments (Hough transform)",
    .manual =
        "Finds straight lines in a mask of edges, whose pixels that are not 0 are edges: run "
        "'canny "
        "| lines'. TABLE has a row per line: rho and theta, the line's distance in pixels from the "
        "centre of the upper left pixel and the angle of this distance in degrees (the line is x "
        "cos(theta) + y sin(theta) = rho, where y grows downwards; 0 is a vertical line and 90 a "
        "horizontal one); its votes, the number of edge pixels on it; and the end points x1, y1 "
        "and "
        "x2, y2. Its column shape is \"line\", so that gpuimg draw --table draws the table on any "
        "picture, and --overlay draws on the mask. Without TABLE the rows are printed.\n\n"
        "--method hough finds lines from one side of the image to another, and its end points are "
        "where they leave the image. Every edge pixel votes for the lines through it, one per step "
        "of --theta, rounded to steps of --rho. A line has more votes than --threshold and than "
        "its "
        "four neighbours in rho and theta. The lines with the most votes are first; of equal "
        "votes, "
        "that with the smaller theta. These are the lines of OpenCV's HoughLines() with their "
        "votes. With a --rho other than 1 OpenCV reports distances that are half a step smaller "
        "where its number of steps is even; here rho is always the middle of the step.\n\n"
        "--method probabilistic finds segments, the longest first. Edge pixels vote in random "
        "order. When a line has more than --threshold votes, the pixels on it, at most one pixel "
        "away, are followed in both directions from the last voter, up to a gap of more than "
        "--max-gap pixels. The line is fitted to these pixels by least squares, and followed again "
        "until that changes nothing. A segment of at least --min-length whose pixels are not "
        "mainly "
        "those of an earlier segment is found, and its pixels no longer vote. Its ends are edge "
        "pixels, and its votes are the edge pixels along it. The order is drawn by --seed, so that "
        "a result can be repeated.\n\n"
        "Source: R. Duda, P. Hart, Use of the Hough transformation to detect lines and curves in "
        "pictures, CACM 15(1), 1972, and J. Matas, C. Galambos, J. Kittler, Robust detection of "
        "lines using the progressive probabilistic Hough transform, CVIU 78(1), 2000.",
    .options = options,
    .params_nbytes = sizeof(struct gi_lines_params),
    .check = check,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_hough_lines),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};
