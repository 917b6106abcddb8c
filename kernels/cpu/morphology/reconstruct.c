/* Morphological reconstruction by dilation: two scans in opposite directions, then a queue of the
 * pixels whose neighbours are still too low (the hybrid algorithm of L. Vincent, 1993). Threads do
 * this in bands of rows. Even and odd bands take turns, so that the rows beside a band do not
 * change while it is processed. A band is processed again if such a row has changed.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/morphology.h"

enum { BAND_MIN = 64 /* rows */, BAND_PIXELS = 1 << 30 };

struct band {
    int y0, y1;
    bool scanned;
    /* Whether the first or the last row has changed since the band beside it was processed. */
    bool first_changed, last_changed;
};

struct job {
    struct gi_image *dst;
    const struct gi_image *src, *seed;
    bool eight;
    int channel, parity, nbands;
    struct band *bands;
    size_t room; /* pixels of the largest band */
};

/* A ring buffer of pixels, as offsets in the band. A pixel is in it at most once. */
struct queue {
    uint32_t *pixels;
    uint64_t *queued; /* a bit per pixel of the band */
    size_t room, head, n;
};

static void push(struct queue *q, size_t pixel)
{
    uint64_t bit = 1ull << pixel % 64;
    if (q->queued[pixel / 64] & bit)
        return;
    size_t at = q->head + q->n++;
    q->queued[pixel / 64] |= bit;
    q->pixels[at < q->room ? at : at - q->room] = (uint32_t)pixel;
}

static size_t pop(struct queue *q)
{
    size_t pixel = q->pixels[q->head];
    q->queued[pixel / 64] &= ~(1ull << pixel % 64);
    q->head = q->head + 1 < q->room ? q->head + 1 : 0;
    q->n--;
    return pixel;
}

/* ---- samples, as floats, which hold all types exactly ---- */

/* The following functions are specialised for constants `type`. */
#define INLINE static inline __attribute__((always_inline))

INLINE float get(const struct gi_image *image, int x, int y, int channel, enum gi_type type)
{
    const void *row = gi_row(image, y);
    size_t i = (size_t)x * (size_t)image->channels + (size_t)channel;
    return type == GI_U8    ? (float)((const uint8_t *)row)[i]
           : type == GI_U16 ? (float)((const uint16_t *)row)[i]
                            : ((const float *)row)[i] + 0.0f; /* -0 + 0 is +0 */
}

INLINE void put(struct gi_image *image, int x, int y, int channel, enum gi_type type, float v)
{
    void *row = gi_row(image, y);
    size_t i = (size_t)x * (size_t)image->channels + (size_t)channel;
    if (type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)v;
    else if (type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)v;
    else
        ((float *)row)[i] = v;
}

/* Sets the samples of a band to the minimum of seed and src. */
static void start_band(void *arg, int index, void *scratch)
{
    const struct job *job = arg;
    size_t n = gi_row_samples(job->src);
    for (int y = job->bands[index].y0; y < job->bands[index].y1; y++)
        GI_CPU_TYPES(job->src->type, {
            const T *src = gi_row(job->src, y), *seed = gi_row(job->seed, y);
            T *dst = gi_row(job->dst, y);
            const T none = (T)(TYPE == GI_F32 ? NAN : 0.0f);
            for (size_t i = 0; i < n; i++) {
                T least = (T)((seed[i] < src[i] ? seed[i] : src[i]) + 0); /* -0 + 0 is +0 */
                bool ordered = TYPE != GI_F32 || ((src[i] == src[i]) & (seed[i] == seed[i]));
                dst[i] = ordered ? least : none;
            }
        })
}

/* Copies a channel of `src`, which is the alpha. */
static void copy_band(void *arg, int index, void *scratch)
{
    const struct job *job = arg;
    int c = job->channel;
    for (int y = job->bands[index].y0; y < job->bands[index].y1; y++)
        GI_CPU_TYPES(job->src->type, {
            size_t step = (size_t)job->src->channels;
            const T *in = (const T *)gi_row(job->src, y) + c;
            T *out = (T *)gi_row(job->dst, y) + c;
            for (size_t i = 0; i < step * (size_t)job->src->width; i += step)
                out[i] = in[i];
        })
}

/* ---- bands ---- */

/* Comparisons with NaN are false, so NaNs neither rise nor raise others. */
INLINE float greater(float a, float b)
{
    return b > a ? b : a;
}

/* Returns the maximum of v and the neighbours in row y of a pixel in column x of another row. */
INLINE float beside(const struct job *job, int x, int y, float v, enum gi_type type)
{
    v = greater(v, get(job->dst, x, y, job->channel, type));
    if (job->eight && x > 0)
        v = greater(v, get(job->dst, x - 1, y, job->channel, type));
    if (job->eight && x + 1 < job->dst->width)
        v = greater(v, get(job->dst, x + 1, y, job->channel, type));
    return v;
}

/* Raises the pixel to `to`, but not above src. Returns whether it has changed. */
INLINE bool raise(const struct job *job, int x, int y, float to, enum gi_type type)
{
    float v = get(job->dst, x, y, job->channel, type);
    if (!(to > v))
        return false;
    float most = get(job->src, x, y, job->channel, type);
    put(job->dst, x, y, job->channel, type, to < most ? to : most);
    return v < most;
}

enum { BLOCK = 64 /* pixels of a row that are skipped together */ };

/* Returns whether pixels x0 to x1 - 1 of row y, which may be outside the image, can rise. Returns
 * true for images of several channels. */
INLINE bool can_rise(const struct job *job, int y, int x0, int x1, enum gi_type type)
{
    int any = 0;
    if (job->src->channels > 1)
        return true;
    if (y < 0 || y >= job->src->height)
        return false;
    x0 = x0 < 0 ? 0 : x0;
    x1 = x1 > job->src->width ? job->src->width : x1;
    GI_CPU_TYPES(type, {
        const T *dst = gi_row(job->dst, y), *src = gi_row(job->src, y);
        for (int x = x0; x < x1; x++)
            any |= dst[x] < src[x];
    })
    return any;
}

/* Scans a row: raises each pixel to the pixel before it in the direction `step` and to its
 * neighbours in row `other`, if there is such a row. */
INLINE void scan_row(const struct job *job, int y, int other, int step, enum gi_type type)
{
    int width = job->dst->width, nblocks = (width + BLOCK - 1) / BLOCK;
    bool has = other >= 0 && other < job->dst->height;
    for (int i = 0; i < nblocks; i++) {
        int block = step > 0 ? i : nblocks - 1 - i, x0 = block * BLOCK;
        int n = width - x0 < BLOCK ? width - x0 : BLOCK;
        if (!can_rise(job, y, x0, x0 + n, type))
            continue;
        for (int k = 0, x = step > 0 ? x0 : x0 + n - 1; k < n; k++, x += step) {
            float best = -INFINITY;
            if (x - step >= 0 && x - step < width)
                best = greater(best, get(job->dst, x - step, y, job->channel, type));
            if (has)
                best = beside(job, x, other, best, type);
            raise(job, x, y, best, type);
        }
    }
}

/* The neighbours of a pixel; the first four are those with connectivity 4. Neighbour k follows the
 * pixel in raster order if k % 4 < 2. */
static const int steps[8][2] = {{1, 0}, {0, 1},  {-1, 0},  {0, -1},
                                {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

/* Raises the neighbours of a pixel that are in the band (with `later`, those that follow it), and
 * queues those that change. */
INLINE void spread(const struct job *job, struct band *band, struct queue *q, size_t pixel,
                   bool later, enum gi_type type)
{
    size_t width = (size_t)job->dst->width;
    int x0 = (int)(pixel % width), row = band->y0 + (int)(pixel / width);
    float v = get(job->dst, x0, row, job->channel, type);
    for (int k = 0; k < (job->eight ? 8 : 4); k++) {
        int x = x0 + steps[k][0], y = row + steps[k][1];
        if (x < 0 || x >= job->dst->width || y < band->y0 || y >= band->y1 || (later && k % 4 >= 2))
            continue;
        if (raise(job, x, y, v, type)) {
            band->first_changed |= y == band->y0;
            band->last_changed |= y == band->y1 - 1;
            push(q, (size_t)(y - band->y0) * width + (size_t)x);
        }
    }
}

/* The first time: two scans. In the second scan pixels spread to those that it has passed. */
INLINE void scan_band(const struct job *job, struct band *band, struct queue *q, enum gi_type type)
{
    int width = job->dst->width;
    for (int y = band->y0; y < band->y1; y++)
        scan_row(job, y, y - 1, 1, type);
    for (int y = band->y1 - 1; y >= band->y0; y--) {
        scan_row(job, y, y + 1, -1, type);
        for (int x0 = 0; x0 < width; x0 += BLOCK)
            if (can_rise(job, y, x0, x0 + BLOCK + 1, type) ||
                can_rise(job, y + 1, x0 - 1, x0 + BLOCK + 1, type))
                for (int x = x0; x < x0 + BLOCK && x < width; x++)
                    spread(job, band, q, (size_t)(y - band->y0) * (size_t)width + (size_t)x, true,
                           type);
    }
    band->scanned = band->first_changed = band->last_changed = true;
}

/* Later: raises a row to the row beside the band. */
INLINE void enter_row(const struct job *job, struct band *band, struct queue *q, int y, int other,
                      enum gi_type type)
{
    size_t width = (size_t)job->dst->width;
    for (int x = 0; x < job->dst->width && other >= 0 && other < job->dst->height; x++)
        if (raise(job, x, y, beside(job, x, other, -INFINITY, type), type)) {
            band->first_changed |= y == band->y0;
            band->last_changed |= y == band->y1 - 1;
            push(q, (size_t)(y - band->y0) * width + (size_t)x);
        }
}

GI_PER_KIND void process_band(const struct job *job, struct band *band, void *scratch,
                              enum gi_type type)
{
    struct queue q = {.room = job->room, .queued = scratch};
    size_t nwords = (job->room + 63) / 64;
    q.pixels = (uint32_t *)(void *)(q.queued + nwords);
    memset(q.queued, 0, nwords * sizeof *q.queued);
    if (!band->scanned) {
        scan_band(job, band, &q, type);
    } else {
        enter_row(job, band, &q, band->y0, band->y0 - 1, type);
        enter_row(job, band, &q, band->y1 - 1, band->y1, type);
    }
    while (q.n)
        spread(job, band, &q, pop(&q), false, type);
}

static bool *change_above(const struct job *job, int index)
{
    return index > 0 ? &job->bands[index - 1].last_changed : NULL;
}

static bool *change_below(const struct job *job, int index)
{
    return index + 1 < job->nbands ? &job->bands[index + 1].first_changed : NULL;
}

static bool waits(const struct job *job, int index)
{
    const bool *above = change_above(job, index), *below = change_below(job, index);
    return !job->bands[index].scanned || (above && *above) || (below && *below);
}

static void visit_band(void *arg, int half, void *scratch)
{
    const struct job *job = arg;
    int index = 2 * half + job->parity;
    bool *above = change_above(job, index), *below = change_below(job, index);
    if (!waits(job, index))
        return;
    if (above)
        *above = false;
    if (below)
        *below = false;
    GI_CPU_TYPES(job->src->type, process_band(job, &job->bands[index], scratch, TYPE))
}

/* Processes the bands of job->channel until nothing changes. */
static enum gi_status run_channel(struct job *job, struct gi_pool *pool, struct gi_err *err)
{
    size_t scratch = (job->room + 63) / 64 * 8 + job->room * sizeof(uint32_t);
    for (int i = 0; i < job->nbands; i++)
        job->bands[i].scanned = job->bands[i].first_changed = job->bands[i].last_changed = false;
    enum gi_status status = GI_OK;
    for (bool any = true; any && !status;) {
        for (job->parity = 0; job->parity < 2 && !status; job->parity++)
            status = gi_pool_run(pool, (job->nbands + 1 - job->parity) / 2, visit_band, job,
                                 scratch, err);
        any = false;
        for (int i = 0; i < job->nbands; i++)
            any |= waits(job, i);
    }
    return status;
}

/* Returns the number of bands: two per thread, unless they have fewer than BAND_MIN rows, and one
 * more for every BAND_PIXELS, because the queue has offsets of 32 bits. */
static int count_bands(const struct gi_image *src, int threads)
{
    int64_t pixels = (int64_t)src->width * src->height, n = threads == 1 ? 1 : 2 * threads;
    int64_t most = (src->height - 1) / BAND_MIN + 1;
    n = (n < most ? n : most) + pixels / BAND_PIXELS;
    return (int)(n < src->height ? n : src->height);
}

static enum gi_status by_queues(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_reconstruct *spec,
                                struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct job job = {.dst = dst,
                      .src = src,
                      .seed = spec->seed,
                      .eight = spec->connectivity == 8,
                      .nbands = count_bands(src, gi_pool_threads(pool))};
    job.bands = calloc((size_t)job.nbands, sizeof *job.bands);
    if (!job.bands)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %d bands", job.nbands);
    for (int i = 0; i < job.nbands; i++) {
        struct band *band = &job.bands[i];
        band->y0 = (int)((int64_t)src->height * i / job.nbands);
        band->y1 = (int)((int64_t)src->height * (i + 1) / job.nbands);
        size_t room = (size_t)(band->y1 - band->y0) * (size_t)src->width;
        job.room = room > job.room ? room : job.room;
    }
    enum gi_status status = gi_pool_run(pool, job.nbands, start_band, &job, 0, err);
    for (; job.channel < gi_color_channels(src) && !status; job.channel++)
        status = run_channel(&job, pool, err);
    if (!status && gi_has_alpha(src))
        status = gi_pool_run(pool, job.nbands, copy_band, &job, 0, err);
    free(job.bands);
    return status;
}

GI_CPU_ONE_WAY(reconstruct, "queues", by_queues);
