/* The functions of definitions.h, made from the bodies in reference.h.
 * SPDX-License-Identifier: MIT */
#include "definitions.h"

#define REAL float
#define REF  EXACT
#define FMA  fmaf
#define SQRT sqrtf
#include "reference.h"
#undef REAL
#undef REF
#undef FMA
#undef SQRT
#define REAL double
#define REF  IDEAL
#define FMA  fma
#define SQRT sqrt
#include "reference.h"

struct gi_border_spec exact_border(const struct gi_border_spec *border, const struct gi_image *src)
{
    struct gi_border_spec whole = *border;
    for (int c = 0; src->type != GI_F32 && c < src->channels; c++)
        whole.value[c] = rintf(fmaxf(fminf(border->value[c], gi_type_full_scale(src->type)), 0));
    return whole;
}
