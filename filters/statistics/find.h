/* Template matching: the places of an image where a template fits.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* In the order of enum gi_correlate_method. */
extern const struct gi_choice gi_find_methods[];

struct gi_find_params {
    const char *template;
    int method;
    int count;                   /* maximum number of hits; 0: all */
    double min_score, max_score; /* NAN: 0.8 and 0.1 */
    double max_overlap;          /* percent of the template's area */
    bool map;                    /* not an option: the caller wants the map of scores */
};

/* A place where the template fits, by its upper left pixel. */
struct gi_hit {
    int x, y, width, height;
    double score;
};

struct gi_find {
    struct gi_hit *hits; /* the best first; ties in raster order */
    size_t n;
    struct gi_image map; /* if asked for: gray GI_F32 image of the score at each place */
};

/* Returns whether small scores are good. */
bool gi_find_is_least(int method);

/* The result is a struct gi_find. */
extern const struct gi_filter gi_filter_find_places;
