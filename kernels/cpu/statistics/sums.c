/* Sums and sums of squares of each channel, in integers. LANES neighbouring samples are summed side
 * by side, so that the same code serves 1 to 4 channels and vectorises; for bytes, instructions
 * that add neighbouring lanes are faster.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/bit_rows.h"
#if !GI_LEVEL_scalar
#include "kernels/cpu/common/bytes.h"
#endif

enum {
    LANES = 48,                        /* a multiple of 1, 2, 3 and 4 channels, and of 16 */
    CHUNK = (1 << 18) / LANES * LANES, /* samples whose sums fit in 32-bit lanes */
};

#if GI_LEVEL_scalar
enum { HAS_PAIRS = false };
#else
enum { HAS_PAIRS = true };
#endif

struct sums_job {
    const struct gi_image *src;
    struct quantiser quantiser[LANES];
    struct gi_sums *sums;
    int bands;
    bool pairs; /* bytes: by the instructions that add neighbouring lanes */
};

#if !GI_LEVEL_scalar

/* Sums in 64-bit lanes. Sample i of a row is counted in [i % period], period 2 or 4: even and odd
 * bytes are widened to 16 bits; for a period of 4 the lanes alternate between two samples. */
struct pairs {
    GI_INTS q[4], squares[4];
};

/* `squares`: 32-bit lanes. */
static inline void pairs_add(struct pairs *pairs, GI_INTS *squares, GI_INTS bytes, const int period)
{
    const GI_INTS halves[2] = {both(bytes, ints_set(0x00ff00ff)), odd_bytes(bytes)};
    for (int i = 0; i < period; i++) {
        GI_INTS mask = ints_set(period == 2 ? 0xffffffff : i < 2 ? 0x0000ffff : 0xffff0000);
        GI_INTS v = both(halves[i % 2], mask);
        pairs->q[i] = add_wide(pairs->q[i], sums_of_bytes(v));
        squares[i] = ints_add(squares[i], squares_of_pairs(v));
    }
}

/* Adds up to CHUNK samples: each 32-bit lane takes at most 2^15 times two squares. */
static inline void pairs_add_row(struct pairs *sums, const uint8_t *row, size_t n, const int period)
{
    enum { VECTOR = sizeof(GI_INTS) };
    struct pairs pairs = *sums;
    GI_INTS squares[4] = {ints_set(0), ints_set(0), ints_set(0), ints_set(0)};
    size_t at = 0;
    for (; at + VECTOR <= n; at += VECTOR) {
        prefetch_ahead(row + at, VECTOR);
        pairs_add(&pairs, squares, load_bytes(row + at), period);
    }
    if (at < n) {
        uint8_t rest[VECTOR] = {0};
        pairs_add(&pairs, squares, load_bytes(memcpy(rest, row + at, n - at)), period);
    }
    for (int i = 0; i < period; i++) {
        sums->q[i] = pairs.q[i];
        sums->squares[i] = add_wide(pairs.squares[i], wide_sums(squares[i]));
    }
}

#endif

struct lanes {
    uint64_t n[LANES], q[LANES], low[LANES], high[LANES];
#if !GI_LEVEL_scalar
    struct pairs pairs; /* for bytes, except with 3 channels */
#endif
};

static inline void lane_add(struct lanes *lanes, int l, uint32_t q, uint32_t counted)
{
    uint64_t square = (uint64_t)q * q;
    lanes->n[l] += counted;
    lanes->q[l] += q;
    lanes->low[l] += (uint32_t)square;
    lanes->high[l] += square >> 32;
}

/* Adds up to CHUNK samples of 8 bits, and fewer than LANES remaining ones. */
static void bytes_add(struct lanes *lanes, const uint8_t *row, size_t n)
{
    uint32_t q[LANES] = {0}, low[LANES] = {0};
    size_t at = 0;
    for (; at + LANES <= n; at += LANES) {
        prefetch_ahead(row + at, LANES);
        for (int l = 0; l < LANES; l++) {
            uint32_t v = row[at + (size_t)l];
            q[l] += v;
            low[l] += v * v;
        }
    }
    for (int l = 0; l < LANES; l++) {
        lanes->q[l] += q[l];
        lanes->low[l] += low[l];
    }
    for (int l = 0; at < n; at++, l++)
        lane_add(lanes, l, row[at], 0);
}

/* Adds up to CHUNK samples of 16 bits, and the remaining ones; a square has no upper half. */
static void words_add(struct lanes *lanes, const uint16_t *row, size_t n)
{
    uint32_t q[LANES] = {0};
    size_t at = 0;
    for (; at + LANES <= n; at += LANES) {
        prefetch_ahead(row + at, LANES * sizeof *row);
        for (int l = 0; l < LANES; l++) {
            uint32_t v = row[at + (size_t)l];
            q[l] += v;
            lanes->low[l] += v * v;
        }
    }
    for (int l = 0; l < LANES; l++)
        lanes->q[l] += q[l];
    for (int l = 0; at < n; at++, l++)
        lane_add(lanes, l, row[at], 0);
}

static inline void floats_block(struct lanes *lanes, const float *row, int n,
                                const struct quantiser *z)
{
    for (int l = 0; l < n; l++) {
        uint32_t counted = row[l] == row[l];
        lane_add(lanes, l, quantise(counted ? row[l] : 0, &z[l]) & (0 - counted), counted);
    }
}

static void floats_add(struct lanes *lanes, const float *row, size_t n, const struct quantiser *z)
{
    size_t at = 0;
    for (; at + LANES <= n; at += LANES)
        floats_block(lanes, row + at, LANES, z);
    floats_block(lanes, row + at, (int)(n - at), z);
}

static void row_add(struct lanes *lanes, const struct sums_job *job, int y)
{
    const void *row = gi_row(job->src, y);
    size_t n = gi_row_samples(job->src);
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < CHUNK ? n - at : CHUNK;
#if !GI_LEVEL_scalar
        if (job->pairs && job->src->channels == 4)
            pairs_add_row(&lanes->pairs, (const uint8_t *)row + at, m, 4);
        else if (job->pairs)
            pairs_add_row(&lanes->pairs, (const uint8_t *)row + at, m, 2);
        else
#endif
            if (job->src->type == GI_U8)
            bytes_add(lanes, (const uint8_t *)row + at, m);
        else if (job->src->type == GI_U16)
            words_add(lanes, (const uint16_t *)row + at, m);
        else
            floats_add(lanes, (const float *)row + at, m, job->quantiser);
    }
}

static void sums_band(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct sums_job *job = arg;
    struct lanes lanes = {0};
    int y0 = band_start(job->src, index, job->bands);
    int y1 = band_start(job->src, index + 1, job->bands);
    for (int y = y0; y < y1; y++)
        row_add(&lanes, job, y);
    if (job->src->type !=
        GI_F32) /* all samples are counted; the first lane of a channel has the number */
        for (int c = 0; c < job->src->channels; c++)
            lanes.n[c] = (uint64_t)(y1 - y0) * (uint64_t)job->src->width;
#if !GI_LEVEL_scalar
    for (int i = 0; i < 4; i++) {
        lanes.q[i] += wide_total(lanes.pairs.q[i]);
        lanes.low[i] += wide_total(lanes.pairs.squares[i]);
    }
#endif
    for (int l = 0; l < LANES; l++) {
        struct gi_sums *sums = &job->sums[l % job->src->channels];
        __atomic_fetch_add(&sums->n, lanes.n[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q, lanes.q[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q2_low, lanes.low[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q2_high, lanes.high[l], __ATOMIC_RELAXED);
    }
}

static enum gi_status run(struct gi_queue *queue, struct gi_sums *sums, const struct gi_image *src,
                          const struct gi_sums_range *range, bool pairs, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct sums_job job = {
        .pairs = pairs, .src = src, .sums = sums, .bands = band_count(pool, src, BAND_PIXELS)};
    for (int l = 0; l < LANES && src->type == GI_F32; l++)
        job.quantiser[l] =
            quantiser_make(range->lo[l % src->channels], range->hi[l % src->channels]);
    return gi_pool_run(pool, job.bands, sums_band, &job, 0, err);
}

static bool pairs_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_sums_range *range)
{
    (void)queue, (void)range;
    return HAS_PAIRS && src->type == GI_U8 && src->channels != 3;
}

static enum gi_status by_pairs(struct gi_queue *queue, struct gi_sums *sums,
                               const struct gi_image *src, const struct gi_sums_range *range,
                               struct gi_err *err)
{
    return run(queue, sums, src, range, true, err);
}

static enum gi_status by_lanes(struct gi_queue *queue, struct gi_sums *sums,
                               const struct gi_image *src, const struct gi_sums_range *range,
                               struct gi_err *err)
{
    return run(queue, sums, src, range, false, err);
}

const struct gi_sums_way GI_CPU(sums_ways)[GI_WAYS_MAX] = {
    {{"pairs", "8 bits, but of 3 channels, by vectors"}, pairs_takes, by_pairs},
    {{"lanes", "everything"}, NULL, by_lanes},
};
