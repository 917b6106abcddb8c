/* Batches: the options of the set "Many images", and the description of a batch.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/chain.h"
#include "cli/args/device_options.h"
#include "cli/command.h"

/* --only, --except and --for, see cli/args/rules.h. */
struct gi_choice_params {
    const char *only, *except, *rules;
};

/* The options of the set "Many images". */
struct gi_batch_params {
    /* The path that --table gives, for one table of all inputs, in commands that write tables. */
    const char *table;
    const char *out_dir, *out, *suffix, *files_from, *shard, *report;
    struct gi_choice_params choice;
    bool null, tar, recursive, resume, fail_fast, progress;
    uint64_t memory;
};
/* The rows of --only and --except, for cli/args/rules.h. */
#define GI_CHOICE_OPTIONS(params, only_texts, except_texts)                                        \
    {GI_OPTION("only", TEXT, params, only_texts), .repeats = true,                                 \
     .metavar = "PATTERN[,PATTERN...]",                                                            \
     .help = "Process only the inputs whose names match one of these patterns, as in "             \
             "'*.jpg,*.png'. A pattern without / is compared with the last part of the name, one " \
             "with / with the path below the folder of --recursive or in the tar. The case of "    \
             "letters does not matter. In a tar all other members are copied"},                    \
    {                                                                                              \
        GI_OPTION("except", TEXT, params, except_texts),                                           \
            .repeats = true, .metavar = "PATTERN[,PATTERN...]",                                    \
            .help =                                                                                \
                "Leave out the inputs whose names match one of these patterns, also if --only "    \
                "has chosen them"                                                                  \
    }

extern const struct gi_option gi_batch_options[];      /* for commands that write images */
extern const struct gi_option gi_table_options[];      /* for commands that write tables */
extern const struct gi_option gi_array_options[];      /* for commands that write an array per
                                                          input */
extern const struct gi_option gi_layers_options[];     /* for commands that write a folder per
                                                          input */
extern const struct gi_option gi_table_only_options[]; /* the options that only the former have */
extern const struct gi_option gi_chain_options[];      /* for commands that write images or
                                                          tables */
extern const struct gi_option gi_listing_options[];    /* for commands that write only one table
                                                          of all inputs */
extern const struct gi_option gi_pairs_options[];      /* of commands of two images */

/* Returns whether these are the rows of one of the sets above. */
bool gi_options_are_of_batches(const struct gi_option *rows);

/* Returns the options of the set "Many images" in `params`; NULL if the command has no such set. */
const struct gi_batch_params *gi_batch_params_of(const struct gi_command *command,
                                                 void *const *params);

/* Returns whether the command writes a file per input (an image or an array), and no table. */
bool gi_batch_writes_files(const struct gi_command *command);

/* Returns whether the options ask for a batch, which has any number of inputs and no OUTPUT. */
bool gi_batch_is_wanted(const struct gi_batch_params *params);

/* Refuses options that apply to batches only, for a command that writes images, arrays or tables
 * and is not used as a batch. Errors: GI_E_USAGE. */
enum gi_status gi_batch_check_one(const struct gi_command *command, void *const *params,
                                  struct gi_err *err);

/* The kind of result of an input. */
enum gi_batch_results {
    GI_BATCH_A_FILE,
    /* A file per channel of the image; the channels are "k", "ka", "rgb" or "rgba". */
    GI_BATCH_A_FILE_A_CHANNEL,
    GI_BATCH_A_FOLDER,
};

/* Work other than a chain. */
struct gi_item;
struct gi_imaging;
struct gi_batch_files;
struct gi_batch_work {
    enum gi_batch_results results;
    /* With --tar, run() is called for each image among the members, with `files` NULL, and its
     * result goes to item->made.bytes (item->source.member is not 0). */
    bool tars;
    /* `beside` is a template for the path of the further input of each input. If the template has
     * no fields, it names one file for all inputs. NULL if there are no further inputs.
     * `beside_option` is the option that gave the template, for messages. */
    const char *beside, *beside_option;
    void *self; /* argument of run() */
    /* The work on an item, like gi_batch.run. If there are several results, either all of them or
     * none exist in the end. gi_drive() calls the function with `files` NULL for a single image. */
    enum gi_status (*run)(void *self, const struct gi_batch_files *files,
                          struct gi_imaging *imaging, struct gi_item *item, struct gi_err *err);
};

/* The description of a batch, which the set "Many images" of `command` asks for. */
struct gi_batch_job {
    const struct gi_command *command;
    void *const *params;          /* params of the command */
    const struct gi_chain *chain; /* NULL: the images are only converted */
    /* Number of chains at `chain`, each of which makes a result of every image; 0 means 1. */
    int nchains;
    const struct gi_batch_work *work; /* NULL: the chain */
    const char *text; /* the operation as text, for the report; NULL: the name of the command */
    const struct gi_batch_params *batch;   /* NULL: the options among the params */
    const struct gi_device_params *device; /* NULL: the options among the params */
    bool takes_stdin;                      /* "-" may be the only input */
    bool streams_list; /* the inputs may stay in the file of --files-from, if they are many */
    /* For a chain that ends in an analysis: takes the CSV of each image, in the order of the
     * inputs, in place of a table. `tar` is NULL if `file` is not in a tar. */
    void (*take)(void *taker, const char *tar, const char *file, const char *csv, size_t nbytes);
    void *taker;
};

/* Returns the options of the batch; NULL if the command has none. */
const struct gi_batch_params *gi_batch_params(const struct gi_batch_job *job);
/* Returns the options for reading the batch's inputs. */
struct gi_io_params *gi_batch_io(const struct gi_batch_job *job);
/* Returns the options for devices; NULL if the command has no such options. */
const struct gi_device_params *gi_batch_device(const struct gi_batch_job *job);

/* Returns whether --no-clobber was given, to the command or to the analysis that its chain ends
 * in. */
bool gi_batch_is_no_clobber(const struct gi_batch_job *job);

/* Checks the suffix that --suffix gives, one of gi_chain_suffixes(). If it was not given, *suffix
 * becomes the first of them. Errors: GI_E_USAGE. */
enum gi_status gi_tables_suffix(const char **suffix, const struct gi_chain *chain,
                                struct gi_err *err);
/* Prints the suffixes as ".csv or .json". Returns buffer. */
const char *gi_tables_want(const struct gi_chain *chain, char *buffer, size_t nbytes);

/* Returns `first`, followed by the options that affect the result and differ from their defaults,
 * in the form of a command line, such as "gaussian --sigma 3 --quality 80". If an option takes its
 * text from a long file (a mask, a kernel), the text has a hash of the file. The caller frees the
 * text. */
char *gi_batch_text(const struct gi_command *command, const char *first, void *const *params);
