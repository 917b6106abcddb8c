/* A target of texts. The texts become rows of one table, or lines on standard output.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/file_batch.h"
#include "cli/tables/table_writer.h"

struct gi_text_batch {
    struct gi_batch_files *files;
    const struct gi_source *source; /* of the files, or a stream in their place */
    /* The table; without a path the texts go to standard output. The command sets the columns, and
     * check() the format and the column for the tar. */
    struct gi_table_writer_options table;
    struct gi_table_writer *writer;
};

/* The functions of the target, for commands that do more; `self` is a struct gi_text_batch.
 * gi_text_batch_check() refuses both the report and the texts on standard output.
 * gi_text_batch_put() adds the text of an item, item->made.bytes, to the table. An item with other
 * columns fails. If files failed, gi_text_batch_end() writes the table without them. Errors:
 * GI_E_USAGE, as gi_table_writer_end(), GI_E_PIPE. */
enum gi_status gi_text_batch_check(void *self, struct gi_err *err);
enum gi_status gi_text_batch_open(void *self, struct gi_imaging *imaging, struct gi_err *err);
enum gi_status gi_text_batch_put(void *self, struct gi_item *item, struct gi_err *err);
enum gi_status gi_text_batch_end(void *self, enum gi_status status, struct gi_err *err);

extern const struct gi_target_kind gi_target_texts;
