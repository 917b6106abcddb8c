/* The text of a chain, "gaussian --sigma 2 | edges | threshold --threshold otsu", as steps.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_CHAIN_H
#define GI_CLI_RUN_CHAIN_H

#include "cli/command.h"
#include "cli/inputs/image_files.h"
#include "cli/commands/reporter.h"

/* The sets of the command that a step's words are read as, and so of its parameters. */
enum { GI_SET_STEP_FILTER, GI_SET_STEP_OUTPUT };

enum { GI_CHAIN_STEPS_MAX = 1000 };

/* One step. Its options are read by the rows of its operation, as those of a command are. */
struct gi_chain_step {
    const struct gi_filter *filter;
    const struct gi_reporter *reporter; /* of an analysis; else NULL */
    struct gi_command command;          /* that its words are read as */
    struct gi_args args;
    const char *to; /* of an analysis: where its table goes, "-" unless --to says */
    struct gi_image others[GI_SOURCES_MAX - 1]; /* images that its options name: loaded once, for
                                                   all images that go through the chain */
    int nothers;
};

struct gi_chain {
    struct gi_chain_step *steps;
    int n;
    char *words; /* what the arguments of the steps point into */
};

/* Reads `text`: operations separated by |, their words by blanks and line ends; single or double
 * quotes and a backslash quote as in a shell; # at the start of a word begins a comment up to the
 * end of the line. Freed by gi_chain_free(), also after an error. Errors: GI_E_USAGE, with the step
 * and the word, also for more than GI_CHAIN_STEPS_MAX steps, GI_E_IO (the file of a kernel),
 * GI_E_MEMORY. */
enum gi_status gi_chain_read(struct gi_chain *chain, const char *text, struct gi_err *err);
void gi_chain_free(struct gi_chain *chain);

/* Loads the images that the steps' options name, by what `io` says of limits; one may be standard
 * input, unless that is `taken`. Freed by gi_chain_unload(), also after an error. Errors: as
 * gi_cli_load(), GI_E_USAGE (cli/run/option_images.c). */
enum gi_status gi_chain_load(struct gi_chain *chain, bool taken, const struct gi_io_params *io,
                             int threads, struct gi_err *err);
void gi_chain_unload(struct gi_chain *chain);
/* 64-bit FNV-1a over the images that are loaded and the files that options name for their content
 * (masks, kernels); 0: there are none, or no chain. */
uint64_t gi_chain_hash(const struct gi_chain *chain);
/* The path of the i-th image that the chain's steps name, from 0; NULL past the last, and of no
 * chain. */
const char *gi_chain_image(const struct gi_chain *chain, int i);
/* Refuses outputs that are one of these images, as gi_output_check_inputs(). Errors: GI_E_USAGE. */
enum gi_status gi_chain_check_outputs(const struct gi_chain *chain, const char *const *outputs,
                                      struct gi_err *err);

/* Whether the chain ends in an analysis that gives an array of each image, and whether such a
 * step's
 * --no-clobber was given. */
bool gi_chain_makes_arrays(const struct gi_chain *chain);
bool gi_chain_no_clobber(const struct gi_chain_step *step);

/* Makes the command by which the words of a step of `filter` are read: the operation's options, and
 * for an analysis its outputs and --to. Returns false if `filter` cannot be used in a chain. */
bool gi_chain_command(struct gi_command *command, const struct gi_filter *filter);

#endif
