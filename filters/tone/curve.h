/* Curves of tone: what every value of a sample becomes, looked up in a table.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_CURVE_H
#define GI_FILTERS_CURVE_H

#include "filters/filter.h"

/* How many values a curve is of: those of the type; of GI_F32 the 65536 of gi_unit_bin(), value v
 * being the number v / 65535. */
static inline int gi_curve_values(enum gi_type type)
{
    return type == GI_U8 ? 256 : 65536;
}

/* Counts them: counts[c * gi_curve_values() + v] += occurrences in channel c; floats only from 0 to
 * 1. Errors: histogram's. */
enum gi_status gi_curve_count(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                              struct gi_err *err);

/* The sum of a channel's counts. */
uint64_t gi_curve_total(const uint64_t *counts, enum gi_type type);

/* For manuals. */
#define GI_CURVE_FLOATS                                                                            \
    "Float images are counted in 65,536 bins from 0 to 1: all samples of a bin become "            \
    "one number, which is not rounded, and bin i represents i / 65535. Samples outside "           \
    "are not counted and become what those at the nearer end become; NaN stays NaN. "              \
    "normalize brings other ranges to 0 to 1."

struct gi_curve {
    /* What value v of that colour channel becomes: any number, rounded half to even and held within
     * the type; NaN: 0. Of GI_F32 a number, which / 65535 is the sample. */
    double (*at)(const void *arg, int channel, double v);
    const void *arg;
    bool each;      /* channels have curves of their own; else that of channel 0 is for all */
    unsigned stays; /* GI_F32: the curves, a bit each, that change nothing and are not asked */
};

/* Runs an image through the curve; alpha stays, and so does NaN. Errors: GI_E_MEMORY, pointwise's.
 */
enum gi_status gi_curve_run(struct gi_queue *queue, const struct gi_work *work,
                            const struct gi_curve *curve, struct gi_err *err);

/* A straight line for floats: what `from` becomes 0, what `to` becomes 1, then out[0] + (out[1] -
 * out[0]) of that. Where that is no line among floats (from is to, or as good as), samples stay. */
struct gi_stretch {
    double from, to;
    double out[2];
};

/* Runs GI_F32 along the line of each colour channel; alpha stays. Errors: alloc's, pointwise's. */
enum gi_status gi_stretch_run(struct gi_queue *queue, const struct gi_work *work,
                              const struct gi_stretch *lines, struct gi_err *err);

/* For a plan: GI_E_UNSUPPORTED where the source has samples that are not looked up, GI_F32; `what`
 * begins the message: "--gamma: " where an option asks for a table, else "". */
enum gi_status gi_curve_takes(const struct gi_image *src, const char *what, struct gi_err *err);

#endif
