/* Formulas of operations, which are programs of the primitive calc.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/status.h"
#include "kernels/calc.h"

/* Makes the program of a formula in the language of `gpuimg help calc`. In it, `a` is an image of
 * GI_F32 with `channels` channels, and so is the result, whose alpha is that of `a`. Errors:
 * GI_E_USAGE for what the language does not take. */
enum gi_status gi_formula_compile(struct gi_calc *program, int channels, const char *text,
                                  struct gi_err *err);

/* Computes formulas separated by commas, each of which is a channel of `dst`. They name the images
 * a, b and c, of the size of `dst`; unused ones are NULL. Errors: as above, those of calc. */
enum gi_status gi_formula_run(struct gi_queue *queue, struct gi_image *dst, const char *text,
                              const struct gi_image *a, const struct gi_image *b,
                              const struct gi_image *c, struct gi_err *err);

/* The same for `made`, a new float image of that many channels, which the caller releases. */
enum gi_status gi_formula_make(struct gi_queue *queue, struct gi_image *made, int channels,
                               const char *text, const struct gi_image *a, const struct gi_image *b,
                               const struct gi_image *c, struct gi_err *err);
