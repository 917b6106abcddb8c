/* Removes small connected components of the foreground, or all except the largest ones.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/choose.h"

static const struct gi_option options[] = {
    {GI_OPTION("area", SIZE, struct gi_choose_params, area), .letter = 'a', .unit = "px",
     .help =
         "Remove regions (specks) of fewer pixels than this, which despeckles a mask; by default "
         "64, or no limit if --keep-largest is given"},
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

/* Returns the area of the region number `keep` in descending order, 1 <= keep <= n, by a radix
 * select of 8 bits per pass. *ties becomes the number of regions with this area that are among the
 * `keep` largest. */
static uint64_t smallest_kept(uint32_t *ties, const struct gi_region_sums *regions, uint32_t n,
                              uint32_t keep)
{
    uint64_t largest = 0, area = 0, known = 0; /* known: mask of the digits that are found */
    int shift = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = regions[i].area > largest ? regions[i].area : largest;
    while (shift < 56 && largest >> shift >> 8)
        shift += 8;
    for (; shift >= 0; shift -= 8) {
        uint32_t counts[256] = {0}, digit = 255;
        for (uint32_t i = 0; i < n; i++)
            if ((regions[i].area & known) == area)
                counts[regions[i].area >> shift & 255]++;
        for (; counts[digit] < keep; digit--)
            keep -= counts[digit];
        area |= (uint64_t)digit << shift;
        known |= (uint64_t)255 << shift;
    }
    *ties = keep;
    return area;
}

static enum gi_status choose(uint8_t *marked, const struct gi_region_sums *regions, uint32_t n,
                             const struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_choose_params *p = plan->params;
    for (uint32_t i = 0; i < n; i++)
        marked[i] = regions[i].area < p->area;
    if (!p->keep_largest || (uint32_t)p->keep_largest >= n)
        return GI_OK;
    uint32_t ties;
    uint64_t least = smallest_kept(&ties, regions, n, (uint32_t)p->keep_largest);
    for (uint32_t i = 0; i < n; i++) {
        bool tied = regions[i].area == least;
        marked[i] |= regions[i].area < least || (tied && !ties);
        ties -= tied && ties;
    }
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
              "On a page of black text on white the paper is the foreground, so black specks stay. "
              "Invert the page before and after: gpuimg run 'invert | remove-small --area 5 | "
              "invert' page.tif clean.tif.\n\n"
              "Alpha does not change. NaN is background.\n\n"
              "The result is that of scikit-image's remove_small_objects(), whose default "
              "connectivity is 4.",
    .options = options,
    .params_nbytes = sizeof(struct gi_choose_params),
    .check = check,
    .plan = gi_choose_plan,
    .run = run,
};
