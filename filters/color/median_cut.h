/* Median cut of counted colours.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_MEDIAN_CUT_H
#define GI_FILTERS_MEDIAN_CUT_H

#include "kernels/kernels.h"

/* `counts` says how often each of `n` colours occurs, one a number: 256 grays, or 2^24 with red
 * highest. Fills `most` colours at most and, for colours that occur, which one is nearest; others
 * have entry 0. Errors: GI_E_MEMORY. */
enum gi_status gi_median_cut(uint8_t colours[GI_RECOLOUR_MOST][4], uint8_t *entries, int most,
                             const uint32_t *counts, size_t n, int channels, struct gi_err *err);

#endif
