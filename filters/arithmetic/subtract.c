/* Difference of an image and a second image or value, (a - b) * scale + offset, in float with one
 * rounding (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_SUBTRACT, err);
}

const struct gi_filter gi_filter_subtract = {
    .name = "subtract",
    .group = GI_GROUP_IMAGES,
    .summary = "Subtract an image or a value",
    .examples = "gpuimg subtract light.png out.png --with dark.png\n"
                "gpuimg subtract a.png signed.png --with b.png --scale 0.5 --offset 128\n"
                "gpuimg subtract in.png darker.png --value 10,20,30",
    .manual = "out = (a - b) * scale + offset, where a is a sample of the input and b one of the "
              "second image or of --value. Integer images hold no values below 0: keep them by "
              "--offset or --depth float, or use gpuimg absdiff.\n\n"
              "Depth, gray and alpha of the second image are treated as in gpuimg add. The "
              "result is rounded once, half to even, and limited to 0 to full scale in an "
              "integer image. It equals OpenCV's subtract().",
    .options = gi_binary_options,
    .params_nbytes = sizeof(struct gi_binary_params),
    .averages = true,
    .check = gi_binary_check,
    .plan = plan,
    .run = gi_binary_run,
};
