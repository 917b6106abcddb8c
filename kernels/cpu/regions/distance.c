/* Exact distance transform in two passes (A. Meijster, J. B. T. M. Roerdink and W. H. Hesselink, "A
 * general algorithm for computing distance transforms in linear time", 2000). The first pass finds
 * the nearest site in the column of each pixel. In the second pass every column of a row is a
 * candidate, whose distance is a function of x; the lower envelope of these functions gives the
 * nearest site of each pixel of the row.
 *
 * Example: the squared distances of a row with sites 1 row away in column 2 and 0 rows away in
 * column 6 are 1 + (x - 2)^2 and (x - 6)^2. The second is less from x = 4 on.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "kernels/cpu/common/bit_rows.h"
#include "kernels/cpu/convolution/padded_rows.h"

enum {
    STRIP = 128,       /* columns per job of the first pass */
    NO_SITE = 1 << 28, /* an offset of this amount or more says that the column has no site */
};

struct distance {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_distance *spec;
    int32_t *offsets; /* rows from each pixel down to the nearest site in its column */
};

/* A column that is nearest from column `start` on, up to the start of the next candidate. */
struct candidate {
    int32_t x, start;
};

/* The buffers of a row. */
struct row_buffers {
    struct candidate *candidates;
    int32_t *dx, *dy; /* from each pixel to its site */
    float *values;    /* two per pixel */
};

/* ---- first pass ---- */

static void column_strip(void *arg, int index, void *scratch)
{
    const struct distance *d = arg;
    const struct gi_image *src = d->src;
    size_t width = (size_t)src->width, x0 = (size_t)index * STRIP;
    size_t n = width - x0 < STRIP ? width - x0 : STRIP;
    const float above = d->spec->above;
    const bool invert = d->spec->invert;
    int32_t run[STRIP];
    for (size_t i = 0; i < n; i++)
        run[i] = -NO_SITE;
    GI_CPU_TYPES(src->type, {
        for (int y = 0; y < src->height; y++) {
            const T *row = (const T *)gi_row(src, y) + x0;
            int32_t *offsets = d->offsets + (size_t)y * width + x0;
            for (size_t i = 0; i < n; i++)
                offsets[i] = run[i] = ((float)row[i] > above) != invert ? 0 : run[i] - 1;
        }
    })
    for (size_t i = 0; i < n; i++)
        run[i] = 2 * NO_SITE;
    for (int y = src->height - 1; y >= 0; y--) {
        int32_t *offsets = d->offsets + (size_t)y * width + x0;
        for (size_t i = 0; i < n; i++) {
            run[i] = offsets[i] ? run[i] + 1 : 0;
            offsets[i] = run[i] < -offsets[i] ? run[i] : offsets[i];
        }
    }
}

/* ---- second pass ---- */

/* Returns the first column in which candidate u is nearer than candidate i, which is on its left
 * and is not farther in some column from 0 on. gi and gu are their distances along the columns.
 * Quotients are rounded down by a division of doubles, which is exact below 2^52. */
static inline __attribute__((always_inline)) int64_t
first_nearer(enum gi_distance_kind kind, int64_t i, int64_t gi, int64_t u, int64_t gu)
{
    int64_t middle = (i + u) / 2;
    if (kind == GI_DISTANCE_CITY_BLOCK)
        return gu >= gi + u - i ? INT32_MAX : (gu - gi + u + i) / 2 + 1;
    if (kind == GI_DISTANCE_CHESSBOARD && gi <= gu)
        return (i + gu > middle ? i + gu : middle) + 1;
    if (kind == GI_DISTANCE_CHESSBOARD)
        return (u - gi < middle ? u - gi : middle) + 1;
    double n = (double)((u - i) * (u + i) + (gu - gi) * (gu + gi));
    return (int64_t)(n / (double)(2 * (u - i))) + 1;
}

/* Finds the candidates that are nearest somewhere, from left to right, and returns their number. */
static inline __attribute__((always_inline)) int
envelope(struct candidate *list, const int32_t *offsets, int width, enum gi_distance_kind kind)
{
    int n = 0;
    for (int u = 0; u < width; u++) {
        int64_t gu = abs(offsets[u]), start = 0;
        if (gu >= NO_SITE)
            continue;
        for (; n > 0; n--) {
            const struct candidate *last = &list[n - 1];
            int64_t i = last->x, gi = abs(offsets[i]), x = last->start;
            if (gi_distance_cost(kind, x - i, gi) > gi_distance_cost(kind, x - u, gu))
                continue;
            start = first_nearer(kind, i, gi, u, gu);
            break;
        }
        if (start < width)
            list[n++] = (struct candidate){u, (int32_t)start};
    }
    return n;
}

/* Sets the vectors from the pixels of a row to their sites. Returns false if there is no site. */
static bool find_sites(const struct row_buffers *row, const int32_t *offsets, int width,
                       enum gi_distance_kind kind)
{
    struct candidate *list = row->candidates;
    int n = kind == GI_DISTANCE_CITY_BLOCK ? envelope(list, offsets, width, GI_DISTANCE_CITY_BLOCK)
            : kind == GI_DISTANCE_CHESSBOARD
                ? envelope(list, offsets, width, GI_DISTANCE_CHESSBOARD)
                : envelope(list, offsets, width, GI_DISTANCE_SQUARED);
    for (int i = 0; i < n; i++) {
        int end = i + 1 < n ? list[i + 1].start : width;
        for (int x = list[i].start; x < end; x++) {
            row->dx[x] = list[i].x - x;
            row->dy[x] = offsets[list[i].x];
        }
    }
    return n > 0;
}

static void fill_distances(float *values, const struct row_buffers *row, int width,
                           enum gi_distance_kind kind)
{
    const int32_t *dx = row->dx, *dy = row->dy;
    if (kind == GI_DISTANCE_CITY_BLOCK || kind == GI_DISTANCE_CHESSBOARD) {
        for (int x = 0; x < width; x++) {
            int across = abs(dx[x]), down = abs(dy[x]), larger = across > down ? across : down;
            values[x] = (float)(kind == GI_DISTANCE_CITY_BLOCK ? across + down : larger);
        }
        return;
    }
    for (int x = 0; x < width; x++) {
        double across = dx[x], down = dy[x], squared = across * across + down * down;
        /* no square is so near to a tie between floats that sqrt() of a double is a tie */
        values[x] = (float)(kind == GI_DISTANCE_SQUARED ? squared : sqrt(squared));
    }
}

static void fill_places(float *values, const struct row_buffers *row, int width, int y)
{
    for (int x = 0; x < width; x++) {
        values[2 * x] = (float)(x + row->dx[x]);
        values[2 * x + 1] = (float)(y + row->dy[x]);
    }
}

/* Copies the samples of the sites that are within the limit. */
static void copy_samples(const struct distance *d, const struct row_buffers *row, int y)
{
    GI_CPU_TYPES(d->src->type, {
        T *out = gi_row(d->dst, y);
        for (int x = 0; x < d->src->width; x++) {
            int dx = row->dx[x], dy = row->dy[x];
            bool near = gi_distance_cost(GI_DISTANCE_SQUARED, dx, dy) <= d->spec->within;
            out[x] = near ? ((const T *)gi_row(d->src, y + dy))[x + dx] : 0;
        }
    })
}

static void fill_row(void *arg, int y, void *scratch)
{
    const struct distance *d = arg;
    struct gi_image *dst = d->dst;
    int width = dst->width;
    size_t w = (size_t)width, n = gi_row_samples(dst);
    enum gi_distance_kind kind = d->spec->kind;
    struct row_buffers row = {.candidates = scratch};
    row.dx = (int32_t *)(row.candidates + w);
    row.dy = row.dx + w;
    row.values = (float *)(row.dy + w);
    bool found = find_sites(&row, d->offsets + (size_t)y * w, width, kind);
    if (kind == GI_DISTANCE_SAMPLE && found) {
        copy_samples(d, &row, y);
        return;
    }
    if (kind == GI_DISTANCE_PLACE && found)
        fill_places(row.values, &row, width, y);
    else if (found)
        fill_distances(row.values, &row, width, kind);
    for (size_t i = 0; !found && i < n; i++)
        row.values[i] = kind == GI_DISTANCE_PLACE ? -1 : kind == GI_DISTANCE_SAMPLE ? 0 : INFINITY;
    GI_CPU(samples_store)(gi_row(dst, y), row.values, n, dst->type);
}

static enum gi_status by_envelope(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_distance *spec,
                                  struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct distance d = {.dst = dst, .src = src, .spec = spec};
    size_t width = (size_t)src->width, pixels = width * (size_t)src->height;
    d.offsets = huge_malloc(pixels * sizeof *d.offsets);
    if (!d.offsets)
        return gi_fail(err, GI_E_MEMORY, "out of memory: distances of %d x %d pixels", src->width,
                       src->height);
    enum gi_status status =
        gi_pool_run(pool, (int)((width + STRIP - 1) / STRIP), column_strip, &d, 0, err);
    if (!status)
        status = gi_pool_run(pool, src->height, fill_row, &d,
                             width * (sizeof(struct candidate) + 4 * sizeof(float)), err);
    free(d.offsets);
    return status;
}

GI_CPU_ONE_WAY(distance, "envelope", by_envelope);
