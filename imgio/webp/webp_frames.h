/* The frames of an animated WebP.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/frames.h"

extern const struct gi_animation_kind gi_webp_animation;

/* The list of a WebP's frames (gi_format.list). */
enum gi_status gi_webp_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                            struct gi_err *err);
