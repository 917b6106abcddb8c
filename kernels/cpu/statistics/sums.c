/* Sums and sums of squares of each channel of floats, quantised to integers. LANES neighbouring
 * samples are summed side by side, so that the same code serves 1 to 4 channels and is vectorised.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/bit_rows.h"

enum { LANES = 48 /* a multiple of 1, 2, 3 and 4 channels, and of 16 */ };

struct sums_job {
    const struct gi_image *src;
    struct quantiser quantiser[LANES];
    struct gi_sums *sums;
    int bands;
};

struct sums_lanes {
    uint64_t n[LANES], q[LANES], low[LANES], high[LANES];
};

static inline void lane_add(struct sums_lanes *lanes, int l, uint32_t q, uint32_t counted)
{
    uint64_t square = (uint64_t)q * q;
    lanes->n[l] += counted;
    lanes->q[l] += q;
    lanes->low[l] += (uint32_t)square;
    lanes->high[l] += square >> 32;
}

static inline void floats_block(struct sums_lanes *lanes, const float *row, int n,
                                const struct quantiser *z)
{
    for (int l = 0; l < n; l++) {
        uint32_t counted = row[l] == row[l];
        lane_add(lanes, l, quantise(counted ? row[l] : 0, &z[l]) & (0 - counted), counted);
    }
}

static void floats_add(struct sums_lanes *lanes, const float *row, size_t n,
                       const struct quantiser *z)
{
    size_t at = 0;
    for (; at + LANES <= n; at += LANES)
        floats_block(lanes, row + at, LANES, z);
    floats_block(lanes, row + at, (int)(n - at), z);
}

static void sums_band(void *arg, int index, void *scratch)
{
    const struct sums_job *job = arg;
    struct sums_lanes lanes = {0};
    int y0 = band_start(job->src, index, job->bands);
    int y1 = band_start(job->src, index + 1, job->bands);
    for (int y = y0; y < y1; y++)
        floats_add(&lanes, gi_row(job->src, y), gi_row_samples(job->src), job->quantiser);
    for (int l = 0; l < LANES; l++) {
        struct gi_sums *sums = &job->sums[l % job->src->channels];
        __atomic_fetch_add(&sums->n, lanes.n[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q, lanes.q[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q2_low, lanes.low[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q2_high, lanes.high[l], __ATOMIC_RELAXED);
    }
}

static enum gi_status by_lanes(struct gi_queue *queue, struct gi_sums *sums,
                               const struct gi_image *src, const struct gi_sums_range *range,
                               struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct sums_job job = {.src = src, .sums = sums, .bands = band_count(pool, src, BAND_PIXELS)};
    for (int l = 0; l < LANES; l++)
        job.quantiser[l] =
            quantiser_make(range->lo[l % src->channels], range->hi[l % src->channels]);
    return gi_pool_run(pool, job.bands, sums_band, &job, 0, err);
}

GI_CPU_ONE_WAY(sums, "lanes", by_lanes);
