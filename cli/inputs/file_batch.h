/* What all batches from files have in common: inputs, names of outputs, report, progress, end.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_FILE_BATCH_H
#define GI_CLI_INPUTS_FILE_BATCH_H

#include "cli/run/batch_options.h"
#include "cli/inputs/feed.h"
#include "cli/report/report.h"
#include "cli/inputs/names.h"
#include "cli/inputs/shard.h"

/* One batch, as long as it runs. */
struct gi_batch_files {
    const struct gi_batch_params *params;
    const struct gi_chain *chain; /* NULL: none */
    struct gi_list list;
    struct gi_list others; /* of pairs: the second of each; empty: no pairs */
    struct gi_list
        beside; /* a further input for each entry of the list, in its order; empty: none */
    enum gi_batch_results results;
    const char *unit;        /* of what failed, "pairs"; NULL: "files" */
    struct gi_naming naming; /* with a channel of "" where there is an output a channel */
    bool named;              /* items have outputs */
    struct gi_report report;
    struct gi_shard shard;
    struct gi_input **share; /* those of the shard; NULL: all of the list */
    size_t n;                /* how many these are */
    int threads;             /* of the CPU */
    bool times;              /* the times of the stages are wanted */
    size_t next;
    struct gi_feed feed;            /* that yields the inputs */
    struct gi_tar_inputs *tars;     /* the inputs are the images in these; NULL: files */
    struct gi_tar_pairs *tar_pairs; /* the same of pairs */
};

/* Reads the inputs' names; closed by gi_batch_close(), also after an error. Errors: GI_E_USAGE,
 * GI_E_IO, GI_E_AGAIN, GI_E_MEMORY, as all here. */
enum gi_status gi_batch_open(struct gi_batch_files *files, const struct gi_batch_job *job,
                             char **operands, int noperands, struct gi_err *err);
void gi_batch_close(struct gi_batch_files *files);

/* Checks the outputs' names (with `image_format`, the one asked for or NULL, as of images where
 * `images`), before any work; then makes their folders. */
enum gi_status gi_batch_names(struct gi_batch_files *files, bool images, const char *image_format,
                              struct gi_err *err);
enum gi_status gi_batch_places(struct gi_batch_files *files, struct gi_err *err);

/* No file is written twice, or written and read: outputs, where items have some, --report, --table,
 * list and inputs. Before any work. Errors: GI_E_USAGE. */
enum gi_status gi_batch_check(struct gi_batch_files *files, struct gi_err *err);

/* The output of an item for a channel, where there is one for each, as *path, which the caller
 * frees, also after an error; its folder is made. Errors: as gi_naming_folders(). */
enum gi_status gi_batch_part(char **path, const struct gi_batch_files *files,
                             const struct gi_item *item, const char *channel, struct gi_err *err);

/* Opens the report, where one is asked for. */
enum gi_status gi_batch_report(struct gi_batch_files *files, const struct gi_batch_job *job,
                               struct gi_err *err);

/* The same for a feed of the files themselves, or pairs of them. */
enum gi_status gi_batch_files_report(struct gi_batch_files *files, const struct gi_batch_job *job,
                                     struct gi_err *err);

/* Runs the engine over the inputs that are not yet done. Errors: as gi_batch_run(). */
enum gi_status gi_batch_go(struct gi_batch_files *files, const struct gi_work_on *work, int threads,
                           struct gi_err *err);

/* For deliver(): the names in the item's row of a table; `*tar` is NULL where there is none. False
 * where the item has no row: it failed, or is no image. */
bool gi_batch_row(const struct gi_batch_files *files, const struct gi_item *item, const char **tar,
                  const char **file);

/* For deliver(): the item's line in the report. */
enum gi_status gi_batch_note(struct gi_batch_files *files, struct gi_item *item,
                             struct gi_err *err);

#endif
