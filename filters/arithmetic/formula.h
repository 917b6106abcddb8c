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
