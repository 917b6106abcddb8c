/* The position of an image on the Earth, in the tags of GeoTIFF (OGC 19-008r4, GeoTIFF 1.1).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Adapts the tags, and the resolution, to pixels that have moved. `map` is an affine map of
 * coordinates in the new image to coordinates in the old one, (x, y) -> (m[0] x + m[1] y + m[2],
 * m[3] x + m[4] y + m[5]), where (0, 0) is the upper left corner of the upper left pixel. It is
 * NULL if there is no such map; then the tags that depend on it are dropped. So are positions on a
 * page, overlays of ImageJ and coordinates of the sky, which are not adapted. A gain map stays only
 * if `whole`: the new image shows all of the old one and nothing else, and may be scaled, mirrored
 * and turned by quarter turns. `made` is the shape of the new image, or NULL if several images
 * make it. */
void gi_geo_move(struct gi_metadata *metadata, const double map[6], bool whole,
                 const struct gi_image *made);

/* The part of it for places of people and other subjects, and in a panorama: those of EXIF move,
 * and regions in XMP (MWG, Microsoft) are dropped unless `whole` and neither turned nor mirrored.
 * The orientation that IPTC names is that of `made`. */
void gi_metadata_move_subject(struct gi_metadata *metadata, const double map[6], bool whole,
                              const struct gi_image *made);

/* The same for an image, of which the shape as stored is given, that is turned upright by its
 * orientation, 1 to 8. */
void gi_geo_orient(struct gi_metadata *metadata, const struct gi_image *stored, int orientation);

/* Removes statistics of the old samples from GDAL's metadata, and names them. To be called if an
 * operation has changed samples. */
void gi_geo_forget_statistics(struct gi_metadata *metadata);
