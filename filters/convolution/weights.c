/* Gaussian and box taps.
 * SPDX-License-Identifier: MIT */
#include "filters/convolution/weights.h"

#include <math.h>

int gi_gaussian_k(double sigma)
{
    return 2 * (int)ceil(4 * sigma) + 1;
}

double gi_gaussian_sigma(int k)
{
    return 0.3 * ((k - 1) * 0.5 - 1) + 0.8;
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
        rounded += (double)taps[i];
    }
    return rounded;
}

double gi_box_taps(float *taps, int k)
{
    for (int i = 0; i < k; i++)
        taps[i] = (float)(1.0 / k);
    return k * (double)taps[0];
}
