/* A cache of pipelines of a chain, one per shape of images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_PLANS_H
#define GI_CLI_RUN_PLANS_H

#include "cli/run/chain.h"
#include "filters/pipeline.h"

struct gi_plans;
struct gi_ready;

/* `chain` must outlive it; results of the pipelines are within the limits of `io`. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_plans_new(struct gi_plans **plans, const struct gi_chain *chain,
                            const struct gi_io_params *io, struct gi_err *err);
void gi_plans_free(struct gi_plans **plans);

/* A pipeline in use; many threads may run one. */
struct gi_plans_use {
    const struct gi_pipeline *pipeline;
    int slot;                /* slot of the cache; -1: not in the cache, and then ... */
    struct gi_pipeline *own; /* ... it is freed when it is returned */
};

/* Takes and returns the pipeline for first sources of the shape of `src`; the steps are those of
 * `ready` (NULL: without sides). Both may be called by many threads. Errors: as
 * gi_pipeline_new(). */
enum gi_status gi_plans_take(struct gi_plans *plans, struct gi_plans_use *use,
                             const struct gi_image *src, const struct gi_ready *ready,
                             struct gi_err *err);
void gi_plans_give_back(struct gi_plans *plans, struct gi_plans_use *use);

#endif
