/* Contracts of the family regions: stream compaction of the foreground, connected components,
 * sums of each region, and regions that are given a value. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_REGIONS_H
#define GI_KERNELS_REGIONS_H

#include "kernels/rules.h"
#include "kernels/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pixel is foreground where its sample of `on` is > above; with `invert` where it is not.
 * `on` has one channel. NaN is not > anything. */
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
    struct gi_sums value;      /* of the intensity; n is smaller than area where it is NaN */
    uint32_t min_key, max_key; /* of the intensity: the sample, or gi_float_key(); NaN left out;
                                  min_key > max_key: none */
    /* Perimeter after Benkrid and Crookes as scikit-image counts it (neighborhood=4): border pixels
     * are those of the region with one of their 4 neighbours outside it (outside the image counts);
     * each border pixel is classed by 10 * (diagonal border neighbours of the region)
     * + 2 * (4-neighbours that are border pixels of the region) + 1. Classes 5 7 15 17 25 27 count
     * in straight, 21 33 in diagonal, 13 23 in mixed; others nowhere. */
    uint64_t straight, diagonal, mixed;
};

/* `points` is made here; the caller frees it with gi_pixel_list_free(). `values` has one channel
 * and the shape of predicate->on. */
typedef enum gi_status gi_compact_fn(struct gi_queue *queue, struct gi_pixel_list *points,
                                     const struct gi_image *values,
                                     const struct gi_predicate *predicate, struct gi_err *err);

/* Connected components of the foreground, connectivity 4 or 8. `labels` (GI_U32, one channel,
 * on the backend) is made here and released by the caller: 0 for background and 1 to *n in
 * raster order of each component's first pixel. At most 2^32 - 2 pixels. */
typedef enum gi_status gi_label_fn(struct gi_queue *queue, struct gi_image *labels, uint32_t *n,
                                   const struct gi_predicate *predicate, int connectivity,
                                   struct gi_err *err);

/* regions[l - 1] is set to the sums of label l, 1 <= l <= n (host memory, n entries). `labels`
 * and n are what label() gave. `values` has one channel and the shape of `labels`; lo, hi
 * quantise GI_F32 values as in gi_sums. */
typedef enum gi_status gi_region_stats_fn(struct gi_queue *queue, struct gi_region_sums *regions,
                                          uint32_t n, const struct gi_image *labels,
                                          const struct gi_image *values, float lo, float hi,
                                          struct gi_err *err);

void gi_pixel_list_free(struct gi_pixel_list *points);

/* Pixels whose label l is marked get the colour samples `value`; all others, and alpha, are as in
 * `src`. */
struct gi_paint {
    const struct gi_image *labels; /* GI_U32, of the shape of `src`, on the backend */
    const uint8_t *marked;         /* not 0: [l - 1] is marked; host memory, read before the
                                      primitive returns */
    uint32_t n;                    /* entries: no label is greater; 0 is none */
    float value;                   /* sample units, a sample of the type */
};

typedef enum gi_status gi_paint_fn(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_paint *spec,
                                   struct gi_err *err);

/* Foreground pixels that are connected to a side of the image are reached. The colour samples of
 * these, or with `enclosed` of the other foreground pixels, become `value`; all other pixels, and
 * alpha, are as in `src`. */
struct gi_flood {
    const struct gi_predicate *foreground; /* on an image of the size of `src`, on the backend */
    int connectivity;                      /* 4 or 8 */
    bool enclosed;
    float value; /* sample units, a sample of the type of `src` */
};

typedef enum gi_status gi_flood_fn(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_flood *spec,
                                   struct gi_err *err);

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
