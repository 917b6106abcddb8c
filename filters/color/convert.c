/* Conversion to another sample type, to gray, or both, as a step of a chain.
 * SPDX-License-Identifier: MIT */
#include "filters/color/gray.h"
#include "filters/filter.h"
#include "kernels/color.h"
#include "kernels/kernels.h"

#include <string.h>

struct convert_params {
    int depth; /* index of depth_choices */
    int gray;  /* enum gi_gray */
};

const struct gi_choice gi_gray_choices[] = {
    {"no", NULL, "do not convert"},
    {"bt709", NULL, "0.2126 R + 0.7152 G + 0.0722 B, ITU-R BT.709: the luma that all commands use"},
    {"bt601", NULL, "0.299 R + 0.587 G + 0.114 B, ITU-R BT.601: the gray of JPEG"},
    {"mean", NULL, "(R + G + B) / 3"},
    {0},
};

const float gi_gray_weights[][3] = {{0},
                                    {(float)GI_LUMA_RED, (float)GI_LUMA_GREEN, (float)GI_LUMA_BLUE},
                                    {0.299f, 0.587f, 0.114f},
                                    {1 / 3.0f, 1 / 3.0f, 1 / 3.0f}};

static const struct gi_choice depth_choices[] = {
    {"same", NULL, "as the step before gives it"},
    {"8", NULL, "whole numbers, 0 to 255"},
    {"16", NULL, "whole numbers, 0 to 65535"},
    {"float", NULL, "32-bit float, 0 to 1"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("depth", CHOICE, struct convert_params, depth), .default_text = "same",
     .choices = depth_choices, .help = "Sample type of the result, rounded half to even"},
    {GI_OPTION("gray", CHOICE, struct convert_params, gray), .also = "grey", .bare = "bt709",
     .default_text = "no", .choices = gi_gray_choices,
     .help = "Convert colour to gray; --gray alone is --gray=bt709"},
    {.name = NULL},
};

static enum gi_type result_type(const void *params, enum gi_type type)
{
    const struct convert_params *p = params;
    const enum gi_type types[] = {type, GI_U8, GI_U16, GI_F32}; /* in the order of depth_choices */
    return types[p->depth];
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct convert_params *p = plan->params;
    plan->cost.fmas = 1;
    plan->result.type = result_type(p, plan->sources[0].type);
    if (p->gray && plan->sources[0].channels >= 3)
        plan->result.channels -= 2;
    return GI_OK;
}

/* Computes `dst`, which is the gray and the alpha of `src` in the same type. A matrix makes three
 * equal channels, and one of them is kept. */
static enum gi_status make_gray(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, enum gi_gray gray, struct gi_err *err)
{
    if (gray == GI_GRAY_BT709 && src->channels == 3)
        return queue->k->luma(queue, dst, src, NULL, err);
    struct gi_image equal;
    struct gi_color_transform transform = {.nsteps = 1};
    struct gi_permute_channels keep = {.nsources = 1};
    enum gi_status status =
        queue->k->alloc(queue, &equal, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    for (int i = 0; i < 3; i++)
        memcpy(transform.steps[0].matrix[i], gi_gray_weights[gray], sizeof *gi_gray_weights);
    keep.from[1].channel = 3;
    status = queue->k->color_transform(queue, &equal, src, &transform, err);
    if (!status)
        status = queue->k->permute_channels(queue, dst, &equal, &keep, err);
    queue->k->release(queue, &equal);
    return status;
}

/* Gray is computed in the type of the source or of the result, whichever has more bits. */
static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct convert_params *p = plan->params;
    const struct gi_image *src = work->srcs;
    struct gi_image *dst = work->dst, between;
    bool grays = dst->channels != src->channels, deeper = dst->type > src->type;
    if (!grays)
        return queue->k->convert(queue, dst, src, NULL, err);
    if (dst->type == src->type)
        return make_gray(queue, dst, src, (enum gi_gray)p->gray, err);
    enum gi_status status = queue->k->alloc(queue, &between, src->width, src->height,
                                            deeper ? src->channels : dst->channels,
                                            deeper ? dst->type : src->type, err);
    if (status)
        return status;
    status = deeper ? queue->k->convert(queue, &between, src, NULL, err)
                    : make_gray(queue, &between, src, (enum gi_gray)p->gray, err);
    if (!status)
        status = deeper ? make_gray(queue, dst, &between, (enum gi_gray)p->gray, err)
                        : queue->k->convert(queue, dst, &between, NULL, err);
    queue->k->release(queue, &between);
    return status;
}

const struct gi_filter gi_filter_convert = {
    .name = "convert",
    .group = GI_GROUP_TOOLS,
    .planes = GI_PLANES_RGB,
    .summary = "Convert to another depth, or to gray",
    .examples = "gpuimg run 'normalize | convert --depth 8' scan16.tif view.png\n"
                "gpuimg run 'convert --gray | edges' in.png out.png\n"
                "gpuimg run 'convert --depth float | gaussian' in.png out.pfm",
    .manual = "As a step of a chain; the command gpuimg convert reads and writes files too. Full "
              "scale stays full scale: 255, 65535, 1. Gray is computed in the deeper of the two "
              "depths, and alpha stays.",
    .options = options,
    .params_nbytes = sizeof(struct convert_params),
    .samples.result_type = result_type,
    .plan = plan,
    .run = run,
};
