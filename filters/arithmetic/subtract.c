/* Difference of an image and a second image or value: (a - b) * scale + offset, in float with one
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
    .planes = GI_PLANES_RGB,
    .summary = "Subtract an image or a value",
    .examples = "gpuimg subtract light.png out.png --with dark.png\n"
                "gpuimg subtract a.png signed.png --with b.png --scale 0.5 --offset 128\n"
                "gpuimg subtract in.png darker.png --value 10,20,30",
    .manual = "out = (a - b) * scale + offset, where a is a sample of the input and b is a "
              "sample of the second image or of --value. In 8 and 16 bits negative results "
              "become 0. To keep them, use --offset or --depth float, or take the absolute "
              "difference with gpuimg absdiff.\n\n"
              "The second image may have another depth than the input, or be gray (see gpuimg "
              "help add). The result has the alpha of the input, unless --alpha is given. In 8 "
              "and 16 bits the result is rounded once, a tie to the even number, and limited to "
              "the range 0 to full scale. It equals OpenCV's subtract().",
    GI_BINARY_ROW(gi_binary_options),
};
