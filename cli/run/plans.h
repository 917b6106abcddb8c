/* Pipelines of a chain, kept for images of the same shape.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_PLANS_H
#define GI_CLI_RUN_PLANS_H

#include "cli/run/chain.h"
#include "filters/pipeline.h"

struct gi_plans;
struct gi_ready;

/* `chain` outlives it; the limits of `io` hold for what pipelines make. Errors: GI_E_MEMORY. */
enum gi_status gi_plans_new(struct gi_plans **plans, const struct gi_chain *chain,
                            const struct gi_io_params *io, struct gi_err *err);
void gi_plans_free(struct gi_plans **plans);

/* A pipeline in use; many threads may run one. */
struct gi_plans_use {
    const struct gi_pipeline *pipeline;
    int slot;                /* that it is kept in; -1: in none, and then */
    struct gi_pipeline *own; /* it is freed when it is given back */
};

/* The pipeline for first sources of the shape of `src`; of `ready` (NULL: no sides) the steps are
 * taken. Many threads may call both. Errors: as gi_pipeline_new(). */
enum gi_status gi_plans_take(struct gi_plans *plans, struct gi_plans_use *use,
                             const struct gi_image *src, const struct gi_ready *ready,
                             struct gi_err *err);
void gi_plans_give_back(struct gi_plans *plans, struct gi_plans_use *use);

#endif
