/* Sums and sums of squares of each channel, in integers. LANES neighbouring samples are summed side
 * by side, so that the same code serves 1 to 4 channels and vectorises.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/measure.h"

enum { LANES = 24 }; /* a multiple of 1, 2, 3 and 4 channels, and of 8 */

struct moments_job {
    const struct gi_image *src;
    struct quantiser quantiser[LANES];
    struct gi_sums *sums;
    int bands;
};

struct lanes {
    uint64_t n[LANES], q[LANES], low[LANES], high[LANES];
};

static inline void lane_add(struct lanes *lanes, int l, uint32_t q, uint32_t counted)
{
    uint64_t square = (uint64_t)q * q;
    lanes->n[l] += counted;
    lanes->q[l] += q;
    lanes->low[l] += (uint32_t)square;
    lanes->high[l] += square >> 32;
}

static inline void block_add(struct lanes *lanes, const void *row, size_t at, int n,
                             enum gi_type type, const struct quantiser *z)
{
    if (type == GI_U8)
        for (int l = 0; l < n; l++)
            lane_add(lanes, l, ((const uint8_t *)row)[at + (size_t)l], 1);
    else if (type == GI_U16)
        for (int l = 0; l < n; l++)
            lane_add(lanes, l, ((const uint16_t *)row)[at + (size_t)l], 1);
    else
        for (int l = 0; l < n; l++) {
            float v = ((const float *)row)[at + (size_t)l];
            uint32_t counted = v == v;
            lane_add(lanes, l, quantise(counted ? v : 0, &z[l]) & (0 - counted), counted);
        }
}

static void moments_band(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct moments_job *job = arg;
    struct lanes lanes = {0};
    size_t n = gi_row_samples(job->src), whole = n / LANES * LANES;
    int y1 = band_start(job->src, index + 1, job->bands);
    for (int y = band_start(job->src, index, job->bands); y < y1; y++) {
        const void *row = gi_row(job->src, y);
        for (size_t at = 0; at < whole; at += LANES)
            block_add(&lanes, row, at, LANES, job->src->type, job->quantiser);
        block_add(&lanes, row, whole, (int)(n - whole), job->src->type, job->quantiser);
    }
    for (int l = 0; l < LANES; l++) {
        struct gi_sums *sums = &job->sums[l % job->src->channels];
        __atomic_fetch_add(&sums->n, lanes.n[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q, lanes.q[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q2_low, lanes.low[l], __ATOMIC_RELAXED);
        __atomic_fetch_add(&sums->q2_high, lanes.high[l], __ATOMIC_RELAXED);
    }
}

enum gi_status GI_CPU(moments)(struct gi_context *cx, struct gi_sums *sums,
                               const struct gi_image *src, const float *lo, const float *hi,
                               struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(cx);
    struct moments_job job = {
        .src = src, .sums = sums, .bands = band_count(pool, src, BAND_PIXELS)};
    for (int l = 0; l < LANES && src->type == GI_F32; l++)
        job.quantiser[l] = quantiser_make(lo[l % src->channels], hi[l % src->channels]);
    return gi_pool_run(pool, job.bands, moments_band, &job, 0, err);
}
