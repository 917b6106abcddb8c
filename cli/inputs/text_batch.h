/* A batch that makes a text from each input. The texts become rows of one table, or lines on
 * standard output.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/tables/table_writer.h"
#include "cli/inputs/file_batch.h"

/* The first member of the struct that run() gets as `self`. Either gi_batch_open() or the caller
 * fills in the files. */
struct gi_text_batch {
    struct gi_batch_files files;
    struct gi_table_writer *writer; /* NULL: the texts go to standard output */
};

/* Checks that not both the report and the table (or the lines) go to standard output. Errors:
 * GI_E_USAGE. */
enum gi_status gi_text_batch_check(const struct gi_batch_params *params, struct gi_err *err);

/* For deliver(). Adds the text of an item, item->made.bytes, to the table if there is a text. An
 * item with other columns fails. Errors end the batch, because the table can't be written. */
enum gi_status gi_text_batch_add(struct gi_table_writer *writer, const struct gi_batch_files *files,
                                 struct gi_item *item, struct gi_err *err);

/* Runs the batch over the inputs. run() stores a text in item->made.bytes; for a table it is the
 * text that gi_table_writer_add() gets. `note` may be NULL; otherwise it is called for each item,
 * in order. If files fail, the table is written without them. The table is freed, but not `files`.
 * Errors: as gi_batch_go(), gi_table_writer_end(); GI_E_PIPE. */
enum gi_status
gi_text_batch_run(struct gi_text_batch *rows,
                  enum gi_status (*run)(void *self, struct gi_item *item, struct gi_err *err),
                  void (*note)(struct gi_text_batch *rows, const struct gi_item *item), int threads,
                  struct gi_err *err);
