/* Normal equations of registration.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align_equations.h"

#include <math.h>

#include "kernels/correlate.h"

void gi_align_add(struct gi_align_equations *e, double p, double v, const double *slope)
{
    double row[GI_ALIGN_UNKNOWNS_MAX + 1];
    int n = e->unknowns;
    for (int i = 0; i < n - 2; i++)
        row[i] = slope[i];
    row[n - 2] = -p;
    row[n - 1] = -1;
    row[n] = -v;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++)
            e->a[i][j] += row[i] * row[j];
    e->n++;
    e->p += p;
    e->pp += p * p;
    e->v += v;
    e->vv += v * v;
    e->pv += p * v;
}

bool gi_align_solve(struct gi_align_equations *e, double x[GI_ALIGN_UNKNOWNS_MAX])
{
    int n = e->unknowns;
    bool finite = true;
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int j = i + 1; j < n; j++)
            if (fabs(e->a[j][i]) > fabs(e->a[pivot][i]))
                pivot = j;
        for (int j = 0; j <= n; j++) {
            double other = e->a[i][j];
            e->a[i][j] = e->a[pivot][j];
            e->a[pivot][j] = other;
        }
        if (!(fabs(e->a[i][i]) > 1e-9))
            return false;
        for (int k = i + 1; k < n; k++)
            for (int j = n; j >= i; j--)
                e->a[k][j] -= e->a[k][i] / e->a[i][i] * e->a[i][j];
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = e->a[i][n];
        for (int j = i + 1; j < n; j++)
            x[i] -= e->a[i][j] * x[j];
        x[i] /= e->a[i][i];
        finite = finite && (i >= n - 2 || isfinite(x[i]));
    }
    return finite;
}

double gi_align_score(const struct gi_align_equations *e)
{
    double norm =
        sqrt(gi_correlate_spread(e->n, e->p, e->pp)) * sqrt(gi_correlate_spread(e->n, e->v, e->vv));
    double score = (e->n * e->pv - e->p * e->v) / norm;
    return norm > 0 && isfinite(score) ? score : 0;
}

void gi_align_cubic(double w[4], double t)
{
    w[0] = ((-0.5 * t + 1) * t - 0.5) * t;
    w[1] = (1.5 * t - 2.5) * t * t + 1;
    w[2] = ((-1.5 * t + 2) * t + 0.5) * t;
    w[3] = (0.5 * t - 0.5) * t * t;
}
