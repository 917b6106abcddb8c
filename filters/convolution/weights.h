/* Weights that several filters share, computed in double, then rounded to float.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "kernels/convolution.h"

/* Returns the number of taps k = 2 ceil(4 sigma) + 1, which extend to 4 * sigma on each side. sigma
 * is in px and above 0. */
int gi_gaussian_k(double sigma);

/* Returns the standard deviation in px that OpenCV's getGaussianKernel() uses for k taps. */
double gi_gaussian_sigma(int k);

/* Changes taps, from the largest of n on, whose sum is almost 1, by at most 2^-24 each, so that the
 * float sum in the order of struct gi_separable is exactly 1. A constant image of floats then stays
 * constant if its value is a power of two; other constants change by at most a few times 2^-24 of
 * the value, because products and sums are rounded. */
void gi_taps_settle(float *taps, int n);

/* Sets taps[0..k) to exp(-(i - k/2)^2 / (2 sigma^2)) divided by their sum, then settles them; k is
 * odd. Returns the sum of the taps. */
double gi_gaussian_taps(float *taps, int k, double sigma);

/* Sets taps[0..k) to 1 / k, k odd. Returns their sum. */
double gi_box_taps(float *taps, int k);

/* The tables of a plan that is a separable convolution with the same k centred taps in both
 * directions. */
struct gi_separable_tables {
    struct gi_separable spec; /* row and col are `taps` */
    float taps[];
};

/* Makes plan->tables with room for k taps. The caller sets the sum of the taps by
 * gi_separable_sum(). Colours are weighted by alpha, and the epilogue is STORE. Sets halo and cost.
 * Returns NULL and sets `err` if memory runs out. */
struct gi_separable_tables *gi_separable_plan(struct gi_plan *plan, int k,
                                              const struct gi_border_params *border,
                                              struct gi_err *err);
/* `sum` is the sum of the taps of one direction. */
void gi_separable_sum(struct gi_separable_tables *tables, double sum);

/* gi_filter.run of such a plan. */
enum gi_status gi_separable_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err);
