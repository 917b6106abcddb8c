/* Values put where they belong. Included by kernels/kernels.h, whose rules hold here too.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_SCATTER_H
#define GI_KERNELS_SCATTER_H

#include "imgio/image.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pixel i of `places`, in raster order, names by its first two channels, truncated to integers, a
 * column and a row of the whole image, or a position outside it. A pixel that is named becomes
 * value i of the last i that names it; all others are as in `src`. In pixel i of `values`, from
 * channel `first` on, one or two channels are gray, three or four are red, green and blue, two and
 * four end with alpha: a result sample is its own times `scale` in float32, or gray for all
 * colours, and alpha is full scale if there is none; then the last step. */
struct gi_scatter {
    const struct gi_image *places; /* two channels or more, of any size; fewer than 2^32 - 1 pixels;
                                      on the backend */
    const struct gi_image *values; /* as many pixels, of three colours only where `dst` has them;
                                      may be `places`; NULL: `value` everywhere */
    int first;
    float scale;
    float value[GI_MAX_CHANNELS]; /* of `dst`, in its units */
    int y;                        /* the row of the whole image that is the first of `src` */
};

/* `dst` may be `src`. */
typedef enum gi_status gi_scatter_fn(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const struct gi_scatter *spec,
                                     struct gi_err *err);

/* ---- the definition, for both backends ---- */

/* The whole number that a place's channel names, below `end`; -1 where it is none of them. */
GI_HOST_DEVICE static inline int gi_scatter_index(float v, int end)
{
    int index = v >= 0 && v < 2147483648.0f ? (int)v : -1;
    return index < end ? index : -1;
}

/* The channel of `nvalues` channels of a value that channel c of `channels` comes from; -1: it is
 * alpha and full scale. */
GI_HOST_DEVICE static inline int gi_scatter_channel(int c, int channels, int nvalues)
{
    int colours = nvalues - (nvalues % 2 == 0);
    if (channels % 2 == 0 && c == channels - 1)
        return nvalues % 2 == 0 ? nvalues - 1 : -1;
    return colours == 1 ? 0 : c;
}

#ifdef __cplusplus
}
#endif
#endif
