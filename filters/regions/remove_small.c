/* Removes small connected components of the foreground, or all except the largest ones.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "filters/regions/choose.h"

static const struct gi_option options[] = {
    {GI_OPTION("area", SIZE, struct gi_choose_params, area), .letter = 'a', .unit = "px",
     .help = "Remove regions of fewer pixels than this; by default 64, or no limit if "
             "--keep-largest is given"},
    {GI_OPTION("keep-largest", INT, struct gi_choose_params, keep_largest), .min = 1,
     .max = 2147483647, .unit = "regions",
     .help = "Keep only this many regions, the largest; if several are equally large, the first "
             "of them in raster order"},
    GI_CHOOSE_AT_OPTION,
    GI_CHOOSE_CONNECTIVITY_OPTION("8"),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    struct gi_choose_params *p = params;
    if (!p->area && !p->keep_largest)
        p->area = 64;
    return GI_OK;
}

struct size {
    uint64_t area;
    uint32_t index;
};

/* Compares by area, largest first, then by label. */
static int compare(const void *a, const void *b)
{
    const struct size *x = a, *y = b;
    if (x->area != y->area)
        return x->area > y->area ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static enum gi_status choose(uint8_t *marked, const struct gi_region_sums *regions, uint32_t n,
                             const struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_choose_params *p = plan->params;
    for (uint32_t i = 0; i < n; i++)
        marked[i] = regions[i].area < p->area;
    if (!p->keep_largest || (uint32_t)p->keep_largest >= n)
        return GI_OK;
    struct size *sizes = malloc((size_t)n * sizeof *sizes);
    if (!sizes)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", n);
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = (struct size){regions[i].area, i};
    qsort(sizes, n, sizeof *sizes, compare);
    for (uint32_t i = (uint32_t)p->keep_largest; i < n; i++)
        marked[sizes[i].index] = 1;
    free(sizes);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return gi_choose_run(plan, queue, work, false, choose, err);
}

const struct gi_filter gi_filter_remove_small = {
    .name = "remove-small",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Remove small regions from a mask, or all except the largest",
    .examples = "gpuimg remove-small mask.png out.png --area 200\n"
                "gpuimg remove-small mask.png largest.png --keep-largest 1\n"
                "gpuimg remove-small cells.tif out.tif --threshold otsu --area 50",
    .manual = "Pixels brighter than --threshold are foreground; by default these are all pixels "
              "that are not black. Every region (connected component) of the foreground with "
              "fewer than --area pixels becomes black, and everything else does not change. "
              "--keep-largest N keeps only the N largest regions instead. With both options a "
              "region must have at least --area pixels and be one of the N largest.\n\n"
              "Alpha does not change. NaN is background.\n\n"
              "The result is that of scikit-image's remove_small_objects(), whose default "
              "connectivity is 4.",
    .options = options,
    .params_nbytes = sizeof(struct gi_choose_params),
    .check = check,
    .plan = gi_choose_plan,
    .run = run,
};
