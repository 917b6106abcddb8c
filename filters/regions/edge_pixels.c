/* Finds the edge pixels of a mask.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/edge_pixels.h"

#include <math.h>
#include <stdlib.h>

#include "filters/regions/host_image.h"

size_t gi_edge_pixels_nbytes(const struct gi_image *src)
{
    const size_t pixel = 1 + sizeof(struct gi_edge_pixel) + (size_t)gi_type_nbytes(src->type);
    return (size_t)src->width * (size_t)src->height * pixel;
}

/* Fills the mask and counts its pixels. */
static void find(struct gi_edge_pixels *edges, const struct gi_image *image)
{
    uint8_t *to = edges->mask;
    for (int y = 0; y < image->height; y++) {
        const void *row = gi_row(image, y);
        for (int x = 0; x < image->width; x++) {
            double v = gi_sample(row, (size_t)x, image->type);
            edges->n += *to++ = v != 0 && !isnan(v);
        }
    }
}

enum gi_status gi_edge_pixels_find(struct gi_edge_pixels *edges, struct gi_queue *queue,
                                   const struct gi_image *src, struct gi_err *err)
{
    struct gi_image image = {0};
    *edges = (struct gi_edge_pixels){.width = src->width, .height = src->height};
    enum gi_status status = gi_host_judge(queue, &image, src, err);
    if (status)
        return status;
    edges->mask = malloc((size_t)src->width * (size_t)src->height);
    if (edges->mask)
        find(edges, &image);
    gi_image_free(&image);
    edges->pixels = malloc(((size_t)edges->n + 1) * sizeof *edges->pixels);
    if (!edges->mask || !edges->pixels)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %llu edge pixels",
                       (unsigned long long)edges->n);
    uint64_t n = 0;
    const uint8_t *at = edges->mask;
    for (int y = 0; y < edges->height; y++)
        for (int x = 0; x < edges->width; x++)
            if (*at++)
                edges->pixels[n++] = (struct gi_edge_pixel){x, y};
    return GI_OK;
}

void gi_edge_pixels_free(struct gi_edge_pixels *edges)
{
    free(edges->pixels);
    free(edges->mask);
    *edges = (struct gi_edge_pixels){0};
}
