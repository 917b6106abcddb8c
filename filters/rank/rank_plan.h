/* Declarations that the rank filters share: options, plan and run for a percentile of a
 * neighbourhood.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/opacity.h"
#include "filters/option_footprint.h"
#include "kernels/rank.h"

struct gi_rank_params {
    struct gi_footprint_params window;
    double percent;            /* for rank */
    struct gi_level threshold; /* for median */
    bool alpha;
    struct gi_border_params border;
};

/* The option rows of --k, --size, --alpha and the border, which set a struct gi_rank_params. */
#define GI_RANK_OPTIONS                                                                            \
    GI_FOOTPRINT_SIZE_OPTIONS(GI_MEDIAN_MAX, "1001"),                                              \
        {GI_OPTION("alpha", FLAG, struct gi_rank_params, alpha),                                   \
         .help = "Filter alpha like the other channels, and ignore no pixel"},                     \
        GI_BORDER_OPTIONS(struct gi_rank_params),                                                  \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* Plans a filter for the percentile `percent`. plan->tables begins with a struct gi_median, the
 * specification for all pixels. The filter's `measure` is gi_opacity_measure(). Errors:
 * GI_E_MEMORY; GI_E_USAGE if the neighbourhood is too large. */
enum gi_status gi_rank_plan(struct gi_plan *plan, double percent, struct gi_err *err);

/* Returns the specification for a run, which depends on whether there are transparent pixels. */
const struct gi_median *gi_rank_footprint(const struct gi_plan *plan, const struct gi_work *work);

/* Runs a rank filter. */
enum gi_status gi_rank_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err);
