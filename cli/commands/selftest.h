/* The cases that selftest walks: every filter over types, channels, borders, sizes and options.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_SELFTEST_H
#define GI_CLI_COMMANDS_SELFTEST_H

#include "cli/command.h"

/* One set of parameters for a filter. */
struct gi_variant {
    void *params;   /* owned by the walk */
    char text[128]; /* "--k 5 --border wrap": what differs from the example */
    bool heavy;     /* an end of a range, which may cost much: one small image */
};

/* Calls fn(arg, variant) for every variant of the filter's parameters; stops where it returns
 * false. Errors: GI_E_MEMORY. */
enum gi_status gi_variants_walk(const struct gi_filter *filter,
                                bool (*fn)(void *arg, const struct gi_variant *variant), void *arg,
                                struct gi_err *err);

/* Fills the image with samples that are hard in their own ways: noise, flat runs, both ends of the
 * range, for float values outside 0 to 1 too. The same for the same seed. */
void gi_selftest_fill(struct gi_image *image, uint64_t seed);

/* 64 random bits; the next ones for the same `state`. */
uint64_t gi_selftest_random(uint64_t *state);

/* Whether the shapes or some samples differ; `what` then says which sample is first. */
bool gi_selftest_differ(char what[160], const struct gi_image *want, const struct gi_image *got);

/* ---- the mixed batch (cli/commands/selftest_mixed.c) ---- */

/* Pieces of work of several operations, with different options (radii among them), image sizes,
 * sample types and channels, and the result of each, made one after the other. */
struct gi_mixed;

/* Makes the pieces of the operations that are named, without any of all, and their results on
 * `reference`, which outlives them. Freed by gi_mixed_free(), which nulls, also after an error.
 * Errors: GI_E_MEMORY; as gi_pipeline_run(). */
enum gi_status gi_mixed_new(struct gi_mixed **mixed, char **operations, int noperations,
                            struct gi_queue *reference, struct gi_err *err);
void gi_mixed_free(struct gi_mixed **mixed);

/* Runs all pieces on each of eight queues of the device, on a thread per queue, all at once and in
 * different orders. Returns how many runs there were. `difference` becomes "", or says which piece
 * failed or gave another result than on the reference. */
int gi_mixed_run(const struct gi_mixed *mixed, struct gi_device *device, char difference[512]);

#endif
