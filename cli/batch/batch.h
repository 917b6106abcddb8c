/* Many images by one command: the options of the set "Many images", and commands that work from
 * files to files. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_BATCH_BATCH_H
#define GI_CLI_BATCH_BATCH_H

#include "cli/chain.h"
#include "cli/command.h"

/* Set "Many images". */
struct gi_batch_params {
    const char *out_dir, *out, *suffix, *files_from, *shard, *report;
    bool null, tar, recursive, resume, fail_fast, progress;
    uint64_t memory;
};
extern const struct gi_option gi_batch_options[];

/* Whether the options ask for a batch: then there are any number of inputs, and no OUTPUT. */
bool gi_batch_is_wanted(const struct gi_batch_params *params);

/* Runs a batch of `command`: its set "Many images" is wanted. `chain` NULL: the images are only
 * converted. `text` says what is done, for the report; NULL: the command and its options do. The
 * operands are inputs. Errors: GI_E_USAGE before any work; an error without text where items failed
 * (each was said): GI_E_AGAIN where the machine failed, else GI_E_IO. */
enum gi_status gi_batch_run(const struct gi_command *command, const struct gi_chain *chain,
                            const char *text, void *const *params, char **operands, int noperands,
                            struct gi_err *err);

/* The options that have a say in what comes out and are not as they are without being given, as on
 * a command line: "gaussian --sigma 3 --quality 80"; `first` stands in front. The caller frees it;
 * NULL: out of memory. */
char *gi_batch_text(const struct gi_command *command, const char *first, void *const *params);

#endif
