/* Regions on the host: computes measures from integer sums, drops regions by area, sorts the
 * others.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/extract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/statistics/order.h"

static double key_value(uint32_t key, enum gi_type type)
{
    if (type != GI_F32)
        return key;
    uint32_t bits = gi_float_key_bits(key);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns the perimeter. Straight steps count 1, and diagonal steps count sqrt(2). Corners between
 * a straight and a diagonal step count half of both (K. Benkrid, D. Crookes and A. Benkrid, 2000,
 * "Design and FPGA implementation of a perimeter estimator"). */
static double perimeter(const struct gi_region_sums *sums)
{
    double root = sqrt(2.0);
    return (double)sums->straight + (double)sums->diagonal * root +
           (double)sums->mixed * ((1 + root) / 2);
}

struct gi_region gi_extract_region(const struct gi_extract *extract, uint32_t index)
{
    const struct gi_region_sums *sums = &extract->regions[index];
    double area = (double)sums->area;
    bool none = sums->min_key > sums->max_key;
    struct gi_region region = {
        .label = gi_extract_label(extract, index),
        .area = sums->area,
        .x = sums->min_x,
        .y = sums->min_y,
        .width = sums->max_x - sums->min_x + 1,
        .height = sums->max_y - sums->min_y + 1,
        .centroid_x = (double)sums->sum_x / area,
        .centroid_y = (double)sums->sum_y / area,
        .perimeter = perimeter(sums),
        .shape = extract->shapes ? extract->shapes[index] : (struct gi_shape_descriptors){0},
        .moments = extract->moments ? extract->moments[index] : (struct gi_moments){.mu = {0}},
        .min = none ? NAN : key_value(sums->min_key, extract->type),
        .max = none ? NAN : key_value(sums->max_key, extract->type),
    };
    gi_sums_stats(&region.mean, &region.stddev, &sums->value, extract->type, extract->lo,
                  extract->hi);
    region.circularity = region.perimeter > 0 ? 4 * 3.14159265358979323846 * area /
                                                    (region.perimeter * region.perimeter)
                                              : NAN;
    if (isinf(region.min) || isinf(region.max)) { /* the sums include infinities as finite values */
        region.mean = (isinf(region.min) ? region.min : 0) + (isinf(region.max) ? region.max : 0);
        region.stddev = NAN;
    }
    return region;
}

/* A region and its sort key. Regions with smaller keys come first. */
struct sort_key {
    uint64_t key;
    uint32_t index;
};

static double key_of(const struct gi_extract *extract, uint32_t index, enum gi_region_order order)
{
    const struct gi_region_sums *sums = &extract->regions[index];
    switch (order) {
    case GI_REGIONS_BY_AREA:
        return -(double)sums->area;
    case GI_REGIONS_BY_X:
        return sums->min_x;
    case GI_REGIONS_BY_Y:
        return sums->min_y;
    case GI_REGIONS_BY_MEAN: {
        double mean = gi_extract_region(extract, index).mean;
        return isnan(mean) ? INFINITY : -mean;
    }
    default:
        return index;
    }
}

/* Returns an integer that orders as the double does. -0 and 0 are equal. */
static uint64_t ordered(double v)
{
    uint64_t bits, sign = 1ull << 63;
    v += 0.0;
    memcpy(&bits, &v, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

/* A pass of a stable radix sort: copies `from` to `to` in ascending order of one byte of the key.
 * If all keys have the same byte, copies nothing and returns false. */
static bool sort_byte(struct sort_key *to, const struct sort_key *from, uint32_t n, int byte)
{
    uint32_t counts[256] = {0}, at = 0;
    for (uint32_t i = 0; i < n; i++)
        counts[from[i].key >> 8 * byte & 255]++;
    if (n == 0 || counts[from[0].key >> 8 * byte & 255] == n)
        return false;
    for (int d = 0; d < 256; d++) {
        uint32_t count = counts[d];
        counts[d] = at;
        at += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[counts[from[i].key >> 8 * byte & 255]++] = from[i];
    return true;
}

/* Sorts the regions as the options say. `keys` has 2 n entries. Returns the half of `keys` that has
 * the result. */
static const struct sort_key *sort_regions(struct sort_key *keys, const struct gi_extract *extract,
                                           enum gi_region_order order)
{
    struct sort_key *from = keys, *to = keys + extract->n;
    for (uint32_t i = 0; i < extract->n; i++)
        keys[i] = (struct sort_key){.key = ordered(key_of(extract, i, order)), .index = i};
    for (int byte = 0; byte < 8 && order != GI_REGIONS_BY_LABEL; byte++)
        if (sort_byte(to, from, extract->n, byte)) {
            struct sort_key *sorted = to;
            to = from;
            from = sorted;
        }
    return from;
}

/* Keeps the regions whose `renumber` is not 0, and numbers them consecutively. */
static void compact(struct gi_extract *extract, uint32_t *renumber)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < extract->n; i++) {
        if (!renumber[i + 1])
            continue;
        extract->regions[n++] = extract->regions[i];
        renumber[i + 1] = n;
    }
    extract->n = n;
}

enum gi_status gi_regions_keep(struct gi_extract *extract, uint32_t *renumber,
                               const struct gi_extract_params *params, struct gi_err *err)
{
    renumber[0] = 0;
    for (uint32_t i = 0; i < extract->n; i++) {
        uint64_t area = extract->regions[i].area;
        renumber[i + 1] =
            area >= params->min_area && (!params->max_area || area <= params->max_area);
    }
    struct sort_key *keys = malloc((2 * (size_t)extract->n + 1) * sizeof *keys);
    if (!keys)
        return gi_fail(err, GI_E_MEMORY, "out of memory: order of %u regions", extract->n);
    if (params->keep_top) {
        const struct sort_key *sorted = sort_regions(keys, extract, GI_REGIONS_BY_AREA);
        uint32_t kept = 0, top = (uint32_t)params->keep_top;
        for (uint32_t i = 0; i < extract->n; i++) {
            uint32_t *keep = &renumber[sorted[i].index + 1];
            *keep = *keep && kept < top;
            kept += *keep;
        }
    }
    compact(extract, renumber);
    extract->order = malloc(((size_t)extract->n + 1) * sizeof *extract->order);
    if (extract->order) {
        const struct sort_key *sorted =
            sort_regions(keys, extract, (enum gi_region_order)params->sort);
        for (uint32_t i = 0; i < extract->n; i++)
            extract->order[i] = sorted[i].index;
    }
    free(keys);
    return extract->order
               ? GI_OK
               : gi_fail(err, GI_E_MEMORY, "out of memory: order of %u regions", extract->n);
}
