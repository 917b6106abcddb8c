/* A batch that makes a text from each input.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/text_batch.h"

#include <errno.h>
#include <string.h>

#include "cli/process.h"

struct delivery {
    struct gi_text_batch *rows;
    enum gi_status (*run)(void *self, struct gi_item *item, struct gi_err *err);
    void (*note)(struct gi_text_batch *rows, const struct gi_item *item);
};

static enum gi_status run_item(void *self, struct gi_item *item, struct gi_err *err)
{
    struct delivery *delivery = self;
    return delivery->run(delivery->rows, item, err);
}

enum gi_status gi_text_batch_check(const struct gi_batch_params *params, struct gi_err *err)
{
    bool to_stdout = !params->table || strcmp(params->table, "-") == 0;
    return to_stdout && params->report && strcmp(params->report, "-") == 0
               ? gi_fail(err, GI_E_USAGE, "--report -: is where the table goes, want a file")
               : GI_OK;
}

enum gi_status gi_text_batch_add(struct gi_table_writer *writer, const struct gi_batch_files *files,
                                 struct gi_item *item, struct gi_err *err)
{
    struct gi_table_writer_table table = {.text = item->made.bytes, .nbytes = item->made.nbytes};
    if (!gi_batch_row(files, item, &table.tar, &table.file))
        return GI_OK;
    enum gi_status status = gi_table_writer_add(writer, &table, &item->line.err);
    if (status == GI_E_UNSUPPORTED)
        item->line.status = status;
    else if (status)
        *err = item->line.err;
    return item->line.status ? GI_OK : status;
}

static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct delivery *delivery = self;
    struct gi_table_writer *writer = delivery->rows->writer;
    enum gi_status status = GI_OK;
    if (delivery->note)
        delivery->note(delivery->rows, item);
    if (!item->line.status && writer)
        status = gi_text_batch_add(writer, &delivery->rows->files, item, err);
    else if (!item->line.status && item->made.nbytes &&
             fwrite(item->made.bytes, 1, item->made.nbytes, stdout) < item->made.nbytes)
        status = gi_cli_flush(err);
    return status ? status : gi_batch_note(&delivery->rows->files, item, err);
}

enum gi_status
gi_text_batch_run(struct gi_text_batch *rows,
                  enum gi_status (*run)(void *self, struct gi_item *item, struct gi_err *err),
                  void (*note)(struct gi_text_batch *rows, const struct gi_item *item), int threads,
                  struct gi_err *err)
{
    struct delivery delivery = {rows, run, note};
    struct gi_work_on work = {
        .self = &delivery, .run = run_item, .deliver = deliver, .ordered = true};
    enum gi_status status = gi_batch_go(&rows->files, &work, threads, err);
    struct gi_err fault = {0};
    if (rows->writer)
        return gi_table_writer_end(&rows->writer, status, err);
    enum gi_status ended = status == GI_E_PIPE ? GI_OK : gi_cli_flush(&fault);
    if (ended && (!status || !*err->text)) {
        *err = fault;
        status = ended;
    }
    return status;
}
