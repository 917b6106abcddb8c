/* Taps of Gaussian and box filters, and the plan of a separable convolution with equal taps in both
 * directions.
 * SPDX-License-Identifier: MIT */
#include "filters/convolution/weights.h"
#include "kernels/kernels.h"

#include <math.h>

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

double gi_gaussian_taps(float *taps, int k, double sigma)
{
    double sum = 0;
    for (int i = 0; i < k; i++) {
        double d = (i - k / 2) / sigma;
        sum += exp(-0.5 * d * d);
    }
    double rounded = 0;
    for (int i = 0; i < k; i++) {
        double d = (i - k / 2) / sigma;
        taps[i] = (float)(exp(-0.5 * d * d) / sum);
    }
    gi_taps_settle(taps, k);
    for (int i = 0; i < k; i++)
        rounded += (double)taps[i];
    return rounded;
}

double gi_box_taps(float *taps, int k)
{
    for (int i = 0; i < k; i++)
        taps[i] = (float)(1.0 / k);
    return k * (double)taps[0];
}

struct gi_separable_tables *gi_separable_plan(struct gi_plan *plan, int k,
                                              const struct gi_border_params *border,
                                              struct gi_err *err)
{
    struct gi_separable_tables *tables =
        gi_plan_tables(plan, sizeof *tables + (size_t)k * sizeof *tables->taps, err);
    if (!tables)
        return NULL;
    tables->spec = (struct gi_separable){.row = tables->taps,
                                         .col = tables->taps,
                                         .nrow = k,
                                         .ncol = k,
                                         .row_anchor = k / 2,
                                         .col_anchor = k / 2,
                                         .alpha = GI_ALPHA_WEIGH,
                                         .border = gi_border_spec_from(border, &plan->sources[0])};
    plan->halo = k / 2;
    plan->border = tables->spec.border.mode;
    plan->cost.fmas = 2 * k;
    return tables;
}

void gi_separable_sum(struct gi_separable_tables *tables, double sum)
{
    tables->spec.sum = (float)(sum * sum);
}

enum gi_status gi_separable_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err)
{
    const struct gi_separable_tables *tables = plan->tables;
    return queue->k->convolve_separable(queue, work->dst, work->srcs, &tables->spec, err);
}
