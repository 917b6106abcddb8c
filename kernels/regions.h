/* Contracts of the family regions: compaction, connected components and their sums, painting and
 * flood fill, and scattering of values. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_REGIONS_H
#define GI_KERNELS_REGIONS_H

#include "kernels/rules.h"
#include "kernels/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The foreground: pixels whose sample of `on` is > above, or with `invert` is not. `on` has one
 * channel. NaN is not > anything. */
struct gi_predicate {
    const struct gi_image *on;
    float above; /* sample units */
    bool invert;
};

/* Host memory: the coordinates and values of the foreground, in raster order. */
struct gi_pixel_list {
    uint64_t n;
    uint32_t *x, *y; /* n each; pixels from the left, rows from the top */
    float *value;    /* n; the sample of the value image */
};

/* One region of a label image, as integer sums. */
struct gi_region_sums {
    uint64_t area;                       /* pixels */
    uint64_t sum_x, sum_y;               /* of pixel coordinates (centres at whole numbers) */
    uint32_t min_x, min_y, max_x, max_y; /* inclusive */
    struct gi_sums value; /* of the intensity; NaN is not counted, so n may be smaller than area */
    uint32_t min_key, max_key; /* of the intensity: the sample, or gi_float_key(); NaN is not
                                  counted; min_key > max_key: no samples */
    /* Perimeter after Benkrid and Crookes as scikit-image counts it (neighborhood=4): border pixels
     * are those of the region with one of their 4 neighbours outside it (outside the image counts);
     * each border pixel is classed by 10 * (diagonal border neighbours of the region)
     * + 2 * (4-neighbours that are border pixels of the region) + 1. Classes 5 7 15 17 25 27 count
     * in straight, 21 33 in diagonal, 13 23 in mixed; others nowhere. */
    uint64_t straight, diagonal, mixed;
};

/* compact: the arrays of the result are made here; the caller frees them with gi_pixel_list_free().
 * `src`, whose values are listed, has one channel and the shape of predicate->on. */

/* Connected components of the foreground, the pixels of `src`, of one channel, that are > above, or
 * with `invert` are not. At most 2^32 - 2 pixels. */
struct gi_label {
    float above; /* sample units */
    bool invert;
    int connectivity; /* 4 or 8 */
};

/* What label makes: `image` (GI_U32, one channel, on the backend), released by the caller, is 0 for
 * background and 1 to n in raster order of each component's first pixel. */
struct gi_labels {
    struct gi_image image;
    uint32_t n;
};

/* region_stats: result[l - 1] is set to the sums of label l, 1 <= l <= n (host memory, n entries).
 * `src`, whose values are summed, has one channel. */
struct gi_region_stats {
    const struct gi_image *labels; /* of the shape of `src`, as label made them */
    uint32_t n;
    float lo, hi; /* quantise GI_F32 values as in gi_sums */
};

void gi_pixel_list_free(struct gi_pixel_list *points);

/* Pixels whose label l is marked get the colour samples `value`; all others, and alpha, are as in
 * `src`. */
struct gi_paint {
    const struct gi_image *labels; /* GI_U32, of the shape of `src`, on the backend */
    const uint8_t *marked; /* label l is marked if [l - 1] is not 0; host memory, read before the
                              primitive returns */
    uint32_t n;  /* number of entries: the largest possible label; label 0 is background */
    float value; /* sample units, a sample of the type */
};

/* Flood fill from the sides of the image: the colour samples of foreground pixels that are
 * connected to a side, or with `enclosed` of all other foreground pixels, become `value`; all other
 * pixels, and alpha, are as in `src`. */
struct gi_flood {
    const struct gi_predicate *foreground; /* on an image of the size of `src`, on the backend */
    int connectivity;                      /* 4 or 8 */
    bool enclosed;
    float value; /* sample units, a sample of the type of `src` */
};

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

/* scatter: `dst` may be `src`. */

/* ---- the definition, for both backends ---- */

/* Returns the integer in a position's channel if it is from 0 to `end` - 1, else -1. */
GI_HOST_DEVICE static inline int gi_scatter_index(float v, int end)
{
    int index = v >= 0 && v < 2147483648.0f ? (int)v : -1;
    return index < end ? index : -1;
}

/* Returns the channel, of `nvalues`, from which channel c of `channels` is taken; -1: it is alpha
 * at full scale. */
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
