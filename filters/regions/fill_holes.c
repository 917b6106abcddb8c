/* Fills holes: connected components of the background that do not touch a side of the image become
 * white.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/choose.h"

static const struct gi_option options[] = {
    GI_CHOOSE_AT_OPTION,
    GI_CHOOSE_CONNECTIVITY_OPTION("4"),
    {.name = NULL},
};

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return gi_choose_run(plan, queue, work, true, NULL, err);
}

const struct gi_filter gi_filter_fill_holes = {
    .name = "fill-holes",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Fill the holes of a mask",
    .examples = "gpuimg fill-holes mask.png out.png\n"
                "gpuimg fill-holes cells.tif out.tif --threshold otsu\n"
                "gpuimg fill-holes scan.png out.png --threshold 50% --connectivity 8",
    .manual = "Pixels brighter than --threshold are foreground, and the others are background. "
              "By default all pixels that are not black are foreground. A hole is a region "
              "(connected component) of the background that does not touch the border of the "
              "image. Holes become white, and everything else does not change.\n\n"
              "On a page of black text on white the holes are the letters themselves. To fill "
              "the holes of black shapes invert the page before and after: gpuimg run 'invert | "
              "fill-holes | invert' page.tif filled.tif.\n\n"
              "Alpha does not change. NaN is background.\n\n"
              "With --connectivity 4 background pixels that share only a corner are not "
              "connected, as in scipy's binary_fill_holes(). --connectivity 8 gives the results "
              "of binary_fill_holes() with a structure of 3 x 3 ones.",
    .options = options,
    .params_nbytes = sizeof(struct gi_choose_params),
    .plan = gi_choose_by_side_plan,
    .run = run,
};
