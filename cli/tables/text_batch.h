/* A batch that makes a text from each input: rows of one table, or lines on standard output.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TABLES_TEXT_BATCH_H
#define GI_CLI_TABLES_TEXT_BATCH_H

#include "cli/tables/table_writer.h"
#include "cli/inputs/file_batch.h"

/* The first member of the struct that is `self` of run(); filled with files by gi_batch_open() or
 * by the caller. */
struct gi_text_batch {
    struct gi_batch_files files;
    struct gi_table_writer *writer; /* NULL: the texts are written to standard output */
};

/* Checks that the table (or the lines) and the report do not both go to standard output. Errors:
 * GI_E_USAGE. */
enum gi_status gi_text_batch_check(const struct gi_batch_params *params, struct gi_err *err);

/* For deliver(): adds the text of an item, if it has one in item->made.bytes, to the table. An item
 * with other columns fails. Errors: the table can't be written, which ends the batch. */
enum gi_status gi_text_batch_add(struct gi_table_writer *writer, const struct gi_batch_files *files,
                                 struct gi_item *item, struct gi_err *err);

/* Runs the batch over the inputs; run() leaves its text in item->made.bytes: for a table the
 * argument of gi_table_writer_add(). `note`, which may be NULL, is called for each item, in order.
 * The table is also written if files failed, without them. Takes the table, not the files. Errors:
 * as gi_batch_go(), gi_table_writer_end(); GI_E_PIPE. */
enum gi_status
gi_text_batch_run(struct gi_text_batch *rows,
                  enum gi_status (*run)(void *self, struct gi_item *item, struct gi_err *err),
                  void (*note)(struct gi_text_batch *rows, const struct gi_item *item), int threads,
                  struct gi_err *err);

#endif
