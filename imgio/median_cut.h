/* Median cut (P. Heckbert, 1982): chooses few colours from the counts of all colours.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/status.h"

#include <stddef.h>
#include <stdint.h>

enum { GI_MEDIAN_CUT_MOST = 256 };

/* Chooses *ncolors colours, at most `most`. `entries` may be NULL. `counts` has the number of
 * pixels of each of `n` colours, which are 256 grays, or 2^24 colours with red in the highest bits
 * of the index. For every colour that occurs, `entries` gets the index of the nearest chosen
 * colour. Other entries are 0. Errors: GI_E_MEMORY. */
enum gi_status gi_median_cut(uint8_t colors[GI_MEDIAN_CUT_MOST][4], int *ncolors, uint8_t *entries,
                             int most, const uint32_t *counts, size_t n, int channels,
                             struct gi_err *err);

/* The colours, of `n`, that can be nearest to a colour of a cube of `side` values whose lowest
 * colour is `corner`. Returns their number, 1 or more, and sets their indices, which rise. */
int gi_nearest_candidates(uint8_t candidates[GI_MEDIAN_CUT_MOST], const uint8_t corner[3], int side,
                          uint8_t (*colors)[4], int n);
