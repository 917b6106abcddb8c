/* The definitions of some primitives (kernels/FAMILY.h) in plain loops over single samples, which
 * compute the exact bits. tests/filters compares operations with results in double.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/device.h"
#include "kernels/border.h"
#include "kernels/color.h"
#include "kernels/convolution.h"

/* exact_sample() reads a sample of any type. exact_put() rounds, saturates and stores a sample.
 * exact_at() returns the value that is filtered, after border mode and premultiplication. */
float exact_sample(const struct gi_image *image, int y, int x, int c);
void exact_put(struct gi_image *image, int y, int x, int c, float v);
float exact_at(const struct gi_image *src, const struct gi_border_spec *border,
               enum gi_alpha_rule rule, long long y, long long x, int c);
void exact_separable(struct gi_image *dst, const struct gi_image *src,
                     const struct gi_separable *spec);
void exact_dense(struct gi_image *dst, const struct gi_image *src, const struct gi_dense *spec);
void exact_gradient(struct gi_image *dst, const struct gi_image *src,
                    const struct gi_gradient_magnitude *spec);
void exact_luma(struct gi_image *dst, const struct gi_image *src);

/* Returns the border whose values are rounded to samples of the type of `src`. */
struct gi_border_spec exact_border(const struct gi_border_spec *border, const struct gi_image *src);
