/* Results of operations that are label images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "filters/regions/flooding.h"

extern const struct gi_choice gi_label_result_choices[];

/* The option row of --depth. */
#define GI_LABEL_RESULT_OPTION(params, member)                                                     \
    {                                                                                              \
        GI_OPTION("depth", CHOICE, params, member), .default_text = "16",                          \
                                                    .choices = gi_label_result_choices,            \
                                                    .help = "Sample type of the labels"            \
    }

/* Returns the sample type for the value of --depth. */
enum gi_type gi_label_result_type(int depth);

/* Sets the shape of the result, one channel of labels, and the cost of a watershed. */
void gi_label_result_plan(struct gi_plan *plan, int depth);

/* Stores the labels of a flooded relief, 0 to `largest`, in `dst`, which is on the backend. Errors:
 * GI_E_UNSUPPORTED if they do not fit, those of copies. */
enum gi_status gi_label_result_store(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_flooding *flooding, uint32_t largest,
                                     struct gi_err *err);
