/* The difference between two images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_COMPARE_H
#define GI_FILTERS_COMPARE_H

#include "filters/filter.h"

/* All numbers are in sample units of `type`. Two NaNs are equal, and so are equal infinities; the
 * distance of NaN or an infinity to any other value is infinite. */
struct gi_difference {
    uint64_t samples;   /* that were compared */
    uint64_t differing; /* by more than the tolerance */
    double max;         /* largest absolute difference */
    double mse;         /* mean squared difference */
    double psnr;        /* dB: 10 log10(full scale^2 / mse); INFINITY for equal images */
    double
        ssim; /* mean structural similarity, 1 for equal images; NAN where a sample is not finite */
};

struct gi_comparison {
    enum gi_type type;        /* the type in which the images were compared */
    struct gi_difference all; /* its ssim is the mean over the channels */
    struct gi_difference channels[GI_MAX_CHANNELS];
    int nchannels;
};

enum { GI_COMPARE_REGIONS_MAX = 64 };

/* A rectangle of pixels; parts outside the image do no harm. */
struct gi_compare_region {
    int x, y, width, height;
};

/* What counts as a difference, and where: the operation's parameters, by its options and `mask`. */
struct gi_compare_rules {
    double tolerance;                                        /* sample units */
    const char *regions;                                     /* text of --ignore-region */
    struct gi_compare_region region[GI_COMPARE_REGIONS_MAX]; /* from it, by `check` */
    int nregions;
    const struct gi_image *mask; /* in host memory, of the images' size: pixels with a colour sample
                                    other than 0 are not compared; NULL: none. Not an option */
};

/* Reads --ignore-region; the operation's `check`. Errors: GI_E_USAGE. */
enum gi_status gi_compare_rules_check(void *rules, struct gi_err *err);

/* Makes the map of pixels of `image` that are not compared, a byte each, by rows, 1 for these. The
 * caller frees it, also after an error; NULL: all are compared. Errors: GI_E_UNSUPPORTED for a mask
 * of another size, and if no pixel is left; GI_E_MEMORY. */
enum gi_status gi_compare_ignored(uint8_t **ignored, const struct gi_compare_rules *rules,
                                  const struct gi_image *image, struct gi_err *err);

/* Result: struct gi_comparison, for two sources of the same width, height and channels. If their
 * types differ, the one with less depth is converted to the other first, full scale to full scale.
 * SSIM after Z. Wang et al., 2004, IEEE Trans. Image Processing 13(4): Gaussian windows of 11 x 11
 * pixels and sigma 1.5 that are completely inside the image, K1 = 0.01, K2 = 0.03, population
 * covariance. Along a side shorter than 11 pixels the window has the largest odd length that fits.
 */
extern const struct gi_filter gi_filter_compare;

/* Makes a picture of the difference, freed by the caller: |a - b| * gain, saturated, in the type in
 * which the images were compared, with their colour channels; if alpha differs by more than a
 * channel, alpha's difference is shown in it. Pixels that are not compared are black. Errors:
 * GI_E_UNSUPPORTED (shapes), GI_E_MEMORY. */
enum gi_status gi_compare_picture(struct gi_image *picture, const struct gi_image *a,
                                  const struct gi_image *b, double gain,
                                  const struct gi_compare_rules *rules, struct gi_err *err);

#endif
