/* Connected components of an image and their measures.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "filters/regions/descriptors.h"
#include "filters/regions/moments.h"
#include "kernels/regions.h"

enum gi_region_order {
    GI_REGIONS_BY_LABEL, /* ascending */
    GI_REGIONS_BY_AREA,  /* largest first */
    GI_REGIONS_BY_X,     /* left edge of the bounding box, from left to right */
    GI_REGIONS_BY_Y,     /* upper edge of the bounding box, from top to bottom */
    GI_REGIONS_BY_MEAN,  /* brightest first; regions with only NaN last */
};

struct gi_extract_params {
    struct gi_level at;
    bool invert;
    int connectivity;            /* 0: 4-connected, 1: 8-connected */
    uint64_t min_area, max_area; /* pixels; max_area 0: no maximum */
    int keep_top;                /* 0: all */
    int sort;                    /* enum gi_region_order; ties are sorted by label */
    const char *mask_image;      /* NULL: `at` defines the foreground */
    const char *labels_image;    /* NULL: the regions are connected components */
    bool descriptors;            /* shape descriptors are measured too */
    bool moments;
    /* These are not options, but say which parts of the result the caller wants. */
    bool labels, points;
};

/* Labels are numbered from 1, in raster order of the first pixels of the regions that are kept, or
 * they are those of an image of labels. */
struct gi_extract {
    uint32_t n;                     /* regions kept */
    uint32_t found;                 /* regions before the choice by area */
    enum gi_type type;              /* sample type of the image, and of intensities */
    float lo, hi;                   /* GI_F32: range in which sums are quantised */
    float threshold;                /* samples > threshold are foreground; not used with a mask */
    struct gi_region_sums *regions; /* n entries, by label */
    uint32_t *names;                /* n labels, ascending; NULL: 1 to n */
    struct gi_shape_descriptors *shapes; /* n entries by label if asked for; else NULL */
    struct gi_moments *moments;          /* likewise */
    uint32_t *order;                     /* n indices into `regions`, sorted as params.sort says */
    struct gi_image
        labels; /* if asked for: GI_U32 image in host memory, 0 outside all kept regions */
    struct gi_pixel_list points; /* if asked for: pixels of the kept regions with their intensity */
};

/* The measures of a region. Intensities are in sample units, or NAN if every pixel is NaN. */
struct gi_region {
    uint32_t label;
    uint64_t area;
    uint32_t x, y, width, height; /* bounding box */
    double centroid_x, centroid_y;
    double perimeter;
    double mean, stddev, min, max;
    double circularity;                /* 4 pi area / perimeter^2; NAN if the perimeter is 0 */
    struct gi_shape_descriptors shape; /* if asked for, otherwise 0 */
    struct gi_moments moments;         /* likewise */
};

/* Returns the label of a region. */
static inline uint32_t gi_extract_label(const struct gi_extract *extract, uint32_t index)
{
    return extract->names ? extract->names[index] : index + 1;
}

struct gi_region gi_extract_region(const struct gi_extract *extract, uint32_t index);

/* Called by a plan. Returns GI_E_UNSUPPORTED if `src` has more pixels than labels can number. */
enum gi_status gi_regions_take(const struct gi_image *src, struct gi_err *err);

/* Drops regions by area and sorts the others (filters/regions/regions.c). On entry n is equal to
 * `found`. Updates n, regions and order. `renumber` has found + 1 entries. Each receives the new
 * label of an old label, or 0 if the region is dropped. Errors: GI_E_MEMORY. */
enum gi_status gi_regions_keep(struct gi_extract *extract, uint32_t *renumber,
                               const struct gi_extract_params *params, struct gi_err *err);

/* Measures the regions of `labels`, GI_F32 and on the backend as `gray`: sets n, found, regions,
 * names and labels of `extract`, in which the label image has numbers from 1 to n
 * (filters/regions/label_regions.c). Errors: GI_E_MEMORY, GI_E_UNSUPPORTED if it is not a label
 * image, those of the primitives. */
enum gi_status gi_label_regions(struct gi_queue *queue, struct gi_extract *extract,
                                const struct gi_image *gray, const struct gi_image *labels,
                                struct gi_err *err);

/* The result is a struct gi_extract. A second source is an image of labels or a mask of the same
 * size. The foreground is
 * then where a colour sample of the mask is above or below 0, and no threshold is used. */
extern const struct gi_filter gi_filter_extract;
