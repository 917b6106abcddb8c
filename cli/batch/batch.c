/* A batch from files to files.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/batch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/batch/imaging.h"
#include "cli/batch/journal.h"
#include "cli/batch/list.h"
#include "cli/batch/names.h"
#include "cli/batch/shard.h"
#include "cli/batch/stop.h"
#include "cli/batch/tars.h"
#include "cli/process.h"
#include "cli/say.h"

/* One batch, as long as it runs. */
struct batch {
    const struct gi_batch_params *params;
    struct gi_io_params io;
    struct gi_list list;
    struct gi_naming naming;
    struct gi_journal *journal; /* NULL: none */
    struct gi_imaging *imaging;
    struct gi_shard shard;
    struct gi_input **share; /* those of the shard; NULL: all of the list */
    size_t n;                /* how many these are */
    size_t next;
};

/* The shard is of the sorted list: tasks that were given the inputs in another order agree. */
static enum gi_status take_share(struct batch *batch, struct gi_err *err)
{
    batch->n = batch->list.n;
    if (!batch->shard.n)
        return GI_OK;
    batch->share = gi_list_sorted(&batch->list, err);
    if (!batch->share)
        return GI_E_MEMORY;
    batch->n = 0;
    for (size_t i = 0; i < batch->list.n; i++)
        if (gi_shard_takes(&batch->shard, i))
            batch->share[batch->n++] = batch->share[i];
    return GI_OK;
}

/* The inputs, sorted out: all that can be wrong with their names is found before any work. */
static enum gi_status read_names(struct batch *batch, char **operands, int noperands,
                                 struct gi_err *err)
{
    const struct gi_batch_params *p = batch->params;
    enum gi_status status = gi_shard_read(&batch->shard, p->shard, err);
    if (!status)
        status = gi_list_operands(&batch->list, operands, noperands, p->recursive, err);
    if (!status && p->files_from)
        status = gi_list_from(&batch->list, p->files_from, p->null, p->recursive, err);
    if (!status && !batch->list.n)
        status = gi_fail(err, GI_E_USAGE, "no images among the inputs");
    batch->naming = (struct gi_naming){p->out_dir, p->out, p->suffix};
    if (!p->suffix && batch->io.format)
        batch->naming.suffix = batch->io.format;
    if (!status)
        status = gi_naming_check(&batch->naming, err);
    for (size_t i = 0; i < batch->list.n && !status; i++) {
        char *output = gi_naming_output(&batch->naming, &batch->list, i);
        status = output ? gi_save_check(output, batch->io.format, err)
                        : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        free(output);
    }
    if (!status)
        status = gi_naming_collisions(&batch->naming, &batch->list, err);
    return status ? status : take_share(batch, err);
}

/* The next one that an earlier run has not done. */
static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct batch *batch = self;
    for (*more = false; batch->next < batch->n && !*more; batch->next++) {
        const struct gi_input *all = batch->list.inputs;
        size_t i = batch->share ? (size_t)(batch->share[batch->next] - all) : batch->next;
        const char *input = all[i].path;
        free(item->output);
        item->output = gi_naming_output(&batch->naming, &batch->list, i);
        if (!item->output)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        if (batch->journal && gi_journal_has(batch->journal, input, item->output))
            continue;
        item->input = strdup(input);
        if (!item->input)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        *more = true;
    }
    return GI_OK;
}

static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct batch *batch = self;
    return batch->journal ? gi_journal_add(batch->journal, item, err) : GI_OK;
}

static enum gi_status run_item(void *self, struct gi_item *item, struct gi_err *err)
{
    struct batch *batch = self;
    return gi_imaging_file(batch->imaging, item, err);
}

/* What came of it, as the batch's own status. */
static enum gi_status conclude(const struct gi_tally *tally, struct gi_err *err)
{
    if (!tally->failed)
        return GI_OK;
    gi_cli_say("%llu of %llu files failed", (unsigned long long)tally->failed,
               (unsigned long long)tally->n);
    *err = (struct gi_err){.status = tally->machine ? GI_E_AGAIN : GI_E_IO};
    return err->status;
}

static enum gi_status run_engine(struct batch *batch, struct gi_err *err)
{
    const struct gi_batch_params *p = batch->params;
    struct gi_feed feed = {.self = batch, .next = next, .n = batch->n};
    struct gi_work_on work = {.self = batch, .run = run_item, .deliver = deliver};
    struct gi_engine_options options = {.threads = gi_imaging_threads(batch->imaging),
                                        .memory = p->memory,
                                        .fail_fast = p->fail_fast};
    struct gi_engine *engine;
    struct gi_tally tally;
    enum gi_status status = gi_engine_new(&engine, &options, &feed, &work, err);
    if (status)
        return status;
    gi_stop_listen();
    status = gi_engine_run(engine, err);
    gi_engine_tally(engine, &tally);
    gi_engine_free(&engine);
    return status ? status : conclude(&tally, err);
}

static enum gi_status open_journal(struct batch *batch, const struct gi_command *command,
                                   const char *text, void *const *params, struct gi_err *err)
{
    const struct gi_batch_params *p = batch->params;
    struct gi_journal_head head = {.files = batch->list.n, .shard = batch->shard};
    if (p->resume && !p->report)
        return gi_fail(err, GI_E_USAGE, "--resume: want --report with the earlier run's report");
    if (!p->report)
        return GI_OK;
    char *chain = gi_batch_text(command, text ? text : command->name, params);
    enum gi_status status = chain ? gi_list_hash(&head.list, &batch->list, err)
                                  : gi_fail(err, GI_E_MEMORY, "out of memory: a report");
    head.chain = chain;
    if (!status)
        status = gi_journal_open(&batch->journal, p->report, p->resume, &head, err);
    free(chain);
    return status;
}

enum gi_status gi_batch_run(const struct gi_command *command, const struct gi_chain *chain,
                            const char *text, void *const *params, char **operands, int noperands,
                            struct gi_err *err)
{
    const struct gi_batch_params *p = params[gi_command_set(command, gi_batch_options)];
    if (p->tar)
        return gi_tars_run(command, chain, params, operands, noperands, err);
    static const struct gi_device_params no_device = {.device = "cpu"};
    int device_set = gi_command_set(command, gi_device_options);
    struct batch batch = {
        .params = p,
        .io = *(const struct gi_io_params *)params[gi_command_set(command, gi_io_options)]};
    struct gi_imaging_options options = {.chain = chain, .io = &batch.io};
    options.device = device_set < 0 ? &no_device : params[device_set];
    enum gi_status status = read_names(&batch, operands, noperands, err);
    options.images = batch.n;
    options.times = batch.params->report || batch.params->progress;
    if (!status)
        status = gi_imaging_new(&batch.imaging, &options, err);
    if (!status)
        status = gi_naming_folders(&batch.naming, &batch.list, err);
    if (!status)
        status = open_journal(&batch, command, text, params, err);
    if (!status)
        status = run_engine(&batch, err);
    gi_journal_close(&batch.journal);
    if (gi_cli_tears_down())
        gi_imaging_free(&batch.imaging);
    free(batch.share);
    gi_list_free(&batch.list);
    return status;
}
