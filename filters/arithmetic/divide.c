/* Quotient of an image and a second image, which counts as a fraction of full scale, or a number,
 * in float with one rounding (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_DIVIDE, err);
}

const struct gi_filter gi_filter_divide = {
    .name = "divide",
    .group = GI_GROUP_IMAGES,
    .summary = "Divide by an image or a number",
    .examples = "gpuimg divide page.png even.png --with paper.png\n"
                "gpuimg divide a.png ratio.png --with b.png --scale 0.5\n"
                "gpuimg divide in.png out.png --value 2",
    .manual = "By an image: out = a / b * full scale * scale + offset, so that white changes "
              "nothing. By --value: out = a / value * scale + offset, where the value is a "
              "number, or a colour as a fraction of white. A division by 0 gives full scale, and "
              "0 / 0 gives 0; in a float image they give infinity and NaN.\n\n"
              "Depth, gray and alpha of the second image are treated as in gpuimg add. For "
              "frames of a camera see gpuimg flat-field. The result is rounded once, half to "
              "even, and limited to 0 to full scale in an integer image. It equals OpenCV's "
              "divide() with scale=255, which makes both divisions by 0 zero.",
    .options = gi_ratio_options,
    .params_nbytes = sizeof(struct gi_binary_params),
    .averages = true,
    .check = gi_binary_check,
    .plan = plan,
    .run = gi_binary_run,
};
