/* Blobs of an image: bright spots with their size and flux.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_blobs_params {
    double min_sigma, max_sigma; /* px */
    double ratio;                /* of one standard deviation to the one before, above 1 */
    double threshold;            /* of the response to samples from 0 to 1 */
    double overlap;              /* 0 to 1 */
    double aperture;             /* px; NAN: GI_BLOBS_APERTURE radii of the blob */
    int count;                   /* 0: all */
    bool invert;
};

/* The default aperture in radii; and the annulus around it in apertures. */
#define GI_BLOBS_APERTURE 4
#define GI_BLOBS_INNER    1.5
#define GI_BLOBS_OUTER    2

struct gi_blob {
    double x, y;     /* centre in px; that of the upper left pixel is 0, 0 */
    double sigma;    /* px, of the smaller Gaussian of the difference */
    double radius;   /* px, sqrt(2) sigma */
    double flux;     /* sample units; NAN if no pixel is in the annulus */
    double response; /* value of the difference at the pixel column, row */
    int column, row; /* pixel that is a maximum of the differences */
    int scale;       /* number of the difference, from 0 */
};

/* Blobs by descending response; equal responses are in raster order. */
struct gi_blobs {
    uint64_t n;
    struct gi_blob *blobs; /* owned */
    uint64_t room;         /* number of blobs that there is memory for */
    double highest;        /* response of a pixel at any scale, also below the threshold; or 0 */
};

/* Returns the number of differences: the largest k with min_sigma ratio^(k - 1) <= max_sigma. */
int gi_blobs_scales(const struct gi_blobs_params *params);

/* Adds the maxima of the scale space of `gray`, an image of one channel on the backend, to `blobs`.
 * Flux is not set. Errors: those of primitives and copies, GI_E_MEMORY. */
enum gi_status gi_blobs_find(struct gi_queue *queue, struct gi_blobs *blobs,
                             const struct gi_image *gray, const struct gi_blobs_params *params,
                             struct gi_err *err);

/* Leaves out blobs of which one with a larger sigma (of equal ones: a higher response) covers more
 * than `overlap` of the area, both as discs of their radius. Puts the others in order, and keeps at
 * most params->count. `width` and `height` are those of the image. Errors: GI_E_MEMORY. */
enum gi_status gi_blobs_prune(struct gi_blobs *blobs, const struct gi_blobs_params *params,
                              int width, int height, struct gi_err *err);

/* Sets the flux of every blob from an image of one channel in host memory: the sum of the samples
 * whose centres are at most the aperture away from the blob's, minus their number times the median
 * of the samples that are more than GI_BLOBS_INNER and at most GI_BLOBS_OUTER apertures away.
 * Pixels outside the image and NaNs in the annulus are left out. Errors: GI_E_MEMORY. */
enum gi_status gi_blobs_measure(struct gi_blobs *blobs, const struct gi_image *gray,
                                double aperture, struct gi_err *err);

/* Result: struct gi_blobs. */
extern const struct gi_filter gi_filter_blobs;
