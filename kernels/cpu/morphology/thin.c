/* Thinning by lookup tables, on images of bits: 64 pixels are a word. Only pixels with a background
 * neighbour are looked up. Two images are read and written in turn. A row is processed if a row
 * beside it has changed in the last passes; otherwise both images hold the same row.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/morphology.h"

enum { ROWS = 32 /* of a job */ };

struct job {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_thin *spec;
    size_t nwords;     /* per row */
    uint64_t *bits[2]; /* with a row of zeros above and below, and a word of zeros after each row */
    long long *last;   /* the last pass that changed row y - 1; npasses before the first one */
    uint8_t *changed;  /* per row: whether this pass has changed it */
    long long pass;    /* from 0 */
};

static uint64_t *row_of(const struct job *job, int which, int y)
{
    return job->bits[which] + (size_t)(y + 1) * (job->nwords + 1) + 1;
}

static void pack_rows(void *arg, int index, void *scratch)
{
    const struct job *job = arg;
    int y1 = (index + 1) * ROWS < job->src->height ? (index + 1) * ROWS : job->src->height;
    for (int y = index * ROWS; y < y1; y++) {
        uint64_t *words = row_of(job, 0, y);
        GI_CPU_TYPES(job->src->type, {
            const T *in = gi_row(job->src, y);
            for (int x = 0; x < job->src->width; x++)
                words[x / 64] |= (uint64_t)(in[x] > 0) << x % 64;
        })
        memcpy(row_of(job, 1, y), words, job->nwords * sizeof *words);
    }
}

static void unpack_rows(void *arg, int index, void *scratch)
{
    const struct job *job = arg;
    int y1 = (index + 1) * ROWS < job->src->height ? (index + 1) * ROWS : job->src->height;
    for (int y = index * ROWS; y < y1; y++) {
        const uint64_t *words = row_of(job, (int)(job->pass % 2), y);
        GI_CPU_TYPES(job->src->type, {
            T *out = gi_row(job->dst, y);
            const T full = (T)gi_type_full_scale(TYPE);
            for (int x = 0; x < job->src->width; x++)
                out[x] = words[x / 64] >> x % 64 & 1 ? full : 0;
        })
    }
}

/* Returns the word with the pixels that a pass removes taken out. The words of neighbours are
 * shifted so that bit i is the neighbour of pixel i. */
static uint64_t thinned(const uint64_t *above, const uint64_t *own, const uint64_t *below,
                        const uint32_t *removes)
{
    const uint64_t *rows[3] = {above, own, below};
    uint64_t n[8], inner = own[0], left = own[0];
    for (int j = 0, k = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            if (i != 1 || j != 1)
                n[k++] = i == 0   ? rows[j][0] << 1 | rows[j][-1] >> 63
                         : i == 1 ? rows[j][0]
                                  : rows[j][0] >> 1 | rows[j][1] << 63;
    for (int k = 0; k < 8; k++)
        inner &= n[k];
    /* Pixels whose neighbours are all foreground have code 255. */
    uint64_t looked = removes[7] >> 31 ? own[0] : own[0] & ~inner;
    for (; looked; looked &= looked - 1) {
        int bit = __builtin_ctzll(looked);
        unsigned code = 0;
        for (int k = 0; k < 8; k++)
            code |= (unsigned)(n[k] >> bit & 1) << k;
        if (removes[code / 32] >> code % 32 & 1)
            left &= ~(1ull << bit);
    }
    return left;
}

static void pass_row(const struct job *job, int y)
{
    const long long *last = job->last + y; /* rows y - 1, y and y + 1 */
    long long recent = job->pass - job->spec->npasses;
    int from = (int)(job->pass % 2);
    job->changed[y] = 0;
    if (job->pass >= job->spec->npasses && last[0] < recent && last[1] < recent && last[2] < recent)
        return;
    const uint64_t *own = row_of(job, from, y), *above = row_of(job, from, y - 1);
    const uint64_t *below = row_of(job, from, y + 1);
    uint64_t *out = row_of(job, !from, y), changed = 0;
    const uint32_t *removes = job->spec->removes[job->pass % job->spec->npasses];
    for (size_t w = 0; w < job->nwords; w++) {
        out[w] = own[w] ? thinned(above + w, own + w, below + w, removes) : 0;
        changed |= out[w] ^ own[w];
    }
    job->changed[y] = changed != 0;
}

static void pass_rows(void *arg, int index, void *scratch)
{
    const struct job *job = arg;
    int y1 = (index + 1) * ROWS < job->src->height ? (index + 1) * ROWS : job->src->height;
    for (int y = index * ROWS; y < y1; y++)
        pass_row(job, y);
}

/* Runs cycles of passes. */
static enum gi_status run_cycles(struct job *job, struct gi_pool *pool, int njobs,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    bool any = true;
    for (int cycle = 0; any && !status && (!job->spec->cycles || cycle < job->spec->cycles);
         cycle++) {
        any = false;
        for (int i = 0; i < job->spec->npasses && !status; i++) {
            status = gi_pool_run(pool, njobs, pass_rows, job, 0, err);
            for (int y = 0; y < job->src->height; y++)
                if (job->changed[y]) {
                    job->last[y + 1] = job->pass;
                    any = true;
                }
            job->pass++;
        }
    }
    return status;
}

static enum gi_status by_words(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_thin *spec,
                               struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct job job = {.dst = dst, .src = src, .spec = spec};
    size_t height = (size_t)src->height;
    job.nwords = ((size_t)src->width + 63) / 64;
    size_t room = (height + 2) * (job.nwords + 1) + 1;
    int njobs = (src->height + ROWS - 1) / ROWS;
    job.bits[0] = calloc(2 * room + height + 2, sizeof(uint64_t));
    job.changed = malloc(height);
    enum gi_status status = GI_OK;
    if (!job.bits[0] || !job.changed)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu words of mask", 2 * room);
    if (!status) {
        job.bits[1] = job.bits[0] + room;
        job.last = (long long *)(void *)(job.bits[1] + room);
        for (size_t i = 0; i < height + 2; i++)
            job.last[i] = -GI_THIN_PASSES_MAX - 1;
        status = gi_pool_run(pool, njobs, pack_rows, &job, 0, err);
    }
    if (!status)
        status = run_cycles(&job, pool, njobs, err);
    if (!status)
        status = gi_pool_run(pool, njobs, unpack_rows, &job, 0, err);
    free(job.bits[0]);
    free(job.changed);
    return status;
}

GI_CPU_ONE_WAY(thin, "words", by_words);
