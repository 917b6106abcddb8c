/* Sum of an image and a second image or value: (a + b) * scale + offset, in float with one rounding
 * (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_ADD, err);
}

const struct gi_filter gi_filter_add = {
    .name = "add",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Add an image or a value",
    .examples = "gpuimg add a.png sum.png --with b.png\n"
                "gpuimg add a.png mean.png --with b.png --scale 0.5\n"
                "gpuimg add in.png brighter.png --value 20",
    .manual = "out = (a + b) * scale + offset, where a is a sample of the input and b is a "
              "sample of the second image or of --value. gpuimg help levels has an example for a "
              "brighter image with more contrast and saturation.\n\n"
              "If the two images have different depths, the samples of the second image are "
              "first scaled to the depth of the input, without rounding: 255 in 8 bits is 65535 "
              "in 16 bits and 1 in floats. A gray second image is used for all colours. The "
              "result has the alpha of the input, unless --alpha is given.\n\n"
              "In 8 and 16 bits the result is rounded once, a tie to the even number, and "
              "limited to the range 0 to full scale. With --depth float samples below 0 and "
              "above full scale are kept. The result equals OpenCV's add(), and without --scale "
              "and --offset Pillow's ImageChops.add().",
    GI_BINARY_ROW(gi_binary_options),
};
