/* Corners of an image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/regions/peaks.h"

enum gi_corners_method { GI_CORNERS_HARRIS, GI_CORNERS_SHI_TOMASI, GI_CORNERS_FAST };

struct gi_corners_params {
    int method;               /* enum gi_corners_method */
    double sigma;             /* px, of the Gaussian */
    double k;                 /* Harris: factor of the squared trace */
    double quality;           /* part of the highest score, 0 to 1; not for FAST */
    struct gi_level contrast; /* FAST: difference of samples */
    int min_distance;         /* px */
    int count;                /* 0: all */
    bool keep_border;
};

/* Finds the corners of FAST-9-16 in an image of one channel in host memory, in raster order. A
 * pixel p is a corner if 9 consecutive pixels of the 16 on the circle of radius 3 are all > p +
 * contrast or all < p - contrast (in sample units). Its score s is the largest such difference, for
 * integer samples minus 1: the largest whole contrast with which it is a corner. With `suppress`
 * only corners are kept whose score is greater than those of the 8 neighbours, where pixels that
 * are no corners have the score 0. Source: E. Rosten and T. Drummond, Machine learning for
 * high-speed corner detection, ECCV 2006; score and suppression are those of OpenCV's
 * FastFeatureDetector. Errors: GI_E_MEMORY. */
enum gi_status gi_fast_corners(struct gi_queue *queue, struct gi_peaks *corners,
                               const struct gi_image *gray, double contrast, bool suppress,
                               struct gi_err *err);

/* Result: struct gi_peaks, whose values are scores. */
extern const struct gi_filter gi_filter_corners;
