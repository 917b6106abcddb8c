/* Median cut (P. Heckbert, 1982): chooses few colours from the counts of all colours.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/status.h"

#include <stddef.h>
#include <stdint.h>

enum { GI_MEDIAN_CUT_MOST = 256 };

enum { GI_COLORS_BLOCK = 64, GI_COLORS_BLOCKS = (1 << 24) / GI_COLORS_BLOCK };

/* The number of pixels of each of 256 grays, or of each of 2^24 colours with red in the highest
 * bits of the index. Memory that is zero has no pixels. Blocks of colours that do not occur are
 * never touched, so that a small image takes little time and few pages of memory. */
struct gi_color_counts {
    uint8_t used[GI_COLORS_BLOCKS]; /* whether a colour of the block of this index occurs */
    uint32_t each[];
};

/* Adds `n` pixels of a colour; `n` may be 0. */
static inline void gi_color_counts_add(struct gi_color_counts *counts, size_t color, uint32_t n)
{
    counts->each[color] += n;
    counts->used[color / GI_COLORS_BLOCK] = 1;
}

/* Returns the first colour from `color` on that occurs among `ncolors` colours, or `ncolors`. */
static inline size_t gi_color_counts_next(const struct gi_color_counts *counts, size_t color,
                                          size_t ncolors)
{
    while (color < ncolors) {
        if (!counts->used[color / GI_COLORS_BLOCK])
            color = (color / GI_COLORS_BLOCK + 1) * GI_COLORS_BLOCK;
        else if (!counts->each[color])
            color++;
        else
            return color;
    }
    return ncolors;
}

/* Chooses *ncolors colours, at most `most`. `entries` may be NULL. `counts` has 256 grays for one
 * channel, and 2^24 colours for three. For every colour that occurs, `entries` gets the index of
 * the nearest chosen colour. Other entries are unchanged. Errors: GI_E_MEMORY. */
enum gi_status gi_median_cut(uint8_t colors[GI_MEDIAN_CUT_MOST][4], int *ncolors, uint8_t *entries,
                             int most, const struct gi_color_counts *counts, int channels,
                             struct gi_err *err);

/* The colours, of `n`, that can be nearest to a colour of a cube of `side` values whose lowest
 * colour is `corner`. Returns their number, 1 or more, and sets their indices, which rise. */
int gi_nearest_candidates(uint8_t candidates[GI_MEDIAN_CUT_MOST], const uint8_t corner[3], int side,
                          uint8_t (*colors)[4], int n);
