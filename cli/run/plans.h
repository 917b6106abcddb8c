/* A cache of pipelines of a chain, with one pipeline per shape of images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/chain.h"
#include "filters/pipeline.h"

struct gi_plans;
struct gi_ready;

/* Makes an empty cache. `chain` must outlive the cache. The results of the pipelines are within the
 * limits of `io`. */
struct gi_plans *gi_plans_new(const struct gi_chain *chain, const struct gi_io_params *io);
void gi_plans_free(struct gi_plans **plans);

/* A pipeline in use. Many threads may run the same one. */
struct gi_plans_use {
    const struct gi_pipeline *pipeline;
    int slot;                /* slot in the cache; -1: the pipeline is `own` and not in the cache */
    struct gi_pipeline *own; /* freed by gi_plans_give_back() */
};

/* gi_plans_take() returns in `use` a pipeline for first sources that have the shape of `src`. It
 * has the steps of `ready`. gi_plans_give_back() ends the use. Many threads may call both functions
 * at once. Errors: as gi_pipeline_new(). */
enum gi_status gi_plans_take(struct gi_plans *plans, struct gi_plans_use *use,
                             const struct gi_image *src, const struct gi_ready *ready,
                             struct gi_err *err);
void gi_plans_give_back(struct gi_plans *plans, struct gi_plans_use *use);
