/* Weights that several filters share, made in double and rounded to float once.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_WEIGHTS_H
#define GI_FILTERS_WEIGHTS_H

#include "filters/filter.h"

/* Taps on each side of the centre that reach `sigma` (px, above 0) four times: k = 2 ceil(4 sigma)
 * + 1. */
int gi_gaussian_k(double sigma);

/* The standard deviation, px, that OpenCV's getGaussianKernel() takes for k taps. */
double gi_gaussian_sigma(int k);

/* taps[0..k) = exp(-(i - k/2)^2 / (2 sigma^2)) over their sum; k odd. Returns the sum of the
 * rounded taps. Each is within 2^-24 of itself, so their sum is within 2^-24 of 1: a constant image
 * stays constant without a correction, which would spoil the centre tap. */
double gi_gaussian_taps(float *taps, int k, double sigma);

/* taps[0..k) = 1 / k, k odd. Returns their sum. */
double gi_box_taps(float *taps, int k);

/* The tables of a plan that is a separable convolution by the same k taps both ways, centred. */
struct gi_separable_tables {
    struct gi_separable spec; /* row and col are `taps` */
    float taps[];
};

/* Makes plan->tables with room for k taps, whose sum the caller fills in by gi_separable_sum();
 * colour weighed by alpha, result stored as it is. Sets halo and cost. NULL with `err` where memory
 * runs out. */
struct gi_separable_tables *gi_separable_plan(struct gi_plan *plan, int k,
                                              const struct gi_border_params *edge,
                                              struct gi_err *err);
/* `sum` is of the taps of one side. */
void gi_separable_sum(struct gi_separable_tables *tables, double sum);

/* gi_filter.run of such a plan. */
enum gi_status gi_separable_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err);

#endif
