/* Product of an image and a number or a second image, whose samples count as fractions of full
 * scale, in float with one rounding (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_MULTIPLY, err);
}

const struct gi_filter gi_filter_multiply = {
    .name = "multiply",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Multiply by an image or a number",
    .examples = "gpuimg multiply photo.png out.png --with shade.png\n"
                "gpuimg multiply in.png warm.png --value 1.1,1,0.9\n"
                "gpuimg multiply in.png out.png --value '#ffe0c0'",
    .manual = "With an image: out = a * b / full scale * scale + offset, where a is a sample of "
              "the input and b is a sample of the second image. So white in the second image "
              "changes nothing.\n\n"
              "With --value: out = a * value * scale + offset. The value is a number; a colour "
              "counts as a fraction of white, so that '#ff8000' is 1, 0.5, 0.\n\n"
              "The second image may have another depth than the input, or be gray (see gpuimg "
              "help add). The result has the alpha of the input, unless --alpha is given. In 8 "
              "and 16 bits the result is rounded once, a tie to the even number, and limited to "
              "the range 0 to full scale. It equals OpenCV's multiply() with scale=1/255; "
              "Pillow's ImageChops.multiply() truncates.",
    GI_BINARY_ROW(gi_ratio_options),
};
