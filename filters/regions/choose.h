/* Shared by operations that paint over some connected components of an image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "kernels/regions.h"

struct gi_choose_params {
    struct gi_level at;
    int connectivity; /* 0: 4, 1: 8 */
    uint64_t area;    /* pixels */
    int keep_largest; /* 0: unset */
};

#define GI_CHOOSE_AT_OPTION                                                                        \
    {                                                                                              \
        GI_OPTION("threshold", LEVEL, struct gi_choose_params, at),                                \
            .also = "at", .letter = 't', .default_text = "0",                                      \
            .help =                                                                                \
                "Pixels brighter than this level are foreground; in a colour image the luma is "   \
                "compared"                                                                         \
    }

/* The option row of --connectivity, whose default is `standard`, "4" or "8". */
#define GI_CHOOSE_CONNECTIVITY_OPTION(standard)                                                    \
    {                                                                                              \
        GI_OPTION("connectivity", CHOICE, struct gi_choose_params, connectivity),                  \
            .default_text = standard, .choices = gi_connectivity_choices,                          \
            .help = "Which pixels are connected to each other"                                     \
    }

extern const struct gi_choice gi_connectivity_choices[];

/* The plan of operations with struct gi_choose_params as parameters. Errors: as gi_plan_make(). */
enum gi_status gi_choose_plan(struct gi_plan *plan, struct gi_err *err);
/* The plan of operations that only need to know which components touch a side of the image. */
enum gi_status gi_choose_by_side_plan(struct gi_plan *plan, struct gi_err *err);

/* For each of the n regions, sets marked[l - 1] to a value that is not 0 if region l is painted
 * over. */
typedef enum gi_status gi_choose_fn(uint8_t *marked, const struct gi_region_sums *regions,
                                    uint32_t n, const struct gi_plan *plan, struct gi_err *err);

/* Called by a filter's `run`. Finds the connected components of the foreground, and paints the
 * components that `choose` marks black. If `holes` is set, finds the components of the background
 * instead, and paints the marked components white. If `choose` is NULL, components of the
 * foreground that touch a side of the image are marked, or components of the background that do
 * not. Errors: GI_E_MEMORY, those of the primitives. */
enum gi_status gi_choose_run(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, bool holes, gi_choose_fn *choose,
                             struct gi_err *err);
