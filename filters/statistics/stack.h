/* Parameters of stacks of images, for the command that fills the strip of images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "kernels/statistics.h"

/* Methods besides enum gi_stack_method, which fuse whole images (filters/statistics/fusion.h). */
enum { GI_STACK_EXPOSURE = GI_STACK_SIGMA_CLIP + 1, GI_STACK_FOCUS };

/* What a run of a method that fuses images does. Except for GI_STACK_FUSE_ALL the first source is
 * an image instead of a strip, or with GI_STACK_FUSE_FINISH the sum. */
enum gi_stack_fuse {
    GI_STACK_FUSE_ALL,
    GI_STACK_FUSE_WEIGH, /* makes the state of the images up to this one; source 1 is that of the
                            images before it, if there are any */
    GI_STACK_FUSE_ADD,   /* makes the sum up to this image; source 1 is the state of all images, and
                            source 2 the sum of the images before it, if there are any */
    GI_STACK_FUSE_FINISH, /* makes the image */
};

struct gi_stack_params {
    int method; /* enum gi_stack_method, GI_STACK_EXPOSURE or GI_STACK_FOCUS */
    double kappa;
    int images; /* number of images, side by side in the first source */
    /* These members are not set by options. If `continues` is set, the stack is reduced by several
     * runs. The result of a run is then a GI_U32 image with sums as double (kernels/statistics.h),
     * and the second source is the result of the previous run for the first `nearlier` images. */
    bool continues;
    uint64_t nearlier;
    /* For methods that fuse images. */
    enum gi_stack_fuse fuse;
    int number;            /* of the image, from 0 */
    struct gi_image fused; /* GI_STACK_FUSE_FINISH: shape of the result */
};

static inline bool gi_stack_fuses(const struct gi_stack_params *params)
{
    return params->method >= GI_STACK_EXPOSURE;
}

/* The option rows of --method and --kappa, whose values are the given members of the struct
 * `params`. */
#define GI_STACK_OPTIONS(params, method_member, kappa_member)                                      \
    {GI_OPTION("method", CHOICE, params, method_member), .also = "by", .default_text = "mean",     \
     .choices = gi_stack_methods,                                                                  \
     .help = "How the output is computed from the samples at each place"},                         \
    {                                                                                              \
        GI_OPTION("kappa", REAL, params, kappa_member),                                            \
            .default_text = "3", .min = 0.1, .max = 100,                                           \
            .help = "For the method \"sigma-clip\": a sample counts if it is at most this many "   \
                    "standard deviations away from the median; at most five passes are made. "     \
                    "3 rejects nothing below 8 images"                                             \
    }

/* Paragraphs of the manuals about the methods that fuse images. */
#define GI_STACK_FUSION_MANUAL                                                                     \
    "The methods \"exposure\" and \"focus\" fuse images by Laplacian pyramids (Burt and Adelson "  \
    "1983): each level of the result is the sum of those of the images, multiplied by the levels " \
    "of Gaussian pyramids of weights, which add up to 1 at each pixel.\n\n"                        \
    "\"exposure\" makes one well-exposed picture of a bracketed series (Mertens, Kautz and Van "   \
    "Reeth 2007). The weight of a pixel is the product of contrast (the absolute Laplacian of "    \
    "the "                                                                                         \
    "luma), saturation (the deviation of red, green and blue from their mean; gray images have "   \
    "none), each 0 below 1e-6, and, for each colour v from 0 to 1, exp(-(v - 0.5)^2 / 0.08). "     \
    "This "                                                                                        \
    "is OpenCV's createMergeMertens(1, 1, 1) within 1 of 255, except where no image has contrast " \
    "or saturation and rounding errors decide there. Such pixels are the mean of the images "      \
    "here, "                                                                                       \
    "so that pictures in gray need --gray.\n\n"                                                    \
    "\"focus\" takes each pixel from the image that is sharpest there: that with the largest "     \
    "square of the Laplacian of the luma, smoothed by a Gaussian of 3 pixels.\n\n"                 \
    "Both weight colours by alpha, and NaN counts as 0 for them"

/* Sets *warning if sigma clipping of `images` images rejects no sample, whatever the samples are.
 */
void gi_stack_warn(struct gi_err *warning, const struct gi_stack_params *params, uint64_t images);

extern const struct gi_choice gi_stack_methods[];
extern const struct gi_filter gi_filter_stack;
