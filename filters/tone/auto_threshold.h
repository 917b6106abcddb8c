/* Automatic thresholds: methods that find the level between dark and bright samples in a histogram.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "filters/option.h"

/* In the order of gi_threshold_methods. */
enum gi_threshold_method {
    GI_THRESHOLD_OTSU,
    GI_THRESHOLD_LI,
    GI_THRESHOLD_YEN,
    GI_THRESHOLD_TRIANGLE,
    GI_THRESHOLD_ISODATA,
    GI_THRESHOLD_MINIMUM,
    GI_THRESHOLD_MEAN,
    GI_THRESHOLD_METHODS,                           /* number of methods that find one level */
    GI_THRESHOLD_MULTI_OTSU = GI_THRESHOLD_METHODS, /* finds several levels */
};

extern const struct gi_choice gi_threshold_methods[];

enum { GI_THRESHOLD_CLASSES_MAX = 16 };

/* A histogram. Bin i has counts[i] samples, which count as `first` + i * `step`. */
struct gi_bins {
    const uint64_t *counts;
    int n;
    double first, step; /* sample units; step > 0 */
    double below;       /* the value of a bin minus its smallest sample */
};

/* Returns the threshold of a method below GI_THRESHOLD_METHODS in sample units. It is the value of
 * a bin, except with GI_THRESHOLD_LI and GI_THRESHOLD_MEAN. If all counts are in one bin, it is the
 * value of that bin, and without counts it is 0. Returns NAN if the method finds none, which only
 * happens with GI_THRESHOLD_MINIMUM. */
double gi_auto_threshold(enum gi_threshold_method method, const struct gi_bins *bins);

/* Finds the classes - 1 levels, ascending values of bins, between 2 to GI_THRESHOLD_CLASSES_MAX
 * classes. If fewer bins than classes have counts, each of them is a class, and the levels that are
 * left over are the value of the last of them. Without counts all levels are 0. */
void gi_multi_otsu(double *levels, int classes, const struct gi_bins *bins);
