/* Morphological reconstruction by dilation or erosion (L. Vincent, 1993). An erosion is a dilation
 * of negated images.
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/reconstruct.h"

#include "filters/filter.h"
#include "filters/regions/choose.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"
#include "kernels/tone.h"

struct reconstruct_params {
    const char *seed;
    int method, connectivity; /* of methods, of gi_connectivity_choices */
};

static const struct gi_choice methods[] = {
    {"dilation", NULL, "the seed grows under the input"},
    {"erosion", NULL, "the seed shrinks above the input"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("seed", IMAGE, struct reconstruct_params, seed), .letter = 's', .also = "marker",
     .example = "seed.png", .metavar = "IMAGE", .picture = true,
     .help = "The image that grows or shrinks; its size, channels and sample type are the "
             "input's"},
    {GI_OPTION("method", CHOICE, struct reconstruct_params, method), .letter = 'm',
     .default_text = "dilation", .choices = methods, .help = "Direction of the reconstruction"},
    {GI_OPTION("connectivity", CHOICE, struct reconstruct_params, connectivity),
     .default_text = "8", .choices = gi_connectivity_choices,
     .help = "Which pixels are neighbours of each other"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct reconstruct_params *p = params;
    return p->seed ? GI_OK : gi_fail(err, GI_E_USAGE, "--seed: missing: want an image");
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct reconstruct_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *seed = &plan->sources[1];
    if (seed->width != src->width || seed->height != src->height ||
        seed->channels != src->channels || seed->type != src->type)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--seed: %d x %d pixels, %d channels of %zu bits: want %d x %d pixels, %d "
                       "channels of %zu bits, as the input has",
                       seed->width, seed->height, seed->channels, 8 * gi_type_nbytes(seed->type),
                       src->width, src->height, src->channels, 8 * gi_type_nbytes(src->type));
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->scratch_nbytes = (size_t)gi_image_nbytes(src) * (p->method ? 2 : 0) +
                           (size_t)src->width * (size_t)src->height * sizeof(uint32_t);
    plan->cost.other = 40;
    return GI_OK;
}

enum gi_status gi_negate(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                         struct gi_err *err)
{
    struct gi_pointwise spec = {.op = GI_POINTWISE_AFFINE};
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        spec.scale[c] = -1;
        spec.offset[c] = src->type == GI_F32 ? 0 : gi_type_full_scale(src->type);
    }
    return queue->k->pointwise(queue, dst, src, &spec, err);
}

/* Makes a negated copy. */
static enum gi_status negated(struct gi_queue *queue, struct gi_image *copy,
                              const struct gi_image *src, struct gi_err *err)
{
    enum gi_status status =
        queue->k->alloc(queue, copy, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    status = gi_negate(queue, copy, src, err);
    if (status)
        queue->k->release(queue, copy);
    return status;
}

enum gi_status gi_reconstruct_run(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *mask, const struct gi_image *seed,
                                  bool erodes, int connectivity, struct gi_err *err)
{
    struct gi_reconstruct spec = {seed, connectivity};
    struct gi_image low, high;
    if (!erodes)
        return queue->k->reconstruct(queue, dst, mask, &spec, err);
    enum gi_status status = negated(queue, &low, seed, err);
    if (status)
        return status;
    status = negated(queue, &high, mask, err);
    if (!status) {
        spec.seed = &low;
        status = queue->k->reconstruct(queue, dst, &high, &spec, err);
        if (!status)
            status = gi_negate(queue, dst, dst, err);
        queue->k->release(queue, &high);
    }
    queue->k->release(queue, &low);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct reconstruct_params *p = plan->params;
    return gi_reconstruct_run(queue, work->dst, work->srcs, work->srcs + 1, p->method,
                              p->connectivity ? 8 : 4, err);
}

const struct gi_filter gi_filter_reconstruct = {
    .name = "reconstruct",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "Morphological reconstruction of a seed image under a mask",
    .examples = "gpuimg reconstruct mask.png out.png --seed seed.png\n"
                "gpuimg reconstruct mask.png out.png --seed seed.png --connectivity 4\n"
                "gpuimg reconstruct floor.png out.png --seed seed.png --method erosion",
    .manual =
        "The input is the mask. By dilation the seed, which counts only up to the mask, is "
        "dilated by one pixel and limited to the mask again and again, until nothing changes. "
        "What the seed touches thus grows to its full extent, and everything else keeps the value "
        "that reaches it. With --method erosion the seed is eroded and stays above the mask: "
        "minima that the seed does not hold open are filled.\n\n"
        "An opening by reconstruction removes what does not contain the structuring element, and "
        "keeps the shape of the rest:\n\n"
        "  gpuimg erode in.png seed.png --k 15\n"
        "  gpuimg reconstruct in.png opened.png --seed seed.png\n\n"
        "Each colour channel is reconstructed separately, and alpha does not change. Where the "
        "seed or the mask is NaN, the result is NaN, and other pixels do not have it as a "
        "neighbour.\n\n"
        "The result is that of scikit-image's reconstruction(), which refuses a seed above the "
        "mask (L. Vincent, Morphological grayscale reconstruction in image analysis, IEEE Trans. "
        "Image Processing 2(2), 1993).",
    .options = options,
    .params_nbytes = sizeof(struct reconstruct_params),
    .check = check,
    .plan = plan,
    .run = run,
};
