/* The binary arithmetic operations: options, checks, plans and runs. The primitives `arithmetic`
 * and `pointwise` compute the results.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

#include <string.h>

#define FURTHER_OPTIONS                                                                            \
    {GI_OPTION("scale", REAL, struct gi_binary_params, scale),                                     \
     .letter = 's',                                                                                \
     .default_text = "1",                                                                          \
     .min = -1e6,                                                                                  \
     .max = 1e6,                                                                                   \
     .help = "Factor that the result is multiplied by"},                                           \
        {GI_OPTION("offset", REAL, struct gi_binary_params, offset), .default_text = "0",          \
         .min = -1e6, .max = 1e6, .help = "Sample value that is added to the scaled result"},      \
        GI_OPERAND_ALPHA_OPTION,                                                                   \
    {                                                                                              \
        .name = NULL                                                                               \
    }

const struct gi_option gi_binary_options[] = {
    GI_OPERAND_OPTIONS(
        "Use this value in place of a second image; a single sample value is used for all "
        "channels"),
    FURTHER_OPTIONS,
};

const struct gi_option gi_ratio_options[] = {
    GI_OPERAND_OPTIONS("Use this value in place of a second image: a factor for all channels, "
                       "one per channel, or a colour, in which white is 1"),
    FURTHER_OPTIONS,
};

enum gi_status gi_binary_check(void *params, struct gi_err *err)
{
    const struct gi_binary_params *p = params;
    if ((p->with != NULL) == (p->value.n > 0))
        return gi_fail(err, GI_E_USAGE,
                       p->with ? "--with, --value: want one of them"
                               : "want --with IMAGE or --value NUMBER");
    return GI_OK;
}

enum gi_status gi_binary_check_alike(const struct gi_plan *plan, int j, const char *name,
                                     struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0], *other = &plan->sources[j];
    if (other->width != src->width || other->height != src->height)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--%s: %d x %d pixels: want %d x %d, as the input has", name, other->width,
                       other->height, src->width, src->height);
    if (gi_color_channels(other) > gi_color_channels(src))
        return gi_fail(err, GI_E_UNSUPPORTED, "--%s: has colour: want gray, as the input is", name);
    return GI_OK;
}

void gi_binary_value(float value[GI_MAX_CHANNELS], const struct gi_color *color,
                     const struct gi_image *image)
{
    float pixel[GI_MAX_CHANNELS];
    struct gi_image shape = *image;
    shape.channels += !gi_has_alpha(image);
    gi_color_pixel(pixel, color, &shape);
    int colors = gi_color_channels(&shape);
    for (int c = 0; c < 3; c++)
        value[c] = pixel[c < colors ? c : 0];
    value[3] = pixel[colors];
}

static bool is_ratio(enum gi_arithmetic_op op)
{
    return op == GI_ARITHMETIC_MULTIPLY || op == GI_ARITHMETIC_DIVIDE;
}

enum gi_status gi_binary_plan(struct gi_plan *plan, enum gi_arithmetic_op op, struct gi_err *err)
{
    const struct gi_binary_params *p = plan->params;
    struct gi_image shape = plan->sources[0];
    enum gi_status status = p->with ? gi_binary_check_alike(plan, 1, "with", err) : GI_OK;
    struct gi_arithmetic *spec = status ? NULL : gi_plan_tables(plan, sizeof *spec, err);
    if (!spec)
        return status ? status : GI_E_MEMORY;
    double full = gi_type_full_scale(shape.type), factor = p->scale;
    if (p->with && is_ratio(op))
        factor = op == GI_ARITHMETIC_MULTIPLY ? p->scale / full : p->scale * full;
    *spec = (struct gi_arithmetic){.op = op,
                                   .offset = (float)p->offset,
                                   .t = (float)p->amount,
                                   .alpha_too = p->alpha && shape.mask != GI_MASK_HIDDEN};
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        spec->factor[c] = (float)factor;
    spec->plain = p->with && op != GI_ARITHMETIC_DIVIDE && p->scale == 1 && p->offset == 0 &&
                  shape.type == plan->sources[1].type &&
                  shape.channels == plan->sources[1].channels;
    if (is_ratio(op)) /* named colours become fractions of 1 */
        shape.type = GI_F32;
    if (!p->with)
        gi_binary_value(spec->value, &p->value, &shape);
    plan->cost = (struct gi_cost){.fmas = 2};
    return GI_OK;
}

enum gi_status gi_binary_run(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, struct gi_err *err)
{
    const struct gi_binary_params *p = plan->params;
    struct gi_arithmetic spec = *(const struct gi_arithmetic *)plan->tables;
    spec.other = p->with ? &work->srcs[1] : NULL;
    return queue->k->arithmetic(queue, work->dst, work->srcs, &spec, err);
}
