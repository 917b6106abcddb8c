/* ICC profiles through lcms2, which is loaded when a profile is first needed.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_ICC_H
#define GI_IMGIO_ICC_H

#include "imgio/format.h"

/* Fills light[c * n + i] with the linear light, 0 to 1 and never falling with i, of sample i / (n -
 * 1) in each of `colours` channels (1 or 3), from the profile's tone curves. Errors:
 * GI_E_UNSUPPORTED if lcms2 is missing or the profile has no such curves; GI_E_MEMORY. */
enum gi_status gi_icc_curves(double *light, size_t n, int colours,
                             const struct gi_metadata *metadata, struct gi_err *err);

/* Converts CMYK of 8 or 16 bits to sRGB of the same depth, by the file's profile. */
struct gi_inks;

/* `inverted`: 0 is full ink. Takes the profile out of `metadata`, because the colours are sRGB
 * afterwards. Returns NULL if there is no profile, if it is not for CMYK (it then stays), or if
 * lcms2 is missing or the profile damaged, which the decode's warning says. */
struct gi_inks *gi_inks_new(struct gi_decode *decode, enum gi_type type, bool inverted);
void gi_inks_convert(const struct gi_inks *inks, void *rgb, const void *cmyk, int width);
/* Frees and nulls; NULL: does nothing. */
void gi_inks_free(struct gi_inks **inks);

#endif
