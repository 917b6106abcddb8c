/* Rows as bits, and which runs of set bits touch. Each row is turned into bits; run i of a row is
 * its i-th group of set bits, so where two rows touch is a mask, and which runs touch is a count of
 * starts before it. A run takes the provisional label of the first run it touches above, others are
 * united with it; the least provisional label of a component is its root, and roots ascend in
 * raster order. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_RUNS_H
#define GI_KERNELS_CPU_RUNS_H

#include "kernels/cpu/common/measure.h"

enum { RUNS_FRAME = 1 /* the label of what touches a side of the image */ };

struct runs_job {
    /* The caller's. */
    const struct gi_predicate *predicate;
    struct gi_image *labels; /* GI_U32: row y begins with the provisional labels of its runs; NULL:
                                they go into `store` */
    bool eight;
    bool framed; /* all components that touch a side are one, whose root is RUNS_FRAME */
    /* What GI_CPU(runs_join) makes. */
    int bands, nwords;
    uint64_t *bits;      /* nwords each row */
    uint32_t *first_run; /* height + 1: number of the row's first run */
    uint32_t *store;
    uint32_t *parent; /* of each provisional label; a band's begin at first_label() */
    uint32_t *used;   /* of each band: the label after its last one */
};

static inline uint64_t *row_bits(const struct runs_job *job, int y)
{
    return job->bits + (size_t)y * (size_t)job->nwords;
}

/* One label for each run, one to spare for each band, and the frame's. */
static inline uint32_t first_label(const struct runs_job *job, int band)
{
    return job->first_run[band_start(job->predicate->on, band, job->bands)] + (uint32_t)band + 1 +
           job->framed;
}

static inline uint32_t runs_of(const struct runs_job *job, int y)
{
    return job->first_run[y + 1] - job->first_run[y];
}

/* The provisional labels of the runs of row y. */
static inline uint32_t *labels_of(const struct runs_job *job, int y)
{
    return job->labels ? gi_row(job->labels, y) : job->store + job->first_run[y];
}

/* Fills what is to be filled. GI_CPU(runs_free) frees it, after an error too. Errors: GI_E_MEMORY.
 */
enum gi_status GI_CPU(runs_join)(struct runs_job *job, struct gi_pool *pool, struct gi_err *err);
void GI_CPU(runs_free)(struct runs_job *job);

#endif
