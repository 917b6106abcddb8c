/* Formulas of operations as programs of the primitive calc.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/status.h"
#include "kernels/calc.h"

/* Makes the program of a formula in the language of `gpuimg help calc`. In it, `a` is an image of
 * GI_F32 with `channels` channels, and so is the result, whose alpha is that of `a`. Errors:
 * GI_E_USAGE for what the language does not take. */
enum gi_status gi_formula_compile(struct gi_calc *program, int channels, const char *text,
                                  struct gi_err *err);

/* Makes the program of formulas separated by commas, each of which is a channel of the result, for
 * images shaped like the n images, which the formulas name a, b and c. Errors: as above. */
enum gi_status gi_formula_compile_images(struct gi_calc *program, const struct gi_image *images,
                                         int n, const char *text, struct gi_err *err);
