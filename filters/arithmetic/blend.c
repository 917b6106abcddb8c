/* Weighted mean of an image and a second image or colour, a + amount * (b - a). Alpha does not
 * count as a weight (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static const struct gi_option options[] = {
    GI_OPERAND_OPTIONS(
        "Use this value in place of a second image; a single sample value is used for all "
        "channels"),
    {GI_OPTION("amount", REAL, struct gi_binary_params, amount), .default_text = "0.5", .min = 0,
     .max = 1,
     .help = "Weight of the second image: 0 gives the input, and 1 gives the second image"},
    GI_OPERAND_ALPHA_OPTION,
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    struct gi_binary_params *p = params;
    p->scale = 1;
    return gi_binary_check(params, err);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_BLEND, err);
}

const struct gi_filter gi_filter_blend = {
    .name = "blend",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Blend with an image or a colour (weighted mean)",
    .examples = "gpuimg blend a.png out.png --with b.png\n"
                "gpuimg blend photo.png faded.png --value white --amount 0.7\n"
                "gpuimg blend a.png out.png --with b.png --amount 0.25 --alpha",
    .manual = "The result is a weighted mean: out = a + amount * (b - a), where a is a sample of "
              "the input and b is a sample of the second image or of --value. An amount of 0 "
              "gives exactly the input, and an amount of 1 gives exactly the second image. "
              "Colours are not weighted by alpha; to lay an image with alpha over another, use "
              "gpuimg composite.\n\n"
              "The second image may have another depth than the input, or be gray (see gpuimg "
              "help add). The result has the alpha of the input, unless --alpha is given. In 8 "
              "and 16 bits it is rounded once, a tie to the even number. OpenCV's addWeighted() "
              "differs by at most 1 step in 8 bits, and Pillow's Image.blend() truncates.",
    .options = options,
    .params_nbytes = sizeof(struct gi_binary_params),
    .samples.averages = true,
    .samples.masks_others = true,
    .check = check,
    .plan = plan,
    .run = gi_binary_run,
};
