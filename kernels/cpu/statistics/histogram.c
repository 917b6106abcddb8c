/* Histograms. Samples become bin indices, a block at a time. Several private tables count the bins,
 * so that equal neighbours do not wait for each other's store. Each band adds its tables to the
 * result, by atomic 64-bit additions if there are several bands.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/bit_rows.h"

/* Sample i of a row is counted in table i % tables, which always belongs to its channel. Gray has
 * two large tables, or for 16 bits one, to use less of the L2 cache. Bytes have 8 tables, or 6 for
 * 3 channels, because an increment waits for the previous store to the same counter. Their counters
 * have 16 bits, and those of a bin are adjacent, because a processor that stores to one cache line
 * per cycle joins stores to the same line. */
enum {
    BLOCK = 480, /* samples: a multiple of all numbers of tables */
    GROUP = 16,  /* keys that are compared with a prefix at a time; BLOCK is a multiple */
    STEP = 96,   /* bytes: likewise, and a multiple of 8 */
    BYTES_TABLES_MAX = 8,
    BYTES_SIZE = 257,                 /* table_size() of bytes */
    BYTES_PIECE = 65535 / STEP * STEP /* of a row, whose counts fit in 16 bits */
};

/* Counts of bytes: of those that are b, and whose place modulo the number of tables is t, in
 * counter b * BYTES_TABLES_MAX + t. */
struct byte_counts {
    uint16_t n[256 * BYTES_TABLES_MAX];
    uint32_t most; /* no counter is larger */
};

struct histogram_job {
    const struct gi_image *src;
    const struct gi_histogram_spec *spec;
    uint64_t *counts;
    int bands, tables;
    bool bytes;     /* counts bytes without indices of bins */
    uint8_t *slots; /* GI_KEY_FLOAT_LOW: 1 + index of a prefix per upper half, or 0 */
};

/* Returns the size of a table, which has one more bin for samples that are not counted. */
static size_t table_size(const struct gi_histogram_spec *spec)
{
    return (size_t)spec->nbins + 1;
}

/* Parameters of GI_KEY_RANGE that all samples share. */
struct histogram_range {
    double lo, hi, width, per_width;
    int last; /* index of the last bin */
};

/* Returns the bin of v, lo <= v <= hi, by binary search: e(low) <= v, v < e(high) or v is hi. */
static int range_bin_by_search(double v, const struct histogram_range *r)
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

/* Estimates the bins and compares samples with the edges of their bins; only few samples next to an
 * edge fail. These samples get the bin SEARCH. Returns whether there are any. Has no branches, so
 * that it is vectorised. */
enum { SEARCH = 1 << 17 }; /* no bin has this bit */

static bool range_bins_estimate(uint32_t *bins, const float *v, int n,
                                const struct histogram_range *r)
{
    const double lo = r->lo, hi = r->hi, width = r->width, per_width = r->per_width;
    const int last = r->last;
    int all = 0;
    for (int i = 0; i < n; i++) {
        double d = (double)v[i], t = (d - lo) * per_width;
        t = t > 0 ? t : 0;
        t = t < (double)last ? t : (double)last;
        int bin = (int)t, to_the_end = bin == last ? last : SEARCH;
        bin = d < lo + bin * width ? SEARCH : d < lo + (bin + 1) * width ? bin : to_the_end;
        bin = d >= lo ? bin : last + 1;
        bin = d <= hi ? bin : last + 1;
        all |= bin;
        bins[i] = (uint32_t)bin;
    }
    return all & SEARCH;
}

/* Returns whether the range begins with 0 and the width of a bin is a power of 2, so that the
 * product of a float and 1 / width is exact. */
static bool is_exact_in_floats(const struct gi_histogram_spec *spec)
{
    int power = 0;
    double width = spec->hi / spec->nbins;
    return spec->lo == 0 && width * spec->nbins == spec->hi && frexp(width, &power) == 0.5 &&
           abs(power) < 100;
}

static void bins_by_product(uint32_t *bins, const float *v, int n,
                            const struct gi_histogram_spec *spec)
{
    const float hi = (float)spec->hi, scale = (float)(spec->nbins / spec->hi);
    const int last = spec->nbins - 1;
    for (int i = 0; i < n; i++) {
        float limited = v[i] > 0 ? v[i] : 0;
        int bin = (int)((limited < hi ? limited : hi) * scale);
        bin = bin < last ? bin : last;
        bin = v[i] >= 0 ? bin : last + 1;
        bins[i] = (uint32_t)(v[i] <= hi ? bin : last + 1);
    }
}

static void bins_of_range(uint32_t *bins, const float *v, int n,
                          const struct gi_histogram_spec *spec)
{
    double span = spec->hi - spec->lo;
    struct histogram_range r = {spec->lo, spec->hi, span / spec->nbins, spec->nbins / span,
                                spec->nbins - 1};
    if (!(span >= 0 && isfinite(span)))
        r.lo = NAN; /* no sample is in the range */
    if (!range_bins_estimate(bins, v, n, &r))
        return;
    for (int i = 0; i < n; i++)
        if (bins[i] == SEARCH)
            bins[i] = (uint32_t)range_bin_by_search((double)v[i], &r);
}

static void bins_of_high_key(uint32_t *bins, const float *v, int n)
{
    for (int i = 0; i < n; i++)
        bins[i] = v[i] == v[i] ? gi_float_key(float_bits(v[i])) >> 16 : 65536;
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
    else if (spec->key == GI_KEY_RANGE && is_exact_in_floats(spec))
        bins_by_product(bins, (const float *)row + at, n, spec);
    else if (spec->key == GI_KEY_RANGE)
        bins_of_range(bins, (const float *)row + at, n, spec);
    else
        bins_of_high_key(bins, (const float *)row + at, n);
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

static inline int bytes_tables(int channels)
{
    return channels == 3 ? 6 : BYTES_TABLES_MAX;
}

/* Counts in one table. If two neighbours are equal, the first adds 2 to its bin, and the second
 * goes to the bin of samples that are not counted, so that the second does not wait for the first
 * one's store. */
static inline void count_pairs(uint32_t *table, size_t uncounted, const uint32_t *bins, int n)
{
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        bool same = bins[i] == bins[i + 1];
        table[bins[i]] += 1 + (uint32_t)same;
        table[same ? uncounted : bins[i + 1]]++;
    }
    if (i < n)
        table[bins[i]]++;
}

/* Returns the bits in which 8 bytes differ from those a pixel further. */
static inline uint64_t changes(const uint8_t *row, int channels)
{
    uint64_t here, there;
    memcpy(&here, row, sizeof here);
    memcpy(&there, row + channels, sizeof there);
    return here ^ there;
}

/* Returns whether the STEP bytes after the first pixel repeat that pixel. */
static inline bool is_repeated(const uint8_t *row, int channels)
{
    uint64_t all = 0;
    if (changes(row, channels))
        return false;
    for (int i = 0; i < STEP; i += 8)
        all |= changes(row + i, channels);
    return !all;
}

/* Counts neighbouring bytes in different tables, and a stretch of equal pixels at once in `sums`.
 */
static inline __attribute__((always_inline)) void count_bytes(uint32_t *sums, uint16_t *counts,
                                                              const uint8_t *row, size_t n,
                                                              const int channels, const int tables)
{
    size_t at = 0;
    for (; at + STEP + GI_MAX_CHANNELS <= n; at += STEP) {
        if (is_repeated(row + at, channels))
            for (int c = 0; c < channels; c++)
                sums[c * BYTES_SIZE + row[at + (size_t)c]] += (uint32_t)(STEP / channels);
        else
            for (size_t k = at; k < at + STEP; k += (size_t)tables) {
                uint32_t bins[BYTES_TABLES_MAX]; /* all are read before a counter is written */
                for (int t = 0; t < tables; t++)
                    bins[t] = row[k + (size_t)t];
                for (int t = 0; t < tables; t++)
                    counts[(int)bins[t] * BYTES_TABLES_MAX + t]++;
            }
    }
    for (int t = 0; at < n; at++, t = t + 1 == tables ? 0 : t + 1)
        counts[row[at] * BYTES_TABLES_MAX + t]++;
}

/* Adds the counts of bytes to `sums`, and clears them. */
static void add_byte_counts(uint32_t *sums, struct byte_counts *bytes, int channels)
{
    int tables = bytes_tables(channels);
    for (int b = 0; b < 256; b++)
        for (int t = 0; t < tables; t++)
            sums[t % channels * BYTES_SIZE + b] += bytes->n[b * BYTES_TABLES_MAX + t];
    memset(bytes, 0, sizeof *bytes);
}

static void count_row_bytes(uint32_t *sums, struct byte_counts *bytes,
                            const struct histogram_job *job, int y)
{
    size_t n = gi_row_samples(job->src);
    int channels = job->src->channels, tables = bytes_tables(channels);
    for (size_t at = 0; at < n; at += BYTES_PIECE) {
        const uint8_t *row = (const uint8_t *)gi_row(job->src, y) + at;
        size_t m = n - at < BYTES_PIECE ? n - at : BYTES_PIECE;
        uint32_t more = (uint32_t)(m / (size_t)tables + 1);
        if (bytes->most + more > UINT16_MAX)
            add_byte_counts(sums, bytes, channels);
        bytes->most += more;
        if (channels == 1)
            count_bytes(sums, bytes->n, row, m, 1, bytes_tables(1));
        else if (channels == 2)
            count_bytes(sums, bytes->n, row, m, 2, bytes_tables(2));
        else if (channels == 3)
            count_bytes(sums, bytes->n, row, m, 3, bytes_tables(3));
        else
            count_bytes(sums, bytes->n, row, m, 4, bytes_tables(4));
    }
}

/* Returns whether one of the next GROUP keys has one of the prefixes. */
static inline bool any_has_prefix(const uint32_t *keys, const struct gi_histogram_spec *spec)
{
    uint32_t any = 0;
    for (int p = 0; p < spec->nprefixes; p++)
        for (int i = 0; i < GROUP; i++)
            any |= keys[i] >> 16 == spec->prefixes[p];
    return any;
}

/* Before counting, lists the samples that have one of the prefixes, because they are few. Most
 * groups have none. */
static void count_row_low(uint32_t *table, const struct histogram_job *job, int y)
{
    const float *row = gi_row(job->src, y);
    size_t n = gi_row_samples(job->src), size = table_size(job->spec);
    uint32_t bins[BLOCK], keys[BLOCK] = {0}, channels = (uint32_t)job->src->channels;
    for (size_t at = 0; at < n; at += BLOCK) {
        int m = n - at < BLOCK ? (int)(n - at) : BLOCK, found = 0;
        prefetch_ahead(row + at, (size_t)m * sizeof *row);
        for (int i = 0; i < m; i++)
            keys[i] = gi_float_key(float_bits(row[at + (size_t)i]));
        for (int g = 0; g < m; g += GROUP) {
            int end = !any_has_prefix(keys + g, job->spec) ? g : g + GROUP < m ? g + GROUP : m;
            for (int i = g; i < end; i++) {
                float v = row[at + (size_t)i];
                uint32_t slot = job->slots[keys[i] >> 16], channel = (uint32_t)i % channels;
                bins[found] =
                    (uint32_t)(((slot - 1) * channels + channel) * size) + (keys[i] & 0xffff);
                found += (slot != 0) & (v == v);
            }
        }
        for (int i = 0; i < found; i++)
            table[bins[i]]++;
    }
}

static void count_row(uint32_t *table, const struct histogram_job *job, int y)
{
    const void *row = gi_row(job->src, y);
    size_t size = table_size(job->spec), n = gi_row_samples(job->src);
    uint32_t bins[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        int m = n - at < BLOCK ? (int)(n - at) : BLOCK;
        size_t nbytes = gi_type_nbytes(job->src->type);
        prefetch_ahead((const char *)row + at * nbytes, (size_t)m * nbytes);
        bins_of(bins, row, at, m, job->src->type, job->spec);
        if (job->tables == 1)
            count_pairs(table, size - 1, bins, m);
        else if (job->tables == 2)
            count_bins(table, size, bins, m, 2);
        else if (job->tables == 3)
            count_bins(table, size, bins, m, 3);
        else
            count_bins(table, size, bins, m, 4);
    }
}

/* Adds up the tables of a channel; tables of further prefixes remain separate. */
static void add_tables(const struct histogram_job *job, uint32_t *table)
{
    size_t nbins = (size_t)job->spec->nbins;
    int histograms = job->slots ? job->tables : job->src->channels;
    for (int t = 0; t < histograms; t++) {
        uint32_t *sums = table + (size_t)t * (nbins + 1);
        for (int more = t + histograms; more < job->tables; more += histograms)
            for (size_t i = 0; i < nbins; i++)
                sums[i] += table[(size_t)more * (nbins + 1) + i];
        uint64_t *counts = job->counts + (size_t)t * nbins;
        for (size_t i = 0; i < nbins && job->bands == 1; i++)
            counts[i] += sums[i];
        for (size_t i = 0; i < nbins && job->bands > 1; i++)
            if (sums[i])
                __atomic_fetch_add(&counts[i], sums[i], __ATOMIC_RELAXED);
    }
}

/* A row has fewer than 2^31 pixels, so that 32-bit counters do not overflow within a row. */
static void histogram_band(void *arg, int index, void *scratch)
{
    const struct histogram_job *job = arg;
    size_t counters = (size_t)job->tables * table_size(job->spec);
    uint32_t *table = scratch;
    struct byte_counts *bytes = job->bytes ? (void *)(table + counters) : NULL;
    size_t nbytes = counters * sizeof *table + (bytes ? sizeof *bytes : 0);
    int y1 = band_start(job->src, index + 1, job->bands);
    for (int y = band_start(job->src, index, job->bands); y < y1;) {
        memset(table, 0, nbytes);
        int rows = (int)(INT32_MAX / job->src->width), end = rows < y1 - y ? y + rows : y1;
        for (; y < end; y++)
            if (job->bytes)
                count_row_bytes(table, bytes, job, y);
            else if (job->slots)
                count_row_low(table, job, y);
            else
                count_row(table, job, y);
        if (bytes)
            add_byte_counts(table, bytes, job->src->channels);
        add_tables(job, table);
    }
}

static enum gi_status run(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                          const struct gi_histogram_spec *spec, bool bytes, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct histogram_job job = {.bytes = bytes, .src = src, .spec = spec, .counts = counts};
    uint8_t slots[65536];
    job.tables = src->channels == 1 && src->type != GI_U16 ? 2 : src->channels;
    if (bytes)
        job.tables = src->channels;
    if (spec->key == GI_KEY_FLOAT_LOW) {
        job.tables = spec->nprefixes * src->channels;
        job.slots = slots;
        memset(slots, 0, sizeof slots);
        for (int i = 0; i < spec->nprefixes; i++)
            slots[spec->prefixes[i]] = (uint8_t)(i + 1);
    }
    size_t counters = (size_t)job.tables * table_size(spec);
    job.bands = band_count(pool, src, counters > BAND_PIXELS ? counters : BAND_PIXELS);
    size_t nbytes = counters * sizeof(uint32_t) + (bytes ? sizeof(struct byte_counts) : 0);
    return gi_pool_run(pool, job.bands, histogram_band, &job, nbytes, err);
}

static bool bytes_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_histogram_spec *spec)
{
    return src->type == GI_U8;
}

static enum gi_status by_bytes(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                               const struct gi_histogram_spec *spec, struct gi_err *err)
{
    return run(queue, counts, src, spec, true, err);
}

static enum gi_status by_bins(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                              const struct gi_histogram_spec *spec, struct gi_err *err)
{
    return run(queue, counts, src, spec, false, err);
}

/* Time of each way in us with AVX-512, one thread, 2048 x 2048, 8-bit gray. Photo: bytes 1177, bins
 * 1734. Constant: bytes 188, bins 1376. */
const struct gi_histogram_way GI_CPU(histogram_ways)[GI_WAYS_MAX] = {
    {{"bytes", "8 bits"}, bytes_takes, by_bytes},
    {{"bins", "everything"}, NULL, by_bins},
};
