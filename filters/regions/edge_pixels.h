/* The edge pixels of a mask in host memory, for Hough transforms.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/device.h"

struct gi_edge_pixel {
    int32_t x, y;
};

/* Edge pixels in raster order. */
struct gi_edge_pixels {
    int width, height;            /* of the image */
    uint64_t n;                   /* number of edge pixels */
    struct gi_edge_pixel *pixels; /* owned */
    uint8_t *mask;                /* owned; width x height, 1 at edge pixels, else 0 */
};

/* Finds the pixels of `src` that are not 0, in colour those whose luma is not 0. NaN is no edge.
 * Free with gi_edge_pixels_free(), also after an error. Errors: GI_E_MEMORY, those of copies. */
enum gi_status gi_edge_pixels_find(struct gi_edge_pixels *edges, struct gi_queue *queue,
                                   const struct gi_image *src, struct gi_err *err);
void gi_edge_pixels_free(struct gi_edge_pixels *edges);

/* Returns the largest host memory in bytes that gi_edge_pixels_find() uses beside the result of
 * the luma. */
size_t gi_edge_pixels_nbytes(const struct gi_image *src);

static inline bool gi_edge_pixels_has(const struct gi_edge_pixels *edges, int x, int y)
{
    return x >= 0 && x < edges->width && y >= 0 && y < edges->height &&
           edges->mask[(size_t)y * (size_t)edges->width + (size_t)x];
}
