/* ICC profiles through lcms2, which is loaded when a profile is first needed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Fills light[c * n + i] from the profile's tone curves with the linear light, 0 to 1, of the
 * sample i / (n - 1) in channel c of `colours` channels (1 or 3). The light never falls with i.
 * Errors: GI_E_UNSUPPORTED if lcms2 is missing or the profile has no such curves; GI_E_MEMORY. */
enum gi_status gi_icc_curves(double *light, size_t n, int colors,
                             const struct gi_metadata *metadata, struct gi_err *err);

extern const struct gi_library *const gi_icc_library; /* lcms2, or NULL in a build without it */

/* A conversion of 8-bit or 16-bit CMYK to sRGB of the same depth by the file's profile. */
struct gi_inks;

/* Makes a conversion by the profile in `decode`, and removes that profile, because the colours will
 * be sRGB. With `inverted`, a sample of 0 means full ink. Returns NULL if there is no profile, or
 * if the profile is not for CMYK (it is then not removed). Also returns NULL, with a warning, if
 * lcms2 is missing or the profile is damaged. */
struct gi_inks *gi_inks_new(struct gi_decode *decode, enum gi_type type, bool inverted);
void gi_inks_convert(const struct gi_inks *inks, void *rgb, const void *cmyk, int width);
/* Frees the conversion and sets *inks to NULL. Does nothing if *inks is NULL already. */
void gi_inks_free(struct gi_inks **inks);
