/* Prefix sums in one or two directions (integral image). First, the start values of every band are
 * computed from the column sums of the bands above. Then all bands are computed in parallel.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/common/bit_rows.h"

struct scan {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_scan *spec;
    int nbands;
    double scale, unit; /* GI_F32: 2^shift and 2^-shift */
    uint64_t *carry;    /* start values: a row of samples per band */
};

/* Returns the value that a sample contributes. */
static inline __attribute__((always_inline)) uint64_t value(const struct scan *scan, double sample,
                                                            enum gi_type type)
{
    if (type == GI_F32)
        return (uint64_t)gi_scan_float((float)sample, scan->spec->squares, scan->scale);
    uint64_t v = (uint32_t)sample;
    return scan->spec->squares ? v * v : v;
}

/* Adds rows y0 to y1 to `columns`. */
static void add_columns(const struct scan *scan, uint64_t *columns, int y0, int y1)
{
    size_t n = gi_row_samples(scan->src);
    GI_CPU_TYPES(scan->src->type, {
        for (int y = y0; y < y1; y++) {
            const T *row = gi_row(scan->src, y);
            for (size_t i = 0; i < n; i++)
                columns[i] += value(scan, (double)row[i], TYPE);
        }
    })
}

/* Sets row i of the start values to the column sums of band i - 1; the first band's row is 0. */
static void sum_band(void *arg, int i, void *scratch)
{
    const struct scan *scan = arg;
    size_t n = gi_row_samples(scan->src);
    add_columns(scan, scan->carry + (size_t)(i + 1) * n, band_start(scan->src, i, scan->nbands),
                band_start(scan->src, i + 1, scan->nbands));
}

/* Turns sums of bands into sums of all earlier bands and, with GI_SCAN_BOTH, also sums them along
 * the row. */
static void carry_on(const struct scan *scan)
{
    size_t n = gi_row_samples(scan->src), channels = (size_t)scan->src->channels;
    for (int b = 1; b < scan->nbands; b++) {
        uint64_t *row = scan->carry + (size_t)b * n;
        const uint64_t *above = row - n;
        for (size_t i = 0; i < n && b > 1; i++)
            row[i] += above[i];
    }
    for (int b = 1; b < scan->nbands && scan->spec->along == GI_SCAN_BOTH; b++) {
        uint64_t *row = scan->carry + (size_t)b * n;
        for (size_t i = channels; i < n; i++)
            row[i] += row[i - channels];
    }
}

/* Turns `above`, the results of row y - 1 (0 if y is the first row of a band), into the results of
 * row y. With GI_SCAN_COLUMNS the values of row y are added to `above`. With GI_SCAN_BOTH the
 * prefix sums of the values are added. With GI_SCAN_ROWS the prefix sums overwrite `above`, because
 * rows are independent. */
static void next_row(const struct scan *scan, uint64_t *above, int y)
{
    size_t n = gi_row_samples(scan->src), channels = (size_t)scan->src->channels;
    enum gi_scan_along along = scan->spec->along;
    GI_CPU_TYPES(scan->src->type, {
        const T *row = gi_row(scan->src, y);
        if (along == GI_SCAN_COLUMNS) {
            for (size_t i = 0; i < n; i++)
                above[i] += value(scan, (double)row[i], TYPE);
            break;
        }
        for (size_t c = 0; c < channels; c++) {
            uint64_t sum = 0;
            for (size_t i = c; i < n; i += channels) {
                sum += value(scan, (double)row[i], TYPE);
                above[i] = along == GI_SCAN_BOTH ? above[i] + sum : sum;
            }
        }
    })
}

static void store_row(const struct scan *scan, const uint64_t *sums, int y)
{
    size_t n = gi_row_samples(scan->src);
    void *out = gi_row(scan->dst, y);
    if (scan->src->type == GI_F32)
        for (size_t i = 0; i < n; i++) { /* rows of GI_U32 are aligned to 4 bytes */
            double sum = (double)(int64_t)sums[i] * scan->unit;
            memcpy((char *)out + i * sizeof sum, &sum, sizeof sum);
        }
    else if (scan->spec->words == 1)
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)out)[i] = (uint32_t)sums[i];
    else
        memcpy(out, sums, n * sizeof *sums);
}

static void scan_band(void *arg, int i, void *scratch)
{
    const struct scan *scan = arg;
    uint64_t *above = scan->carry + (size_t)i * gi_row_samples(scan->src);
    for (int y = band_start(scan->src, i, scan->nbands);
         y < band_start(scan->src, i + 1, scan->nbands); y++) {
        next_row(scan, above, y);
        store_row(scan, above, y);
    }
}

static enum gi_status bands(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_scan *spec,
                            struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct scan scan = {.dst = dst, .src = src, .spec = spec};
    scan.nbands = band_count(pool, src, BAND_PIXELS);
    scan.scale = ldexp(1, spec->shift);
    scan.unit = ldexp(1, -spec->shift);
    scan.carry = calloc((size_t)scan.nbands * gi_row_samples(src), sizeof *scan.carry);
    if (!scan.carry)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    enum gi_status status = GI_OK;
    if (spec->along != GI_SCAN_ROWS && scan.nbands > 1) {
        status = gi_pool_run(pool, scan.nbands - 1, sum_band, &scan, 0, err);
        carry_on(&scan);
    }
    if (!status)
        status = gi_pool_run(pool, scan.nbands, scan_band, &scan, 0, err);
    free(scan.carry);
    return status;
}

GI_CPU_ONE_WAY(scan, "bands", bands);
