/* Absolute difference of an image and a second image or value: |a - b| * scale + offset, in float
 * with one rounding (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_DIFFERENCE, err);
}

const struct gi_filter gi_filter_absdiff = {
    .name = "absdiff",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Absolute difference with an image or a value",
    .examples = "gpuimg absdiff frame1.png moved.png --with frame2.png\n"
                "gpuimg absdiff a.png out.png --with b.png --scale 10\n"
                "gpuimg absdiff in.png out.png --value 128",
    .manual = "out = |a - b| * scale + offset, where a is a sample of the input and b is a "
              "sample of the second image or of --value.\n\n"
              "The second image may have another depth than the input, or be gray (see gpuimg "
              "help add). The result has the alpha of the input, unless --alpha is given. In 8 "
              "and 16 bits the result is rounded once, a tie to the even number, and limited to "
              "the range 0 to full scale. It equals OpenCV's absdiff() and Pillow's "
              "ImageChops.difference().",
    GI_BINARY_ROW(gi_binary_options),
};
