/* Measures the regions of a label image. The backend sums connected regions, so the host divides
 * each label into its connected parts, and adds up the sums of the parts.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/extract.h"

#include <stdlib.h>
#include <string.h>

#include "filters/regions/host_image.h"
#include "filters/regions/labels.h"
#include "kernels/kernels.h"

/* Connected parts of equal labels (8-connected), numbered from 1 in raster order of their first
 * pixels, as region_stats() wants. */
struct parts {
    struct gi_image image; /* GI_U32; the part of each pixel; 0: no label */
    uint32_t *labels;      /* n + 1; the label of each part */
    uint32_t *roots;       /* union-find forest; a root is not above its members */
    uint32_t n;
};

static uint32_t root_of(uint32_t *roots, uint32_t part)
{
    while (roots[part] != part)
        part = roots[part] = roots[roots[part]];
    return part;
}

/* Joins the part of a pixel with that of a neighbour of the same label. */
static uint32_t join(struct parts *parts, uint32_t part, uint32_t neighbour)
{
    uint32_t a = part ? root_of(parts->roots, part) : neighbour;
    uint32_t b = root_of(parts->roots, neighbour);
    uint32_t least = a < b ? a : b, most = a < b ? b : a;
    if (part)
        parts->roots[most] = least;
    return part ? least : b;
}

/* Finds the provisional part of pixel (x, y), from its neighbours above and to the left. */
static uint32_t part_of(struct parts *parts, const struct gi_image *labels, int x, int y)
{
    static const int dx[4] = {-1, -1, 0, 1}, dy[4] = {0, -1, -1, -1};
    const uint32_t label = gi_label_at(labels, x, y);
    uint32_t part = 0;
    if (!label)
        return 0;
    for (int i = 0; i < 4; i++) {
        int u = x + dx[i], v = y + dy[i];
        if (u >= 0 && u < labels->width && v >= 0 && gi_label_at(labels, u, v) == label)
            part = join(parts, part, ((const uint32_t *)gi_row(&parts->image, v))[u]);
    }
    if (part)
        return part;
    parts->labels[++parts->n] = label;
    parts->roots[parts->n] = parts->n;
    return parts->n;
}

static enum gi_status find_parts(struct parts *parts, const struct gi_image *labels,
                                 struct gi_err *err)
{
    size_t npixels = (size_t)labels->width * (size_t)labels->height;
    enum gi_status status =
        gi_image_alloc(&parts->image, labels->width, labels->height, 1, GI_U32, err);
    if (status)
        return status;
    parts->labels = malloc((npixels + 1) * sizeof *parts->labels);
    parts->roots = malloc((npixels + 1) * sizeof *parts->roots);
    if (!parts->labels || !parts->roots)
        return gi_fail(err, GI_E_MEMORY, "out of memory: regions of %zu pixels", npixels);
    for (int y = 0; y < labels->height; y++) {
        uint32_t *row = gi_row(&parts->image, y);
        for (int x = 0; x < labels->width; x++)
            row[x] = part_of(parts, labels, x, y);
    }
    uint32_t n = 0;
    parts->roots[0] = 0;
    for (uint32_t i = 1; i <= parts->n; i++) { /* a root gets its number before its members */
        bool root = parts->roots[i] == i;
        uint32_t number = root ? ++n : parts->roots[parts->roots[i]];
        parts->labels[root ? n : 0] = parts->labels[i];
        parts->roots[i] = number;
    }
    parts->n = n;
    for (int y = 0; y < labels->height; y++) {
        uint32_t *row = gi_row(&parts->image, y);
        for (int x = 0; x < labels->width; x++)
            row[x] = parts->roots[row[x]];
    }
    return GI_OK;
}

static void add_sums(struct gi_region_sums *to, const struct gi_region_sums *part)
{
    if (!to->area) {
        *to = *part;
        return;
    }
    to->area += part->area;
    to->sum_x += part->sum_x;
    to->sum_y += part->sum_y;
    to->min_x = to->min_x < part->min_x ? to->min_x : part->min_x;
    to->min_y = to->min_y < part->min_y ? to->min_y : part->min_y;
    to->max_x = to->max_x > part->max_x ? to->max_x : part->max_x;
    to->max_y = to->max_y > part->max_y ? to->max_y : part->max_y;
    to->value.n += part->value.n;
    to->value.q += part->value.q;
    to->value.q2_low += part->value.q2_low;
    to->value.q2_high += part->value.q2_high;
    to->min_key = to->min_key < part->min_key ? to->min_key : part->min_key;
    to->max_key = to->max_key > part->max_key ? to->max_key : part->max_key;
    to->straight += part->straight;
    to->diagonal += part->diagonal;
    to->mixed += part->mixed;
}

/* Adds up the parts of each label, in ascending order of the labels, and turns the image of parts
 * into one of regions. */
static enum gi_status add_parts(struct gi_extract *extract, struct parts *parts,
                                const struct gi_region_sums *sums, uint32_t largest,
                                struct gi_err *err)
{
    uint32_t *region = calloc((size_t)largest + 1, sizeof *region); /* of each label */
    uint32_t n = 0;
    for (uint32_t i = 1; region && i <= parts->n; i++)
        region[parts->labels[i]] = 1;
    for (uint32_t i = 1; region && i <= largest; i++)
        region[i] = region[i] ? ++n : 0;
    extract->regions = calloc((size_t)n + 1, sizeof *extract->regions);
    extract->names = calloc((size_t)n + 1, sizeof *extract->names);
    if (!region || !extract->regions || !extract->names) {
        free(region);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", n);
    }
    parts->labels[0] = 0;
    for (uint32_t i = 1; i <= parts->n; i++) {
        uint32_t index = region[parts->labels[i]] - 1;
        add_sums(&extract->regions[index], &sums[i - 1]);
        extract->names[index] = parts->labels[i];
    }
    for (int y = 0; y < parts->image.height; y++) {
        uint32_t *row = gi_row(&parts->image, y);
        for (int x = 0; x < parts->image.width; x++)
            row[x] = region[parts->labels[row[x]]];
    }
    free(region);
    extract->n = extract->found = n;
    return GI_OK;
}

/* Sums the parts on the backend. */
static enum gi_status sum_parts(struct gi_queue *queue, struct gi_region_sums *sums,
                                const struct gi_image *gray, const struct gi_extract *extract,
                                const struct parts *parts, struct gi_err *err)
{
    struct gi_image labels = {0};
    struct gi_region_stats spec = {&labels, parts->n, extract->lo, extract->hi};
    enum gi_status status = queue->k->upload(queue, &labels, &parts->image, NULL, err);
    if (status)
        return status;
    status = queue->k->region_stats(queue, sums, gray, &spec, err);
    queue->k->release(queue, &labels);
    return status;
}

enum gi_status gi_label_regions(struct gi_queue *queue, struct gi_extract *extract,
                                const struct gi_image *gray, const struct gi_image *labels,
                                struct gi_err *err)
{
    struct gi_image host = {0};
    struct parts parts = {.n = 0};
    struct gi_region_sums *sums = NULL;
    uint32_t largest = 0;
    enum gi_status status = gi_host_copy(queue, &host, labels, err);
    if (status)
        return status;
    status = gi_labels_check(&largest, &host, err);
    if (!status)
        status = find_parts(&parts, &host, err);
    if (!status) {
        sums = malloc(((size_t)parts.n + 1) * sizeof *sums);
        status = sums ? sum_parts(queue, sums, gray, extract, &parts, err)
                      : gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", parts.n);
    }
    if (!status)
        status = add_parts(extract, &parts, sums, largest, err);
    if (!status) {
        extract->labels = parts.image;
        parts.image = (struct gi_image){0};
    }
    gi_image_free(&parts.image);
    gi_image_free(&host);
    free(parts.labels);
    free(parts.roots);
    free(sums);
    return status;
}
