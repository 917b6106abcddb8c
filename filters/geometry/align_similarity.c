/* Registration of rotation, scale and shift: candidates from features of a small level are refined
 * by Gauss-Newton steps, and the best one then on all larger levels. Threads see the rows of the
 * image, and add a part of the matrix each; every sum has the order of the pixels.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* sums of a pixel by vectors */
#endif

#include "filters/geometry/align_similarity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/geometry/align_equations.h"
#include "filters/geometry/align_features.h"
#include "kernels/fourier.h"
#include "kernels/elementary.h"
#include "kernels/kernels.h"

enum {
    SEARCH_SIDE = 256, /* candidates are sought on the first level whose shorter side is below */
    REGION_MAX = 1024, /* pixels along a side that a step looks at */
    STEPS_MAX = 30,
    PART_MIN = 5, /* a fifth of the region has to be inside the image */
    BAND = 16,    /* rows that a thread sees at a time */
};

/* Members of the equation of a pixel: slopes by shift, scale and angle, then the factors of the
 * gain, the offset and the right side. A thread adds half the rows of the matrix. */
enum { SLOPE_X, SLOPE_Y, SLOPE_SCALE, SLOPE_ANGLE, GAIN, OFFSET, RIGHT, MEMBERS = 8, ROWS = 3 };

#define ENOUGH 0.9 /* score after which the search ends */

/* A level of both images, with the smaller ones behind it, the unknowns, and memory for a region
 * and the pixels around it. */
struct job {
    struct gi_queue *queue;
    const struct gi_image *image, *reference;
    bool rotates, scales;
    double *region;
};

/* The middle region of the reference, from (x0, y0) on, as the image shows it, and the sums of its
 * equations. */
struct region {
    const struct job *job;
    const struct gi_similarity *seen;
    int x0, y0, w, h;
    double a[GI_ALIGN_UNKNOWNS_MAX][MEMBERS];
    double n, p, pp, v, vv, pv; /* as in struct gi_align_equations */
};

static double *row_of(const struct region *r, int y)
{
    return r->job->region + (ptrdiff_t)(y - r->y0 + 1) * (r->w + 2);
}

/* Returns the image at a place, by cubic interpolation, or NaN outside. */
static double value_at(const struct gi_image *image, double complex at)
{
    double across[4], down[4], sum = 0, x = creal(at), y = cimag(at);
    if (!(x >= 1 && y >= 1 && x < image->width - 2 && y < image->height - 2))
        return (double)NAN;
    int left = (int)x, top = (int)y;
    gi_align_cubic(across, x - left);
    gi_align_cubic(down, y - top);
    for (int j = 0; j < 4; j++) {
        const float *v = (const float *)gi_row(image, top + j - 1) + left - 1;
        sum += down[j] * (across[0] * (double)v[0] + across[1] * (double)v[1] +
                          across[2] * (double)v[2] + across[3] * (double)v[3]);
    }
    return sum;
}

/* Fills rows with the image as the transform sees it, also beside the region. */
static void see_rows(void *arg, int index, void *scratch)
{
    const struct region *r = arg;
    const int top = r->y0 - 1 + index * BAND, end = r->y0 + r->h + 1;
    for (int y = top; y < end && y < top + BAND; y++)
        for (int x = r->x0 - 1; x <= r->x0 + r->w; x++)
            row_of(r, y)[x - r->x0 + 1] =
                value_at(r->job->image, r->seen->turn * (x + I * y) + r->seen->shift);
}

/* Adds the rows from `first` on of the matrix, of all pixels whose neighbours are in the
 * image, and with the first ones the other sums. The slopes are those of a further transform of the
 * reference about its middle, whose unknowns are the shift, the scale minus 1 and the angle. The
 * function is inline, so that `first` is a constant. */
static inline __attribute__((always_inline)) void add_rows(struct region *r, int first)
{
    const struct gi_image *reference = r->job->reference;
    const double cx = (reference->width - 1) / 2.0, cy = (reference->height - 1) / 2.0;
    double sums[ROWS][MEMBERS] = {{0}}, n = 0, ps = 0, pp = 0, vs = 0, vv = 0, pv = 0;
    for (int y = r->y0; y < r->y0 + r->h; y++) {
        const float *p = gi_row(reference, y);
        const double *row = row_of(r, y), *above = row_of(r, y - 1), *below = row_of(r, y + 1);
        for (int x = r->x0, i = 1; x < r->x0 + r->w; x++, i++) {
            const double gx = (row[i + 1] - row[i - 1]) / 2, gy = (below[i] - above[i]) / 2;
            const double v = row[i], q = (double)p[x];
            if (!isfinite(gx + gy + v + q))
                continue;
            const double line[MEMBERS] = {
                gx, gy, gx * (x - cx) + gy * (y - cy), gy * (x - cx) - gx * (y - cy), -q, -1,
                -v, 0};
            for (int j = 0; j < MEMBERS; j++) {
                sums[0][j] += line[first] * line[j];
                sums[1][j] += line[first + 1] * line[j];
                sums[2][j] += line[first + 2] * line[j];
            }
            if (first)
                continue;
            n++, ps += q, pp += q * q, vs += v, vv += v * v, pv += q * v;
        }
    }
    memcpy(r->a[first], sums, sizeof sums);
    if (first == 0)
        r->n = n, r->p = ps, r->pp = pp, r->v = vs, r->vv = vv, r->pv = pv;
}

static void add_part(void *arg, int index, void *scratch)
{
    struct region *r = arg;
    if (index == 0)
        add_rows(r, SLOPE_X);
    else
        add_rows(r, SLOPE_X + ROWS);
}

/* Makes the equations of the middle region. Returns whether enough pixels were found. */
static bool add_region(struct gi_align_equations *e, const struct job *job,
                       const struct gi_similarity *seen)
{
    const struct gi_image *reference = job->reference;
    int width = reference->width - 2, height = reference->height - 2;
    int w = width < REGION_MAX ? width : REGION_MAX, h = height < REGION_MAX ? height : REGION_MAX;
    struct region r = {.job = job,
                       .seen = seen,
                       .x0 = 1 + (width - w) / 2,
                       .y0 = 1 + (height - h) / 2,
                       .w = w,
                       .h = h};
    int members[MEMBERS] = {SLOPE_X, SLOPE_Y}, n = 2;
    if (w < 3 || h < 3)
        return false;
    if (job->queue->k->jobs(job->queue, (h + 1) / BAND + 1, see_rows, &r, 0, NULL) ||
        job->queue->k->jobs(job->queue, 2, add_part, &r, 0, NULL))
        return false;
    if (job->scales)
        members[n++] = SLOPE_SCALE;
    if (job->rotates)
        members[n++] = SLOPE_ANGLE;
    members[n++] = GAIN;
    members[n++] = OFFSET;
    members[n] = RIGHT;
    *e = (struct gi_align_equations){
        .unknowns = n, .n = r.n, .p = r.p, .pp = r.pp, .v = r.v, .vv = r.vv, .pv = r.pv};
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++)
            e->a[i][j] = r.a[members[i]][members[j]];
    return e->n * PART_MIN >= (double)w * h;
}

/* Applies the unknowns before the transform. Returns the distance in px that the corners move at
 * most. */
static double move(struct gi_similarity *seen, const struct job *job, const double *x)
{
    const struct gi_image *reference = job->reference;
    double complex middle = (reference->width - 1) / 2.0 + I * ((reference->height - 1) / 2.0);
    double scale = job->scales ? 1 + x[2] : 1, angle = job->rotates ? x[2 + job->scales] : 0;
    double complex factor = scale * gi_unit(angle / (2 * GI_PI)), shift = x[0] + I * x[1];
    seen->shift += seen->turn * (shift + middle - factor * middle);
    seen->turn *= factor;
    return cabs(shift) + cabs(factor - 1) * cabs(middle);
}

/* Refines the transform on one level, and returns its score. Steps that move corners by more than
 * an eighth of the side are given up. */
static double refine(struct gi_similarity *found, const struct job *job)
{
    struct gi_align_equations e;
    struct gi_similarity at = *found;
    double x[GI_ALIGN_UNKNOWNS_MAX], score = 0;
    double most = (job->reference->width + job->reference->height) / 16.0;
    for (int i = 0; i < STEPS_MAX; i++) {
        if (!add_region(&e, job, &at))
            break;
        double now = gi_align_score(&e);
        if (i && now < score) /* the step before was too long */
            break;
        score = now;
        *found = at;
        if (!gi_align_solve(&e, x))
            break;
        double moved = move(&at, job, x);
        if (!(moved <= most) || moved < 1e-4)
            break;
    }
    return score;
}

/* Refines all candidates, and replaces *found by the best one if its score is above *score. */
static void choose(struct gi_similarity *found, double *score,
                   const struct gi_similarity *candidates, int n, const struct job *job)
{
    for (int i = 0; i < n; i++) {
        struct gi_similarity candidate = candidates[i];
        double its = refine(&candidate, job);
        if (its > *score) {
            *score = its;
            *found = candidate;
        }
    }
}

/* Takes a transform from one level to the next larger one, on which pixel p is between the pixels 2
 * p and 2 p + 1. */
static void enlarge(struct gi_similarity *seen)
{
    double complex half = 0.5 + 0.5 * I;
    seen->shift = 2 * seen->shift + half - seen->turn * half;
}

/* Finds the transform on one level: by its features, and if that is not clear, by those of smaller
 * levels, on which noise is weaker. */
static enum gi_status search(struct gi_similarity *found, double *score, const struct job *job,
                             int nlevels, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *found = (struct gi_similarity){1, 0};
    *score = 0;
    for (int i = 0; i < nlevels && !status && *score < ENOUGH; i++) {
        struct gi_similarity candidates[GI_ALIGN_CANDIDATES] = {{0}};
        int n;
        status = gi_align_features(candidates, &n, &job->image[i], &job->reference[i], job->rotates,
                                   job->scales, err);
        for (int j = 0; j < n && !status; j++)
            for (int level = 0; level < i; level++)
                enlarge(&candidates[j]);
        choose(found, score, candidates, status ? 0 : n, job);
    }
    const struct gi_similarity same = {1, 0};
    if (*score < ENOUGH)
        choose(found, score, &same, 1, job);
    return status;
}

/* Returns whether an image is too large for a search. */
static bool too_large(const struct gi_image *image)
{
    return (image->width < image->height ? image->width : image->height) >= SEARCH_SIDE;
}

/* Returns the memory of the largest region of an image, and of the pixels around it. */
static size_t region_nbytes(const struct gi_image *image)
{
    const size_t w = (size_t)image->width, h = (size_t)image->height, most = REGION_MAX + 2;
    return (w < most ? w : most) * (h < most ? h : most) * sizeof(double);
}

size_t gi_align_similarity_nbytes(const struct gi_image *image)
{
    size_t npixels = (size_t)image->width * (size_t)image->height;
    return gi_align_features_nbytes(too_large(image) ? npixels / 4 : npixels) +
           region_nbytes(image);
}

enum gi_status gi_align_similarity(struct gi_queue *queue, struct gi_similarity *found,
                                   double *score, const struct gi_image *image,
                                   const struct gi_image *reference, int n, bool rotates,
                                   bool scales, struct gi_err *err)
{
    struct job job = {.queue = queue, .rotates = rotates, .scales = scales};
    int level = 0;
    while (level + 1 < n && too_large(&image[level]))
        level++;
    job.image = &image[level];
    job.reference = &reference[level];
    job.region = gi_samples_alloc(region_nbytes(reference));
    if (!job.region)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a region of an image");
    enum gi_status status = search(found, score, &job, n - level, err);
    while (!status && level-- > 0 && *score > 0) {
        enlarge(found);
        job.image = &image[level];
        job.reference = &reference[level];
        *score = refine(found, &job);
    }
    free(job.region);
    return status;
}
