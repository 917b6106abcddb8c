/* Parses the text of a chain, "gaussian --sigma 2 | edges | threshold --threshold otsu", into
 * steps.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/drawings.h"
#include "cli/args/image_files.h"
#include "cli/args/reporter.h"
#include "cli/command.h"

/* The option sets of the command that reads the words of a step. They are also the indices of the
 * step's parameters. */
enum { GI_SET_STEP_FILTER, GI_SET_STEP_OUTPUT };

enum { GI_CHAIN_STEPS_MAX = 1000 };

/* One step. Its options are read with the option rows of its operation, like the options of a
 * command. */
struct gi_chain_step {
    const struct gi_filter *filter;
    const struct gi_reporter *reporter; /* for an analysis; else NULL */
    struct gi_command command;          /* the command by which its words are read */
    struct gi_args args;
    const char *to; /* for an analysis the path of its table, from --to, or "-" */
    /* Images that the options of the step name. They are loaded once for all images that the chain
     * processes. */
    struct gi_image others[GI_SOURCES_MAX - 1];
    struct gi_bands other_bands[GI_SOURCES_MAX - 1]; /* `n` is 0 unless the image has bands */
    /* ICC profiles and PNG's colour chunks of pictures among them (cli/run/other_colors.h); paste
     * has two that differ if its crops do */
    struct gi_metadata other_colors[GI_SOURCES_MAX - 1];
    struct gi_nodata other_nodata[GI_SOURCES_MAX - 1]; /* if the filter masks_others */
    int nothers;
    const struct gi_drawings *drawings; /* of a step that draws, once it is loaded; else NULL */
    void *drawn;                        /* its drawings */
};

struct gi_chain {
    struct gi_chain_step *steps;
    int n;
    char *words; /* copy of the text, to which the steps' arguments point */
};

/* Parses `text`. Operations are separated by |, by an unquoted comma before a blank, or by the end
 * of a line if the next line begins with an operation. Blanks and newlines separate words. Quotes
 * (single or double) and backslashes work as in a shell, and # at the start of a word begins a
 * comment up to the end of the line. gi_chain_free() frees the chain, also after an error. Errors:
 * GI_E_USAGE, also for more than GI_CHAIN_STEPS_MAX steps, with a message that names the step and
 * the word; GI_E_IO for the file of a kernel. */
enum gi_status gi_chain_read(struct gi_chain *chain, const char *text, struct gi_err *err);
void gi_chain_free(struct gi_chain *chain);

/* Loads the images and drawings that the steps' options name, within the limits of `io`. One of
 * them may be standard input, unless that is `taken`. gi_chain_unload() frees the images, also
 * after an error. Errors: as gi_cli_load(), GI_E_USAGE (cli/run/option_images.c). */
enum gi_status gi_chain_load(struct gi_chain *chain, bool taken, const struct gi_io_params *io,
                             int threads, struct gi_err *err);
void gi_chain_unload(struct gi_chain *chain);
/* Called after all images were processed. Warns of tables of drawings none of whose rows was used,
 * as gi_drawings.conclude() does. `input` is the only image, or NULL. */
enum gi_status gi_chain_conclude(const struct gi_chain *chain, const char *input,
                                 struct gi_err *err);
/* Returns the 64-bit FNV-1a hash of the loaded images, and of the files that options name for their
 * content (masks, kernels). Returns 0 if there are none, or no chain. */
uint64_t gi_chain_hash(const struct gi_chain *chain);
/* Returns the path of the i-th image, from 0, that the chain's steps name; NULL past the last one,
 * or if there is no chain. */
const char *gi_chain_image(const struct gi_chain *chain, int i);
/* Refuses an output that is also one of the images that the steps name, as gi_output_check_inputs()
 * does. Errors: GI_E_USAGE. */
enum gi_status gi_chain_check_outputs(const struct gi_chain *chain, const char *const *outputs,
                                      struct gi_err *err);

/* Returns whether the last step is an analysis. `chain` may be NULL. */
bool gi_chain_ends_in_analysis(const struct gi_chain *chain);
/* gi_chain_makes_arrays() returns whether the chain ends in an analysis that makes an array from
 * each image. The other function returns whether this analysis has --no-clobber. */
bool gi_chain_makes_arrays(const struct gi_chain *chain);
/* Returns the suffixes of the table, or array, that the chain makes from each image, separated by
 * blanks and without dots. */
const char *gi_chain_suffixes(const struct gi_chain *chain);
bool gi_chain_no_clobber(const struct gi_chain_step *step);
/* Returns whether the step is an analysis whose report reads the samples of the image. */
bool gi_chain_reports_samples(const struct gi_chain_step *step);

/* Makes the command that reads the words of a step of `filter`. The command has the options of the
 * operation, and for an analysis also the options of its output and --to. Returns false if a chain
 * can't contain `filter`. */
bool gi_chain_command(struct gi_command *command, const struct gi_filter *filter);
