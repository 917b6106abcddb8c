/* A chain that is prepared for one image. It has the steps with their further inputs and outputs.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/chain.h"
#include "filters/pipeline.h"

/* Arrays with an entry per step. */
struct gi_ready {
    const struct gi_chain *chain;
    struct gi_step *steps;
    struct gi_side *sides;
    struct gi_err *warnings; /* GI_OK: none */
    struct gi_placement *placements;
    char (*told)[GI_TOLD_NBYTES]; /* what the steps have chosen by the samples, if --verbose asks */
    struct gi_image *inputs;      /* first source of each step, or only its shape */
    /* The further images of each step, GI_SOURCES_MAX - 1. Parts of images of bands are owned here,
     * others by the chain. */
    struct gi_image *others;
    bool own; /* the steps have other parameters than those of the chain */
    /* The parameters of each step that has random choices or draws, owned here, or NULL. */
    void **drawn;
    struct gi_item_drawer **drawers; /* of each step that draws, owned here, or NULL */
};

/* Prepares the chain, which owns the images that its options name, for the image that `item`
 * describes, whose name decides random choices (filters/random.h). gi_ready_free() frees `ready`,
 * also after an error. Errors: GI_E_MEMORY, GI_E_UNSUPPORTED (a further image has bands). */
enum gi_status gi_ready_make(struct gi_ready *ready, const struct gi_chain *chain,
                             const struct gi_drawn_item *item, struct gi_err *err);
/* As gi_ready_make(), for part `part` of an image of bands, from 1; 0 is an image without bands. Of
 * further images of bands the same part is taken. */
enum gi_status gi_ready_make_part(struct gi_ready *ready, const struct gi_chain *chain,
                                  const struct gi_drawn_item *item, int part, struct gi_err *err);
void gi_ready_free(struct gi_ready *ready);

/* Prints what the steps have chosen for the image `input`, after the chain has run. */
void gi_ready_tell(const struct gi_ready *ready, const char *input);
/* Returns where the pixels of the result come from, after the chain has run. */
struct gi_placement gi_ready_placement(const struct gi_ready *ready);

/* Returns what step i, an analysis, has found. `maxval` is gi_cli_maxval() of the image that was
 * loaded. The caller sets the members for the place of the table. */
struct gi_findings gi_ready_findings(const struct gi_ready *ready, int i, unsigned maxval);
/* Writes the tables of the chain's analyses, after the image was processed, as files of `bundle`.
 * `input` is the name of the image, and `metadata` that of its file, or NULL. */
enum gi_status gi_ready_report(const struct gi_ready *ready, const char *input,
                               const struct gi_metadata *metadata, unsigned maxval, int threads,
                               struct gi_bundle *bundle, struct gi_err *err);
