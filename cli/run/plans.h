/* A cache of pipelines of a chain: one per shape of images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_PLANS_H
#define GI_CLI_RUN_PLANS_H

#include "cli/run/chain.h"
#include "filters/pipeline.h"

struct gi_plans;
struct gi_ready;

/* Makes an empty cache. `chain` must outlive it; results of the pipelines are within the limits of
 * `io`. Errors: GI_E_MEMORY. */
enum gi_status gi_plans_new(struct gi_plans **plans, const struct gi_chain *chain,
                            const struct gi_io_params *io, struct gi_err *err);
void gi_plans_free(struct gi_plans **plans);

/* A pipeline in use. Many threads may run the same one. */
struct gi_plans_use {
    const struct gi_pipeline *pipeline;
    int slot;                /* slot in the cache; -1: none, but `own`, which is freed after use */
    struct gi_pipeline *own; /* ... it is freed when it is returned */
};

/* The first one gives a pipeline for first sources of the shape of `src`, with the steps of `ready`
 * (NULL: those of the chain); the second one takes it back. Both may be called by many threads.
 * Errors: as gi_pipeline_new(). */
enum gi_status gi_plans_take(struct gi_plans *plans, struct gi_plans_use *use,
                             const struct gi_image *src, const struct gi_ready *ready,
                             struct gi_err *err);
void gi_plans_give_back(struct gi_plans *plans, struct gi_plans_use *use);

#endif
