/* Fourier transforms with the same bits on every machine.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <complex.h>
#include <stdbool.h>

enum { GI_FOURIER_SIDE_MAX = 4096 };

/* Returns the unit number whose angle is this number of turns. */
double complex gi_unit(double turns);

/* Transforms width x height numbers, row by row, in place. Both are powers of 2 from 16 to
 * GI_FOURIER_SIDE_MAX. `scratch` has memory for as many numbers. The inverse transform is not
 * divided by their number. */
void gi_fourier(double complex *v, double complex *scratch, int width, int height, bool inverse);
