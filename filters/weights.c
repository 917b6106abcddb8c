/* Gaussian and box taps.
 * SPDX-License-Identifier: MIT */
#include "filters/weights.h"

#include <math.h>

int gi_gaussian_k(double sigma)
{
    return 2 * (int)ceil(4 * sigma) + 1;
}

double gi_gaussian_sigma(int k)
{
    return 0.3 * ((k - 1) * 0.5 - 1) + 0.8;
}

/* A constant image must stay constant, so the float taps must sum to 1 as closely as floats can:
 * the centre, the largest, takes up what rounding left over. */
static double settle(float *taps, int k)
{
    double sum = 0;
    for (int i = 0; i < k; i++)
        sum += (double)taps[i];
    double before = (double)taps[k / 2];
    taps[k / 2] = (float)(before + (1 - sum));
    return sum + ((double)taps[k / 2] - before);
}

double gi_gaussian_taps(float *taps, int k, double sigma)
{
    double sum = 0;
    for (int i = 0; i < k; i++) {
        double d = (i - k / 2) / sigma;
        sum += exp(-0.5 * d * d);
    }
    for (int i = 0; i < k; i++) {
        double d = (i - k / 2) / sigma;
        taps[i] = (float)(exp(-0.5 * d * d) / sum);
    }
    return settle(taps, k);
}

double gi_box_taps(float *taps, int k)
{
    for (int i = 0; i < k; i++)
        taps[i] = (float)(1.0 / k);
    return settle(taps, k);
}
