/* Product of an image and a second image, which counts as a fraction of full scale, or a number, in
 * float with one rounding (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_MULTIPLY, err);
}

const struct gi_filter gi_filter_multiply = {
    .name = "multiply",
    .group = GI_GROUP_IMAGES,
    .summary = "Multiply by an image or a number",
    .examples = "gpuimg multiply photo.png out.png --with shade.png\n"
                "gpuimg multiply in.png warm.png --value 1.1,1,0.9\n"
                "gpuimg multiply in.png out.png --value '#ffe0c0'",
    .manual = "By an image: out = a * b / full scale * scale + offset, so that white changes "
              "nothing. By --value: out = a * value * scale + offset, where the value is a "
              "number, or a colour as a fraction of white.\n\n"
              "Depth, gray and alpha of the second image are treated as in gpuimg add. The "
              "result is rounded once, half to even, and limited to 0 to full scale in an "
              "integer image. It equals OpenCV's multiply() with scale=1/255; Pillow's "
              "ImageChops.multiply() truncates.",
    .options = gi_ratio_options,
    .params_nbytes = sizeof(struct gi_binary_params),
    .averages = true,
    .check = gi_binary_check,
    .plan = plan,
    .run = gi_binary_run,
};
