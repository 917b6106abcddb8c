/* The frames of an animated PNG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/frames.h"

extern const struct gi_animation_kind gi_png_animation;

/* The list of a PNG's frames (gi_format.list). */
enum gi_status gi_png_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err);
