/* Taps of Gaussian and box filters, and the plans of separable convolutions with them.
 * SPDX-License-Identifier: MIT */
#include "filters/convolution/weights.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

int gi_gaussian_k(double sigma)
{
    return 2 * (int)ceil(4 * sigma) + 1;
}

double gi_gaussian_sigma(int k)
{
    return 0.3 * ((k - 1) * 0.5 - 1) + 0.8;
}

/* Returns the sum of the taps as the primitives sum up a constant image of 1 (gi_separable). */
static float chained(const float *taps, int n)
{
    float s = 0, c = 0;
    for (int first = 0; first < n; first += GI_TAPS_BLOCK) {
        float p = 0;
        for (int i = first; i < n && i < first + GI_TAPS_BLOCK; i++)
            p += taps[i];
        float y = p - c, t = s + y;
        c = (t - s) - y;
        s = t;
    }
    return s;
}

/* Changes a tap by at most 4 times 2^-26, so that the sum comes as near to 1 as it can. Returns
 * whether it is 1. */
static bool settle_tap(float *taps, int n, int at)
{
    float tap = taps[at], best = tap, least = fabsf(chained(taps, n) - 1);
    for (int i = -4; i <= 4 && least > 0; i++) {
        taps[at] = tap + (float)i * 0x1p-26f;
        float off = fabsf(chained(taps, n) - 1);
        if (taps[at] * tap > 0 && off < least) {
            least = off;
            best = taps[at];
        }
    }
    taps[at] = best;
    return least == 0;
}

void gi_taps_settle(float *taps, int n)
{
    int largest = n / 2;
    for (int i = 0; i < n; i++)
        if (taps[i] > taps[largest])
            largest = i;
    bool settled = chained(taps, n) == 1;
    for (int i = 0; i < n && !settled; i++)
        settled = (largest + i < n && settle_tap(taps, n, largest + i)) ||
                  (largest - i >= 0 && settle_tap(taps, n, largest - i));
}

/* Returns the factor of the Gaussian in its derivative of that order at the distance x: (-1 / s)^n
 * He_n(x / s), with the Hermite polynomials He_n. */
static double derivative_factor(double x, double sigma, int order)
{
    double t = x / sigma;
    const double hermite[] = {1, t, t * t - 1, t * t * t - 3 * t};
    return hermite[order] * pow(-1 / sigma, order);
}

double gi_gaussian_taps(float *taps, const struct gi_gaussian *g)
{
    double sum = 0, rounded = 0;
    for (int i = 0; i < g->k; i++) {
        double x = i - g->k / 2, d = x == 0 ? 0 : x / g->sigma;
        sum += exp(-0.5 * d * d);
    }
    for (int i = 0; i < g->k; i++) {
        double x = i - g->k / 2, d = x == 0 ? 0 : x / g->sigma, tap = exp(-0.5 * d * d) / sum;
        /* The taps of a correlation are those of the convolution in reverse order. */
        taps[i] = (float)(g->order ? tap * derivative_factor(-x, g->sigma, g->order) : tap);
    }
    if (!g->order)
        gi_taps_settle(taps, g->k);
    for (int i = 0; i < g->k; i++)
        rounded += (double)taps[i];
    return rounded;
}

static double mean_taps(float *taps, int k)
{
    for (int i = 0; i < k; i++)
        taps[i] = (float)(1.0 / k);
    return k * (double)taps[0];
}

/* Makes the tables, whose taps and sum the caller fills. */
static struct gi_separable_tables *separable_plan(struct gi_plan *plan, int nrow, int ncol,
                                                  const struct gi_border_params *border,
                                                  struct gi_err *err)
{
    struct gi_separable_tables *tables = gi_plan_tables(
        plan, sizeof *tables + ((size_t)nrow + (size_t)ncol) * sizeof *tables->taps, err);
    if (!tables)
        return NULL;
    tables->spec = (struct gi_separable){.row = tables->taps,
                                         .col = tables->taps + nrow,
                                         .nrow = nrow,
                                         .ncol = ncol,
                                         .row_anchor = nrow / 2,
                                         .col_anchor = ncol / 2,
                                         .alpha = GI_ALPHA_WEIGH,
                                         .border = gi_border_spec_from(border, &plan->sources[0])};
    plan->halo = ncol / 2;
    plan->border = tables->spec.border.mode;
    plan->cost.fmas = nrow + ncol;
    return tables;
}

struct gi_separable_tables *gi_gaussian_plan(struct gi_plan *plan, const struct gi_gaussian *row,
                                             const struct gi_gaussian *col,
                                             const struct gi_border_params *border,
                                             struct gi_err *err)
{
    struct gi_separable_tables *tables = separable_plan(plan, row->k, col->k, border, err);
    if (!tables)
        return NULL;
    float *taps = tables->taps;
    double sum = gi_gaussian_taps(taps, row), other = sum;
    if (row->k == col->k && row->sigma == col->sigma && row->order == col->order)
        memcpy(taps + row->k, taps, (size_t)row->k * sizeof *taps);
    else
        other = gi_gaussian_taps(taps + row->k, col);
    tables->spec.sum = (float)(sum * other);
    return tables;
}

struct gi_separable_tables *gi_mean_plan(struct gi_plan *plan, int width, int height,
                                         const struct gi_border_params *border, struct gi_err *err)
{
    struct gi_separable_tables *tables = separable_plan(plan, width, height, border, err);
    if (!tables)
        return NULL;
    double sum = mean_taps(tables->taps, width);
    tables->spec.sum = (float)(sum * mean_taps(tables->taps + width, height));
    return tables;
}

enum gi_status gi_separable_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err)
{
    const struct gi_separable_tables *tables = plan->tables;
    return queue->k->convolve_separable(queue, work->dst, work->srcs, &tables->spec, err);
}
