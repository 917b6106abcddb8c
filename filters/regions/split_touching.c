/* Separates the objects of a mask that touch: the watershed of the distance to the background,
 * whose markers are the peaks of the distance. SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/regions/choose.h"
#include "filters/regions/extract.h"
#include "filters/regions/flooding.h"
#include "filters/regions/host_image.h"
#include "filters/regions/label_result.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/regions.h"

struct split_touching_params {
    struct gi_level at;
    double min_depth; /* pixels */
    int connectivity; /* 0: 4, 1: 8 */
    bool labels;
    int depth; /* as gi_label_result_type() */
};

static const struct gi_option options[] = {
    {GI_OPTION("min-depth", REAL, struct split_touching_params, min_depth), .default_text = "1",
     .min = 0, .max = 1000000, .unit = "px",
     .help = "Cut a neck only if it is so much narrower, from its middle to its side, than the "
             "objects on both of its ends; a larger value makes fewer cuts"},
    {GI_OPTION("labels", FLAG, struct split_touching_params, labels),
     .help = "Write a label image, in which each object has another whole number and keeps all of "
             "its pixels, in place of the mask with cuts"},
    {GI_OPTION("threshold", LEVEL, struct split_touching_params, at), .also = "at", .letter = 't',
     .default_text = "0",
     .help = "Pixels brighter than this level are foreground; in a colour image the luma is "
             "compared"},
    {GI_OPTION("connectivity", CHOICE, struct split_touching_params, connectivity),
     .default_text = "8", .choices = gi_connectivity_choices,
     .help = "Which pixels are neighbours"},
    GI_LABEL_RESULT_OPTION(struct split_touching_params, depth),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct split_touching_params *p = params;
    return p->depth && !p->labels ? gi_fail(err, GI_E_USAGE, "--depth float: want --labels")
                                  : GI_OK;
}

static enum gi_type result_type(const void *params, enum gi_type type)
{
    const struct split_touching_params *p = params;
    return p->labels ? gi_label_result_type(p->depth) : type;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct split_touching_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], result = plan->result;
    enum gi_status status = gi_regions_take(src, err);
    if (!status && (src->width > GI_DISTANCE_SIDE || src->height > GI_DISTANCE_SIDE))
        status = gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: want at most %d per side",
                         src->width, src->height, GI_DISTANCE_SIDE);
    gi_label_result_plan(plan, p->depth);
    if (!p->labels)
        plan->result = result;
    return status;
}

/* Makes `host`, the distances of the foreground, which the caller frees. */
static enum gi_status find_distances(struct gi_queue *queue, struct gi_image *host,
                                     const struct gi_image *src, const struct gi_level *at,
                                     struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    bool by_luma = gi_luma_decides(src, false);
    struct gi_distance spec = {.kind = GI_DISTANCE_EUCLIDEAN, .invert = true};
    struct gi_image judge, distances;
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma, err);
    if (status)
        return status;
    status = gi_level_above(queue, &spec.above, at, &judge, err);
    if (!status)
        status = k->alloc(queue, &distances, src->width, src->height, 1, GI_F32, err);
    if (!status) {
        status = k->distance(queue, &distances, &judge, &spec, err);
        if (status)
            k->release(queue, &distances);
        else
            status = k->download(queue, host, &distances, NULL, err);
    }
    gi_judge_release(queue, &judge, by_luma);
    return status;
}

/* Makes a relief whose valleys are the distances; the background is not flooded. */
static enum gi_status fill_relief(struct gi_flooding *flooding, struct gi_queue *queue,
                                  const struct gi_image *src, const struct gi_level *at,
                                  struct gi_err *err)
{
    struct gi_image distances;
    enum gi_status status = find_distances(queue, &distances, src, at, err);
    if (status)
        return status;
    for (int y = 0; y < src->height; y++) {
        const float *row = gi_row(&distances, y);
        for (int x = 0; x < src->width; x++) {
            size_t i = gi_flooding_at(flooding, x, y);
            flooding->heights[i] = gi_flooding_key(-row[x]);
            flooding->labels[i] = row[x] > 0 ? 0 : GI_FLOODING_DRY;
        }
    }
    gi_image_free(&distances);
    return GI_OK;
}

/* Makes `dst`, which is `src` with black lines: the pixels that have no label although they are
 * foreground. */
static enum gi_status paint_lines(struct gi_queue *queue, const struct gi_work *work,
                                  const struct gi_flooding *flooding, struct gi_err *err)
{
    const struct gi_image *dst = work->dst;
    static const uint8_t marked[] = {1};
    struct gi_image host, lines;
    struct gi_paint spec = {.labels = &lines, .marked = marked, .n = 1};
    enum gi_status status = gi_image_alloc(&host, dst->width, dst->height, 1, GI_U32, err);
    if (status)
        return status;
    for (int y = 0; y < host.height; y++) {
        const uint32_t *labels = flooding->labels + gi_flooding_at(flooding, 0, y);
        for (int x = 0; x < host.width; x++)
            ((uint32_t *)gi_row(&host, y))[x] = !(labels[x] & GI_FLOODING_LABEL);
    }
    status = queue->k->upload(queue, &lines, &host, NULL, err);
    if (!status) {
        status = queue->k->paint(queue, work->dst, work->srcs, &spec, err);
        queue->k->release(queue, &lines);
    }
    gi_image_free(&host);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct split_touching_params *p = plan->params;
    const struct gi_image *src = work->srcs;
    struct gi_flooding flooding;
    uint32_t n = 0;
    enum gi_status status =
        gi_flooding_new(&flooding, src->width, src->height, p->connectivity ? 8 : 4, err);
    if (!status)
        status = fill_relief(&flooding, queue, src, &p->at, err);
    if (!status)
        status = gi_flooding_minima(&flooding, &n, p->min_depth, err);
    if (!status)
        status = gi_flooding_run(&flooding, !p->labels, err);
    if (!status)
        status = p->labels ? gi_label_result_store(queue, work->dst, &flooding, n, err)
                           : paint_lines(queue, work, &flooding, err);
    gi_flooding_free(&flooding);
    return status;
}

const struct gi_filter gi_filter_split_touching = {
    .name = "split-touching",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Split objects of a mask that touch (watershed of the distance)",
    .examples = "gpuimg split-touching mask.png apart.png\n"
                "gpuimg split-touching cells.tif labels.png --threshold otsu --labels\n"
                "gpuimg split-touching seeds.png apart.png --min-depth 3\n"
                "gpuimg run 'gaussian --sigma 1.5 | threshold | split-touching --min-depth 2 | "
                "extract' cells.png",
    .manual = "Pixels brighter than --threshold are foreground, and the others are background. "
              "Objects (cells, particles, grains) that touch are cut where the foreground is "
              "narrow: the distance of each pixel to the background has a peak in each object, "
              "and the cuts are along the watershed between these peaks. In the result the cuts "
              "and the background are black and everything else does not change, so that gpuimg "
              "extract counts and measures each object. With --labels the result is a label image "
              "without cuts.\n\n"
              "The lower one of two peaks counts as an object of its own if its distance is at "
              "least --min-depth pixels larger than that of the widest way to the higher peak. "
              "Rough outlines have peaks that belong to one object; if objects are cut into "
              "pieces give a larger value, or smooth the mask before, for example by gpuimg open. "
              "Objects must be roughly convex.\n\n"
              "The steps in detail: gpuimg distance, then the peaks of the distance, and then the "
              "flooding of gpuimg watershed, of the negative distances within the foreground. "
              "Objects are numbered in raster order of their peaks. Alpha does not change. The "
              "flooding runs on the CPU, also with --device cuda.\n\n"
              "With --min-depth 0 --labels the result is that of scikit-image's watershed() in "
              "version 0.26, for the negative distances of scipy's distance_transform_edt() as "
              "float32, local minima as markers, and the foreground as mask.",
    .options = options,
    .params_nbytes = sizeof(struct split_touching_params),
    .check = check,
    .samples.result_type = result_type,
    .plan = plan,
    .run = run,
};
