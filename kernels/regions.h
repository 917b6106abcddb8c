/* Contracts of the family regions: stream compaction, connected components and their sums,
 * painting, flood fill, and scattering of values.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_REGIONS_H
#define GI_KERNELS_REGIONS_H

#include "kernels/rules.h"
#include "kernels/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Defines the foreground: the pixels whose sample in `on` is > above, or, with `invert`, all other
 * pixels. `on` has one channel. NaN is not > anything. */
struct gi_predicate {
    const struct gi_image *on;
    float above; /* sample units */
    bool invert;
};

/* Coordinates and values of the foreground pixels in raster order; host memory. */
struct gi_pixel_list {
    uint64_t n;
    uint32_t *x, *y; /* n entries each: columns from the left, rows from the top */
    float *value;    /* n; the sample of the value image */
};

/* Integer sums of one region of a label image. */
struct gi_region_sums {
    uint64_t area;                       /* pixels */
    uint64_t sum_x, sum_y;               /* sums of the pixels' columns and rows */
    uint32_t min_x, min_y, max_x, max_y; /* inclusive */
    struct gi_sums value;      /* sums of the intensity, without NaN: value.n may be < area */
    uint32_t min_key, max_key; /* range of the intensity (the sample, or gi_float_key()) without
                                  NaN; min_key > max_key: no samples */
    /* Perimeter after Benkrid and Crookes, as scikit-image counts it (neighborhood=4). A border
     * pixel is a pixel of the region with one of its 4 neighbours outside the region or the image.
     * Each border pixel belongs to class 10 * (number of diagonal neighbours that are border
     * pixels) + 2 * (number of 4-neighbours that are border pixels) + 1. Classes 5 7 15 17 25 27
     * are counted in `straight`, 21 33 in `diagonal`, 13 23 in `mixed`; others are not counted. */
    uint64_t straight, diagonal, mixed;
};

/* compact: lists the foreground and the values of `src` there. The primitive allocates the arrays
 * of the result; the caller frees them with gi_pixel_list_free(). `src` has one channel and the
 * shape of predicate->on. */

/* label: finds the connected components of the foreground: the pixels of `src` (one channel) that
 * are > above, or, with `invert`, all other pixels. There are at most 2^32 - 2 pixels. */
struct gi_label {
    float above; /* sample units */
    bool invert;
    int connectivity; /* 4 or 8 */
};

/* The result of label. In `image` (GI_U32, one channel, on the backend) 0 is background, and
 * components are numbered 1 to n in raster order of their first pixels. The caller releases
 * `image`. */
struct gi_labels {
    struct gi_image image;
    uint32_t n;
};

/* region_stats: result[l - 1] is set to the sums of label l, 1 <= l <= n. The result is host memory
 * for n entries. The pixels of each label are connected (8-connected), regions may touch, and all
 * labels occur. The samples of `src`, which has one channel, are the intensity. */
struct gi_region_stats {
    const struct gi_image *labels; /* GI_U32, shaped as `src`, on the backend */
    uint32_t n;
    float lo, hi; /* quantise GI_F32 values as in gi_sums */
};

void gi_pixel_list_free(struct gi_pixel_list *points);

/* paint: pixels with a marked label get the colour samples `value`. All other pixels, and alpha,
 * are copied from `src`. */
struct gi_paint {
    const struct gi_image *labels; /* GI_U32, shaped as `src`, on the backend */
    const uint8_t *marked; /* label l is marked if marked[l - 1] is not 0; host memory, read before
                              the primitive returns */
    uint32_t n;            /* entries of `marked`, which is the largest label; 0 is background */
    float value;           /* sample units, a sample of the type */
};

/* flood: fill from the sides of the image. Foreground pixels that are connected to a side get the
 * colour samples `value`. With `enclosed` all other foreground pixels get them instead. The
 * remaining pixels, and alpha, are copied from `src`. */
struct gi_flood {
    const struct gi_predicate *foreground; /* on an image of the size of `src`, on the backend */
    int connectivity;                      /* 4 or 8 */
    bool enclosed;
    float value; /* in sample units; representable in the type of `src` */
};

/* The kind of result that distance computes for the pixel (x, y) from the site (x', y') that is
 * nearest to it. dx = |x - x'| and dy = |y - y'|. */
enum gi_distance_kind {
    GI_DISTANCE_EUCLIDEAN,  /* sqrt(dx^2 + dy^2), rounded to the nearest float */
    GI_DISTANCE_SQUARED,    /* dx^2 + dy^2, rounded to the nearest float */
    GI_DISTANCE_CITY_BLOCK, /* dx + dy */
    GI_DISTANCE_CHESSBOARD, /* max(dx, dy) */
    GI_DISTANCE_PLACE,      /* two channels: x' and y' */
    GI_DISTANCE_SAMPLE,     /* the sample of `src` at (x', y') if dx^2 + dy^2 <= `within`, else 0 */
};

enum { GI_DISTANCE_SIDE = 1 << 24 }; /* maximum width and height; floats hold these coordinates */

/* distance: distance transform, and the nearest pixel of a set. The pixels of `src` (one channel)
 * that are > above are the sites, or, with `invert`, all other pixels. The nearest site is the one
 * with the smallest distance of the kind (SQUARED for PLACE and SAMPLE); if several sites are
 * equally near, the leftmost of these, and in one column the uppermost. Nothing outside the image
 * is a site. If there is no site, distances are infinite, places are -1 and samples are 0.
 * `dst` has the size of `src`: GI_F32 with two channels for PLACE, the type and the channel of
 * `src` for SAMPLE, and otherwise one channel of any sample type. The last step follows. */
struct gi_distance {
    enum gi_distance_kind kind;
    float above; /* sample units */
    bool invert;
    int64_t within; /* SAMPLE: limit of the squared distance */
};

/* scatter: writes value i at position i, in raster order, so that the last value written to a pixel
 * remains. All other pixels are copied from `src`. Position i is pixel i of `places`. Its first two
 * channels, truncated to integers, are a column and a row of the whole image. Positions outside the
 * image are skipped. Value i is pixel i of `values`, from channel `first` on. One or two channels
 * are gray, three or four are red, green and blue; if there are two or four, the last is alpha. A
 * sample of the result is a sample of the value times `scale` in float32. Gray is used for all
 * colours, and a missing alpha is full scale. The last step follows. */
struct gi_scatter {
    const struct gi_image *places; /* at least 2 channels, any size, fewer than 2^32 - 1 pixels */
    /* As many pixels as `places`, or `places` itself. `values` has three colours only if `dst` has
     * three. If it is NULL, every value is `value`. */
    const struct gi_image *values;
    int first;
    float scale;
    float value[GI_MAX_CHANNELS]; /* of `dst`, in its units */
    int y;                        /* row of the whole image that is the first row of `src` */
};

/* scatter: `dst` may be `src`. */

/* ---- the definition, for both backends ---- */

/* Returns the coordinate v truncated to an integer, or -1 if this integer is not from 0 to `end` -
 * 1. */
GI_HOST_DEVICE static inline int gi_scatter_index(float v, int end)
{
    int index = v >= 0 && v < 2147483648.0f ? (int)v : -1;
    return index < end ? index : -1;
}

/* Returns which of the `nvalues` channels of values becomes channel c of `channels`, or -1 if that
 * channel is an alpha of full scale. */
GI_HOST_DEVICE static inline int gi_scatter_channel(int c, int channels, int nvalues)
{
    int colors = nvalues - (nvalues % 2 == 0);
    if (channels % 2 == 0 && c == channels - 1)
        return nvalues % 2 == 0 ? nvalues - 1 : -1;
    return colors == 1 ? 0 : c;
}

/* Returns the number by which distance compares sites; dx and dy may be negative. */
GI_HOST_DEVICE static inline int64_t gi_distance_cost(enum gi_distance_kind kind, int64_t dx,
                                                      int64_t dy)
{
    int64_t across = dx < 0 ? -dx : dx, down = dy < 0 ? -dy : dy;
    return kind == GI_DISTANCE_CITY_BLOCK   ? across + down
           : kind == GI_DISTANCE_CHESSBOARD ? (across > down ? across : down)
                                            : dx * dx + dy * dy;
}

#ifdef __cplusplus
}
#endif

#endif
