/* Statistics of each row, column, tile or label. The samples of a zone are gathered and sorted.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/stats_channel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/regions/labels.h"
#include "filters/statistics/opaque.h"
#include "filters/statistics/order.h"

static long long parts(int whole, int each)
{
    return (whole - 1LL) / each + 1;
}

enum gi_status gi_zones_read(struct gi_zones *zones, const char *text, int width, int height,
                             struct gi_err *err)
{
    struct gi_extent extent;
    if (strcmp(text, "row") == 0) {
        *zones = (struct gi_zones){.by = GI_STATS_ROW, .width = width, .height = 1};
    } else if (strcmp(text, "column") == 0) {
        *zones = (struct gi_zones){.by = GI_STATS_COLUMN, .width = 1, .height = height};
    } else if (gi_extent_read(&extent, text)) {
        *zones = (struct gi_zones){.by = GI_STATS_TILE, .width = width, .height = height};
        gi_extent_pixels(&extent, &zones->width, &zones->height);
    } else {
        return gi_fail(err, GI_E_USAGE,
                       "--group-by %s: want row, column or the size of a tile, WxH", text);
    }
    long long n = parts(width, zones->width) * parts(height, zones->height);
    zones->n = n <= GI_STATS_ZONES_MAX ? (int)n : 0;
    if (n > GI_STATS_ZONES_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "--group-by %s: %lld parts: want at most %d", text, n,
                       GI_STATS_ZONES_MAX);
    return GI_OK;
}

/* ---- one channel of one zone ---- */

/* Returns an integer that orders as the sample does. */
static uint32_t key_of(float v, enum gi_type type)
{
    uint32_t bits;
    if (type != GI_F32)
        return (uint32_t)v;
    v += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &v, sizeof bits);
    return gi_float_key(bits);
}

static double value_of(uint32_t key, enum gi_type type)
{
    float v;
    uint32_t bits = gi_float_key_bits(key);
    memcpy(&v, &bits, sizeof v);
    return type == GI_F32 ? v : key;
}

static float sample_at(const struct gi_image *src, const char *row, size_t i)
{
    return src->type == GI_U8    ? ((const uint8_t *)row)[i]
           : src->type == GI_U16 ? ((const uint16_t *)row)[i]
                                 : ((const float *)row)[i];
}

/* Adds a finite float to the sums, as an integer mantissa in units of a power of 2. */
static void add_float(struct gi_reduction *found, float v)
{
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(fabs((double)v), &exponent), 24);
    int shift = exponent - 24 - GI_EXACT_SUM;
    if (shift < 0) { /* subnormal: only zeros are shifted out */
        m >>= -shift;
        shift = 0;
    }
    gi_exact_add(&found->sum, m, (unsigned)shift, v < 0);
    gi_exact_add(&found->magnitude, m, (unsigned)shift, false);
    gi_exact_add(&found->square, m * m, 2 * (unsigned)shift, false);
}

/* Sums of integers over up to 2^32 pixels. */
struct whole {
    uint64_t sum, square;
};

static void add_sample(struct gi_reduction *found, struct whole *whole, float v, uint64_t at,
                       enum gi_type type)
{
    if (found->n == 0 || v < found->min) {
        found->min = v;
        found->min_at = at;
    }
    if (found->n == 0 || v > found->max) {
        found->max = v;
        found->max_at = at;
    }
    found->n++;
    if (type == GI_F32) {
        add_float(found, v);
    } else {
        whole->sum += (uint64_t)v;
        whole->square += (uint64_t)v * (uint64_t)v;
    }
}

/* Measures channel c of n pixels, given as y * width + x in raster order, and collects the keys of
 * its finite samples. */
static struct gi_reduction reduce(uint32_t *keys, const struct gi_image *src, int c,
                                  const uint32_t *pixels, size_t n, bool opaque)
{
    struct gi_reduction found = {0};
    struct whole whole = {0};
    size_t channels = (size_t)src->channels;
    uint32_t width = (uint32_t)src->width;
    for (size_t i = 0; i < n; i++) {
        const char *row = gi_row(src, (int)(pixels[i] / width));
        size_t first = pixels[i] % width * channels;
        float v = sample_at(src, row, first + (size_t)c);
        if (opaque && !(sample_at(src, row, first + channels - 1) > 0))
            continue;
        if (isnan(v)) {
            found.nan++;
        } else if (isinf(v)) {
            *(v > 0 ? &found.above : &found.below) += 1;
        } else {
            keys[found.n] = key_of(v, src->type);
            add_sample(&found, &whole, v + 0.0f, pixels[i], src->type);
        }
    }
    if (src->type != GI_F32) {
        gi_exact_add(&found.sum, whole.sum, 0, false);
        gi_exact_add(&found.magnitude, whole.sum, 0, false);
        gi_exact_add(&found.square, whole.square, 0, false);
    }
    return found;
}

/* LSD radix sort, one byte per pass. `other` is as large as `keys`. Returns the buffer with the
 * sorted keys. */
static uint32_t *sort(uint32_t *keys, uint32_t *other, size_t n, enum gi_type type)
{
    for (unsigned shift = 0; shift < 8 * gi_type_nbytes(type); shift += 8) {
        size_t at[256] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            at[keys[i] >> shift & 255]++;
        for (int v = 0; v < 256; v++) {
            size_t here = at[v];
            at[v] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            other[at[keys[i] >> shift & 255]++] = keys[i];
        uint32_t *sorted = other;
        other = keys;
        keys = sorted;
    }
    return keys;
}

static void from_sorted(struct gi_stats_channel *channel, const uint32_t *keys, enum gi_type type,
                        const struct gi_stats_params *p)
{
    uint64_t n = channel->count, same = 0;
    double entropy = 0;
    for (uint64_t i = 0; i < n && type != GI_F32; i++) {
        same++;
        if (i + 1 < n && keys[i + 1] == keys[i])
            continue;
        entropy -= (double)same / (double)n * log2((double)same / (double)n);
        channel->unique++;
        same = 0;
    }
    if (type != GI_F32)
        channel->entropy = entropy + 0.0;
    for (int i = 0; i <= p->percentiles.n; i++) {
        double t;
        uint64_t rank = gi_percentile_rank(&t, gi_stats_percent(p, i), n);
        uint64_t next = rank + (t > 0);
        *gi_stats_answer(channel, i) =
            gi_between(value_of(keys[rank], type), value_of(keys[next], type), t);
    }
}

/* ---- the pixels of each zone ---- */

/* The pixels of all zones. Zone i has pixels[first[i]] to pixels[first[i + 1] - 1], in raster
 * order. */
struct members {
    uint32_t *pixels;
    size_t *first;
};

static enum gi_status alloc(struct gi_stats *stats, struct members *members, size_t n,
                            size_t npixels, struct gi_err *err)
{
    stats->zones = calloc(n + 1, sizeof *stats->zones);
    stats->of_zones = calloc(n * (size_t)stats->nchannels + 1, sizeof *stats->of_zones);
    members->first = calloc(n + 1, sizeof *members->first);
    members->pixels = malloc((npixels + 1) * sizeof *members->pixels);
    if (!stats->zones || !stats->of_zones || !members->first || !members->pixels)
        return gi_fail(err, GI_E_MEMORY, "out of memory: statistics of %zu parts", n);
    stats->nzones = (int)n;
    return GI_OK;
}

static enum gi_status find_tiles(struct gi_stats *stats, struct members *members,
                                 const struct gi_image *src, const char *by, struct gi_err *err)
{
    struct gi_zones zones;
    enum gi_status status = gi_zones_read(&zones, by, src->width, src->height, err);
    if (status)
        return status;
    int width = zones.width, height = zones.height;
    stats->by = zones.by;
    int across = (int)parts(src->width, width), down = (int)parts(src->height, height);
    size_t n = 0, pixels = (size_t)src->width * (size_t)src->height;
    status = alloc(stats, members, (size_t)across * (size_t)down, pixels, err);
    for (int i = 0; i < stats->nzones && !status; i++) {
        int x = i % across * width, y = i / across * height;
        struct gi_stats_zone *zone = &stats->zones[i];
        *zone =
            (struct gi_stats_zone){.x = x,
                                   .y = y,
                                   .width = width < src->width - x ? width : src->width - x,
                                   .height = height < src->height - y ? height : src->height - y};
        for (int v = y; v < y + zone->height; v++)
            for (int u = x; u < x + zone->width; u++)
                members->pixels[n++] = (uint32_t)v * (uint32_t)src->width + (uint32_t)u;
        members->first[i + 1] = n;
    }
    return status;
}

static void grow(struct gi_stats_zone *zone, int x, int y)
{
    if (!zone->height)
        *zone = (struct gi_stats_zone){zone->label, x, y, 1, 1};
    int right = x + 1 > zone->x + zone->width ? x + 1 : zone->x + zone->width;
    zone->x = x < zone->x ? x : zone->x;
    zone->width = right - zone->x;
    zone->height = y + 1 - zone->y;
}

/* Sorts the pixels by label (counting sort). On entry counts[label] is the number of pixels of a
 * label, for labels up to `largest`. It becomes 1 + the index of the label's zone. */
static enum gi_status sort_labels(struct gi_stats *stats, struct members *members, uint32_t *counts,
                                  uint32_t largest, const struct gi_image *labels,
                                  struct gi_err *err)
{
    size_t n = 0, npixels = 0, at = 0;
    for (uint32_t label = 1; label <= largest; label++) {
        n += counts[label] > 0;
        npixels += counts[label];
    }
    if (n > GI_STATS_ZONES_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "--labels: %zu labels: want at most %d", n,
                       GI_STATS_ZONES_MAX);
    enum gi_status status = alloc(stats, members, n, npixels, err);
    if (status)
        return status;
    n = 0;
    for (uint32_t label = 1; label <= largest; label++)
        if (counts[label]) {
            stats->zones[n].label = label;
            members->first[n++] = at; /* the loop below advances it to the start of the next zone */
            at += counts[label];
            counts[label] = (uint32_t)n;
        }
    for (int y = 0; y < labels->height; y++)
        for (int x = 0; x < labels->width; x++) {
            uint32_t zone = counts[gi_label_at(labels, x, y)];
            if (!zone)
                continue;
            grow(&stats->zones[zone - 1], x, y);
            members->pixels[members->first[zone - 1]++] =
                (uint32_t)y * (uint32_t)labels->width + (uint32_t)x;
        }
    memmove(members->first + 1, members->first, n * sizeof *members->first);
    members->first[0] = 0;
    return GI_OK;
}

static enum gi_status find_labels(struct gi_stats *stats, struct members *members,
                                  const struct gi_image *labels, struct gi_err *err)
{
    uint32_t largest;
    stats->by = GI_STATS_LABEL;
    enum gi_status status = gi_labels_check(&largest, labels, err);
    if (status) {
        gi_err_prefix(err, "--labels");
        return status;
    }
    uint32_t *counts = calloc((size_t)largest + 1, sizeof *counts);
    if (!counts)
        return gi_fail(err, GI_E_MEMORY, "out of memory: counting labels");
    for (int y = 0; y < labels->height; y++)
        for (int x = 0; x < labels->width; x++)
            counts[gi_label_at(labels, x, y)]++;
    counts[0] = 0;
    status = sort_labels(stats, members, counts, largest, labels, err);
    free(counts);
    return status;
}

/* ---- all zones ---- */

static enum gi_status measure(struct gi_stats *stats, const struct members *members,
                              const struct gi_image *src, const struct gi_stats_params *p,
                              struct gi_err *err)
{
    size_t most = 1;
    for (int i = 0; i < stats->nzones; i++) {
        size_t n = members->first[i + 1] - members->first[i];
        most = n > most ? n : most;
    }
    uint32_t *keys = malloc(2 * most * sizeof *keys);
    if (!keys)
        return gi_fail(err, GI_E_MEMORY, "out of memory: sorting %zu samples", most);
    bool opaque = gi_only_opaque(src, p->opaque);
    for (int i = 0; i < stats->nzones * stats->nchannels; i++) {
        int c = i % stats->nchannels;
        const size_t *first = &members->first[i / stats->nchannels];
        struct gi_reduction found =
            reduce(keys, src, c, members->pixels + first[0], first[1] - first[0], opaque);
        gi_stats_from_sums(&stats->of_zones[i], &found, src, c, p);
        if (found.n)
            from_sorted(&stats->of_zones[i], sort(keys, keys + most, found.n, src->type), src->type,
                        p);
    }
    free(keys);
    return GI_OK;
}

enum gi_status gi_zones_measure(struct gi_stats *stats, const struct gi_image *src,
                                const struct gi_image *labels, const struct gi_stats_params *p,
                                struct gi_err *err)
{
    struct members members = {0};
    *stats =
        (struct gi_stats){.nchannels = gi_shown_channels(src), .npercentiles = p->percentiles.n};
    enum gi_status status = p->by ? find_tiles(stats, &members, src, p->by, err)
                                  : find_labels(stats, &members, labels, err);
    if (!status)
        status = measure(stats, &members, src, p, err);
    free(members.pixels);
    free(members.first);
    return status;
}
