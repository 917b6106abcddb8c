/* The legend of a picture in false colours: a bar of the colours with numbers, drawn by cairo.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Lengths are pixels. */
struct gi_legend {
    double lo, hi;         /* samples at the bottom and at the top of the bar */
    int size;              /* of letters */
    int height;            /* of the legend and of the result: at least that of the picture */
    int left, top, bar, n; /* place of the bar, its width and its height */
};

/* Sets the lengths for a picture of this height. */
void gi_legend_lay_out(struct gi_legend *legend, int height);

/* Makes a gray image, 1 pixel wide, of a sample for each row of the bar: 255 at the top, 0 at the
 * bottom. The caller frees it. */
enum gi_status gi_legend_ramp(struct gi_image *ramp, const struct gi_legend *legend,
                              struct gi_err *err);

/* Makes the picture, of GI_U8 in RGB or RGBA, with its legend on the right, on opaque white. The
 * image `colors` has the colours that the ramp becomes. The caller frees *made. Errors: as
 * gi_drawing_make(), GI_E_UNSUPPORTED if the result is too wide. */
enum gi_status gi_legend_add(struct gi_image *made, const struct gi_legend *legend,
                             const struct gi_image *picture, const struct gi_image *colors,
                             struct gi_err *err);
