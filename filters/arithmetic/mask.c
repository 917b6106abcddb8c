/* Applies a mask, which is the luma of another image: multiplies alpha by the mask, replaces alpha
 * by the mask, or fills with a colour where the mask is black. A set of labels turns a label image
 * into a mask.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/arithmetic/binary.h"
#include "filters/regions/labels.h"
#include "kernels/kernels.h"

struct mask_params {
    const char *with;
    struct gi_color fill;
    struct gi_reals label;
    bool set, invert;
};

static const struct gi_option options[] = {
    {GI_OPTION("with", IMAGE, struct mask_params, with), .letter = 'w', .example = "mask.png",
     .labels = true, .metavar = "IMAGE",
     .help = "The mask, of the input's size: white keeps the image, black removes it, and gray "
             "is in between; if the mask has colour, its luma is used"},
    {GI_OPTION("label", REALS, struct mask_params, label), .letter = 'l', .min = 0,
     .max = GI_LABEL_MAX, .metavar = "L[,L...]",
     .help = "Use the mask as a label image, as gpuimg extract --labels writes it, and keep the "
             "regions with these labels"},
    {GI_OPTION("fill", COLOR, struct mask_params, fill), .letter = 'f',
     .help = "Where the mask is black, fill with this colour instead of making pixels "
             "transparent. Give one sample value for all channels, or one per channel with alpha "
             "last"},
    {GI_OPTION("set", FLAG, struct mask_params, set), .letter = 's',
     .help = "Replace the alpha of the image by the mask, instead of multiplying"},
    {GI_OPTION("invert", FLAG, struct mask_params, invert), .letter = 'i',
     .help = "The reverse: keep the image where the mask is black"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct mask_params *p = params;
    if (!p->with)
        return gi_fail(err, GI_E_USAGE, "--with: missing: want a mask");
    if (p->set && p->fill.n)
        return gi_fail(err, GI_E_USAGE, "--set, --fill: want one of them");
    for (int i = 0; i < p->label.n; i++)
        if (p->label.v[i] != floor(p->label.v[i]))
            return gi_fail(err, GI_E_USAGE, "--label %.15g: want whole numbers", p->label.v[i]);
    return GI_OK;
}

/* Converts labels to a mask. */
static enum gi_status admit(const void *params, int j, struct gi_image *other, struct gi_err *err)
{
    const struct mask_params *p = params;
    struct gi_image mask;
    uint32_t largest;
    if (!p->label.n)
        return other->type == GI_U32
                   ? gi_fail(err, GI_E_UNSUPPORTED, "holds 32-bit labels: want --label")
                   : GI_OK;
    enum gi_status status = gi_labels_check(&largest, other, err);
    if (!status)
        status = gi_image_alloc(&mask, other->width, other->height, 1, GI_U8, err);
    if (status)
        return status;
    gi_labels_mask(&mask, other, &p->label);
    gi_image_free(other);
    *other = mask;
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct mask_params *p = plan->params;
    struct gi_image *src = &plan->sources[0], *mask = &plan->sources[1];
    if (mask->width != src->width || mask->height != src->height)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--with: %d x %d pixels: want %d x %d, as the input has", mask->width,
                       mask->height, src->width, src->height);
    struct gi_arithmetic *spec = gi_plan_tables(plan, sizeof *spec, err);
    if (!spec)
        return GI_E_MEMORY;
    *spec = (struct gi_arithmetic){
        .op = GI_ARITHMETIC_MASK, .opacity = 1, .set = p->set, .invert = p->invert};
    if (p->fill.n) {
        bool of_color = !gi_has_alpha(src) && p->fill.n <= gi_color_channels(src);
        gi_binary_value(spec->value, &p->fill, src);
        if (of_color && !p->fill.named) /* the missing alpha is opaque, not the value */
            spec->value[3] = gi_type_full_scale(src->type);
    }
    bool opaque = spec->value[3] >= gi_type_full_scale(src->type);
    plan->result.channels += !gi_has_alpha(src) && !opaque;
    plan->cost = (struct gi_cost){.fmas = 4, .other = 8};
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct gi_arithmetic spec = *(const struct gi_arithmetic *)plan->tables;
    spec.other = &work->srcs[1];
    return queue->k->arithmetic(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_mask = {
    .name = "mask",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Apply a mask: keep the image where the mask is white",
    .examples = "gpuimg mask photo.png cut.png --with mask.png\n"
                "gpuimg mask photo.png out.jpg --with mask.png --fill white\n"
                "gpuimg mask photo.png out.png --with alpha.png --set\n"
                "gpuimg mask photo.png out.png --with labels.png --label 3,7 --invert --fill black",
    .manual =
        "By default the image becomes transparent where the mask is black: its alpha "
        "becomes alpha * m, where m is the value of the mask, from 0 (black) to 1 (white). "
        "If the mask has alpha, m is multiplied by it. An image without alpha gets an "
        "alpha channel. With --set alpha becomes m. With --fill a pixel becomes m * image "
        "+ (1 - m) * colour, where the image and the colour are weighted by their alpha. "
        "Fully transparent pixels become black. A colour such as red becomes its luma in a gray "
        "image, with a warning.\n\n"
        "The mask may have another depth than the image. The mask may come from gpuimg "
        "threshold or gpuimg extract. With --label the mask is a label image: the regions "
        "with the given labels count as white and everything else as black. A label image "
        "is a PNG, PGM or PFM file, or a .npy file of up to 32 bits.\n\n"
        "The result is computed in float and rounded once, a tie to the even number.",
    .options = options,
    .params_nbytes = sizeof(struct mask_params),
    .samples.averages = true,
    .check = check,
    .sources.admit = admit,
    .plan = plan,
    .run = run,
};
