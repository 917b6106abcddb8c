/* Fourier transforms, which are computed by the host in double.
 * SPDX-License-Identifier: MIT */
#include "kernels/fourier.h"

#include <math.h>

#include "kernels/elementary.h"

double complex gi_unit(double turns)
{
    static const double complex quarters[] = {1, I, -1, -I};
    double quarter = rint(4 * turns), rest = (4 * turns - quarter) * (GI_PI / 2);
    double complex unit = gi_cos_rest(rest) + I * gi_sin_rest(rest);
    return unit * quarters[(int)quarter & 3];
}

static void transpose(double complex *to, const double complex *from, int width, int height)
{
    enum { BLOCK = 16 };
    for (int top = 0; top < height; top += BLOCK)
        for (int left = 0; left < width; left += BLOCK)
            for (int y = top; y < top + BLOCK; y++)
                for (int x = left; x < left + BLOCK; x++)
                    to[x * height + y] = from[y * width + x];
}

/* Does the step of a transform that joins two rows, for all columns. */
static void join_rows(double *a, double *b, int width, double complex root)
{
    double re = creal(root), im = cimag(root);
    for (int i = 0; i < 2 * width; i += 2) {
        double x = b[i] * re - b[i + 1] * im, y = b[i] * im + b[i + 1] * re;
        b[i] = a[i] - x;
        b[i + 1] = a[i + 1] - y;
        a[i] += x;
        a[i + 1] += y;
    }
}

/* Transforms all columns in place, by radix 2 (Cooley and Tukey 1965). */
static void transform_columns(double complex *v, int width, int height, bool inverse)
{
    double complex roots[GI_FOURIER_SIDE_MAX / 2];
    for (int k = 0; k < height / 2; k++)
        roots[k] = gi_unit((inverse ? 1.0 : -1.0) * k / height);
    for (int i = 1, j = 0; i < height; i++) {
        int bit = height / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        for (int x = 0; x < width && i < j; x++) {
            double complex other = v[i * width + x];
            v[i * width + x] = v[j * width + x];
            v[j * width + x] = other;
        }
    }
    for (int n = 2; n <= height; n *= 2)
        for (int first = 0; first < height; first += n)
            for (int k = 0; k < n / 2; k++)
                join_rows((double *)&v[(first + k) * width],
                          (double *)&v[(first + k + n / 2) * width], width,
                          roots[k * (height / n)]);
}

void gi_fourier(double complex *v, double complex *scratch, int width, int height, bool inverse)
{
    transpose(scratch, v, width, height);
    transform_columns(scratch, height, width, inverse);
    transpose(v, scratch, height, width);
    transform_columns(v, width, height, inverse);
}
