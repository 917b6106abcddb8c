/* --target-ssimulacra2 and --target-ssim: the quality of a file is the lowest one at which the
 * image that is read back reaches a score. SPDX-License-Identifier: MIT */
#pragma once

#include "filters/pipeline.h"
#include "filters/statistics/ssimulacra2.h"
#include "imgio/judge.h"

/* The scores that are wanted; 0 and NAN: unset. At most one is set. */
struct gi_quality_target {
    double ssimulacra2, ssim;
};

bool gi_quality_target_is_set(const struct gi_quality_target *target);

/* What may search for a quality on a device. */
struct gi_quality_device {
    void *self;
    /* Encodes the image as the ending says (struct gi_coding), or leaves ending->encoded empty if
     * no device does so. Errors: those of gi_session_run(). */
    enum gi_status (*encode)(void *self, struct gi_ending *ending, const struct gi_image *image,
                             struct gi_err *err);
};

/* A judge, with what it keeps between its calls: the queue of the comparisons and the original. */
struct gi_quality_judge {
    struct gi_judge judge;
    const struct gi_quality_target *target;
    char wanted[64]; /* of the judge */
    int threads;
    struct gi_queue *queue;
    struct gi_scored_original original;
    struct gi_image converted; /* the original, if files have more bits; else no image */
    const struct gi_quality_device *device;
    const struct gi_jpeg_trials *trials;
    struct gi_ending ending; /* of the search on the device */
};

/* Begins to judge files of one image by `target`, on this number of threads. `device` is tried
 * first for a JPEG with a score of SSIMULACRA 2; it may be NULL. Both must outlive the judge.
 * gi_quality_judge_end() frees what it keeps. */
void gi_quality_judge_begin(struct gi_quality_judge *judge, const struct gi_quality_target *target,
                            const struct gi_quality_device *device, int threads);
void gi_quality_judge_end(struct gi_quality_judge *judge);
