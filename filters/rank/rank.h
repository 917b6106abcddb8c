/* What the operations share that take a sample of a rank in a rectangle.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_RANK_H
#define GI_FILTERS_RANK_H

#include "filters/filter.h"

struct gi_rank_params {
    int k;                 /* pixels; 0: unset, until the check */
    struct gi_extent size; /* unset: k x k */
    double percent;
    bool alpha;
    struct gi_border_params edge;
};

/* --k, --size, --alpha and the border's, of a struct gi_rank_params; what stands before them. */
#define GI_RANK_OPTIONS                                                                            \
    {.name = "k",                                                                                  \
     .letter = 'k',                                                                                \
     .type = GI_OPT_ODD,                                                                           \
     .offset = offsetof(struct gi_rank_params, k),                                                 \
     .min = 1,                                                                                     \
     .max = GI_MEDIAN_MAX,                                                                         \
     .unit = "px",                                                                                 \
     .help = "Side of a square with the pixel in its middle; 3 where --size says nothing else"},   \
        {.name = "size",                                                                           \
         .type = GI_OPT_EXTENT,                                                                    \
         .offset = offsetof(struct gi_rank_params, size),                                          \
         .help =                                                                                   \
             "Width and height of a rectangle, odd or even, at most 1001 px each, or per cent "    \
             "of the image"},                                                                      \
        {.name = "alpha",                                                                          \
         .type = GI_OPT_FLAG,                                                                      \
         .offset = offsetof(struct gi_rank_params, alpha),                                         \
         .help = "Alpha too: what is opaque loses its specks"},                                    \
        GI_BORDER_OPTIONS(struct gi_rank_params),                                                  \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* The check of all of them. */
enum gi_status gi_rank_check(void *params, struct gi_err *err);

/* plan->tables becomes a struct gi_median, for the sample below which `percent` of the rectangle's
 * are. Errors: GI_E_MEMORY; GI_E_USAGE for a rectangle that is too large. */
enum gi_status gi_rank_plan(struct gi_plan *plan, double percent, struct gi_err *err);

/* Runs it. */
enum gi_status gi_rank_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err);

#endif
