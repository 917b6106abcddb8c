/* Fuses the images of a stack by exposure or by focus, with memory that does not grow with their
 * number: the images are stored, in memory or in a temporary file, and visited again.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/commands/stack_strip.h"
#include "cli/run/imaging.h"
#include "filters/statistics/stack.h"

struct gi_stack_fusion {
    struct gi_image state; /* of the images taken, in host memory; no data: none yet */
};

/* Updates the state by an image, the next one. Errors: those of the operation stack. */
enum gi_status gi_stack_fusion_take(struct gi_stack_fusion *fusion,
                                    const struct gi_stack_params *params,
                                    const struct gi_image *image, int number,
                                    struct gi_imaging *imaging, struct gi_line *line,
                                    struct gi_err *err);
/* Makes the result, freed by the caller, from all images, which are in the strip. `shape` is that
 * of an image. Errors: as above, and those of gi_stack_strip_get(). */
enum gi_status gi_stack_fusion_finish(struct gi_stack_fusion *fusion, struct gi_image *result,
                                      const struct gi_stack_params *params,
                                      struct gi_stack_strip *strip, const struct gi_image *shape,
                                      struct gi_imaging *imaging, struct gi_line *line,
                                      struct gi_err *err);
void gi_stack_fusion_free(struct gi_stack_fusion *fusion);
