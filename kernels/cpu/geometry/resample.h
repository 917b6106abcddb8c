/* Strips of columns, which the implementations of resampling share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/cpu.h"
#include "kernels/geometry.h"

static inline const float *gi_resample_weights(const struct gi_resample_side *side, int i)
{
    return side->weights + (size_t)side->phase[i] * (size_t)side->taps;
}

static inline const int32_t *gi_resample_integers(const struct gi_resample_side *side, int i)
{
    return side->integers + (size_t)side->phase[i] * (size_t)side->taps;
}

/* Returns the divisor of the filtered value of result i. */
static inline float gi_resample_sum(const struct gi_resample_side *side, int i)
{
    return side->sums ? side->sums[side->phase[i]] : 1;
}

/* Returns the maximum number of source positions for `n` results that begin at a multiple of n. */
static inline int gi_resample_span(const struct gi_resample_side *side, int n)
{
    int most = 0;
    for (int i = 0; i < side->n; i += n) {
        int last = side->n - i < n ? side->n - 1 : i + n - 1;
        int span = side->first[last] - side->first[i] + side->taps;
        most = span > most ? span : most;
    }
    return most;
}

/* The division of the result's columns into `n` strips of at most `result` pixels. A strip needs at
 * most `source` columns of the source. */
struct gi_strips {
    int n, result, source;
};

struct gi_strip {
    int x0, x1;   /* columns of the result */
    int sx0, sx1; /* of the source */
};

/* Makes strips of about `pixels` pixels of the source or of the result, whichever has more
 * pixels. */
static inline struct gi_strips gi_strips(const struct gi_resample_side *row, int pixels)
{
    int reach = row->first[row->n - 1] - row->first[0] + 1;
    int n = ((reach > row->n ? reach : row->n) + pixels - 1) / pixels;
    n = n < row->n ? n : row->n;
    struct gi_strips strips = {.result = (row->n + n - 1) / n};
    strips.n = (row->n + strips.result - 1) / strips.result;
    strips.source = gi_resample_span(row, strips.result);
    return strips;
}

static inline struct gi_strip gi_strip_at(const struct gi_strips *strips,
                                          const struct gi_resample_side *row, int i)
{
    int x0 = i * strips->result, x1 = row->n - x0 < strips->result ? row->n : x0 + strips->result;
    return (struct gi_strip){x0, x1, row->first[x0] - row->origin,
                             row->first[x1 - 1] - row->origin + row->taps};
}

gi_resample_fn GI_CPU(resample_integer);
