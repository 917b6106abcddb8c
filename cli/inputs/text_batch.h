/* A target of texts. The texts become rows of one table, or lines on standard output.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/batch.h"
#include "cli/tables/table_writer.h"

/* Checks that not both the report and the table (or the lines) go to standard output. Errors:
 * GI_E_USAGE. */
enum gi_status gi_text_batch_check(const struct gi_batch_params *params, struct gi_err *err);

/* For gi_target_kind.put. Adds the text of an item, item->made.bytes, to the table if there is a
 * text; without a table (NULL), prints it. An item with other columns fails. Errors end the batch,
 * because the table can't be written. */
enum gi_status gi_text_batch_put(struct gi_table_writer *writer, const struct gi_source *source,
                                 struct gi_item *item, struct gi_err *err);

/* For gi_target_kind.end. Ends the table; if files failed, it is written without them. Without a
 * table, flushes standard output. Errors: as gi_table_writer_end(), GI_E_PIPE. */
enum gi_status gi_text_batch_end(struct gi_table_writer **writer, enum gi_status status,
                                 struct gi_err *err);
