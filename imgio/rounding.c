/* Judges whether the rounding of samples to 32-bit floats matters.
 * SPDX-License-Identifier: MIT */
#include "imgio/rounding.h"

static const double LOSS_MAX = 1e-6; /* of the range of the samples */

/* Almost every float of 64 bits changes when it is rounded, by up to 6e-8 of itself. The change
 * matters if it is large compared with the differences between samples, as in 1e9 to 1e9 + 1, or if
 * a float exceeds the range of 32-bit floats. In a constant image it does not matter otherwise. */
static bool matters(const struct gi_rounding *rounding)
{
    double range = rounding->max - rounding->min;
    return rounding->integers || isinf(rounding->largest_loss) ||
           (range > 0 && rounding->largest_loss > LOSS_MAX * range);
}

enum gi_status gi_rounding_judge(const struct gi_rounding *rounding, int bits, bool exact,
                                 struct gi_err *warning, struct gi_err *err)
{
    const char *kind = rounding->integers ? "integers" : "floats";
    if (!rounding->changed)
        return GI_OK;
    if (exact)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--strict: its %d-bit %s would be rounded to 32-bit floats", bits, kind);
    if (!warning->status && matters(rounding))
        gi_fail(warning, GI_E_UNSUPPORTED, "its %d-bit %s are rounded to 32-bit floats", bits,
                kind);
    return GI_OK;
}
