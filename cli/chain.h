/* The text of a chain, "gaussian --sigma 2 | edges | threshold --at otsu", as steps.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_CHAIN_H
#define GI_CLI_CHAIN_H

#include "cli/command.h"
#include "cli/report.h"

/* The sets of the command that a step's words are read as, and so of its parameters. */
enum { GI_SET_STEP_FILTER, GI_SET_STEP_OUTPUT };

/* One step. Its options are read by the rows of its operation, as those of a command are. */
struct gi_chain_step {
    const struct gi_filter *filter;
    const struct gi_reporter *reporter; /* of an analysis; else NULL */
    struct gi_command command;          /* that its words are read as */
    struct gi_args args;
    const char *to; /* of an analysis: where its table goes, "-" unless --to says */
};

struct gi_chain {
    struct gi_chain_step *steps;
    int n;
    char *words; /* what the arguments of the steps point into */
};

/* Reads `text`: operations parted by |, their words by blanks and line ends; words in quotes,
 * single or double, and characters behind a backslash are taken as they are; # at the start of a
 * word begins a comment that ends with its line. Freed by gi_chain_free(), also after an error.
 * Errors: GI_E_USAGE, which name the step and the word, GI_E_IO (the file of a kernel),
 * GI_E_MEMORY. */
enum gi_status gi_chain_read(struct gi_chain *chain, const char *text, struct gi_err *err);
void gi_chain_free(struct gi_chain *chain);

/* The command that the words of a step of `filter` are read as: the operation's options, and of an
 * analysis its outputs and --to. False where `filter` can't stand in a chain. */
bool gi_chain_command(struct gi_command *command, const struct gi_filter *filter);

#endif
