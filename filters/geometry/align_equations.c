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

bool gi_align_solve_ecc(const struct gi_align_equations *e, double x[GI_ALIGN_UNKNOWNS_MAX])
{
    /* The equations of both projections, whose slopes and samples are minus their means. */
    struct gi_align_equations of_p, of_v;
    double y[GI_ALIGN_UNKNOWNS_MAX], z[GI_ALIGN_UNKNOWNS_MAX];
    double vv = e->vv - e->v * e->v / e->n, pv = e->pv - e->p * e->v / e->n;
    int n = e->unknowns - 2;
    of_p.unknowns = n;
    for (int i = 0; i < n; i++) {
        double sum = -e->a[i][n + 1]; /* of slope i */
        for (int j = 0; j < n; j++)
            of_p.a[i][j] = e->a[i][j] + sum * e->a[j][n + 1] / e->n;
    }
    of_v = of_p;
    for (int i = 0; i < n; i++) {
        double sum = -e->a[i][n + 1];
        of_p.a[i][n] = -e->a[i][n] - sum * e->p / e->n;
        of_v.a[i][n] = -e->a[i][n + 2] - sum * e->v / e->n;
    }
    double projections[2][GI_ALIGN_UNKNOWNS_MAX];
    for (int i = 0; i < n; i++) {
        projections[0][i] = of_p.a[i][n];
        projections[1][i] = of_v.a[i][n];
    }
    if (!gi_align_solve(&of_p, y) || !gi_align_solve(&of_v, z))
        return false;
    for (int i = 0; i < n; i++) {
        pv -= projections[0][i] * z[i];
        vv -= projections[1][i] * z[i];
    }
    bool finite = pv > 0;
    for (int i = 0; i < n; i++) {
        x[i] = vv / pv * y[i] - z[i];
        finite = finite && isfinite(x[i]);
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

void gi_align_cubic_slope(double w[4], double t)
{
    w[0] = (-1.5 * t + 2) * t - 0.5;
    w[1] = (4.5 * t - 5) * t;
    w[2] = (-4.5 * t + 4) * t + 0.5;
    w[3] = (1.5 * t - 1) * t;
}
