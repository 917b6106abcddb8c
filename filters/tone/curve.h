/* Tone curves: a look-up table with the result of every sample value.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* Returns the number of values of a curve. These are all values of the sample type. For GI_F32 they
 * are the 65536 values of gi_unit_bin(), of which value v means v / 65535. */
static inline int gi_curve_values(enum gi_type type)
{
    return type == GI_U8 ? 256 : 65536;
}

/* Every number of values is a multiple of this. Loops of constant length are vectorised. */
enum { GI_CURVE_PART = 256 };

/* Adds the number of samples of channel c with the value v to counts[c * gi_curve_values() + v].
 * Float samples outside 0 to 1 are not counted. Errors: those of the primitive `histogram`. */
enum gi_status gi_curve_count(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                              struct gi_err *err);

/* Returns the sum of a channel's counts. */
uint64_t gi_curve_total(const uint64_t *counts, enum gi_type type);

/* For manuals. */
#define GI_CURVE_FLOATS                                                                            \
    "In float images the histogram has 65,536 bins from 0 to 1, and bin i represents i / "         \
    "65535. All samples of a bin get the same result, which is not rounded. Samples outside "      \
    "the range 0 to 1 are not counted: samples below 0 get the same result as 0, and samples "     \
    "above 1 get the same result as 1. NaN stays NaN. If the samples have another range, "         \
    "gpuimg normalize brings them into the range from 0 to 1."

/* Makes the look-up table of a curve from the results for all values, which are rounded half to
 * even and limited to the range of the type. NaN becomes 0. For GI_F32 the results are only divided
 * by 65535. */
void gi_curve_fill(void *table, enum gi_type type, const double *to);

struct gi_curve {
    const double *to; /* the results for all values, one curve after the other */
    bool each;        /* each channel has its own curve; else there is one for all channels */
    unsigned stays; /* GI_F32: bit c is set if curve c changes nothing; its results are not read */
};

/* Applies the curve to an image; alpha and NaN are unchanged. Errors: GI_E_MEMORY, those of
 * pointwise. */
enum gi_status gi_curve_run(struct gi_queue *queue, const struct gi_work *work,
                            const struct gi_curve *curve, struct gi_err *err);

/* A linear function of floats that maps `from` to out[0] and `to` to out[1]. If the function is
 * undefined (`from` almost equals `to`), samples are unchanged. */
struct gi_stretch {
    double from, to;
    double out[2];
};

/* Applies the linear function of each colour channel to a GI_F32 image. Alpha is unchanged. Errors:
 * those of alloc and of the primitive. */
enum gi_status gi_stretch_run(struct gi_queue *queue, const struct gi_work *work,
                              const struct gi_stretch *lines, struct gi_err *err);

/* Normalization for pictures that people look at (montage): images of 16 bits and floats, which
 * often use a small part of their range, are stretched, and images of 8 bits do not change. It is
 * no command. */
extern const struct gi_filter gi_filter_normalize_base;
