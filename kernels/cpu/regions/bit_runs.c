/* Finds runs of set bits, and unites (union-find) the runs that touch.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/regions/bit_runs.h"

static void bits_band(void *arg, int index, void *scratch)
{
    const struct runs_job *job = arg;
    int y1 = band_start(job->predicate->on, index + 1, job->bands);
    for (int y = band_start(job->predicate->on, index, job->bands); y < y1; y++) {
        uint64_t *words = row_bits(job, y), carry = 0;
        uint32_t runs = 0;
        foreground_row(words, job->predicate, y);
        for (int w = 0; w < job->nwords; w++) {
            runs += (uint32_t)__builtin_popcountll(words[w] & ~(words[w] << 1 | carry));
            carry = words[w] >> 63;
        }
        job->first_run[y + 1] = runs;
    }
}

/* Finds the root with path halving. */
static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Nothing is stored if the roots are equal, because other bands may read RUNS_FRAME meanwhile. */
static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else if (b < a)
        parent[a] = b;
}

/* The runs of two neighbouring rows, from the current word on. */
struct run_pair {
    const uint32_t *up; /* labels of the runs from this word on */
    uint32_t *down;
    uint64_t up_starts, down_starts; /* bits of the word at which a run begins */
};

/* For each bit of `touch`, unites the lower row's run at this bit with a run of the upper row. If
 * `next` is 0, it is the last run that begins at or before the bit; if `next` is 1, it is the run
 * after that run. */
static inline void join_runs(const struct run_pair *rows, uint64_t touch, int next,
                             uint32_t *parent)
{
    for (; touch; touch &= touch - 1) {
        uint64_t upto = touch ^ (touch - 1); /* the lowest bit and all bits below it */
        int up = __builtin_popcountll(rows->up_starts & upto) - 1 + next;
        int down = __builtin_popcountll(rows->down_starts & upto) - 1;
        uint32_t label = rows->down[down], above = parent[rows->up[up]];
        rows->down[down] = label ? label : above;
        if (label && label != above)
            unite(parent, label, above);
    }
}

/* Unites the runs of row y with the runs of the row above. There is one bit for every pair of runs
 * that touch, because two runs overlap in one interval, and a diagonal contact without overlap is
 * at a run's end. */
static void join_rows(const struct runs_job *job, int y)
{
    const uint64_t *up = row_bits(job, y - 1), *down = row_bits(job, y);
    struct run_pair rows = {.up = labels_of(job, y - 1), .down = labels_of(job, y)};
    uint64_t up_carry = 0, down_carry = 0;
    for (int w = 0; w < job->nwords; w++) {
        uint64_t u = up[w], d = down[w];
        uint64_t u_left = u << 1 | up_carry, d_left = d << 1 | down_carry;
        rows.up_starts = u & ~u_left;
        rows.down_starts = d & ~d_left;
        uint64_t touch = u & d & ~(u_left & d_left);
        if (job->eight) {
            bool more = w + 1 < job->nwords;
            uint64_t u_right = u >> 1 | (more ? up[w + 1] << 63 : 0);
            uint64_t d_right = d >> 1 | (more ? down[w + 1] << 63 : 0);
            touch |= rows.down_starts & u_left & ~u;
            join_runs(&rows, touch, 0, job->parent);
            join_runs(&rows, d & ~d_right & u_right & ~u, 1, job->parent);
        } else {
            join_runs(&rows, touch, 0, job->parent);
        }
        rows.up += __builtin_popcountll(rows.up_starts);
        rows.down += __builtin_popcountll(rows.down_starts);
        up_carry = u >> 63;
        down_carry = d >> 63;
    }
}

/* Gives the label RUNS_FRAME to runs of row y that touch a side of the image. */
static void frame(const struct runs_job *job, int y, uint32_t *label, uint32_t runs)
{
    const struct gi_image *on = job->predicate->on;
    const uint64_t *words = row_bits(job, y);
    bool all = y == 0 || y == on->height - 1;
    for (uint32_t i = 0; i < runs && all; i++)
        label[i] = RUNS_FRAME;
    if (words[0] & 1)
        label[0] = RUNS_FRAME;
    if (words[job->nwords - 1] >> (on->width - 1) % 64)
        label[runs - 1] = RUNS_FRAME;
}

/* Assigns provisional labels within one band. A new label is always stored, because a branch would
 * be unpredictable, but it is only counted if the run has no label yet. */
static void join_band(void *arg, int index, void *scratch)
{
    const struct runs_job *job = arg;
    int y0 = band_start(job->predicate->on, index, job->bands);
    int y1 = band_start(job->predicate->on, index + 1, job->bands);
    uint32_t next = first_label(job, index);
    for (int y = y0; y < y1; y++) {
        uint32_t *label = labels_of(job, y), runs = runs_of(job, y);
        memset(label, 0, runs * sizeof *label); /* 0: no label yet */
        if (job->framed)
            frame(job, y, label, runs);
        if (y > y0)
            join_rows(job, y);
        for (uint32_t i = 0; i < runs; i++) {
            bool fresh = label[i] == 0;
            label[i] = fresh ? next : label[i];
            job->parent[next] = next;
            next += fresh;
        }
    }
    job->used[index] = next;
}

enum gi_status GI_CPU(runs_join)(struct runs_job *job, struct gi_pool *pool, struct gi_err *err)
{
    const struct gi_image *on = job->predicate->on;
    size_t height = (size_t)on->height;
    job->bands = band_count(pool, on, BAND_PIXELS);
    job->nwords = row_words(on->width);
    job->bits = huge_malloc(height * (size_t)job->nwords * sizeof *job->bits);
    job->first_run = calloc(height + 1, sizeof *job->first_run);
    job->used = calloc((size_t)job->bands, sizeof *job->used);
    if (!job->bits || !job->first_run || !job->used)
        return gi_fail(err, GI_E_MEMORY, "out of memory: runs of %d x %d pixels", on->width,
                       on->height);
    enum gi_status status = gi_pool_run(pool, job->bands, bits_band, job, 0, err);
    if (status)
        return status;
    for (size_t y = 0; y < height; y++)
        job->first_run[y + 1] += job->first_run[y];
    size_t runs = job->first_run[height];
    job->parent = huge_malloc((runs + (size_t)job->bands + 2) * sizeof *job->parent);
    job->store = job->labels ? NULL : huge_malloc(runs * sizeof *job->store);
    if (!job->parent || (!job->labels && !job->store))
        return gi_fail(err, GI_E_MEMORY, "out of memory: labels for %zu runs of pixels", runs);
    job->parent[RUNS_FRAME] = RUNS_FRAME;
    status = gi_pool_run(pool, job->bands, join_band, job, 0, err);
    for (int b = 1; b < job->bands && !status; b++)
        join_rows(job, band_start(on, b, job->bands));
    return status;
}

void GI_CPU(runs_free)(struct runs_job *job)
{
    free(job->used);
    free(job->first_run);
    free(job->bits);
    free(job->parent);
    free(job->store);
}
