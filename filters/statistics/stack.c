/* Stacks of images: one image from many, by statistics of the samples at each position.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/stack.h"
#include "filters/convolution/weights.h"
#include "filters/statistics/fusion.h"
#include "kernels/kernels.h"

#include <limits.h>
#include <math.h>

/* Standard deviation in px of the Gaussian that smooths measures of focus. */
#define FOCUS_SIGMA 3

/* In the order of enum gi_stack_method and of the methods that follow it. */
const struct gi_choice gi_stack_methods[] = {
    {"mean", NULL, "the mean; in 8 and 16 bits it is exact, with ties rounded up"},
    {"median", NULL,
     "the median; if the number of images is even, the mean of the two samples "
     "in the middle"},
    {"min", NULL, "the minimum"},
    {"max", NULL, "the maximum"},
    {"sum", NULL, "the sum, in float, where 1 is full scale"},
    {"sigma-clip", NULL, "the mean of the samples that are near the median (--kappa)"},
    {"exposure", NULL,
     "exposure fusion of a bracketed series (HDR without a tone curve), by Laplacian pyramids"},
    {"focus", NULL, "focus stacking: the sharpest image at each place, by Laplacian pyramids"},
    {0},
};

static const struct gi_option options[] = {
    GI_STACK_OPTIONS(struct gi_stack_params, method, kappa),
    {GI_OPTION("images", INT, struct gi_stack_params, images), .min = 1, .max = 4096,
     .example = "3",
     .help = "Number of images that are side by side in the input; columns that remain are not "
             "used"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_stack_params *p = params;
    return p->images ? GI_OK : gi_fail(err, GI_E_USAGE, "want --images N");
}

/* Returns the largest distance of one of n samples from the median, in standard deviations. The
 * variance is smallest if as many of the others as the median allows are at the mean, and the rest
 * are at the median; this gives sqrt(n (n - m) / (n - m - 1)) for m samples at the mean. */
static double largest_distance(uint64_t n)
{
    double rest = (double)(n - (n > 3 ? (n - 3) / 2 : 0));
    return n < 3 ? 1 : sqrt((double)n * rest / (rest - 1));
}

void gi_stack_warn(struct gi_err *warning, const struct gi_stack_params *params, uint64_t images)
{
    double most = largest_distance(images);
    if (params->method != GI_STACK_SIGMA_CLIP || params->kappa < most)
        return;
    if (images < 3)
        gi_fail(warning, GI_E_UNSUPPORTED,
                "sigma-clip rejects nothing of %d image%s, want 3 or more", (int)images,
                images == 1 ? "" : "s");
    else
        gi_fail(warning, GI_E_UNSUPPORTED,
                "--kappa %.10g: rejects nothing, because no sample of %d images is more than %.3g "
                "standard deviations from the median (try --kappa 2)",
                params->kappa, (int)images, most);
}

static struct gi_stack spec_of(const struct gi_plan *plan, const struct gi_image *earlier)
{
    const struct gi_stack_params *p = plan->params;
    return (struct gi_stack){.method = (enum gi_stack_method)p->method,
                             .images = p->images,
                             .kappa = p->kappa,
                             .earlier = earlier,
                             .nearlier = p->nearlier};
}

/* Returns the work per sample of the strip. Floats are sorted, and so are all samples for sigma
 * clipping. The number of comparisons is about half the square of the logarithm of the number of
 * images. */
static double cost_of(const struct gi_stack *spec, enum gi_type type)
{
    double steps = log2(spec->images + 1.0);
    if (gi_stack_continues(spec))
        return 2;
    if (spec->method == GI_STACK_MEDIAN && type != GI_F32)
        return type == GI_U8 ? 2 : 8;
    return 2 + steps * steps / 2 + (spec->method == GI_STACK_SIGMA_CLIP ? 20 : 0);
}

/* ---- methods that fuse images ---- */

static struct gi_fusion fusion_of(const struct gi_plan *plan)
{
    const struct gi_stack_params *p = plan->params;
    const struct gi_separable_tables *tables = plan->tables;
    const struct gi_image *image = p->fuse == GI_STACK_FUSE_FINISH ? &p->fused : &plan->sources[0];
    int n = p->fuse == GI_STACK_FUSE_ALL ? p->images : 1;
    return (struct gi_fusion){.method = p->method == GI_STACK_FOCUS ? GI_FUSION_FOCUS
                                                                    : GI_FUSION_EXPOSURE,
                              .width = image->width / n,
                              .height = image->height,
                              .channels = image->channels,
                              .smooths = tables ? &tables->spec : NULL};
}

static enum gi_status plan_fusion(struct gi_plan *plan, struct gi_err *err)
{
    static const struct gi_gaussian gaussian = {.k = 2 * 4 * FOCUS_SIGMA + 1, .sigma = FOCUS_SIGMA};
    static const struct gi_border_params border = {.mode = GI_BORDER_CLAMP};
    const struct gi_stack_params *p = plan->params;
    struct gi_fusion fusion = fusion_of(plan);
    if (fusion.height > INT_MAX / 4)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d rows: want at most %d", fusion.height,
                       INT_MAX / 4);
    const struct gi_image shapes[] = {plan->result, gi_fusion_state(&fusion),
                                      gi_fusion_sum(&fusion), p->fused};
    plan->result = shapes[p->fuse];
    if (p->method == GI_STACK_FOCUS) {
        struct gi_separable_tables *tables =
            gi_gaussian_plan(plan, &gaussian, &gaussian, &border, err);
        if (!tables)
            return GI_E_MEMORY;
        tables->spec.alpha = GI_ALPHA_PLAIN;
    }
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->halo = 0;
    plan->scratch_nbytes = gi_fusion_nbytes(&fusion, plan->sources[0].type);
    plan->cost = (struct gi_cost){.fmas = plan->cost.fmas, .other = 60, .nbytes = 40};
    return GI_OK;
}

static enum gi_status run_fusion(const struct gi_plan *plan, struct gi_queue *queue,
                                 const struct gi_work *work, struct gi_err *err)
{
    const struct gi_stack_params *p = plan->params;
    const struct gi_fusion fusion = fusion_of(plan);
    const struct gi_image *srcs = work->srcs;
    switch (p->fuse) {
    case GI_STACK_FUSE_WEIGH:
        return gi_fusion_weigh(queue, work->dst, &srcs[0], &srcs[1], p->number, &fusion, err);
    case GI_STACK_FUSE_ADD:
        return gi_fusion_add(queue, work->dst, &srcs[0], &srcs[1], &srcs[2], p->number, &fusion,
                             err);
    case GI_STACK_FUSE_FINISH:
        return gi_fusion_finish(queue, work->dst, &srcs[0], &fusion, err);
    default:
        return gi_fusion_all(queue, work->dst, &srcs[0], p->images, &fusion, err);
    }
}

/* ---- the operation ---- */

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_stack_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    const struct gi_stack spec = spec_of(plan, NULL);
    int width = src->width / p->images;
    if (width < 1)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%d x %d pixels: want at least %d columns for %d images", src->width,
                       src->height, p->images, p->images);
    plan->result.width = p->continues ? 2 * width : width;
    if (gi_stack_fuses(p))
        return plan_fusion(plan, err);
    if (p->continues)
        plan->result.type = GI_U32;
    else if (p->method == GI_STACK_SUM)
        plan->result.type = GI_F32;
    gi_stack_warn(&plan->warning, p, (uint64_t)p->images);
    plan->cost.other = cost_of(&spec, src->type);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    if (gi_stack_fuses(plan->params))
        return run_fusion(plan, queue, work, err);
    const struct gi_stack spec = spec_of(plan, plan->nsources > 1 ? &work->srcs[1] : NULL);
    return queue->k->stack(queue, work->dst, &work->srcs[0], &spec, err);
}

/* Sums of samples are the same for a plane of luma and planes of chroma; weights of whole pixels
 * are not. */
static bool subsample(void *params, const struct gi_plan *luma, int dx, int dy)
{
    return !gi_stack_fuses(params);
}

const struct gi_filter gi_filter_stack = {
    .name = "stack",
    .group = GI_GROUP_IMAGES,
    .summary = "Stack images into one: mean, median, sigma clipping, exposure fusion",
    .manual =
        "Each sample of the output is computed from the samples at its place in all images, "
        "alpha like any other channel; it is NaN if one of them is NaN.\n\n" GI_STACK_FUSION_MANUAL
        ".\n\n"
        "In a chain the images are side by side in one image, as in a strip of frames: "
        "image k begins at column k times the width divided by --images, rounded down.",
    .options = options,
    .params_nbytes = sizeof(struct gi_stack_params),
    .sources.max = 3,
    .samples.subsample = subsample,
    .check = check,
    .plan = plan,
    .run = run,
};
