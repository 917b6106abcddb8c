/* Converts associated (premultiplied) alpha to straight alpha.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff.h"

static uint32_t divide(uint32_t v, uint32_t alpha, uint32_t full)
{
    if (v >= alpha) /* colour above alpha is clamped, and colour is unchanged where alpha is 0 */
        return alpha ? full : v;
    return (v * full + alpha / 2) / alpha; /* the product is below 65536^2 */
}

static bool unmultiply_row(void *row, const struct gi_image *image, size_t colors, size_t alpha)
{
    bool cut = false;
    size_t channels = (size_t)image->channels, n = gi_row_samples(image);
    for (size_t at = 0; at < n; at += channels)
        for (size_t c = at; c < at + colors; c++) {
            uint8_t *v8 = row;
            uint16_t *v16 = row;
            float *f = row;
            if (image->type == GI_U8)
                cut = cut || (v8[at + alpha] && v8[c] > v8[at + alpha]);
            else if (image->type == GI_U16)
                cut = cut || (v16[at + alpha] && v16[c] > v16[at + alpha]);
            if (image->type == GI_U8)
                v8[c] = (uint8_t)divide(v8[c], v8[at + alpha], 255);
            else if (image->type == GI_U16)
                v16[c] = (uint16_t)divide(v16[c], v16[at + alpha], 65535);
            else if (f[at + alpha] > 0)
                f[c] /= f[at + alpha];
        }
    return cut;
}

bool gi_tiff_unmultiply(struct gi_image *image, int colors, int alpha)
{
    bool cut = false;
    for (int y = 0; y < image->height; y++)
        cut = unmultiply_row(gi_row(image, y), image, (size_t)colors, (size_t)alpha) || cut;
    return cut;
}
