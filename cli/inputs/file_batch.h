/* Batches of files, with their inputs, names of outputs, report, progress, and status at the end.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/batch.h"
#include "cli/inputs/page_cursor.h"
#include "cli/inputs/tar_source.h"
#include "cli/paths/list_stream.h"
#include "cli/paths/names.h"
#include "cli/paths/shard.h"
#include "cli/report/report.h"

/* The inputs, and those of this task. */
struct gi_batch_inputs {
    struct gi_list list;
    struct gi_list others; /* the second image of each pair; empty if inputs are no pairs */
    struct gi_list beside; /* one further input per entry of `list`; empty if there are none */
    struct gi_shard shard;
    struct gi_input **share; /* the inputs of the shard; NULL if it is the whole list */
    size_t n;                /* number of inputs in the share */
    size_t next;
    /* If the list is not in memory, it is here, and `list` is empty; otherwise NULL. */
    struct gi_list_stream *stream;
};

/* The outputs. */
struct gi_batch_outputs {
    struct gi_naming naming; /* naming.channel is "" if there is an output per channel */
    enum gi_batch_results results;
    bool named;          /* items have outputs */
    bool skips_existing; /* inputs whose output exists are skipped (--no-clobber) */
    bool a_file_a_page;  /* there is an output per page of an input */
    bool a_file_a_size;  /* the names of the outputs have the size of the image in them */
    bool images;         /* the outputs are images, in this format if it is not NULL */
    const char *image_format;
    struct gi_known_folders *folders; /* of in.stream; NULL if there are none yet */
};

/* A batch of files while it runs. */
struct gi_batch_files {
    const struct gi_batch_params *params;
    const struct gi_chain *chain; /* NULL: none */
    struct gi_rules *rules;       /* owned here; NULL: all inputs take the chain */
    const struct gi_io_params *io;
    struct gi_batch_inputs in;
    struct gi_batch_outputs out;
    /* The files that --junit and --html name, for the command compare; NULL if there are none. */
    const char *junit, *html;
    const char *unit; /* what messages count: "pairs"; NULL: "files" */
    struct gi_report report;
    struct gi_source source;        /* the inputs */
    struct gi_page_cursor cursor;   /* of gi_source_file_pages; commands set `named` and
                                     `tells_joined` */
    struct gi_tar_source tars;      /* the inputs are the images in these tars */
    struct gi_tar_pairs *tar_pairs; /* of pairs: the images are in these tars */
};

/* Reads the names of the inputs. gi_batch_close() frees them, also after an error. Errors of all
 * functions here: GI_E_USAGE, GI_E_IO, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_batch_open(struct gi_batch_files *files, const struct gi_batch_job *job,
                             char **operands, int noperands, struct gi_err *err);
void gi_batch_close(struct gi_batch_files *files);

/* Takes this task's share of the list, which is sorted if there are shards: they and {index} use
 * positions in the sorted list, so that the tasks agree even if they get the inputs in different
 * orders. Errors: GI_E_MEMORY. */
enum gi_status gi_batch_share(struct gi_batch_files *files, struct gi_err *err);

/* gi_batch_names() checks the names of the outputs before any work. `images` says whether the
 * outputs are images; if `image_format` is not NULL, they have this format. gi_batch_places() makes
 * the folders of the outputs. */
enum gi_status gi_batch_names(struct gi_batch_files *files, bool images, const char *image_format,
                              struct gi_err *err);
enum gi_status gi_batch_places(struct gi_batch_files *files, struct gi_err *err);

/* Fails the item of an input if its output, an image, has a name for which there is no format. */
void gi_batch_refuse_format(struct gi_item *item, const struct gi_batch_files *files,
                            const struct gi_input *input);

/* Checks before any work that no file is written twice, or both read and written. The files are
 * outputs (if items have them), --report, --table, the list and the inputs. Errors: GI_E_USAGE. */
enum gi_status gi_batch_check(struct gi_batch_files *files, struct gi_err *err);

/* As gi_batch_check(), for the inputs in in.list. */
enum gi_status gi_batch_check_listed(const struct gi_batch_files *files, struct gi_err *err);
/* As gi_batch_check(), for the inputs of this task in a list that is not in memory. Counts them,
 * and refuses an empty list. Symbolic links from an input or an output to a file are not
 * followed. */
enum gi_status gi_batch_check_stream(struct gi_batch_files *files, struct gi_err *err);
/* Adds the files that options name. */
struct gi_paths;
enum gi_status gi_batch_add_options(const struct gi_batch_files *files, struct gi_paths *paths,
                                    struct gi_err *err);

/* Sets *path to an item's output for a channel, and makes its folder. The caller frees *path, also
 * after an error. Errors: as gi_naming_folders(). */
enum gi_status gi_batch_part(char **path, const struct gi_batch_files *files,
                             const struct gi_item *item, const char *channel, struct gi_err *err);

/* Opens the report for files or pairs of files. */
enum gi_status gi_batch_files_report(struct gi_batch_files *files, const struct gi_batch_job *job,
                                     struct gi_err *err);

/* The sources of files, without those that an earlier run has finished, and of all their pages.
 * `self` is a struct gi_batch_files, whose `source` it is. */
extern const struct gi_source_kind gi_source_files;
extern const struct gi_source_kind gi_source_file_pages;
