/* Connected components of runs in rows of bits. Run i of a row is its i-th group of set bits. A
 * mask has the bits where two rows touch. The index of a run is the number of run starts before it.
 * A run takes the provisional label of the first run that it touches above; further runs are united
 * with it. The minimum provisional label of a component is its root, and roots ascend in raster
 * order.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/bit_rows.h"

enum { RUNS_FRAME = 1 /* the label of all components that touch a side of the image */ };

struct runs_job {
    /* Set by the caller. */
    const struct gi_predicate *predicate;
    struct gi_image *labels; /* GI_U32: row y begins with the provisional labels of its runs; if
                                NULL, labels are written to `store` */
    bool eight;
    bool framed; /* unite all components that touch a side, with the root RUNS_FRAME */
    /* Made by GI_CPU(runs_join). */
    int bands, nwords;
    uint64_t *bits;      /* nwords words per row */
    uint32_t *first_run; /* height + 1 entries: index in the image of the row's first run */
    uint32_t *store;
    uint32_t *parent; /* parent of each provisional label; labels of a band begin at
                         first_label() */
    uint32_t *used;   /* per band: the label after its last one */
};

static inline uint64_t *row_bits(const struct runs_job *job, int y)
{
    return job->bits + (size_t)y * (size_t)job->nwords;
}

/* Returns the first label of a band. Numbering leaves a label for each run, one more for each band,
 * and one for the frame. */
static inline uint32_t first_label(const struct runs_job *job, int band)
{
    return job->first_run[band_start(job->predicate->on, band, job->bands)] + (uint32_t)band + 1 +
           job->framed;
}

static inline uint32_t runs_of(const struct runs_job *job, int y)
{
    return job->first_run[y + 1] - job->first_run[y];
}

/* Returns the provisional labels of the runs of row y. */
static inline uint32_t *labels_of(const struct runs_job *job, int y)
{
    return job->labels ? gi_row(job->labels, y) : job->store + job->first_run[y];
}

/* Finds and unites the runs, and fills the members below. GI_CPU(runs_free) frees these members and
 * must be called after an error, too. Errors: GI_E_MEMORY. */
enum gi_status GI_CPU(runs_join)(struct runs_job *job, struct gi_pool *pool, struct gi_err *err);
void GI_CPU(runs_free)(struct runs_job *job);
