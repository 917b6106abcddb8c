/* --target-ssimulacra2 and --target-ssim: the quality of a file is the lowest one at which the
 * image that is read back reaches a score. SPDX-License-Identifier: MIT */
#pragma once

#include "filters/statistics/ssimulacra2.h"
#include "imgio/judge.h"

/* The scores that are wanted; 0 and NAN: unset. At most one is set. */
struct gi_quality_target {
    double ssimulacra2, ssim;
};

bool gi_quality_target_is_set(const struct gi_quality_target *target);

/* A judge, with what it keeps between its calls: the queue of the comparisons and the original. */
struct gi_quality_judge {
    struct gi_judge judge;
    const struct gi_quality_target *target;
    char wanted[64]; /* of the judge */
    int threads;
    struct gi_queue *queue;
    struct gi_scored_original original;
    struct gi_image converted; /* the original, if files have more bits; else no image */
};

/* Begins to judge files of one image by `target`, which must outlive the judge, on this number of
 * threads. gi_quality_judge_end() frees what it keeps. */
void gi_quality_judge_begin(struct gi_quality_judge *judge, const struct gi_quality_target *target,
                            int threads);
void gi_quality_judge_end(struct gi_quality_judge *judge);
