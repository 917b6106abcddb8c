/* Add: the sum of two images.
 * SPDX-License-Identifier: MIT */
#include "filters/combine/arithmetic.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_arithmetic_plan(plan, GI_COMBINE_ADD, err);
}

const struct gi_filter gi_filter_add = {
    .name = "add",
    .group = GI_GROUP_IMAGES,
    .summary = "Add an image or a value",
    .examples = "gpuimg add a.png sum.png --with b.png\n"
                "gpuimg add a.png mean.png --with b.png --scale 0.5\n"
                "gpuimg add in.png brighter.png --value 20",
    .manual =
        "out = (a + b) * scale + offset, rounded once, half to even, and held between 0 and full "
        "scale in an integer image: a is a sample of the input, b that of the second image, or of "
        "--value. Equals OpenCV's add(), and without --scale and --offset Pillow's "
        "ImageChops.add().\n\n"
        "A second image of another depth is taken to the input's scale first, 255 of 8 bits being "
        "65535 of 16 and 1 of floats, without rounding. A gray one is added to all colours. The "
        "result has the alpha of the input, unless --alpha says so. Samples below 0 and above "
        "full scale pass through a chain of --depth float.",
    .options = gi_arithmetic_options,
    .params_nbytes = sizeof(struct gi_arithmetic_params),
    .mixes = true,
    .check = gi_arithmetic_check,
    .plan = plan,
    .run = gi_arithmetic_run,
};
