/* A judge of encoded files, which decides their quality (gi_save_options.judge).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/coded.h"

/* The JPEGs of an image among which a search chooses. */
struct gi_jpeg_trials {
    int most; /* the highest quality, 1 to 100 */
    /* Describes the JPEG of this quality. Returns false if its samples are needed, or if the file
     * is no JPEG. */
    bool (*frame_at)(void *self, struct gi_jpeg_frame *frame, const struct gi_image *shape,
                     int quality);
    void *self;
};

/* Judges how much an encoded image looks like the original. */
struct gi_judge {
    const char *wanted; /* the option and its value, for messages: "--target-ssim 0.98" */
    double limit;       /* the score that is wanted */
    bool ssimulacra2;   /* scores are those of SSIMULACRA 2 */
    void *arg;
    /* Scores a file. `image` is the image that was encoded, the same in all calls. */
    enum gi_status (*score)(void *arg, double *score, const struct gi_image *image,
                            const void *bytes, size_t nbytes, struct gi_err *err);
    /* Does the whole search on a device, before any call of score(). *encoded becomes the JPEG,
     * which belongs to the judge, or stays NULL if files are to be scored one by one. NULL: there
     * is no device. */
    enum gi_status (*encode)(void *arg, const struct gi_encoded **encoded,
                             const struct gi_image *image, const struct gi_jpeg_trials *trials,
                             struct gi_err *err);
};
