/* Template matching by direct sums. A job is a row of scores, which are computed in blocks. For
 * each row of the pattern, the samples of one channel below the block are copied side by side, and
 * each sample of the pattern is multiplied with a vector of them:
 *
 *      samples   v0 v1 v2 v3 v4 v5 ...
 *      pattern   p0 p1 p2
 *      score 0   p0 v0 + p1 v1 + p2 v2      vectors run down, across the scores
 *      score 1   p0 v1 + p1 v2 + p2 v3
 *
 * Sums of v and of its squares slide along the row if all pixels of the pattern count.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernels/cpu/statistics/correlate_fourier.h"

enum { BLOCK = 512 }; /* scores that are computed together */

struct correlate {
    struct gi_image *dst;
    const struct gi_image *src, *pattern;
    enum gi_correlate_method method;
    bool masked; /* some pixels of the pattern do not count */
};

/* The sums of a block of scores, in the scratch memory of a job. */
struct sums {
    struct gi_correlate_total total[BLOCK];
    uint64_t v[BLOCK], vv[BLOCK], pv[BLOCK];
    double real_v[BLOCK], real_vv[BLOCK], real_pv[BLOCK];
    uint32_t row[BLOCK]; /* products of bytes of one row of the pattern */
    /* the samples of one channel and row, at most BLOCK - 1 more than the pattern is wide */
    uint16_t *integers;
    float *reals;
};

static bool counts(const struct gi_image *pattern, int x, int y)
{
    size_t alpha = (size_t)(x + 1) * (size_t)pattern->channels - 1;
    return !gi_has_alpha(pattern) || gi_sample(gi_row(pattern, y), alpha, pattern->type) > 0;
}

/* Returns the sample of the pattern at (x, y) in channel c. */
static double sample_of(const struct gi_image *pattern, int x, int y, int c)
{
    return gi_sample(gi_row(pattern, y), (size_t)x * (size_t)pattern->channels + (size_t)c,
                     pattern->type);
}

/* Copies `n` samples of channel c from column x of row y on. */
static void copy_line(struct sums *sums, const struct gi_image *src, int x, int y, int c, int n)
{
    size_t channels = (size_t)src->channels;
    GI_CPU_TYPES(src->type, {
        const T *row = (const T *)gi_row(src, y) + (size_t)x * channels + (size_t)c;
        if (TYPE == GI_F32)
            for (int i = 0; i < n; i++)
                sums->reals[i] = (float)row[(size_t)i * channels];
        else
            for (int i = 0; i < n; i++)
                sums->integers[i] = (uint16_t)row[(size_t)i * channels];
    })
}

/* ---- integers ---- */

/* Adds the products of a row of the pattern. */
static void add_products_u8(const struct correlate *work, struct sums *sums, int y, int c, int n)
{
    memset(sums->row, 0, sizeof sums->row);
    for (int x = 0; x < work->pattern->width; x++) {
        const uint16_t *v = sums->integers + x;
        uint16_t p = counts(work->pattern, x, y) ? (uint16_t)sample_of(work->pattern, x, y, c) : 0;
        for (int i = 0; i < n; i++)
            sums->row[i] += (uint16_t)(p * v[i]);
    }
    for (int i = 0; i < n; i++)
        sums->pv[i] += sums->row[i];
}

static void add_products_u16(const struct correlate *work, struct sums *sums, int y, int c, int n)
{
    for (int x = 0; x < work->pattern->width; x++) {
        const uint16_t *v = sums->integers + x;
        uint32_t p = counts(work->pattern, x, y) ? (uint32_t)sample_of(work->pattern, x, y, c) : 0;
        for (int i = 0; i < n; i++)
            sums->pv[i] += p * v[i];
    }
}

/* Adds the samples below a row of the pattern, and their squares. */
static void add_window(const struct correlate *work, struct sums *sums, int y, int n)
{
    const uint16_t *v = sums->integers;
    uint64_t sum = 0, squares = 0;
    int width = work->pattern->width;
    for (int x = 0; x < width && work->masked; x++)
        for (int i = 0; i < n && counts(work->pattern, x, y); i++) {
            sums->v[i] += v[x + i];
            sums->vv[i] += (uint32_t)v[x + i] * v[x + i];
        }
    for (int i = 0; i < width + n - 1 && !work->masked; i++) {
        sum += v[i];
        squares += (uint32_t)v[i] * v[i];
        if (i < width - 1)
            continue;
        int first = i - (width - 1);
        sums->v[first] += sum;
        sums->vv[first] += squares;
        sum -= v[first];
        squares -= (uint32_t)v[first] * v[first];
    }
}

static void add_integers(const struct correlate *work, struct sums *sums, int x, int y, int c,
                         int n)
{
    const struct gi_image *pattern = work->pattern;
    struct gi_correlate_integers s = {0};
    memset(sums->v, 0, sizeof sums->v);
    memset(sums->vv, 0, sizeof sums->vv);
    memset(sums->pv, 0, sizeof sums->pv);
    for (int r = 0; r < pattern->height; r++) {
        copy_line(sums, work->src, x, y + r, c, n + pattern->width - 1);
        add_window(work, sums, r, n);
        if (pattern->type == GI_U8)
            add_products_u8(work, sums, r, c, n);
        else
            add_products_u16(work, sums, r, c, n);
        for (int i = 0; i < pattern->width; i++)
            if (counts(pattern, i, r)) {
                uint64_t p = (uint64_t)sample_of(pattern, i, r, c);
                s.n++;
                s.p += p;
                s.pp += p * p;
            }
    }
    for (int i = 0; i < n; i++) {
        s.v = sums->v[i];
        s.vv = sums->vv[i];
        s.pv = sums->pv[i];
        gi_correlate_add_integers(&sums->total[i], work->method, &s);
    }
}

/* ---- floats ---- */

static void add_reals(const struct correlate *work, struct sums *sums, int x, int y, int c, int n)
{
    const struct gi_image *pattern = work->pattern;
    struct gi_correlate_reals s = {0};
    memset(sums->real_v, 0, sizeof sums->real_v);
    memset(sums->real_vv, 0, sizeof sums->real_vv);
    memset(sums->real_pv, 0, sizeof sums->real_pv);
    for (int r = 0; r < pattern->height; r++) {
        copy_line(sums, work->src, x, y + r, c, n + pattern->width - 1);
        for (int k = 0; k < pattern->width; k++) {
            const float *v = sums->reals + k;
            double p = sample_of(pattern, k, r, c);
            if (!counts(pattern, k, r))
                continue;
            s.n++;
            s.p += p;
            s.pp += p * p;
            for (int i = 0; i < n; i++) {
                sums->real_v[i] += (double)v[i];
                sums->real_vv[i] += (double)v[i] * (double)v[i];
                sums->real_pv[i] += p * (double)v[i];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        s.v = sums->real_v[i];
        s.vv = sums->real_vv[i];
        s.pv = sums->real_pv[i];
        gi_correlate_add_reals(&sums->total[i], work->method, &s);
    }
}

/* ---- rows of scores ---- */

static void make_row(void *arg, int y, void *scratch)
{
    const struct correlate *work = arg;
    struct sums *sums = scratch;
    sums->integers = (uint16_t *)(sums + 1);
    sums->reals = (float *)(sums + 1);
    float *scores = gi_row(work->dst, y);
    for (int x = 0; x < work->dst->width; x += BLOCK) {
        int n = work->dst->width - x < BLOCK ? work->dst->width - x : BLOCK;
        memset(sums->total, 0, sizeof sums->total);
        for (int c = 0; c < gi_color_channels(work->pattern); c++)
            if (work->pattern->type == GI_F32)
                add_reals(work, sums, x, y, c, n);
            else
                add_integers(work, sums, x, y, c, n);
        for (int i = 0; i < n; i++)
            scores[x + i] = gi_correlate_score(&sums->total[i], work->method);
    }
}

static enum gi_status direct(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_correlate *spec,
                             struct gi_err *err)
{
    const struct gi_image *pattern = spec->pattern;
    struct correlate work = {dst, src, pattern, spec->method, false};
    for (int y = 0; y < pattern->height && !work.masked; y++)
        for (int x = 0; x < pattern->width && !work.masked; x++)
            work.masked = !counts(pattern, x, y);
    return gi_pool_run(
        gi_cpu_pool(queue), dst->height, make_row, &work,
        sizeof(struct sums) + ((size_t)BLOCK + (size_t)pattern->width) * sizeof(float), err);
}

const struct gi_correlate_way GI_CPU(correlate_ways)[GI_WAYS_MAX] = {
    {{"fourier", "8 bits, patterns of 256 pixels or more without alpha"},
     GI_CPU(correlate_fourier_takes),
     GI_CPU(correlate_fourier)},
    {{"direct", "everything"}, NULL, direct},
};
