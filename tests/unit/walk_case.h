/* A case of the random walk over operations: a random image, a random chain of compatible steps,
 * and the files of the images that the steps name.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "walk_draw.h"

#include "cli/args/chain.h"
#include "filters/pipeline.h"

enum { STEPS_MAX = 4 };

struct walk_case {
    int number;
    uint64_t seed;
    struct gi_image src;
    int n;
    char *texts[STEPS_MAX];            /* of steps, as `gpuimg run` takes them */
    struct gi_chain chains[STEPS_MAX]; /* of one step each */
    struct gi_step steps[STEPS_MAX];
    struct gi_pipeline *pipeline; /* of all steps */
    /* the second image of the command compare, which can't be in a chain */
    struct gi_image pair;
};

/* Makes a random case. The operation that is tried first depends on `number` alone, so that each
 * one has its turn. If no operation can be found for the image, its sides are halved. */
void draw_case(struct walk_case *c, int number, uint64_t seed);

/* Frees the case. If `keep`, the files of its images are not removed. */
void free_case(struct walk_case *c, bool keep);
