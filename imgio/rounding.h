/* Records whether samples change when they are read as 32-bit floats, for a warning or an error
 * after decoding.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

#include <math.h>

struct gi_rounding {
    bool changed;        /* a sample has no equal 32-bit float */
    bool integers;       /* the changed samples are integers */
    bool any;            /* min and max are set */
    double min, max;     /* of the finite floats of 64 bits */
    double largest_loss; /* the largest difference between a float of 64 bits and that of 32 bits */
};

/* Notes an integer by its magnitude. A 32-bit float has 24 significant bits. */
static inline void gi_rounding_note_integer(struct gi_rounding *rounding, uint64_t magnitude)
{
    if (magnitude >> 24 && magnitude >> __builtin_ctzll(magnitude) >> 24)
        rounding->changed = rounding->integers = true;
}

/* Notes a float and returns the nearest 32-bit float. */
static inline float gi_rounding_note(struct gi_rounding *rounding, double v)
{
    float narrow = (float)v;
    if (!isfinite(v))
        return narrow;
    rounding->min = rounding->any ? fmin(rounding->min, v) : v;
    rounding->max = rounding->any ? fmax(rounding->max, v) : v;
    rounding->any = true;
    if ((double)narrow != v) {
        rounding->changed = true;
        rounding->largest_loss = fmax(rounding->largest_loss, fabs((double)narrow - v));
    }
    return narrow;
}

/* Judges the samples of a file, which have `bits` bits. If some changed, returns GI_E_UNSUPPORTED
 * with `exact`. Otherwise fills *warning, unless it has a text already, if integers changed, or if
 * a float lost more than a millionth of the range of the samples. */
enum gi_status gi_rounding_judge(const struct gi_rounding *rounding, int bits, bool exact,
                                 struct gi_err *warning, struct gi_err *err);
