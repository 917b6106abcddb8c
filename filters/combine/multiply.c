/* Multiply: the product of two images.
 * SPDX-License-Identifier: MIT */
#include "filters/combine/arithmetic.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_arithmetic_plan(plan, GI_COMBINE_MULTIPLY, err);
}

const struct gi_filter gi_filter_multiply = {
    .name = "multiply",
    .group = GI_GROUP_IMAGES,
    .summary = "Multiply by an image or a number",
    .examples = "gpuimg multiply photo.png out.png --with shade.png\n"
                "gpuimg multiply in.png warm.png --value 1.1,1,0.9\n"
                "gpuimg multiply in.png out.png --value '#ffe0c0'",
    .manual =
        "By an image: out = a * b / full scale * scale + offset, so that white changes nothing, as "
        "OpenCV's multiply() with scale=1/255 has it; Pillow's ImageChops.multiply() cuts off "
        "where "
        "this rounds. By --value: out = a * value * scale + offset, the value being a number, or "
        "of a colour its "
        "parts of white. Rounded once, half to even, and held between 0 and full scale in an "
        "integer image.\n\n"
        "Depth, gray and alpha of the second image as in gpuimg add.",
    .options = gi_ratio_options,
    .params_nbytes = sizeof(struct gi_arithmetic_params),
    .mixes = true,
    .check = gi_arithmetic_check,
    .plan = plan,
    .run = gi_arithmetic_run,
};
