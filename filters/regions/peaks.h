/* Peaks: local maxima of an image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_peaks_params {
    int min_distance; /* px */
    struct gi_level at;
    int count; /* 0: all */
    bool keep_border;
};

struct gi_peak {
    int x, y;
    double value; /* sample, or the luma of a colour image */
};

/* Peaks by descending value; equal values are in raster order. */
struct gi_peaks {
    uint64_t n;
    struct gi_peak *peaks; /* owned */
    uint64_t room;         /* number of peaks that there is memory for */
};

/* Decides what a peak is: a sample above `level` that is the maximum of the square of 2
 * min_distance + 1 pixels per side around it. A peak less than
 * min_distance columns and rows away from one before is left out. */
struct gi_peaks_rule {
    int min_distance; /* px, 0 or more */
    int count;        /* 0: all; or the maximum number of peaks */
    bool keep_border; /* false: none is less than min_distance px away from a side of the image */
    double level;     /* in sample units; NAN: the minimum of the image */
    double share;     /* of the maximum of the image, for a second level; the higher one counts. 0:
                         there is none */
};

/* Fills `peaks`, which is zeroed before, with the peaks of an image of one channel on the backend.
 * An image whose samples are all equal has none. The caller frees them by gi_peaks_free(), also
 * after an error. Errors: those of min_max and of copies, GI_E_MEMORY. */
enum gi_status gi_peaks_find(struct gi_queue *queue, struct gi_peaks *peaks,
                             const struct gi_image *gray, const struct gi_peaks_rule *rule,
                             struct gi_err *err);

/* Adds a peak behind the others. Errors: GI_E_MEMORY. */
enum gi_status gi_peaks_add(struct gi_peaks *peaks, struct gi_peak peak, struct gi_err *err);

/* Puts peaks of an image of this size in order, and leaves out those that are less than `distance`
 * columns and rows away from one before. Keeps at most `count`, or all if `count` is 0. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_peaks_order(struct gi_peaks *peaks, int distance, int count, int width,
                              int height, struct gi_err *err);

/* gi_analysis.free and .digest of results that are a struct gi_peaks. */
void gi_peaks_free(void *result);
void gi_peaks_digest(const void *result, struct gi_digest *digest);

/* Result: struct gi_peaks. */
extern const struct gi_filter gi_filter_peaks;
