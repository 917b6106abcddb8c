/* Normal equations of a Gauss-Newton step of registration (B. D. Lucas and T. Kanade 1981) with a
 * gain and an offset of brightness, and the correlation coefficient of the same pixels.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

enum { GI_ALIGN_UNKNOWNS_MAX = 8 };

struct gi_align_equations {
    int unknowns; /* 2 of them are the gain and the offset, the last ones */
    double a[GI_ALIGN_UNKNOWNS_MAX][GI_ALIGN_UNKNOWNS_MAX + 1];
    double n, p, pp, v, vv, pv;
};

/* Adds the equation gain * p + offset = v + the sum of slope[i] * x[i] of a pixel, where p is the
 * sample of the reference, v that of the image, and slope[i] the change of v with unknown i, for
 * unknowns - 2 slopes. */
void gi_align_add(struct gi_align_equations *e, double p, double v, const double *slope);

/* Solves the equations by elimination with pivots, which changes them. Returns false if they are
 * singular. */
bool gi_align_solve(struct gi_align_equations *e, double x[GI_ALIGN_UNKNOWNS_MAX]);

/* Sets the unknowns other than the gain and the offset to the step that maximizes the correlation
 * coefficient where v changes linearly with them (Evangelidis and Psarakis 2008). Returns false if
 * the equations are singular or no step increases it. */
bool gi_align_solve_ecc(const struct gi_align_equations *e, double x[GI_ALIGN_UNKNOWNS_MAX]);

/* Returns the correlation coefficient of p and v, or 0 if one of them is constant. */
double gi_align_score(const struct gi_align_equations *e);

/* Weights of cubic interpolation (Keys, a = -0.5) at the fraction t behind the second of four
 * samples. */
static inline void gi_align_cubic(double w[4], double t)
{
    w[0] = ((-0.5 * t + 1) * t - 0.5) * t;
    w[1] = (1.5 * t - 2.5) * t * t + 1;
    w[2] = ((-1.5 * t + 2) * t + 0.5) * t;
    w[3] = (0.5 * t - 0.5) * t * t;
}

/* The derivatives of these weights by t. */
void gi_align_cubic_slope(double w[4], double t);
