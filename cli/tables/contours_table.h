/* Contours as CSV, GeoJSON and SVG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/regions/contours.h"
#include "imgio/imgio.h"

enum gi_contours_format { GI_CONTOURS_CSV, GI_CONTOURS_GEOJSON, GI_CONTOURS_SVG };

/* Finished contours, and the image that they were found in. */
struct gi_contours_view {
    const struct gi_contours *contours;
    const struct gi_image *image; /* shape */
    const char *file;
};

/* Writes the contours. Errors: GI_E_MEMORY, GI_E_IO. */
enum gi_status gi_contours_write(struct gi_sink *sink, const struct gi_contours_view *view,
                                 enum gi_contours_format format, struct gi_err *err);
