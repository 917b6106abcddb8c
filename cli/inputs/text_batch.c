/* A target of texts.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/text_batch.h"

#include <string.h>

#include "cli/process.h"

enum gi_status gi_text_batch_check(void *self, struct gi_err *err)
{
    struct gi_text_batch *texts = self;
    const struct gi_batch_params *params = texts->files->params;
    bool to_stdout = !params->table || strcmp(params->table, "-") == 0;
    enum gi_status status = GI_OK;
    texts->table.tar = params->tar ? "tar" : NULL;
    if (to_stdout && params->report && strcmp(params->report, "-") == 0)
        status = gi_fail(err, GI_E_USAGE, "--report -: is where the table goes, want a file");
    if (!status)
        status = gi_batch_check(texts->files, err);
    return status || !texts->table.path
               ? status
               : gi_table_writer_format_of(&texts->table.format, texts->table.path, err);
}

enum gi_status gi_text_batch_open(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_text_batch *texts = self;
    return texts->table.path ? gi_table_writer_new(&texts->writer, &texts->table, err) : GI_OK;
}

/* Adds the text to the table. */
static enum gi_status add(const struct gi_text_batch *texts, struct gi_item *item,
                          struct gi_err *err)
{
    struct gi_table_writer_table table = {.text = item->made.bytes, .nbytes = item->made.nbytes};
    if (!gi_batch_row(texts->source, item, &table.tar, &table.file))
        return GI_OK;
    enum gi_status status = gi_table_writer_add(texts->writer, &table, &item->line.err);
    if (status == GI_E_UNSUPPORTED)
        item->line.status = status;
    else if (status)
        *err = item->line.err;
    return item->line.status ? GI_OK : status;
}

enum gi_status gi_text_batch_put(void *self, struct gi_item *item, struct gi_err *err)
{
    const struct gi_text_batch *texts = self;
    if (item->line.status)
        return GI_OK;
    if (texts->writer)
        return add(texts, item, err);
    size_t nbytes = item->made.nbytes;
    return nbytes && fwrite(item->made.bytes, 1, nbytes, stdout) < nbytes ? gi_cli_flush(err)
                                                                          : GI_OK;
}

enum gi_status gi_text_batch_end(void *self, enum gi_status status, struct gi_err *err)
{
    struct gi_text_batch *texts = self;
    struct gi_err fault = {0};
    if (texts->table.path)
        return gi_table_writer_end(&texts->writer, status, err);
    enum gi_status ended = status == GI_E_PIPE ? GI_OK : gi_cli_flush(&fault);
    if (ended && (!status || !*err->text)) {
        *err = fault;
        status = ended;
    }
    return status;
}

const struct gi_target_kind gi_target_texts = {.ordered = true,
                                               .check = gi_text_batch_check,
                                               .open = gi_text_batch_open,
                                               .put = gi_text_batch_put,
                                               .end = gi_text_batch_end};
