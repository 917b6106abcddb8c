/* Divide: the ratio of two images.
 * SPDX-License-Identifier: MIT */
#include "filters/combine/arithmetic.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_arithmetic_plan(plan, GI_COMBINE_DIVIDE, err);
}

const struct gi_filter gi_filter_divide = {
    .name = "divide",
    .group = GI_GROUP_IMAGES,
    .summary = "Divide by an image or a number",
    .examples = "gpuimg divide page.png even.png --with paper.png\n"
                "gpuimg divide a.png ratio.png --with b.png --scale 0.5\n"
                "gpuimg divide in.png out.png --value 2",
    .manual =
        "By an image: out = a / b * full scale * scale + offset, so that white changes nothing, as "
        "OpenCV's divide() with scale=255 has it. By --value: out = a / value * scale + offset, "
        "the "
        "value being a number, or of a colour its parts of white. Rounded once, half to even, and "
        "held between 0 and full scale in an integer image. What is divided by 0 is full scale, "
        "and 0 / 0 is 0, where OpenCV makes both 0; in a float image they are infinite and NaN."
        "\n\n"
        "Depth, gray and alpha of the second image as in gpuimg add. For frames of a camera see "
        "gpuimg flat-field.",
    .options = gi_ratio_options,
    .params_nbytes = sizeof(struct gi_arithmetic_params),
    .mixes = true,
    .check = gi_arithmetic_check,
    .plan = plan,
    .run = gi_arithmetic_run,
};
