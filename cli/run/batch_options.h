/* Many images by one command: the options of the set "Many images", and what a batch is to do.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_BATCH_OPTIONS_H
#define GI_CLI_RUN_BATCH_OPTIONS_H

#include "cli/run/chain.h"
#include "cli/command.h"
#include "cli/run/device_options.h"

/* Set "Many images". */
struct gi_batch_params {
    const char *table; /* one for all; of commands that write tables */
    const char *out_dir, *out, *suffix, *files_from, *shard, *report;
    bool null, tar, recursive, resume, fail_fast, progress;
    uint64_t memory;
};
extern const struct gi_option gi_batch_options[];      /* commands that write images */
extern const struct gi_option gi_table_options[];      /* commands that write tables */
extern const struct gi_option gi_array_options[];      /* commands that write an array each */
extern const struct gi_option gi_layers_options[];     /* those that write a folder each */
extern const struct gi_option gi_table_only_options[]; /* those that the former have alone */
extern const struct gi_option gi_chain_options[];      /* those that write either */
extern const struct gi_option gi_listing_options[];    /* those whose only table is of all inputs */
extern const struct gi_option gi_pairs_options[]; /* those of two images; --pairs: files_from */

/* Whether these are the rows of one of the sets above. */
bool gi_options_are_of_batches(const struct gi_option *rows);

/* Among the command's params; NULL where it has no such set. */
const struct gi_batch_params *gi_batch_params_of(const struct gi_command *command,
                                                 void *const *params);

/* Whether it writes a file for each input, an image or an array, and no table. */
bool gi_batch_writes_files(const struct gi_command *command);

/* Whether the options ask for a batch: then there are any number of inputs, and no OUTPUT. */
bool gi_batch_is_wanted(const struct gi_batch_params *params);

/* Checks a command that writes images, arrays or tables, and that no batch is asked of: options
 * that apply to batches only are refused. Errors: GI_E_USAGE. */
enum gi_status gi_batch_check_one(const struct gi_command *command, void *const *params,
                                  struct gi_err *err);

/* What an input becomes. */
enum gi_batch_results {
    GI_BATCH_A_FILE,
    GI_BATCH_A_FILE_A_CHANNEL, /* one for each of "k", "ka", "rgb" or "rgba" */
    GI_BATCH_A_FOLDER,
};

/* Work that is not a chain's. */
struct gi_item;
struct gi_imaging;
struct gi_batch_files;
struct gi_batch_work {
    enum gi_batch_results results;
    /* A template of further inputs, one that goes with each, or one for all where it has no fields,
     * and what gave it, for messages; NULL: none. */
    const char *beside, *beside_option;
    void *self; /* of run() */
    /* As gi_work_on.run. Results in parts are all there, or none. */
    enum gi_status (*run)(void *self, const struct gi_batch_files *files,
                          struct gi_imaging *imaging, struct gi_item *item, struct gi_err *err);
};

/* What a batch does: `command`, whose set "Many images" is wanted. */
struct gi_batch_job {
    const struct gi_command *command;
    void *const *params;              /* of the command */
    const struct gi_chain *chain;     /* NULL: the images are only converted */
    const struct gi_batch_work *work; /* NULL: the chain */
    const char *text;                 /* the operation as text, for the report; NULL: the command */
    const struct gi_device_params *device; /* NULL: those among the params */
    bool takes_stdin;                      /* "-" may be the only input */
};

/* What its inputs are read by. */
struct gi_io_params *gi_batch_io(const struct gi_batch_job *job);
/* The devices that it names; NULL: none. */
const struct gi_device_params *gi_batch_device(const struct gi_batch_job *job);

/* A table each is called .csv, or an array .npy, unless *suffix (--suffix) says otherwise. Errors:
 * GI_E_USAGE where it is one of no table, or no array. */
enum gi_status gi_tables_suffix(const char **suffix, bool arrays, struct gi_err *err);
/* Whether tables, or arrays, can be written under this suffix, given without its dot. */
bool gi_tables_have_suffix(const char *suffix, bool arrays);

/* Returns the options that affect the result and differ from their defaults, as on a command line:
 * "gaussian --sigma 3 --quality 80", after `first`. The content of a long file that an option names
 * (a mask, a kernel) is represented by a hash. The caller frees it; NULL: out of memory. */
char *gi_batch_text(const struct gi_command *command, const char *first, void *const *params);

#endif
