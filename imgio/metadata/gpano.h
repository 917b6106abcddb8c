/* The place of an image in a panorama, which XMP names in pixels of the image (Google, "Photo
 * Sphere XMP Metadata").
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Adapts the sizes and places to pixels that have moved by `map`, as in gi_geo_move(). Drops all
 * properties, with a part that names them, if the pixels are mirrored, turned or distorted, if the
 * new image is not a part of the panorama, or if `made` is NULL. */
void gi_gpano_move(struct gi_metadata *metadata, const double map[6], const struct gi_image *made);
