/* The definitions of some primitives (kernels/FAMILY.h) in plain loops over single samples. Each
 * definition exists twice. The exact_ functions compute the exact bits in float, and the ideal_
 * functions compute in double.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_DEFINITIONS_H
#define GI_TESTS_DEFINITIONS_H

#include "kernels/kernels.h"
#include "kernels/border.h"
#include "kernels/color.h"
#include "kernels/convolution.h"

#define DEFINITIONS(REAL, REF)                                                                     \
    REAL REF(sample)(const struct gi_image *image, int y, int x, int c);                           \
    void REF(put)(struct gi_image * image, int y, int x, int c, REAL v);                           \
    REAL REF(at)(const struct gi_image *src, const struct gi_border_spec *border,                  \
                 enum gi_alpha_rule rule, long long y, long long x, int c);                        \
    void REF(separable)(struct gi_image * dst, const struct gi_image *src,                         \
                        const struct gi_separable *spec);                                          \
    void REF(dense)(struct gi_image * dst, const struct gi_image *src,                             \
                    const struct gi_dense *spec);                                                  \
    void REF(gradient)(struct gi_image * dst, const struct gi_image *src,                          \
                       const struct gi_gradient_magnitude *spec);                                  \
    void REF(luma)(struct gi_image * dst, const struct gi_image *src);
#define EXACT(name) exact_##name
#define IDEAL(name) ideal_##name
/* sample() reads a sample of any type. put() rounds, saturates and stores a sample. at() returns
 * the value that is filtered, after border mode and premultiplication. */
DEFINITIONS(float, EXACT)
DEFINITIONS(double, IDEAL)

/* Returns the border whose values are rounded to samples of the type of `src`. */
struct gi_border_spec exact_border(const struct gi_border_spec *border, const struct gi_image *src);

#endif
