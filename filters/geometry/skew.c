/* Measures the skew of a scanned page: finds the angle of its lines of text by projection profiles
 * (W. Postl, Detection of linear oblique structures and skew scan in digitized documents, ICPR
 * 1986). The host sums the profiles in integers.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "filters/geometry/skew.h"

#include <math.h>
#include <stdlib.h>

#include "filters/tone/luma.h"
#include "kernels/elementary.h"
#include "kernels/kernels.h"

enum {
    SIDE_MAX = 1600, /* of the reduced page, in cells */
    LEVELS = 1023,   /* of its samples; SIDE_MAX * LEVELS * WEIGHTS fits in 31 bits */
    WEIGHTS = 256,   /* sum of the weights of a column */
    FINE = 10,       /* fine steps per coarse step */
    PAD = 2,         /* zeros at the ends of a column */
    AROUND = 2,      /* coarse steps on both sides that are divided into fine steps */
};

static const double coarse_step = 0.2; /* degrees */

/* ---- the reduced page ---- */

/* The differences of vertical neighbours in a page of cells of several pixels, column by column. */
struct page {
    int width, height;
    int16_t *rises; /* height per column, from -LEVELS to LEVELS, and PAD zeros before and behind */
};

static size_t column_room(int height)
{
    return (size_t)height + 2 * PAD;
}

/* Sets the means of the cells, width x height of them. Samples that are not finite count as 0. */
static void reduce(double *cells, int width, int height, int factor, const struct gi_image *image)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            double v = gi_sample(gi_row(image, y), (size_t)x, image->type);
            if (y / factor < height && x / factor < width)
                cells[(size_t)(y / factor) * (size_t)width + (size_t)(x / factor)] +=
                    isfinite(v) ? v : 0;
        }
}

/* Makes the page of a gray image in host memory. The caller frees page->rises. Cells that are cut
 * off are left out. */
static enum gi_status page_make(struct page *page, const struct gi_image *image, struct gi_err *err)
{
    int side = image->width > image->height ? image->width : image->height;
    int factor = (side - 1) / SIDE_MAX + 1;
    int width = image->width / factor, height = image->height / factor;
    size_t n = (size_t)width * (size_t)height;
    double *cells = calloc(n + 1, sizeof *cells), lo = INFINITY, hi = -INFINITY;
    *page = (struct page){width, height - 1, NULL};
    page->rises = calloc((size_t)width * column_room(height) + 1, sizeof *page->rises);
    if (!cells || !page->rises) {
        free(cells);
        free(page->rises);
        return gi_fail(err, GI_E_MEMORY, "out of memory: page of %d x %d cells", width, height);
    }
    reduce(cells, width, height, factor, image);
    for (size_t i = 0; i < n; i++) {
        lo = fmin(lo, cells[i]);
        hi = fmax(hi, cells[i]);
    }
    double scale = hi > lo ? LEVELS / (hi - lo) : 0;
    for (int x = 0; x < width; x++)
        for (int y = 0; y < page->height; y++) {
            const double *at = &cells[(size_t)y * (size_t)width + (size_t)x];
            page->rises[(size_t)x * column_room(page->height) + PAD + (size_t)y] =
                (int16_t)(lrint((at[width] - lo) * scale) - lrint((at[0] - lo) * scale));
        }
    free(cells);
    return GI_OK;
}

/* ---- angles ---- */

/* The scores of the angles from + i * step, in degrees. */
struct sweep {
    const struct page *page;
    double from, step, *scores;
};

/* Adds a column of `n` numbers three times, each time a cell further down, with these weights. */
static void add_column(int32_t *restrict to, const int16_t *restrict from, int n,
                       const int16_t weights[3])
{
    const int16_t first = weights[0], middle = weights[1], last = weights[2];
    for (int i = 0; i < n + 2; i++)
        to[i] += first * from[i] + middle * from[i - 1] + last * from[i - 2];
}

/* Projects the page along lines that rise by an angle to the right. The score is the sum of the
 * squares of the projection of the differences, which is large if whole rows of letters begin and
 * end in it. Columns are shifted by fractions of cells, with the weights of a quadratic B-spline:
 * they blur equally for all fractions, so that no angle has an advantage. */
static void score_angle(void *arg, int index, void *scratch)
{
    const struct sweep *sweep = arg;
    const struct page *page = sweep->page;
    int32_t *sums = scratch;
    double angle = (sweep->from + index * sweep->step) * (GI_PI / 180);
    double slope = gi_sin_rest(angle) / gi_cos_rest(angle), score = 0;
    int reach = (int)(page->width * fabs(slope) / 2) + 2, n = page->height + 2 * reach;
    for (int i = 0; i < n; i++)
        sums[i] = 0;
    for (int x = 0; x < page->width; x++) {
        const int16_t *rises = page->rises + (size_t)x * column_room(page->height) + PAD;
        double place = (x - (page->width - 1) / 2.0) * slope, whole = rint(place);
        double below = place - whole + 0.5, above = 1 - below;
        int16_t before = (int16_t)lrint(WEIGHTS / 2.0 * above * above);
        int16_t after = (int16_t)lrint(WEIGHTS / 2.0 * below * below);
        const int16_t weights[] = {before, (int16_t)(WEIGHTS - before - after), after};
        add_column(sums + reach + (int)whole - 1, rises, page->height, weights);
    }
    for (int i = 0; i < n; i++)
        score += (double)sums[i] * sums[i];
    sweep->scores[index] = score;
}

/* Computes n scores. Returns the number of the best angle, of equal ones that next to the middle.
 */
static enum gi_status sweep_run(const struct sweep *sweep, int n, int *best, struct gi_queue *queue,
                                struct gi_err *err)
{
    const struct page *page = sweep->page;
    size_t rows = (size_t)page->height + (size_t)page->width + 5; /* tan 45 degrees is 1 */
    enum gi_status status = queue->k->jobs(queue, n, score_angle, (void *)(uintptr_t)sweep,
                                           rows * sizeof(int32_t), err);
    *best = n / 2;
    for (int i = 1; i <= n / 2 && !status; i++) {
        if (sweep->scores[n / 2 - i] > sweep->scores[*best])
            *best = n / 2 - i;
        if (n / 2 + i < n && sweep->scores[n / 2 + i] > sweep->scores[*best])
            *best = n / 2 + i;
    }
    return status;
}

/* Returns the place of a peak in n scores: the mean of their numbers, weighted by how much they are
 * above 7/10 of the maximum. */
static double peak_of(const double *scores, int n, double most)
{
    double sum = 0, weighted = 0;
    for (int i = 0; i < n; i++) {
        double above = fmax(0, scores[i] - 0.7 * most);
        sum += above;
        weighted += above * i;
    }
    return weighted / sum;
}

/* Finds the angle in steps of coarse_step, then around it in finer steps. */
static enum gi_status find_angle(struct gi_skew *skew, const struct page *page, double max_angle,
                                 struct gi_queue *queue, struct gi_err *err)
{
    /* Noise has sums of normal distribution, whose score varies by the root of 2 / rows of its
     * mean. */
    const double enough = 1.1 + 6 * sqrt(2.0 / page->height);
    double scores[2 * 221 + 1], mean = 0;
    int half = (int)ceil(max_angle / coarse_step), n = 2 * half + 1, best;
    struct sweep sweep = {page, -half * coarse_step, coarse_step, scores};
    enum gi_status status = sweep_run(&sweep, n, &best, queue, err);
    if (status)
        return status;
    for (int i = 0; i < n; i++)
        mean += scores[i] / n;
    skew->score = mean > 0 ? scores[best] / mean : 0;
    if (!(skew->score > enough))
        return GI_OK;
    sweep.from += (best - AROUND) * sweep.step;
    sweep.step = coarse_step / FINE;
    n = 2 * AROUND * FINE + 1;
    status = sweep_run(&sweep, n, &best, queue, err);
    if (!status)
        skew->angle_deg =
            rint((sweep.from + peak_of(scores, n, scores[best]) * sweep.step) * 100) / 100 + 0.0;
    return status;
}

/* ---- the operation ---- */

void gi_skew_plan(struct gi_plan *plan)
{
    const struct gi_image *src = &plan->sources[0];
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->cost.other += 20.0 / src->channels;
    plan->scratch_nbytes = gi_luma_nbytes(src);
}

enum gi_status gi_skew_find(struct gi_skew *skew, struct gi_queue *queue,
                            const struct gi_image *src, double max_angle, struct gi_err *err)
{
    bool by_luma = gi_luma_decides(src, false);
    struct gi_image judge, host;
    struct page page;
    *skew = (struct gi_skew){.angle_deg = (double)NAN};
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma, err);
    if (status)
        return status;
    struct gi_image view = gi_image_rows(&judge, 0, judge.height);
    status = queue->k->download(queue, &host, &view, NULL, err);
    if (!status) {
        status = page_make(&page, &host, err);
        gi_image_free(&host);
    }
    gi_judge_release(queue, &judge, by_luma);
    if (status)
        return status;
    if (page.width > 1 && page.height > 1)
        status = find_angle(skew, &page, max_angle, queue, err);
    free(page.rises);
    return status;
}

struct skew_params {
    double max_angle;
};

static const struct gi_option options[] = {
    GI_SKEW_OPTION(struct skew_params),
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    gi_skew_plan(plan);
    return GI_OK;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct skew_params *p = plan->params;
    return gi_skew_find(result, queue, srcs, p->max_angle, err);
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_skew *skew = result;
    gi_digest_reals(digest, (const double[]){skew->angle_deg, skew->score}, 2);
}

const struct gi_filter gi_filter_skew = {
    .name = "skew",
    .group = GI_GROUP_MEASUREMENT,
    .planes = GI_PLANES_LUMA,
    .summary = "Skew: measure the angle of a scanned page by its lines",
    .manual =
        "Prints the angle in degrees by which the lines of text of a page, or other horizontal "
        "lines, rise to the right, and a score. gpuimg rotate with the negative angle makes them "
        "horizontal, and so does gpuimg deskew, which measures in the same way and rotates at "
        "once. The angle is missing (empty in CSV, null in JSON) if the page has no clear lines. "
        "To "
        "shear an image, use gpuimg affine.\n\n"
        "The angle is found in the gray page (in colour, its luma), reduced to at most 1600 pixels "
        "a side: for every angle the differences of vertical neighbours are added up along lines "
        "with this angle, and the sum of the squares of these sums is largest where lines of "
        "text begin and end at once. Angles are tried in steps of 0.2 degrees, then of 0.02 "
        "degrees, and the centre of the peak is rounded to 0.01 degrees. Light and shadow on the "
        "page change little from row to row and do not matter, so no threshold is needed.\n\n"
        "The score is the largest of these sums of squares divided by their mean for all angles. "
        "It "
        "is 1 where no angle differs from the others, and 3 or more on a page of text. An angle is "
        "printed if the score is above 1.1 + 6 sqrt(2 / h) on a page of h rows, which noise does "
        "not reach.\n\n"
        "Source: W. Postl, Detection of linear oblique structures and skew scan in digitized "
        "documents, ICPR 1986, and D. Bloomberg, G. Kopec, L. Dasari, Measuring document image "
        "skew and orientation, SPIE 2422, 1995.",
    .options = options,
    .params_nbytes = sizeof(struct skew_params),
    .plan = plan,
    .analysis = {.nbytes = sizeof(struct gi_skew), .run = analyse, .digest = result_digest},
};
