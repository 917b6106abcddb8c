/* Conversion between samples and linear light. It uses tables that are computed once, on the host,
 * so that every backend gets the same floats.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Replaces the 8-bit or 16-bit samples of `image` by linear light, floats from 0 to 1, and keeps
 * the inverse conversion in metadata->light. Uses the curves of the ICC profile, or of PNG's cICP
 * or gAMA, or else of sRGB (IEC 61966-2-1). Alpha is only scaled. If there is an error, the image
 * is unchanged. Errors: GI_E_UNSUPPORTED (a profile without curves), GI_E_MEMORY. */
enum gi_status gi_linear_light_decode(struct gi_image *image, struct gi_metadata *metadata,
                                      const struct gi_load_options *options, struct gi_err *err);

/* Makes `dst`, which the caller frees. Each float of `src` becomes the sample with the nearest
 * linear light, in the type that was asked for when `light` was made. A colour image that has
 * become gray has lost its profile, so its samples are encoded by sRGB's curve. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_linear_light_encode(struct gi_image *dst, const struct gi_image *src,
                                      const struct gi_linear_light *light,
                                      const struct gi_parallel *parallel, struct gi_err *err);

/* Returns the linear light of a sample `v` from 0 to 1 of colour channel `c` of an image with so
 * many `colours`, which gi_linear_light_encode() turns into that sample again. */
float gi_linear_light_of(const struct gi_linear_light *light, int colors, int c, double v);

/* Makes metadata->light, if there is one, again for the profile and the colour chunks that are left
 * in the metadata. Errors: GI_E_UNSUPPORTED, GI_E_MEMORY. */
enum gi_status gi_linear_light_renew(struct gi_metadata *metadata, struct gi_err *err);

void gi_linear_light_free(struct gi_linear_light **light);
