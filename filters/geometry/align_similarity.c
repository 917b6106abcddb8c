/* Registration of rotation, scale and shift: candidates from features of a small level are refined
 * by Gauss-Newton steps, and the best one then on all larger levels.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align_similarity.h"

#include <math.h>
#include <stdlib.h>

#include "filters/geometry/align_equations.h"
#include "filters/geometry/align_features.h"
#include "kernels/fourier.h"
#include "kernels/elementary.h"

enum {
    SEARCH_SIDE = 256, /* candidates are sought on the first level whose shorter side is below */
    REGION_MAX = 1024, /* pixels along a side that a step looks at */
    STEPS_MAX = 30,
    PART_MIN = 5, /* a fifth of the region has to be inside the image */
};

#define ENOUGH 0.9 /* score after which the search ends */

/* A level of both images, with the smaller ones behind it, the unknowns, and memory for three rows
 * of a region. */
struct job {
    const struct gi_image *image, *reference;
    bool rotates, scales;
    double *rows;
};

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

/* Fills a row of the image as the transform sees it, for pixels x0 - 1 to x1 of row y. */
static void see_row(double *row, const struct gi_image *image, const struct gi_similarity *seen,
                    int x0, int x1, int y)
{
    for (int x = x0 - 1; x <= x1; x++)
        row[x - x0 + 1] = value_at(image, seen->turn * (x + I * y) + seen->shift);
}

/* Adds the equations of all pixels of the middle region whose neighbours are in the image. The
 * slopes are those of a further transform of the reference about its middle, whose unknowns are the
 * shift, the scale minus 1 and the angle. Returns whether enough pixels were found. */
static bool add_region(struct gi_align_equations *e, const struct job *job,
                       const struct gi_similarity *seen)
{
    const struct gi_image *reference = job->reference;
    int width = reference->width - 2, height = reference->height - 2;
    int w = width < REGION_MAX ? width : REGION_MAX, h = height < REGION_MAX ? height : REGION_MAX;
    int x0 = 1 + (width - w) / 2, y0 = 1 + (height - h) / 2;
    double cx = (reference->width - 1) / 2.0, cy = (reference->height - 1) / 2.0;
    *e = (struct gi_align_equations){.unknowns = 4 + job->rotates + job->scales};
    if (w < 3 || h < 3)
        return false;
    double *above = job->rows, *row = above + w + 2, *below = row + w + 2;
    see_row(above, job->image, seen, x0, x0 + w, y0 - 1);
    see_row(row, job->image, seen, x0, x0 + w, y0);
    for (int y = y0; y < y0 + h; y++) {
        const float *p = gi_row(reference, y);
        double *last = above;
        see_row(below, job->image, seen, x0, x0 + w, y + 1);
        for (int x = x0, i = 1; x < x0 + w; x++, i++) {
            double gx = (row[i + 1] - row[i - 1]) / 2, gy = (below[i] - above[i]) / 2;
            double slope[4] = {gx, gy};
            int n = 2;
            if (!isfinite(gx + gy + row[i] + (double)p[x]))
                continue;
            if (job->scales)
                slope[n++] = gx * (x - cx) + gy * (y - cy);
            if (job->rotates)
                slope[n++] = gy * (x - cx) - gx * (y - cy);
            gi_align_add(e, (double)p[x], row[i], slope);
        }
        above = row;
        row = below;
        below = last;
    }
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

size_t gi_align_similarity_nbytes(const struct gi_image *image)
{
    size_t npixels = (size_t)image->width * (size_t)image->height;
    return gi_align_features_nbytes(too_large(image) ? npixels / 4 : npixels);
}

enum gi_status gi_align_similarity(struct gi_similarity *found, double *score,
                                   const struct gi_image *image, const struct gi_image *reference,
                                   int n, bool rotates, bool scales, struct gi_err *err)
{
    struct job job = {.rotates = rotates, .scales = scales};
    int level = 0;
    while (level + 1 < n && too_large(&image[level]))
        level++;
    job.image = &image[level];
    job.reference = &reference[level];
    job.rows = malloc(3 * (REGION_MAX + 2) * sizeof *job.rows);
    if (!job.rows)
        return gi_fail(err, GI_E_MEMORY, "out of memory: rows of an image");
    enum gi_status status = search(found, score, &job, n - level, err);
    while (!status && level-- > 0 && *score > 0) {
        enlarge(found);
        job.image = &image[level];
        job.reference = &reference[level];
        *score = refine(found, &job);
    }
    free(job.rows);
    return status;
}
