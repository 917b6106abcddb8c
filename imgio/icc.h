/* ICC profiles through lcms2, which is loaded when one is asked.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_ICC_H
#define GI_IMGIO_ICC_H

#include "imgio/format.h"

/* Fills light[c * n + i] with the light, 0 to 1 and never falling with i, of sample i / (n - 1) in
 * each of `colours` channels (1 or 3), by the profile's tone curves.
 * Errors: GI_E_UNSUPPORTED: no lcms2, or the profile has no such curves; GI_E_MEMORY. */
enum gi_status gi_icc_curves(double *light, size_t n, int colours,
                             const struct gi_metadata *metadata, struct gi_err *err);

/* Inks to colour: CMYK of 8 or 16 bits to sRGB of as many, by the file's profile. */
struct gi_inks;

/* `inverted`: 0 is full ink. Takes the profile from `metadata`, since the colours are then sRGB's.
 * NULL where there is no profile, where it is none of CMYK (it stays), or where lcms2 is not there,
 * which the decode's warning says, as it does of a damaged one. */
struct gi_inks *gi_inks_new(struct gi_decode *decode, enum gi_type type, bool inverted);
void gi_inks_convert(const struct gi_inks *inks, void *rgb, const void *cmyk, int width);
/* Nulls; NULL: nothing happens. */
void gi_inks_free(struct gi_inks **inks);

#endif
