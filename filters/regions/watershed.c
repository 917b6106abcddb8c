/* Watershed of a gray image: regions around markers, which meet on the crests of the image. The
 * flooding runs on the host (filters/regions/flooding.h), for all devices.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/filter.h"
#include "filters/regions/choose.h"
#include "filters/regions/extract.h"
#include "filters/regions/flooding.h"
#include "filters/regions/host_image.h"
#include "filters/regions/label_result.h"
#include "filters/regions/labels.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"

struct watershed_params {
    const char *markers;
    struct gi_level min_depth;
    int connectivity; /* 0: 4, 1: 8 */
    bool lines;
    int depth; /* as gi_label_result_type() */
};

static const struct gi_option options[] = {
    {GI_OPTION("markers", IMAGE, struct watershed_params, markers), .labels = true,
     .metavar = "IMAGE",
     .help = "Label image of the input's size whose regions are flooded; by default the local "
             "minima are the markers"},
    {GI_OPTION("min-depth", LEVEL, struct watershed_params, min_depth), .amount = true,
     .help = "Without --markers: take only minima that are at least this much lower than the "
             "lowest way to a deeper one; by default all local minima"},
    {GI_OPTION("connectivity", CHOICE, struct watershed_params, connectivity), .default_text = "4",
     .choices = gi_connectivity_choices, .help = "Which pixels are neighbours"},
    {GI_OPTION("lines", FLAG, struct watershed_params, lines),
     .help = "Separate regions by lines of one pixel, which have the label 0"},
    GI_LABEL_RESULT_OPTION(struct watershed_params, depth),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct watershed_params *p = params;
    if (p->min_depth.kind == GI_LEVEL_UNSET)
        return GI_OK;
    if (p->markers)
        return gi_fail(err, GI_E_USAGE, "--markers and --min-depth: want one of them");
    return gi_level_check_positive(&p->min_depth, "min-depth", err);
}

/* Checks the labels, and makes floats of 32-bit ones. */
static enum gi_status admit(const void *params, int j, struct gi_image *other, struct gi_err *err)
{
    uint32_t largest;
    enum gi_status status = gi_labels_check(&largest, other, err);
    return status || other->type != GI_U32 ? status : gi_labels_to_floats(other, err);
}

static enum gi_type result_type(const void *params, enum gi_type type)
{
    return gi_label_result_type(((const struct watershed_params *)params)->depth);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct watershed_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    enum gi_status status = gi_regions_take(src, err);
    if (!status && plan->nsources > 1)
        status = gi_labels_fit(&plan->sources[1], src, err);
    if (status)
        return status;
    gi_label_result_plan(plan, p->depth);
    return GI_OK;
}

/* Fills the heights, and the pixels that are not flooded because they are transparent. */
static enum gi_status fill_relief(struct gi_flooding *flooding, struct gi_queue *queue,
                                  const struct gi_image *src, struct gi_err *err)
{
    struct gi_image judge, alpha;
    bool masked = gi_has_alpha(src);
    enum gi_status status = gi_host_judge(queue, &judge, src, err);
    if (status)
        return status;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            flooding->heights[gi_flooding_at(flooding, x, y)] =
                gi_flooding_key((float)gi_sample(gi_row(&judge, y), (size_t)x, judge.type));
    gi_image_free(&judge);
    if (!masked)
        return GI_OK;
    status = gi_host_alpha(queue, &alpha, src, err);
    if (status)
        return status;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            if (!(gi_sample(gi_row(&alpha, y), (size_t)x, alpha.type) > 0))
                flooding->labels[gi_flooding_at(flooding, x, y)] = GI_FLOODING_DRY;
    gi_image_free(&alpha);
    return GI_OK;
}

/* Sets the labels of the markers, except on pixels that are not flooded, and *n to the largest. */
static enum gi_status fill_markers(struct gi_flooding *flooding, uint32_t *n,
                                   struct gi_queue *queue, const struct gi_image *markers,
                                   struct gi_err *err)
{
    struct gi_image host;
    enum gi_status status = gi_host_copy(queue, &host, markers, err);
    if (status)
        return status;
    *n = 0;
    for (int y = 0; y < host.height; y++)
        for (int x = 0; x < host.width; x++) {
            uint32_t label = gi_label_at(&host, x, y);
            size_t i = gi_flooding_at(flooding, x, y);
            if (flooding->labels[i] == GI_FLOODING_DRY)
                continue;
            flooding->labels[i] = label;
            *n = label > *n ? label : *n;
        }
    gi_image_free(&host);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct watershed_params *p = plan->params;
    const struct gi_image *src = work->srcs;
    struct gi_flooding flooding;
    uint32_t n = 0;
    enum gi_status status =
        gi_flooding_new(&flooding, src->width, src->height, p->connectivity ? 8 : 4, err);
    if (!status)
        status = fill_relief(&flooding, queue, src, err);
    if (!status && p->markers)
        status = fill_markers(&flooding, &n, queue, &work->srcs[1], err);
    else if (!status)
        status = gi_flooding_minima(&flooding, &n, gi_level_number(&p->min_depth, src->type), err);
    if (!status)
        status = gi_flooding_run(&flooding, p->lines, err);
    if (!status)
        status = gi_label_result_store(queue, work->dst, &flooding, n, err);
    gi_flooding_free(&flooding);
    return status;
}

const struct gi_filter gi_filter_watershed = {
    .name = "watershed",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Watershed: segment an image from markers or local minima",
    .examples = "gpuimg watershed edges.png labels.png --markers seeds.png\n"
                "gpuimg watershed relief.tif labels.png --min-depth 5% --lines\n"
                "gpuimg watershed smooth.png labels.png --connectivity 8 --depth float\n"
                "gpuimg run 'gaussian --sigma 2 | edges | watershed --min-depth 10' in.png out.png",
    .manual =
        "The image is taken as a relief, whose low places are dark; in a colour image the "
        "luma is the height. It is flooded from markers: each marker gives its label to the "
        "pixels around it, from the lowest to the highest, until all pixels have a label. "
        "Regions meet on the crests. The result is a label image: one channel, in which "
        "pixels of a region have the same whole number. For objects that are brighter than "
        "their surroundings invert the image first; for objects with clear outlines flood "
        "the result of gpuimg edges. To separate objects of a mask that touch see gpuimg "
        "split-touching.\n\n"
        "Markers are the regions of a label image, as gpuimg extract --labels writes it, or "
        "the local minima of the image. The minima of a noisy image are many; smooth the "
        "image before, or give --min-depth. Minima are numbered from 1 in raster order of "
        "their first pixels. Where the image is fully transparent it is not flooded, and "
        "the label is 0.\n\n"
        "Order of flooding: pixels wait in a queue, which is sorted by level and then by "
        "the time at which they were added. First the pixels of all markers are added, at "
        "one time, in raster order, with their height as level. The first pixel of the queue adds "
        "its neighbours that have no "
        "label: above, left, right and below, then the diagonal ones. Their level is their "
        "height, or that of the pixel if it is higher, and they get its label. With --lines "
        "they get the label when they leave the queue, unless a neighbour has another label "
        "by then. The queue is a binary heap, which gives the order of pixels with the same "
        "level and time. NaN is higher than everything.\n\n"
        "The flooding runs on the CPU, on one thread, also with --device cuda. In 16 bits "
        "there are at most 65535 labels.\n\n"
        "The result is that of scikit-image's watershed() in version 0.26, except that with "
        "--lines markers of the same height may be flooded in another order, and that an "
        "image of one height is one region. Version 0.19 gives the same without --markers "
        "and --lines.",
    .options = options,
    .params_nbytes = sizeof(struct watershed_params),
    .check = check,
    .sources.admit = admit,
    .samples.result_type = result_type,
    .plan = plan,
    .run = run,
};
