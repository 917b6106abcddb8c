/* Curves of tone: what every value of a sample becomes, looked up in a table.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_CURVE_H
#define GI_FILTERS_CURVE_H

#include "filters/filter.h"

struct gi_curve {
    /* What value v, 0 to full scale, of that colour channel becomes: any number, rounded half to
     * even and held within the type; NaN: 0. */
    double (*at)(const void *arg, int channel, double v);
    const void *arg;
    bool each; /* channels have curves of their own; else that of channel 0 is for all */
};

/* Runs GI_U8 or GI_U16 through the curve; alpha stays. Errors: GI_E_MEMORY, pointwise's. */
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
