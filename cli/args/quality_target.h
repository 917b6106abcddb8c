/* --target-ssimulacra2 and --target-ssim: the quality of a file is the lowest one at which the
 * image that is read back reaches a score. SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/judge.h"

/* The scores that are wanted; 0 and NAN: unset. At most one is set. */
struct gi_quality_target {
    double ssimulacra2, ssim;
};

bool gi_quality_target_is_set(const struct gi_quality_target *target);

/* Room for gi_judge.wanted. */
enum { GI_QUALITY_TARGET_TEXT = 64 };

/* Returns a judge, which uses `target` and `text` until the file is written. */
struct gi_judge gi_quality_target_judge(const struct gi_quality_target *target,
                                        char text[GI_QUALITY_TARGET_TEXT]);
