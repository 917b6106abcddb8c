/* The skew of a scanned page: the angle of its lines of text.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_skew {
    double angle_deg; /* counterclockwise, of the lines; NAN: none are found */
    double score;     /* of the angle, divided by the mean score of all angles; 0 on a flat page */
};

/* The option row of --max-angle, the member `max_angle` of the struct `params`, in degrees. */
#define GI_SKEW_OPTION(params)                                                                     \
    {                                                                                              \
        GI_OPTION("max-angle", REAL, params, max_angle),                                           \
            .letter = 'a', .default_text = "15", .min = 0.2, .max = 44, .unit = "degrees",         \
            .help = "Largest angle that is looked for, in both directions"                         \
    }

/* Called by the filter's `plan`: sets the memory and adds the cost of measuring the first source,
 * which must be whole. */
void gi_skew_plan(struct gi_plan *plan);

/* Measures an image on the queue's backend. Errors: GI_E_MEMORY and those of the primitives. */
enum gi_status gi_skew_find(struct gi_skew *skew, struct gi_queue *queue,
                            const struct gi_image *src, double max_angle, struct gi_err *err);

/* The result is a struct gi_skew. */
extern const struct gi_filter gi_filter_skew;
