/* Search for the quality at which a value that grows with the quality, a score or a size in bytes,
 * crosses a limit.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

enum {
    GI_QUALITY_MAX = 100,
    GI_QUALITY_TRIALS = 8,      /* maximum number of qualities that are tried */
    GI_QUALITY_TRIALS_MEAN = 4, /* for photographs, with scores of SSIMULACRA 2 */
};

struct gi_quality_search {
    double limit;
    bool from_score; /* values are scores of SSIMULACRA 2, whose usual course is known */
    int trials;      /* number of qualities that were tried */
    /* The highest quality whose value is below the limit, or 0, and the lowest whose value is not,
     * or one above the maximum; and their values, if they were tried. */
    int below, above;
    double value_below, value_above;
    bool has_below, has_above;
};

/* Begins a search among the qualities 1 to `most`, at most GI_QUALITY_MAX. */
struct gi_quality_search gi_quality_search_begin(double limit, bool from_score, int most);
/* Returns the next quality to try, or 0 if search->below and search->above are neighbours. */
int gi_quality_search_next(const struct gi_quality_search *search);
/* Notes the value of the quality that gi_quality_search_next() returned. */
void gi_quality_search_note(struct gi_quality_search *search, int quality, double value);
/* Notes that this quality, the maximum, can't be written. */
void gi_quality_search_forbid(struct gi_quality_search *search, int quality);
