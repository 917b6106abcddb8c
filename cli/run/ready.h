/* A chain prepared for one image: its steps with their further inputs and outputs.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_READY_H
#define GI_CLI_RUN_READY_H

#include "cli/run/chain.h"
#include "filters/pipeline.h"

/* Arrays with an entry per step. */
struct gi_ready {
    const struct gi_chain *chain;
    struct gi_step *steps;
    struct gi_side *sides;
    struct gi_image *inputs; /* first sources of the steps, or their shapes */
};

/* Prepares the chain. The images that options name belong to the chain. Freed by gi_ready_free(),
 * also after an error. Errors: GI_E_MEMORY. */
enum gi_status gi_ready_make(struct gi_ready *ready, const struct gi_chain *chain,
                             struct gi_err *err);
void gi_ready_free(struct gi_ready *ready);

/* Writes the tables of the chain's analyses after the image was processed. `input` names it; its
 * largest sample is `maxval`; `to` replaces the tables' own paths, NULL: these are used; `bundle`
 * receives the files. */
enum gi_status gi_ready_report(const struct gi_ready *ready, const char *input, const char *to,
                               unsigned maxval, int threads, struct gi_bundle *bundle,
                               struct gi_err *err);

#endif
