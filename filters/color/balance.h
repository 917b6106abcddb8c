/* White balance: the region that should be gray, and the diagonal matrix that makes it gray.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/color/spaces.h"
#include "filters/filter.h"
#include "kernels/statistics.h"

struct gi_balance {
    enum { GI_BALANCE_NONE, GI_BALANCE_ALL, GI_BALANCE_RECT } kind;
    int left, top, width, height; /* GI_BALANCE_RECT: the rectangle, in pixels */
};

struct gi_balance_state {
    int rows; /* rows of the image measured so far */
    struct gi_reduction found[GI_MAX_CHANNELS];
    enum gi_type type;
};

/* Reads "gray", "X,Y" or "WxH+X+Y". Errors: GI_E_USAGE. */
enum gi_status gi_balance_read(struct gi_balance *balance, const char *text, struct gi_err *err);

/* Plans one measuring pass. Errors: GI_E_USAGE for a position outside the image,
 * GI_E_UNSUPPORTED. */
enum gi_status gi_balance_plan(const struct gi_balance *balance, struct gi_plan *plan,
                               struct gi_err *err);
enum gi_status gi_balance_measure(const struct gi_balance *balance, struct gi_queue *queue,
                                  struct gi_balance_state *state, const struct gi_image *band,
                                  struct gi_err *err);

/* Returns a diagonal matrix with a factor per channel. A channel that no factor can make gray has
 * the factor 1. */
struct gi_matrix4 gi_balance_matrix(const struct gi_balance_state *state);
