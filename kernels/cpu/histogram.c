/* Histograms: samples become bin numbers a block at a time, the bins are counted in several tables
 * so that equal neighbours do not wait for each other's store, and each band adds its tables to the
 * result with atomic 64-bit sums.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/measure.h"

enum {
    /* Sample i of a row counts in table i % tables, which then belongs to one channel. */
    TABLES_SMALL = 12, /* a multiple of 1 to 4 channels; 12 tables of 256 stay in the L1 cache */
    SMALL_BINS = 1024, /* above it a table for each channel, and two for one channel */
    BLOCK = 40 * TABLES_SMALL,
};

struct histogram_job {
    const struct gi_image *src;
    const struct gi_histogram_spec *spec;
    uint64_t *counts;
    int bands, tables;
};

/* A table has one bin more, for samples that are not counted. */
static size_t table_size(const struct gi_histogram_spec *spec)
{
    return (size_t)spec->nbins + 1;
}

static int table_count(const struct gi_histogram_spec *spec, int channels)
{
    return spec->nbins <= SMALL_BINS ? TABLES_SMALL : channels == 1 ? 2 : channels;
}

/* GI_KEY_RANGE, with what all samples share. */
struct range {
    double lo, hi, width, per_width;
    int last; /* bin */
};

/* The bin of lo <= v <= hi by halving: e(low) <= v, and v < e(high) or v is hi. */
static int range_bin_by_search(double v, const struct range *r)
{
    int low = 0, high = r->last + 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (v >= r->lo + middle * r->width)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* An estimate, which the edges of the bin confirm but for a few samples beside an edge. */
static inline int range_bin(double v, const struct range *r)
{
    if (!(v >= r->lo && v <= r->hi))
        return r->last + 1;
    double t = (v - r->lo) * r->per_width;
    int i = t < r->last ? (int)t : r->last;
    if (v >= r->lo + i * r->width && (i == r->last || v < r->lo + (i + 1) * r->width))
        return i;
    return range_bin_by_search(v, r);
}

static void bins_of_range(uint32_t *bins, const float *v, int n,
                          const struct gi_histogram_spec *spec)
{
    double span = spec->hi - spec->lo;
    struct range r = {spec->lo, spec->hi, span / spec->nbins, spec->nbins / span, spec->nbins - 1};
    if (!(span >= 0 && isfinite(span)))
        r.lo = NAN; /* no sample is in the range */
    for (int i = 0; i < n; i++)
        bins[i] = (uint32_t)range_bin((double)v[i], &r);
}

static void bins_of_key(uint32_t *bins, const float *v, int n, const struct gi_histogram_spec *spec)
{
    bool low = spec->key == GI_KEY_FLOAT_LOW;
    for (int i = 0; i < n; i++) {
        uint32_t key = gi_float_key(float_bits(v[i]));
        bool counts = v[i] == v[i] && (!low || key >> 16 == spec->prefix);
        bins[i] = !counts ? 65536 : low ? key & 0xffff : key >> 16;
    }
}

static void bins_of(uint32_t *bins, const void *row, size_t at, int n, enum gi_type type,
                    const struct gi_histogram_spec *spec)
{
    if (type == GI_U8)
        for (int i = 0; i < n; i++)
            bins[i] = ((const uint8_t *)row)[at + (size_t)i];
    else if (type == GI_U16)
        for (int i = 0; i < n; i++)
            bins[i] = ((const uint16_t *)row)[at + (size_t)i];
    else if (spec->key == GI_KEY_RANGE)
        bins_of_range(bins, (const float *)row + at, n, spec);
    else
        bins_of_key(bins, (const float *)row + at, n, spec);
}

static inline void count_bins(uint32_t *table, size_t size, const uint32_t *bins, int n,
                              const int tables)
{
    int i = 0;
    for (; i + tables <= n; i += tables)
        for (int t = 0; t < tables; t++)
            table[(size_t)t * size + bins[i + t]]++;
    for (int t = 0; i < n; i++, t++)
        table[(size_t)t * size + bins[i]]++;
}

/* A table's size is a constant here, so that each increment has a constant place. */
static void count_bytes(uint32_t *table, const uint8_t *row, size_t n)
{
    enum { SIZE = 257 };
    size_t i = 0;
    for (; i + TABLES_SMALL <= n; i += TABLES_SMALL)
        for (int t = 0; t < TABLES_SMALL; t++)
            table[t * SIZE + row[i + (size_t)t]]++;
    for (; i < n; i++)
        table[i % TABLES_SMALL * SIZE + row[i]]++;
}

static void count_row(uint32_t *table, const struct histogram_job *job, int y)
{
    const void *row = gi_row(job->src, y);
    size_t size = table_size(job->spec), n = gi_row_samples(job->src);
    if (job->src->type == GI_U8) {
        count_bytes(table, row, n);
        return;
    }
    uint32_t bins[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        int m = n - at < BLOCK ? (int)(n - at) : BLOCK;
        bins_of(bins, row, at, m, job->src->type, job->spec);
        if (job->tables == TABLES_SMALL)
            count_bins(table, size, bins, m, TABLES_SMALL);
        else if (job->tables == 2)
            count_bins(table, size, bins, m, 2);
        else if (job->tables == 3)
            count_bins(table, size, bins, m, 3);
        else
            count_bins(table, size, bins, m, 4);
    }
}

static void add_tables(const struct histogram_job *job, const uint32_t *table)
{
    size_t nbins = (size_t)job->spec->nbins;
    for (int t = 0; t < job->tables; t++) {
        uint64_t *counts = job->counts + (size_t)(t % job->src->channels) * nbins;
        for (size_t i = 0; i < nbins; i++)
            if (table[(size_t)t * (nbins + 1) + i])
                __atomic_fetch_add(&counts[i], table[(size_t)t * (nbins + 1) + i],
                                   __ATOMIC_RELAXED);
    }
}

/* A row has fewer than 2^31 pixels, so the 32-bit counters hold a row of any width. */
static void histogram_band(void *arg, int index, void *scratch)
{
    const struct histogram_job *job = arg;
    uint32_t *table = scratch;
    size_t nbytes = (size_t)job->tables * table_size(job->spec) * sizeof *table;
    int y1 = band_start(job->src, index + 1, job->bands);
    for (int y = band_start(job->src, index, job->bands); y < y1;) {
        memset(table, 0, nbytes);
        int rows = (int)(INT32_MAX / job->src->width);
        for (int end = rows < y1 - y ? y + rows : y1; y < end; y++)
            count_row(table, job, y);
        add_tables(job, table);
    }
}

enum gi_status GI_CPU(histogram)(struct gi_context *cx, uint64_t *counts,
                                 const struct gi_image *src, const struct gi_histogram_spec *spec,
                                 struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(cx);
    struct histogram_job job = {.src = src, .spec = spec, .counts = counts};
    job.tables = table_count(spec, src->channels);
    size_t counters = (size_t)job.tables * table_size(spec);
    job.bands = band_count(pool, src, counters > BAND_PIXELS ? counters : BAND_PIXELS);
    return gi_pool_run(pool, job.bands, histogram_band, &job, counters * sizeof(uint32_t), err);
}
