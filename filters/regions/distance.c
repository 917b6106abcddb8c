/* Distance transform of a mask: the distance of each pixel of the foreground to the nearest pixel
 * of the background.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/regions.h"

struct distance_params {
    int metric; /* enum gi_distance_kind, up to CHESSBOARD */
    struct gi_level at;
    int depth; /* index of `depths` */
    bool invert, indices;
};

static const struct gi_choice metrics[] = {
    {"euclidean", NULL, "sqrt(dx^2 + dy^2)"},
    {"squared", NULL, "dx^2 + dy^2"},
    {"city-block", NULL, "|dx| + |dy| (taxicab, L1)"},
    {"chessboard", NULL, "the larger of |dx| and |dy|"},
    {"l2", "euclidean", NULL},
    {"l1", "city-block", NULL},
    {"cityblock", "city-block", NULL},
    {"manhattan", "city-block", NULL},
    {"taxicab", "city-block", NULL},
    {0},
};

static const struct gi_choice depths[] = {
    {"float", NULL, "32-bit float"},
    {"16", NULL, "whole numbers, up to 65535"},
    {"8", NULL, "whole numbers, up to 255"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("metric", CHOICE, struct distance_params, metric), .letter = 'm',
     .default_text = "euclidean", .choices = metrics, .help = "How distances are measured"},
    {GI_OPTION("threshold", LEVEL, struct distance_params, at), .also = "at", .letter = 't',
     .default_text = "0",
     .help = "Pixels brighter than this level are foreground; in a colour image the luma is "
             "compared"},
    {GI_OPTION("invert", FLAG, struct distance_params, invert), .letter = 'i',
     .help = "Swap foreground and background"},
    {GI_OPTION("depth", CHOICE, struct distance_params, depth), .default_text = "float",
     .choices = depths,
     .help = "Sample type of the result: a sample value of 1 is a distance of one pixel"},
    {GI_OPTION("indices", FLAG, struct distance_params, indices),
     .help = "Write the column and the row of the nearest background pixel in place of its "
             "distance"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct distance_params *p = params;
    if (p->indices && (p->metric > GI_DISTANCE_SQUARED || p->depth))
        return gi_fail(err, GI_E_USAGE, "--indices: want --metric euclidean and --depth float");
    return GI_OK;
}

static enum gi_type result_type(const void *params, enum gi_type type)
{
    const enum gi_type types[] = {GI_F32, GI_U16, GI_U8}; /* in the order of `depths` */
    return types[((const struct distance_params *)params)->depth];
}

/* The cost is measured on one thread: 12 ns per pixel, 46 multiply-adds each. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct distance_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    if (src->width > GI_DISTANCE_SIDE || src->height > GI_DISTANCE_SIDE)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: want at most %d per side",
                       src->width, src->height, GI_DISTANCE_SIDE);
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->result.channels = p->indices ? 2 : 1;
    plan->result.type = result_type(p, src->type);
    plan->scratch_nbytes =
        (size_t)src->width * (size_t)src->height * sizeof(int32_t) + gi_luma_nbytes(src);
    plan->cost = (struct gi_cost){.other = 550.0 / src->channels, .nbytes = 8.0 / src->channels};
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct distance_params *p = plan->params;
    bool by_luma = gi_luma_decides(work->srcs, false);
    struct gi_distance spec = {
        .kind = p->indices ? GI_DISTANCE_PLACE : (enum gi_distance_kind)p->metric,
        .invert = !p->invert, /* the background */
    };
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, work->srcs, by_luma, err);
    if (status)
        return status;
    status = gi_level_above(queue, &spec.above, &p->at, &judge, err);
    if (!status)
        status = queue->k->distance(queue, work->dst, &judge, &spec, err);
    gi_judge_release(queue, &judge, by_luma);
    return status;
}

const struct gi_filter gi_filter_distance = {
    .name = "distance",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Distance transform of a mask, exact",
    .examples = "gpuimg distance mask.png distances.tif\n"
                "gpuimg distance mask.png distances.png --depth 16\n"
                "gpuimg distance scan.png steps.npy --metric chessboard --threshold otsu\n"
                "gpuimg run 'distance | normalize' mask.png picture.png",
    .manual = "Pixels brighter than --threshold are foreground, and the others are background. "
              "By default all pixels that are not black are foreground. The result has one "
              "channel: the distance from the centre of each foreground pixel to the centre of "
              "the nearest background pixel, and 0 in the background. Pixels outside the image "
              "are not background. If the image has no background, all distances are infinite. "
              "Alpha is not used, and NaN is background.\n\n"
              "Distances are in pixels, so the level of a following step is a number of pixels: "
              "run 'distance | threshold --threshold 20' is an erosion by a disc of radius 20, "
              "and with distance --invert it is the reverse of a dilation. The result is float. "
              "With --depth 8 or 16 distances are rounded, a tie to the even number, and larger "
              "ones become 255 or 65535; this is for formats without floats, such as PNG. For a "
              "picture of any distances add the step normalize.\n\n"
              "Squared distances are whole numbers, which floats hold exactly up to 16777216. "
              "Other distances are rounded once, to the nearest float.\n\n"
              "--indices writes two channels: the column and the row of the nearest background "
              "pixel, or -1 if there is none. If several pixels are equally near, it is the "
              "leftmost of them, and in one column the uppermost. The result is a map for gpuimg "
              "remap: with it each foreground pixel gets the value of the nearest background "
              "pixel.\n\n"
              "The results are those of scipy's distance_transform_edt() and "
              "distance_transform_cdt(), except without background and in ties of the indices. "
              "Algorithm on the CPU: A. Meijster, J. B. T. M. Roerdink and W. H. Hesselink, A "
              "general algorithm for computing distance transforms in linear time, 2000.",
    .options = options,
    .params_nbytes = sizeof(struct distance_params),
    .samples.result_type = result_type,
    .check = check,
    .plan = plan,
    .run = run,
};
