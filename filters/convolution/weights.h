/* Weights that several filters share, made in double and rounded to float once.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_WEIGHTS_H
#define GI_FILTERS_WEIGHTS_H

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

#endif
