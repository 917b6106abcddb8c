/* Removes connected components of the foreground that touch a side of the image. Works by flood
 * fill from the sides, or by labelling.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/choose.h"

static const struct gi_option options[] = {
    GI_CHOOSE_AT_OPTION,
    GI_CHOOSE_CONNECTIVITY_OPTION("8"),
    {.name = NULL},
};

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return gi_choose_run(plan, queue, work, false, NULL, err);
}

const struct gi_filter gi_filter_clear_border = {
    .name = "clear-border",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Remove the regions that touch the border of the image",
    .examples = "gpuimg clear-border mask.png out.png\n"
                "gpuimg clear-border cells.tif whole.tif --threshold otsu\n"
                "gpuimg clear-border plate.png out.png --threshold 40% --connectivity 4",
    .manual = "Pixels brighter than --threshold are foreground; by default these are all pixels "
              "that are not black. Every region (connected component) of the foreground that "
              "touches the border of the image becomes black, and everything else does not "
              "change.\n\n"
              "On a page of black on white the paper is the foreground and touches the border. To "
              "remove black regions there invert the page before and after: gpuimg run 'invert | "
              "clear-border | invert' page.tif clean.tif.\n\n"
              "Alpha does not change. NaN is background.\n\n"
              "The result is that of scikit-image's clear_border().",
    .options = options,
    .params_nbytes = sizeof(struct gi_choose_params),
    .plan = gi_choose_by_side_plan,
    .run = run,
};
