/* Quotient of an image and a number or a second image, whose samples count as fractions of full
 * scale, in float with one rounding (filters/arithmetic/binary.c).
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_binary_plan(plan, GI_ARITHMETIC_DIVIDE, err);
}

const struct gi_filter gi_filter_divide = {
    .name = "divide",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Divide by an image or a number",
    .examples = "gpuimg divide page.png even.png --with paper.png\n"
                "gpuimg divide a.png ratio.png --with b.png --scale 0.5\n"
                "gpuimg divide in.png out.png --value 2",
    .manual = "With an image: out = a / b * full scale * scale + offset, where a is a sample of "
              "the input and b is a sample of the second image. So white in the second image "
              "changes nothing. To correct frames of a camera, see gpuimg help flat-field.\n\n"
              "With --value: out = a / value * scale + offset. The value is a number; a colour "
              "counts as a fraction of white, so that '#ff8000' is 1, 0.5, 0.\n\n"
              "In 8 and 16 bits a division by 0 gives full scale, and 0 / 0 gives 0. In float "
              "images they give infinity and NaN.\n\n"
              "The second image may have another depth than the input, or be gray (see gpuimg "
              "help add). The result has the alpha of the input, unless --alpha is given. In 8 "
              "and 16 bits the result is rounded once, a tie to the even number, and limited to "
              "the range 0 to full scale. It equals OpenCV's divide() with scale=255, which "
              "gives 0 for both divisions by 0.",
    GI_BINARY_ROW(gi_ratio_options),
};
