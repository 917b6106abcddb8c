/* A judge of encoded files, which decides their quality (gi_save_options.judge).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Judges how much an encoded image looks like the original. */
struct gi_judge {
    const char *wanted; /* the option and its value, for messages: "--target-ssim 0.98" */
    void *arg;
    /* Sets *good if the file is good enough. `image` is the image that was encoded. */
    enum gi_status (*is_good)(void *arg, bool *good, const struct gi_image *image,
                              const void *bytes, size_t nbytes, struct gi_err *err);
};
