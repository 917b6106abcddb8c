/* Parameters of stacks of images, for the command that fills the strip of images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_stack_params {
    int method; /* enum gi_stack_method */
    double kappa;
    int images; /* number of images, side by side in the first source */
    /* These members are not set by options. If `continues` is set, the stack is reduced by several
     * runs. The result of a run is then a GI_U32 image with sums as double (kernels/statistics.h),
     * and the second source is the result of the previous run for the first `nearlier` images. */
    bool continues;
    uint64_t nearlier;
};

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

/* Sets *warning if sigma clipping of `images` images rejects no sample, whatever the samples are.
 */
void gi_stack_warn(struct gi_err *warning, const struct gi_stack_params *params, uint64_t images);

extern const struct gi_choice gi_stack_methods[];
extern const struct gi_filter gi_filter_stack;
