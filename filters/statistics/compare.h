/* The difference between two images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_COMPARE_H
#define GI_FILTERS_COMPARE_H

#include "filters/filter.h"

/* All numbers are in sample units of `type`. Two NaNs are equal, and so are equal infinities; the
 * distance of NaN or an infinity to any other value is infinite. */
struct gi_difference {
    uint64_t samples;
    uint64_t differing;
    double max;  /* largest absolute difference */
    double mse;  /* mean squared difference */
    double psnr; /* dB: 10 log10(full scale^2 / mse); INFINITY for equal images */
    double
        ssim; /* mean structural similarity, 1 for equal images; NAN where a sample is not finite */
};

struct gi_comparison {
    enum gi_type type;        /* the type in which the images were compared */
    struct gi_difference all; /* its ssim is the mean over the channels */
    struct gi_difference channels[GI_MAX_CHANNELS];
    int nchannels;
};

/* Result: struct gi_comparison, for two sources of the same width, height and channels. If their
 * types differ, the one with less depth is converted to the other first, full scale to full scale.
 * SSIM after Z. Wang et al., 2004, IEEE Trans. Image Processing 13(4): Gaussian windows of 11 x 11
 * pixels and sigma 1.5 that are completely inside the image, K1 = 0.01, K2 = 0.03, population
 * covariance. Along a side shorter than 11 pixels the window has the largest odd length that fits.
 */
extern const struct gi_filter gi_filter_compare;

/* Makes a picture of the difference, freed by the caller: |a - b| * gain, saturated, in the type in
 * which the images were compared, with their colour channels; if alpha differs by more than a
 * channel, alpha's difference is shown in it. Errors: GI_E_UNSUPPORTED (shapes), GI_E_MEMORY. */
enum gi_status gi_compare_picture(struct gi_image *picture, const struct gi_image *a,
                                  const struct gi_image *b, double gain, struct gi_err *err);

#endif
