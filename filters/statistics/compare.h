/* The difference between two images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "filters/filter.h"

/* The metrics that are computed besides the numbers of samples and the largest difference. */
enum gi_compare_metric {
    GI_COMPARE_MSE = 1,
    GI_COMPARE_PSNR = 2,
    GI_COMPARE_SSIM = 4,
    GI_COMPARE_MS_SSIM = 8,
    GI_COMPARE_CIEDE2000 = 16,
    GI_COMPARE_DEFAULT = GI_COMPARE_MSE | GI_COMPARE_PSNR | GI_COMPARE_SSIM,
    GI_COMPARE_PIXELMATCH = 32,
    GI_COMPARE_SSIMULACRA2 = 64,
    GI_COMPARE_ALL = 127,
    GI_COMPARE_NO_METRIC = 1 << 30, /* differs from 0, which is GI_COMPARE_DEFAULT */
};

/* All numbers are in sample units of `type`. Two NaNs are equal, and so are two equal infinities.
 * NaN and infinities differ from all other values by infinity. Numbers that are not asked are
 * NAN. */
struct gi_difference {
    uint64_t samples;   /* that were compared */
    uint64_t differing; /* number of samples that differ by more than the tolerance */
    double max;         /* largest absolute difference */
    double mse;         /* mean squared difference */
    double psnr;        /* in dB: 10 log10(full scale^2 / mse); INFINITY if the images are equal */
    double ssim;        /* mean structural similarity; 1 if equal; NAN if a sample is not finite */
    double ms_ssim;     /* the same on five scales; NAN below GI_COMPARE_MS_SSIM_SIDE */
    /* mean and maximum colour difference of the compared pixels; NAN for a channel */
    double ciede2000, ciede2000_max;
    double ssimulacra2; /* score, 100 if equal; NAN for a channel, and below
                         * GI_COMPARE_SSIMULACRA2_SIDE */
    /* pixels that look different, and those left out as antialiased; 0 for a channel */
    uint64_t pixelmatch, antialiased;
};

struct gi_comparison {
    enum gi_type type;        /* the type in which the images were compared */
    unsigned metrics;         /* enum gi_compare_metric: those that were computed */
    struct gi_difference all; /* its ssim and ms_ssim are means over the channels */
    struct gi_difference channels[GI_MAX_CHANNELS];
    int nchannels;
};

/* The shorter side from which on the smallest of the five scales of MS-SSIM holds a window. */
enum { GI_COMPARE_MS_SSIM_SIDE = 161 };
/* The shorter side from which on there is a score of SSIMULACRA 2. */
enum { GI_COMPARE_SSIMULACRA2_SIDE = 8 };

enum { GI_COMPARE_REGIONS_MAX = 64 };

/* A rectangle of pixels, which may extend outside the image. */
struct gi_compare_region {
    int x, y, width, height;
};

/* The parameters of the operation, which say what is computed, which differences count, and where.
 * Options set all of them except `mask`. */
struct gi_compare_rules {
    const char *metric;  /* text of --metric */
    unsigned metrics;    /* enum gi_compare_metric, which `check` reads from `metric`; 0: default */
    double tolerance;    /* sample units */
    double threshold;    /* of pixelmatch, 0 to 1 */
    const char *regions; /* text of --ignore-region */
    struct gi_compare_region region[GI_COMPARE_REGIONS_MAX]; /* `check` reads them from `regions` */
    int nregions;
    /* Not an option: an image in host memory of the images' size. Pixels with a colour sample that
     * is not 0 in it are not compared. NULL: all pixels are compared. */
    const struct gi_image *mask;
};

/* The `check` of the operation, which reads --metric and --ignore-region. Errors: GI_E_USAGE. */
enum gi_status gi_compare_rules_check(void *rules, struct gi_err *err);

/* Makes a map with a byte per pixel of `image`, row by row, which is 1 if the pixel is not
 * compared. The caller frees the map, also after an error. *ignored becomes NULL if all pixels are
 * compared. Errors: GI_E_UNSUPPORTED if the mask has another size, and if no pixel is compared;
 * GI_E_MEMORY. */
enum gi_status gi_compare_ignored(uint8_t **ignored, const struct gi_compare_rules *rules,
                                  const struct gi_image *image, struct gi_err *err);

/* Returns the CIEDE2000 colour difference of two colours, given as L*, a* and b*, with the weights
 * kL = kC = kH = 1. Formula: G. Sharma, W. Wu, E. N. Dalal: The CIEDE2000 color-difference formula,
 * Color Research and Application 30(1), 2005, equations 2 to 22. */
double gi_ciede2000(const double x[3], const double y[3]);

/* Replaces two images in host memory by what is seen of them, with the channels that say something
 * in one of the images: three colours unless R, G and B are equal everywhere, and alpha unless it
 * is opaque everywhere. Where one of them is transparent (alpha 0), both get the colour 0. Images
 * of different sizes stay as they are. Errors: GI_E_MEMORY. */
enum gi_status gi_compare_visible(struct gi_image *a, struct gi_image *b, struct gi_err *err);

/* Returns |a - b|. NaN equals NaN, and differs from all other values by infinity. */
static inline double gi_compare_distance(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    double d = fabs(a - b);
    return isnan(d) ? (double)INFINITY : d;
}

/* Checks that the images have the same size and channels; their samples are not read. Errors:
 * GI_E_UNSUPPORTED. */
enum gi_status gi_compare_check(const struct gi_image *a, const struct gi_image *b,
                                struct gi_err *err);

/* Checks this too. If their types differ, the one with less
 * depth is converted to *converted, which takes its place and which the caller frees, also after an
 * error. Errors: GI_E_UNSUPPORTED (shapes), GI_E_MEMORY. */
enum gi_status gi_compare_match(struct gi_image *converted, const struct gi_image **a,
                                const struct gi_image **b, struct gi_err *err);

/* The result is a struct gi_comparison, for two sources of the same size and channels. If their
 * types differ, the source with less depth is first converted to the other type (full scale to full
 * scale). SSIM is computed as in Z. Wang et al., 2004, IEEE Trans. Image Processing 13(4), with
 * Gaussian windows of 11 x 11 pixels and sigma 1.5, completely inside the image, K1 = 0.01, K2 =
 * 0.03, population covariance. Along a side shorter than 11 pixels a window has the largest odd
 * length that fits. MS-SSIM is computed as in Z. Wang et al., 2003, Asilomar Conference on Signals,
 * Systems and Computers, on five scales made by the means of 2 x 2 samples. */
extern const struct gi_filter gi_filter_compare;

/* Returns whether all that is to be computed are counts, maxima and sums over pixels, for which the
 * rows of two images can be added from the top down instead. */
bool gi_compare_takes_rows(const struct gi_compare_rules *rules);
/* Begins a comparison of two images of these shapes, which gi_compare_check() accepts. */
void gi_compare_rows_begin(struct gi_comparison *result, const struct gi_compare_rules *rules,
                           const struct gi_image *a, const struct gi_image *b);
/* Adds the next rows, in host memory. Errors: GI_E_MEMORY. */
enum gi_status gi_compare_rows_add(struct gi_comparison *result,
                                   const struct gi_compare_rules *rules, const struct gi_image *a,
                                   const struct gi_image *b, struct gi_queue *queue,
                                   struct gi_err *err);
/* Completes the result, which has the same bits as that of the whole images. */
void gi_compare_rows_end(struct gi_comparison *result);

/* Makes a picture of the difference, which the caller frees. The picture has the type in which the
 * images were compared, and their colour channels. Its samples are |a - b| * gain, saturated. Each
 * channel shows the larger of the differences of that channel and of alpha. Pixels that are not
 * compared are black. Errors: GI_E_UNSUPPORTED (shapes), GI_E_MEMORY. */
enum gi_status gi_compare_picture(struct gi_image *picture, const struct gi_image *a,
                                  const struct gi_image *b, double gain,
                                  const struct gi_compare_rules *rules, struct gi_err *err);
/* Makes the picture of pixelmatch, which the caller frees: 8 bits, RGB. Pixels that look different
 * are red, antialiased ones yellow, and the others show the luma of `a`, faded to 90 % of white.
 * Errors: as gi_compare_picture(). */
enum gi_status gi_compare_pixelmatch_picture(struct gi_image *picture, const struct gi_image *a,
                                             const struct gi_image *b,
                                             const struct gi_compare_rules *rules,
                                             struct gi_err *err);
/* Makes a picture that shows where two images differ, which the caller frees: 8 bits, RGB. Pixels
 * with a sample that counts as differing are red, and the others show the luma of `a` over white,
 * faded to 70 % of white. Errors: as gi_compare_picture(). */
enum gi_status gi_compare_marks(struct gi_image *picture, const struct gi_image *a,
                                const struct gi_image *b, const struct gi_compare_rules *rules,
                                struct gi_err *err);
