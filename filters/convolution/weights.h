/* Weights that several filters share, computed in double and rounded to float once.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_WEIGHTS_H
#define GI_FILTERS_WEIGHTS_H

#include "filters/filter.h"
#include "kernels/convolution.h"

/* Returns the number of taps that covers `sigma` (px, above 0) four times on each side: k = 2
 * ceil(4 sigma) + 1. */
int gi_gaussian_k(double sigma);

/* Returns the standard deviation in px that OpenCV's getGaussianKernel() uses for k taps. */
double gi_gaussian_sigma(int k);

/* taps[0..k) = exp(-(i - k/2)^2 / (2 sigma^2)) divided by their sum; k is odd. Returns the sum of
 * the rounded taps. Each tap is rounded by at most a factor of 1 +- 2^-24, so their sum is within
 * 2^-24 of 1: a constant image stays constant without a correction, which would distort the centre
 * tap. */
double gi_gaussian_taps(float *taps, int k, double sigma);

/* taps[0..k) = 1 / k, k odd. Returns their sum. */
double gi_box_taps(float *taps, int k);

/* The tables of a plan that is a separable convolution with the same k centred taps in both
 * directions. */
struct gi_separable_tables {
    struct gi_separable spec; /* row and col are `taps` */
    float taps[];
};

/* Makes plan->tables with room for k taps; the caller fills in their sum with gi_separable_sum().
 * Colours are weighted by alpha, the result is stored without an epilogue. Sets halo and cost.
 * Returns NULL with `err` if memory ran out. */
struct gi_separable_tables *gi_separable_plan(struct gi_plan *plan, int k,
                                              const struct gi_border_params *border,
                                              struct gi_err *err);
/* `sum` is that of the taps of one direction. */
void gi_separable_sum(struct gi_separable_tables *tables, double sum);

/* gi_filter.run of such a plan. */
enum gi_status gi_separable_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err);

#endif
