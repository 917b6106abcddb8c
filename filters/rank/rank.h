/* What the operations share that take a sample of a rank in a rectangle.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_RANK_H
#define GI_FILTERS_RANK_H

#include "filters/window.h"

struct gi_rank_params {
    struct gi_window_params window;
    double percent;            /* of rank */
    struct gi_level threshold; /* of median */
    bool alpha;
    struct gi_border_params edge;
};

/* --k, --size, --alpha and the border's, of a struct gi_rank_params; what stands before them. */
#define GI_RANK_OPTIONS                                                                            \
    GI_WINDOW_OPTIONS(GI_MEDIAN_MAX, "1001"),                                                      \
        {.name = "alpha",                                                                          \
         .type = GI_OPT_FLAG,                                                                      \
         .offset = offsetof(struct gi_rank_params, alpha),                                         \
         .help = "Alpha too: what is opaque loses its specks"},                                    \
        GI_BORDER_OPTIONS(struct gi_rank_params),                                                  \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* plan->tables becomes a struct gi_median and its runs, for the sample below which `percent` of the
 * window's are. Errors: GI_E_MEMORY; GI_E_USAGE for a window that is too large. */
enum gi_status gi_rank_plan(struct gi_plan *plan, double percent, struct gi_err *err);

/* Runs it. */
enum gi_status gi_rank_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err);

#endif
