/* Border modes and pixel conversion that both backends share.
 * SPDX-License-Identifier: MIT */
#include "kernels/border.h"

#include <math.h>
#include <string.h>

void gi_border_pixel(void *pixel, const struct gi_border_spec *border, const struct gi_image *image)
{
    float full = gi_type_full_scale(image->type);
    for (int c = 0; c < image->channels; c++) {
        float v = border->value[c];
        long whole = v > 0 ? lrintf(v < full ? v : full) : 0;
        if (image->type == GI_U8)
            ((uint8_t *)pixel)[c] = (uint8_t)whole;
        else if (image->type == GI_U16)
            ((uint16_t *)pixel)[c] = (uint16_t)whole;
        else
            memcpy((float *)pixel + c, v == v ? &v : &(float){NAN}, sizeof v);
    }
}
