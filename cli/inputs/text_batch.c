/* A target of texts.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/text_batch.h"

#include <string.h>

#include "cli/process.h"

enum gi_status gi_text_batch_check(const struct gi_batch_params *params, struct gi_err *err)
{
    bool to_stdout = !params->table || strcmp(params->table, "-") == 0;
    return to_stdout && params->report && strcmp(params->report, "-") == 0
               ? gi_fail(err, GI_E_USAGE, "--report -: is where the table goes, want a file")
               : GI_OK;
}

/* Adds the text to the table. */
static enum gi_status add(struct gi_table_writer *writer, const struct gi_source *source,
                          struct gi_item *item, struct gi_err *err)
{
    struct gi_table_writer_table table = {.text = item->made.bytes, .nbytes = item->made.nbytes};
    if (!gi_batch_row(source, item, &table.tar, &table.file))
        return GI_OK;
    enum gi_status status = gi_table_writer_add(writer, &table, &item->line.err);
    if (status == GI_E_UNSUPPORTED)
        item->line.status = status;
    else if (status)
        *err = item->line.err;
    return item->line.status ? GI_OK : status;
}

enum gi_status gi_text_batch_put(struct gi_table_writer *writer, const struct gi_source *source,
                                 struct gi_item *item, struct gi_err *err)
{
    if (item->line.status)
        return GI_OK;
    if (writer)
        return add(writer, source, item, err);
    size_t nbytes = item->made.nbytes;
    return nbytes && fwrite(item->made.bytes, 1, nbytes, stdout) < nbytes ? gi_cli_flush(err)
                                                                          : GI_OK;
}

enum gi_status gi_text_batch_end(struct gi_table_writer **writer, enum gi_status status,
                                 struct gi_err *err)
{
    struct gi_err fault = {0};
    if (*writer)
        return gi_table_writer_end(writer, status, err);
    enum gi_status ended = status == GI_E_PIPE ? GI_OK : gi_cli_flush(&fault);
    if (ended && (!status || !*err->text)) {
        *err = fault;
        status = ended;
    }
    return status;
}
