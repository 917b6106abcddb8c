/* The difference between two images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_COMPARE_H
#define GI_FILTERS_COMPARE_H

#include "filters/filter.h"

/* All numbers are in sample units of `type`. Two NaNs are equal, and so are two equal infinities.
 * NaN and infinities differ from all other values by infinity. */
struct gi_difference {
    uint64_t samples;   /* that were compared */
    uint64_t differing; /* by more than the tolerance */
    double max;         /* largest absolute difference */
    double mse;         /* mean squared difference */
    double psnr;        /* in dB: 10 log10(full scale^2 / mse); INFINITY: equal */
    double ssim;        /* mean structural similarity; 1: equal; NAN: a sample is not finite */
};

struct gi_comparison {
    enum gi_type type;        /* the type in which the images were compared */
    struct gi_difference all; /* its ssim is the mean over the channels */
    struct gi_difference channels[GI_MAX_CHANNELS];
    int nchannels;
};

enum { GI_COMPARE_REGIONS_MAX = 64 };

/* A rectangle of pixels, which may extend outside the image. */
struct gi_compare_region {
    int x, y, width, height;
};

/* Which differences count, and where: the operation's parameters, set by options and `mask`. */
struct gi_compare_rules {
    double tolerance;                                        /* sample units */
    const char *regions;                                     /* text of --ignore-region */
    struct gi_compare_region region[GI_COMPARE_REGIONS_MAX]; /* from it, by `check` */
    int nregions;
    const struct gi_image *mask; /* host memory, of the images' size: pixels with a colour sample
                                    that is not 0 are not compared; NULL: all are. Not an option */
};

/* Reads --ignore-region; this is the `check` of the operation. Errors: GI_E_USAGE. */
enum gi_status gi_compare_rules_check(void *rules, struct gi_err *err);

/* Makes a map with a byte per pixel of `image`, row by row: 1 if it is not compared. The caller
 * frees it, also after an error. NULL: all are compared. Errors: GI_E_UNSUPPORTED for a mask of
 * another size, and if no pixel is compared; GI_E_MEMORY. */
enum gi_status gi_compare_ignored(uint8_t **ignored, const struct gi_compare_rules *rules,
                                  const struct gi_image *image, struct gi_err *err);

/* The result is a struct gi_comparison, for two sources of the same size and channels. If their
 * types differ, the one with less depth is first converted to the other (full scale to full scale).
 * SSIM after Z. Wang et al., 2004, IEEE Trans. Image Processing 13(4): Gaussian windows of 11 x 11
 * pixels and sigma 1.5, completely inside the image, K1 = 0.01, K2 = 0.03, population covariance.
 * Along a side shorter than 11 pixels a window has the largest odd length that fits. */
extern const struct gi_filter gi_filter_compare;

/* Makes a picture of the difference, which the caller frees: |a - b| * gain, saturated, in the type
 * in which the images were compared, with their colour channels. In each channel the larger of the
 * differences of that channel and of alpha is shown. Pixels that are not compared are black.
 * Errors: GI_E_UNSUPPORTED (shapes), GI_E_MEMORY. */
enum gi_status gi_compare_picture(struct gi_image *picture, const struct gi_image *a,
                                  const struct gi_image *b, double gain,
                                  const struct gi_compare_rules *rules, struct gi_err *err);

#endif
