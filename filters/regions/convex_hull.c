/* Convex hulls: the pixels in the smallest convex polygon around the foreground, or around each of
 * its regions, become white. The backend labels and paints, and the host makes the hulls.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "filters/regions/choose.h"
#include "filters/regions/descriptors.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"

struct convex_hull_params {
    struct gi_choose_params foreground; /* first, for its option rows */
    bool per_region;
};

static const struct gi_option options[] = {
    {GI_OPTION("per-region", FLAG, struct convex_hull_params, per_region),
     .help = "Make a convex hull of each region (connected component) of the foreground, in place "
             "of one of the whole foreground"},
    GI_CHOOSE_AT_OPTION,
    GI_CHOOSE_CONNECTIVITY_OPTION("8"),
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    enum gi_status status = gi_choose_plan(plan, err);
    plan->cost.other += 60.0 / plan->sources[0].channels;
    return status;
}

/* Makes one region of all. */
static void join(struct gi_region_sums *regions, uint32_t n, struct gi_image *labels)
{
    for (uint32_t i = 1; i < n; i++) {
        struct gi_region_sums *to = regions, *from = &regions[i];
        to->min_x = from->min_x < to->min_x ? from->min_x : to->min_x;
        to->min_y = from->min_y < to->min_y ? from->min_y : to->min_y;
        to->max_x = from->max_x > to->max_x ? from->max_x : to->max_x;
        to->max_y = from->max_y > to->max_y ? from->max_y : to->max_y;
    }
    for (int y = 0; y < labels->height; y++) {
        uint32_t *row = gi_row(labels, y);
        for (int x = 0; x < labels->width; x++)
            row[x] = row[x] > 0;
    }
}

/* Makes `hulls`, in host memory, from the labels on the backend, which are released. */
static enum gi_status find_hulls(struct gi_queue *queue, struct gi_image *hulls,
                                 struct gi_labels *labels, const struct gi_image *judge,
                                 bool per_region, struct gi_err *err)
{
    const uint32_t n = labels->n;
    struct gi_region_stats spec = {.labels = &labels->image, .n = n};
    struct gi_region_sums *regions = malloc(((size_t)n + 1) * sizeof *regions);
    enum gi_status status = regions ? queue->k->region_stats(queue, regions, judge, &spec, err)
                                    : gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", n);
    if (!status)
        status = queue->k->download(queue, hulls, &labels->image, NULL, err);
    if (!status && !per_region)
        join(regions, n, hulls);
    if (!status)
        status = gi_convex_hulls(hulls, regions, per_region || n < 1 ? n : 1, err);
    free(regions);
    return status;
}

static enum gi_status paint(struct gi_queue *queue, const struct gi_work *work,
                            const struct gi_image *hulls, struct gi_err *err)
{
    static const uint8_t marked[1] = {1};
    struct gi_image labels;
    struct gi_paint spec = {&labels, marked, 1, gi_type_full_scale(work->srcs->type)};
    enum gi_status status = queue->k->upload(queue, &labels, hulls, NULL, err);
    if (status)
        return status;
    status = queue->k->paint(queue, work->dst, work->srcs, &spec, err);
    queue->k->release(queue, &labels);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct convex_hull_params *p = plan->params;
    const struct gi_choose_params *at = &p->foreground;
    const bool by_luma = gi_luma_decides(work->srcs, false);
    struct gi_image judge, hulls = {0};
    struct gi_labels labels = {.n = 0};
    struct gi_label spec = {.connectivity = at->connectivity ? 8 : 4};
    enum gi_status status = gi_judge_make(queue, &judge, work->srcs, by_luma, err);
    if (status)
        return status;
    status = gi_level_above(queue, &spec.above, &at->at, &judge, err);
    if (!status)
        status = queue->k->label(queue, &labels, &judge, &spec, err);
    if (!status)
        status = find_hulls(queue, &hulls, &labels, &judge, p->per_region, err);
    if (labels.image.data)
        queue->k->release(queue, &labels.image);
    gi_judge_release(queue, &judge, by_luma);
    if (!status)
        status = paint(queue, work, &hulls, err);
    gi_image_free(&hulls);
    return status;
}

const struct gi_filter gi_filter_convex_hull = {
    .name = "convex-hull",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Convex hull of a mask, or of each of its regions",
    .examples =
        "gpuimg convex-hull mask.png hull.png\n"
        "gpuimg convex-hull cells.png hulls.png --per-region --threshold otsu\n"
        "gpuimg convex-hull scan.png page.png --threshold 50% --per-region --connectivity 4",
    .manual = "Pixels brighter than --threshold are foreground; by default these are all pixels "
              "that are not black. The pixels in the convex hull of the foreground become white, "
              "and everything else does not change. With --per-region each region (connected "
              "component) has a hull of its own; hulls may overlap.\n\n"
              "A hull is that of the midpoints of the four sides of each foreground pixel. A pixel "
              "is in the hull if its centre is inside it or on its edge: the results are those of "
              "scikit-image's convex_hull_image() "
              "and convex_hull_object(), whose rounding may decide otherwise for centres on an "
              "edge.\n\n"
              "Alpha does not change. NaN is background. Source: A. M. Andrew, Another efficient "
              "algorithm for convex hulls in two dimensions, Information Processing Letters 9(5), "
              "1979.",
    .options = options,
    .params_nbytes = sizeof(struct convex_hull_params),
    .plan = plan,
    .run = run,
};
