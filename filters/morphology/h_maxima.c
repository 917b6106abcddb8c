/* h-maxima and h-minima: the maxima (minima) that rise (sink) by at least h above their
 * surroundings, found by reconstruction of the image lowered by h.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/filter.h"
#include "filters/morphology/flat.h"
#include "filters/morphology/reconstruct.h"
#include "filters/regions/choose.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/statistics.h"
#include "kernels/tone.h"

struct h_maxima_params {
    struct gi_level height;
    int connectivity; /* of gi_connectivity_choices */
};

static const struct gi_option options[] = {
    {GI_OPTION("height", LEVEL, struct h_maxima_params, height), .amount = true,
     .default_text = "10%",
     .help = "Minimum height (depth): the descent (climb) on every path from the maximum (minimum) "
             "to a higher (lower) one"},
    {GI_OPTION("connectivity", CHOICE, struct h_maxima_params, connectivity), .default_text = "8",
     .choices = gi_connectivity_choices, .help = "Which pixels are neighbours of each other"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    return gi_level_check_positive(&((const struct h_maxima_params *)params)->height, "height",
                                   err);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    plan->result.channels = 1;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->scratch_nbytes = (size_t)src->width * (size_t)src->height *
                               (3 * gi_type_nbytes(src->type) + sizeof(uint32_t)) +
                           gi_luma_nbytes(src);
    plan->cost.other = 45.0 / src->channels;
    return GI_OK;
}

/* Makes the mask of the maxima of `image`. `lowered` and `rebuilt` are of the same shape. */
static enum gi_status find_maxima(struct gi_queue *queue, struct gi_image *mask,
                                  const struct gi_image *image, struct gi_image *lowered,
                                  struct gi_image *rebuilt, const struct h_maxima_params *p,
                                  struct gi_err *err)
{
    bool floats = image->type == GI_F32;
    double height = gi_level_number(&p->height, image->type);
    float h = (float)(floats ? height : ceil(height));
    struct gi_reduction range = {0};
    const struct gi_reduce all = {.sums_only = false};
    struct gi_pointwise lower = {.op = GI_POINTWISE_AFFINE, .scale = {1}, .offset = {-h}};
    enum gi_status status = queue->k->reduce(queue, &range, image, &all, err);
    if (!status)
        status = queue->k->pointwise(queue, lowered, image, &lower, err);
    if (!status)
        status =
            gi_reconstruct_run(queue, rebuilt, image, lowered, false, p->connectivity ? 8 : 4, err);
    if (!status)
        status = gi_flat_subtract(queue, rebuilt, floats ? lowered : image, rebuilt, err);
    /* Integers: image - rebuilt is at least h. Floats, whose differences are rounded: rebuilt is
     * not above the lowered image. Nothing is that much above the rest if the whole range is
     * less. */
    struct gi_threshold enough = {floats ? nextafterf(0, -1) : h - 1, false};
    if ((double)range.max - (double)range.min < (double)h)
        enough.above = INFINITY;
    if (!status)
        status = queue->k->threshold(queue, mask, rebuilt, &enough, err);
    return status;
}

/* Finds the maxima of the input or of its luma, or with `minima` those of its negative. */
static enum gi_status run_on(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, bool minima, struct gi_err *err)
{
    const struct gi_image *src = work->srcs;
    bool by_luma = gi_luma_decides(src, false);
    struct gi_image judge, made[3]; /* the negative, the lowered and the rebuilt image */
    int n = 0;
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma, err);
    if (status)
        return status;
    while (!status && n < 3) {
        status = queue->k->alloc(queue, &made[n], src->width, src->height, 1, src->type, err);
        n += !status;
    }
    if (!status && minima)
        status = gi_negate(queue, &made[0], &judge, err);
    if (!status)
        status = find_maxima(queue, work->dst, minima ? &made[0] : &judge, &made[1], &made[2],
                             plan->params, err);
    while (n > 0)
        queue->k->release(queue, &made[--n]);
    gi_judge_release(queue, &judge, by_luma);
    return status;
}

static enum gi_status run_maxima(const struct gi_plan *plan, struct gi_queue *queue,
                                 const struct gi_work *work, struct gi_err *err)
{
    return run_on(plan, queue, work, false, err);
}

static enum gi_status run_minima(const struct gi_plan *plan, struct gi_queue *queue,
                                 const struct gi_work *work, struct gi_err *err)
{
    return run_on(plan, queue, work, true, err);
}

#define MANUAL(what, other, direction)                                                             \
    "The result is a mask of one channel. Its white pixels are the " what                          \
    " of the image (in colour, of its "                                                            \
    "luma) from which every path to " other " " direction " by at least --height: shallower "      \
    "ones, such as those of noise, are left out. They are found by reconstruction of the image, "  \
    "changed by --height (gpuimg help reconstruct). If --height is more than the difference of "   \
    "the largest and the smallest sample, nothing is white. NaN is black.\n\n"                     \
    "In 8 and 16 bits the result is that of scikit-image's h_maxima() and h_minima(), and "        \
    "--height is rounded up to a whole number. In float images scikit-image adds 2 millionths "    \
    "of a sample to the height; here a path must change by the rounded difference.\n\n"            \
    "Source: P. Soille, Morphological image analysis, 2003, section 6.3."

const struct gi_filter gi_filter_h_maxima = {
    .name = "h-maxima",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "h-maxima: bright peaks of a minimum height, as a mask",
    .examples = "gpuimg h-maxima in.png peaks.png\n"
                "gpuimg h-maxima cells.tif peaks.png --height 20\n"
                "gpuimg h-maxima sky.png stars.png --height 5% --connectivity 4",
    .manual = MANUAL("maxima", "a brighter one", "descends"),
    .options = options,
    .params_nbytes = sizeof(struct h_maxima_params),
    .check = check,
    .plan = plan,
    .run = run_maxima,
};

const struct gi_filter gi_filter_h_minima = {
    .name = "h-minima",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "h-minima: dark basins of a minimum depth, as a mask",
    .examples = "gpuimg h-minima in.png basins.png\n"
                "gpuimg h-minima cells.tif basins.png --height 20\n"
                "gpuimg h-minima scan.png ink.png --height 30%",
    .manual = MANUAL("minima", "a darker one", "climbs"),
    .options = options,
    .params_nbytes = sizeof(struct h_maxima_params),
    .check = check,
    .plan = plan,
    .run = run_minima,
};
