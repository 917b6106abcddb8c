/* Watershed by flooding, on the host: a relief is flooded from markers, and where the basins of two
 * markers meet is the watershed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"
#include "kernels/rules.h"

enum {
    GI_FLOODING_LABEL = 0x3fffffff, /* the largest label; labels are bits of struct gi_flooding */
    GI_FLOODING_DRY = 1 << 30,      /* a pixel that is not flooded */
};

/* The relief, with a border of one pixel that is not flooded. */
struct gi_flooding {
    int width, height;  /* pixels, without the border */
    size_t pitch;       /* width + 2 */
    uint32_t *heights;  /* keys that are ordered as the heights, gi_flooding_key() */
    uint32_t *labels;   /* 0 or a label, and GI_FLOODING_DRY */
    int neighbours;     /* connectivity, 4 or 8 */
    long long steps[8]; /* to the neighbours: above, left, right, below, then the diagonal ones */
};

/* Allocates a relief, which gi_flooding_free() frees, also after an error. The caller fills
 * `heights`, and sets GI_FLOODING_DRY in the `labels`, which are 0, except in the border. Errors:
 * GI_E_UNSUPPORTED for more pixels than can be numbered, GI_E_MEMORY. */
enum gi_status gi_flooding_new(struct gi_flooding *flooding, int width, int height,
                               int connectivity, struct gi_err *err);
void gi_flooding_free(struct gi_flooding *flooding);

/* Returns the index of a pixel in `heights` and `labels`. */
static inline size_t gi_flooding_at(const struct gi_flooding *flooding, int x, int y)
{
    return ((size_t)y + 1) * flooding->pitch + (size_t)x + 1;
}

/* Returns the key of a height. NaN is above everything. */
uint32_t gi_flooding_key(float height);

/* Labels the regional minima of the relief that are at least `depth` deep, and sets *n to their
 * number. The depth of a minimum is the height of the lowest pass from it to a pixel that is lower
 * than it, or to an equal minimum that comes before it in raster order, above the minimum; without
 * such a pixel it is infinite. A depth of 0 takes all minima. Labels are numbered from 1 in raster
 * order of the first pixels. Errors: GI_E_MEMORY. */
enum gi_status gi_flooding_minima(struct gi_flooding *flooding, uint32_t *n, double depth,
                                  struct gi_err *err);

/* Floods the relief from the labels. Pixels wait in a queue that is sorted by level, then by the
 * time at which they were added. First all markers are added, at time 0, in raster order; their
 * level is their height. The first pixel of the queue adds its neighbours without a label in the
 * order of `steps`; their level is their height, or that of the pixel if it is larger. They get its
 * label. With `lines` they get the label only when they leave the queue, and not if a neighbour has
 * another label by then; these pixels are the watershed lines, and their label stays 0. Pixels of
 * one level and time leave the queue as a binary heap orders them. This is the order of
 * scikit-image's watershed(), version 0.26 (but see settle()). Errors: GI_E_UNSUPPORTED for too
 * many pixels, GI_E_MEMORY. */
enum gi_status gi_flooding_run(struct gi_flooding *flooding, bool lines, struct gi_err *err);
