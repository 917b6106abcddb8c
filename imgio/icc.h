/* ICC profiles through lcms2, which is loaded when one is asked.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_ICC_H
#define GI_IMGIO_ICC_H

#include "imgio/imgio.h"

/* Fills light[c * n + i] with the light, 0 to 1 and never falling with i, of sample i / (n - 1) in
 * each of `colours` channels (1 or 3), by the profile's tone curves.
 * Errors: GI_E_UNSUPPORTED: no lcms2, or the profile has no such curves; GI_E_MEMORY. */
enum gi_status gi_icc_curves(double *light, size_t n, int colours,
                             const struct gi_metadata *metadata, struct gi_err *err);

#endif
