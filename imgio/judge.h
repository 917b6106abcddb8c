/* A judge of encoded files, which decides their quality (gi_save_options.judge).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Judges how much an encoded image looks like the original. */
struct gi_judge {
    const char *wanted; /* the option and its value, for messages: "--target-ssim 0.98" */
    double limit;       /* the score that is wanted */
    bool ssimulacra2;   /* scores are those of SSIMULACRA 2 */
    void *arg;
    /* Scores a file. `image` is the image that was encoded, the same in all calls. */
    enum gi_status (*score)(void *arg, double *score, const struct gi_image *image,
                            const void *bytes, size_t nbytes, struct gi_err *err);
};
