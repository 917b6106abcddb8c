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

/* One direction of a Gaussian filter. */
struct gi_gaussian {
    int k;        /* taps, odd */
    double sigma; /* standard deviation in px; 0: the direction is not filtered */
    int order;    /* 0: the Gaussian; 1 to 3: its derivative of that order, in 1 / px^order */
};

/* Fills the g->k taps of one direction, as gi_gaussian_plan() describes them. Returns their sum. */
double gi_gaussian_taps(float *taps, const struct gi_gaussian *g);

/* The tables of a plan that is a separable convolution with centred taps. */
struct gi_separable_tables {
    struct gi_separable spec; /* row and col are in `taps`, one behind the other */
    float taps[];
};

/* Plans a Gaussian filter with these taps along rows and columns. Without a derivative the taps are
 * exp(-(i - k/2)^2 / (2 sigma^2)) divided by their sum, and are settled. A derivative multiplies
 * these by its Hermite polynomial, and is a correlation whose result grows to the right and
 * downwards where the image does. Colours are weighted by alpha, and the epilogue is STORE. Makes
 * plan->tables and sets halo, border and cost. Returns NULL and sets `err` if memory runs out. */
struct gi_separable_tables *gi_gaussian_plan(struct gi_plan *plan, const struct gi_gaussian *row,
                                             const struct gi_gaussian *col,
                                             const struct gi_border_params *border,
                                             struct gi_err *err);
/* The same for the mean of width x height pixels, whose middle is at width / 2 and height / 2. */
struct gi_separable_tables *gi_mean_plan(struct gi_plan *plan, int width, int height,
                                         const struct gi_border_params *border, struct gi_err *err);

/* gi_filter.run of such a plan. */
enum gi_status gi_separable_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err);
