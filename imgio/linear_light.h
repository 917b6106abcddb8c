/* Samples as amounts of light, and back: by tables that are made once, here, so that every backend
 * gets the same floats. SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_LINEAR_LIGHT_H
#define GI_IMGIO_LINEAR_LIGHT_H

#include "imgio/imgio.h"

/* Replaces the samples of `image`, 8 or 16 bits, by light, 0 to 1 in float, and keeps in
 * metadata->light how to go back: by the curves of the ICC profile, by PNG's cICP or gAMA, or as
 * sRGB (IEC 61966-2-1). Alpha is scaled alone. Errors: GI_E_UNSUPPORTED (a profile without curves),
 * GI_E_MEMORY; the image is then as before. */
enum gi_status gi_linear_light_decode(struct gi_image *image, struct gi_metadata *metadata,
                                      const struct gi_load_options *options, struct gi_err *err);

/* `dst`, made here and freed by the caller, gets the samples whose light is nearest to that of
 * `src`, which is float, in the type that was asked for when `light` was made. An image that has
 * become gray has lost its colour profile, and sRGB's curve serves. Errors: GI_E_MEMORY. */
enum gi_status gi_linear_light_encode(struct gi_image *dst, const struct gi_image *src,
                                      const struct gi_linear_light *light,
                                      const struct gi_parallel *parallel, struct gi_err *err);

void gi_linear_light_free(struct gi_linear_light **light);

#endif
