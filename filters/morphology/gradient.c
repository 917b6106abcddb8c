/* Morphological gradient: the dilation minus the erosion (J. Rivest, P. Soille and S. Beucher,
 * 1993).
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_flat *flat = plan->tables;
    return gi_flat_pair(plan, queue, work, &flat->dilate, &flat->erode, GI_ARITHMETIC_SUBTRACT,
                        false, err);
}

const struct gi_filter gi_filter_gradient = {
    .name = "gradient",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "Morphological gradient: the dilation minus the erosion",
    .examples = "gpuimg gradient in.png out.png\n"
                "gpuimg gradient in.png out.png --k 5 --gray\n"
                "gpuimg gradient mask.png outline.png --size 3x3",
    .manual = "The morphological gradient is dilate(in) - erode(in): the maximum minus the "
              "minimum of the samples under the structuring element, which is large at edges. "
              "gpuimg run 'threshold | gradient' draws the outlines (contours, boundaries) of "
              "objects. These commands draw them in red on a gray image:\n\n"
              "  gpuimg run 'threshold | gradient' cells.tif outline.png\n"
              "  gpuimg run 'normalize | channels --order rrr | mask --with outline.png --invert "
              "--fill red' cells.tif red.png --depth 8\n\n"
              "gpuimg help erode describes the structuring element and the treatment of "
              "NaN. " GI_FLAT_DIFFERENCE_ALPHA
              " With --border border the difference can be negative. It is then 0 in 8- and "
              "16-bit images, and stays negative in float images.\n\n"
              "The results are those of scipy's morphological_gradient() and OpenCV's "
              "MORPH_GRADIENT (J. Rivest, P. Soille, S. Beucher, Morphological gradients, "
              "1993). " GI_FLAT_PEERS,
    GI_FLAT_ROW(gi_flat_difference_options, gi_flat_plan_both),
};
