/* Batches of files: lists inputs, names outputs, and runs the engine.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/file_batch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/inputs/pair_list.h"
#include "cli/run/progress.h"
#include "cli/args/rules.h"
#include "cli/inputs/tar_inputs.h"
#include "cli/inputs/tar_pairs.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "imgio/imgio.h"

/* Takes this task's share of the list. Shards and {index} use positions in the sorted list, so that
 * the tasks agree even if they get the inputs in different orders. */
static enum gi_status take_share(struct gi_batch_files *files, struct gi_err *err)
{
    files->n = files->list.n;
    if (!files->shard.n)
        return GI_OK;
    gi_list_sort(&files->list);
    files->share = gi_list_sorted(&files->list, err);
    if (!files->share)
        return GI_E_MEMORY;
    files->n = 0;
    for (size_t i = 0; i < files->list.n; i++)
        if (gi_shard_takes(&files->shard, i))
            files->share[files->n++] = files->share[i];
    return GI_OK;
}

/* Returns the position in the whole list of this task's i-th input. */
static size_t place_of(const struct gi_batch_files *files, size_t i)
{
    return files->share ? (size_t)(files->share[i] - files->list.inputs) : i;
}

/* Returns whether input i needs no work: an earlier run has finished it, or --no-clobber keeps its
 * output. With a report, which says what became of each input, the latter is an error instead. */
static bool is_done(const struct gi_batch_files *files, size_t i, const char *output)
{
    const struct gi_input *input = &files->list.inputs[i];
    bool skips = files->skips_existing && !files->a_file_a_page && !input->why;
    return gi_report_has(&files->report, input->path, output) ||
           (skips && gi_output_exists(output));
}

/* For each input, makes the name of the further input that belongs to it. */
static enum gi_status name_beside(struct gi_batch_files *files, const struct gi_batch_work *work,
                                  struct gi_err *err)
{
    const struct gi_naming naming = {.template = work->beside, .option = work->beside_option};
    enum gi_status status = gi_naming_check(&naming, err);
    for (size_t i = 0; i < files->list.n && !status; i++) {
        char *path = gi_naming_output(&naming, &files->list, i);
        status = path ? gi_list_add(&files->beside, path, err)
                      : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        free(path);
    }
    return status;
}

enum gi_status gi_batch_open(struct gi_batch_files *files, const struct gi_batch_job *job,
                             char **operands, int noperands, struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    const struct gi_device_params *device = gi_batch_device(job);
    *files = (struct gi_batch_files){.params = p,
                                     .chain = job->chain,
                                     .naming = {.folder = p->out_dir,
                                                .template = p->out,
                                                .suffix = p->suffix,
                                                .pages = !job->work && !p->tar,
                                                .page = -1},
                                     .feed = {.kind = &gi_feed_files, .self = files}};
    files->threads = gi_thread_count(device ? device->threads : 0);
    files->io = gi_batch_io(job);
    if (job->work)
        files->results = job->work->results;
    if (files->results == GI_BATCH_A_FILE_A_CHANNEL)
        files->naming.channel = "";
    files->skips_existing =
        files->results == GI_BATCH_A_FILE && !p->report && gi_batch_is_no_clobber(job);
    files->times = p->report || gi_progress_shows(p->progress);
    if (p->resume && !p->report)
        return gi_fail(err, GI_E_USAGE, "--resume: want --report with the earlier run's report");
    enum gi_status status = gi_shard_read(&files->shard, p->shard, err);
    bool standard = job->takes_stdin && noperands == 1 && strcmp(operands[0], "-") == 0;
    if (!status)
        status = gi_rules_new(&files->rules, job, err);
    if (!status && standard && !p->tar && files->rules)
        status =
            gi_fail(err, GI_E_USAGE, "-: has no name that --only, --except or --for can match");
    files->list.matcher = p->tar ? NULL : gi_rules_matcher(files->rules);
    if (!status && p->tar)
        status = gi_tar_inputs_list(&files->list, p, operands, noperands, err);
    else if (!status)
        status = standard ? gi_list_add(&files->list, "-", err)
                          : gi_list_operands(&files->list, operands, noperands, p->recursive, err);
    if (!status && p->files_from)
        status = gi_list_from(&files->list, p->files_from, p->null, p->recursive, err);
    if (!status)
        status = gi_list_check(&files->list, err);
    if (!status)
        status = take_share(files, err);
    if (!status && job->work && job->work->beside)
        status = name_beside(files, job->work, err);
    if (!status && p->tar)
        status = gi_tar_inputs_new(&files->tars, files, job, err);
    return status;
}

void gi_batch_close(struct gi_batch_files *files)
{
    gi_report_close(&files->report);
    gi_tar_inputs_free(&files->tars);
    gi_tar_pairs_free(&files->tar_pairs);
    gi_page_cursor_close(&files->cursor);
    free(files->share);
    gi_list_free(&files->list);
    gi_list_free(&files->others);
    gi_list_free(&files->beside);
    gi_rules_free(&files->rules);
}

enum gi_status gi_batch_part(char **path, const struct gi_batch_files *files,
                             const struct gi_item *item, const char *channel, struct gi_err *err)
{
    struct gi_naming naming = files->naming;
    naming.channel = channel;
    *path = gi_naming_output(&naming, &files->list, item->source.place);
    return *path ? gi_naming_folder(&files->naming, &files->list, item->source.place, *path, err)
                 : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
}

enum gi_status gi_batch_names(struct gi_batch_files *files, bool images, const char *image_format,
                              struct gi_err *err)
{
    files->named = true;
    files->a_file_a_page = images && gi_naming_has_page(&files->naming);
    if (!files->naming.suffix && image_format)
        files->naming.suffix = image_format;
    if (!files->params->out_dir && !files->params->out)
        return gi_fail(err, GI_E_USAGE, "want --out-dir or --out for the results");
    enum gi_status status = gi_naming_check(&files->naming, err);
    for (size_t i = 0; i < files->list.n && !status && images; i++) {
        if (files->list.inputs[i].why)
            continue;
        char *output = gi_naming_output(&files->naming, &files->list, i);
        status = output ? gi_save_check(output, image_format, err)
                        : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        status = gi_cli_missing_first(status, &files->list.inputs[i].path, 1, err);
        free(output);
    }
    return status ? status : gi_batch_check(files, err);
}

enum gi_status gi_batch_places(struct gi_batch_files *files, struct gi_err *err)
{
    return gi_naming_folders(&files->naming, &files->list, err);
}

/* Returns the next input that an earlier run has not finished and that is not skipped. */
static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_batch_files *files = self;
    if (files->by_page)
        return gi_page_cursor_next(&files->cursor, item, more, err);
    for (*more = false; files->next < files->n && !*more; files->next++) {
        size_t i = place_of(files, files->next);
        const char *input = files->list.inputs[i].path;
        free(item->line.output);
        item->line.output = files->named ? gi_naming_output(&files->naming, &files->list, i) : NULL;
        if (files->named && !item->line.output)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        if (files->named && is_done(files, i, item->line.output))
            continue;
        item->line.other = files->others.n ? files->others.inputs[i].path : NULL;
        item->line.beside = files->beside.n ? files->beside.inputs[i].path : NULL;
        item->source.place = i;
        item->source.rule = files->list.inputs[i].rule;
        item->line.in_parts = files->results != GI_BATCH_A_FILE || files->a_file_a_page;
        item->line.input = strdup(input);
        if (!item->line.input)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        gi_item_refuse(item, &files->list.inputs[i]);
        *more = true;
    }
    return GI_OK;
}

static enum gi_status note(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_batch_files *files = self;
    return gi_report_add(&files->report, &item->line, err);
}

enum gi_status gi_batch_note(struct gi_batch_files *files, struct gi_item *item, struct gi_err *err)
{
    return files->feed.kind->note(files->feed.self, item, err);
}

bool gi_batch_row(const struct gi_batch_files *files, const struct gi_item *item, const char **tar,
                  const char **file)
{
    const struct gi_feed *feed = &files->feed;
    *tar = NULL;
    *file = item->line.input;
    return !item->line.status && (!feed->kind->row || feed->kind->row(feed->self, item, tar, file));
}

/* Returns the path of an input's result, for --resume. */
static char *output_of(void *arg, size_t input)
{
    const struct gi_batch_files *files = arg;
    return gi_naming_output(&files->naming, &files->list, input);
}

enum gi_status gi_batch_files_report(struct gi_batch_files *files, const struct gi_batch_job *job,
                                     struct gi_err *err)
{
    const struct gi_batch_params *p = files->params;
    struct gi_list pairs = {0};
    char *text = gi_rules_text(files->rules, job->text ? job->text : job->command->name, false);
    bool share = files->share && !files->others.n;
    struct gi_report_options options = {.path = p->report,
                                        .command = job->command,
                                        .params = job->params,
                                        .text = text,
                                        .inputs = files->others.n ? &pairs : &files->list,
                                        .head = {.files = files->list.n,
                                                 .shard = files->shard,
                                                 .with = gi_rules_hash(files->rules, job->chain)},
                                        .once = "inputs",
                                        .share = share ? files->share : NULL,
                                        .nshare = files->n,
                                        .resume = p->resume,
                                        .output = output_of,
                                        .arg = files};
    enum gi_status status = text ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a report");
    if (!status && p->report)
        status = gi_pairs_name(&pairs, files, err);
    if (!status)
        status = gi_report_open(&files->report, &options, err);
    gi_list_free(&pairs);
    free(text);
    return status;
}

static enum gi_status open_report(void *self, const struct gi_batch_job *job, struct gi_err *err)
{
    return gi_batch_files_report(self, job, err);
}

enum gi_status gi_batch_report(struct gi_batch_files *files, const struct gi_batch_job *job,
                               struct gi_err *err)
{
    return files->feed.kind->open_report(files->feed.self, job, err);
}

/* Returns the status of the whole batch. */
static enum gi_status conclude(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err)
{
    const struct gi_batch_files *files = self;
    if (status || !tally->failed)
        return status;
    uint64_t n = tally->n ? tally->n : tally->done + tally->failed;
    gi_cli_log("%llu of %llu %s failed", (unsigned long long)tally->failed, (unsigned long long)n,
               files->unit ? files->unit : "files");
    *err = (struct gi_err){.status = tally->machine ? GI_E_AGAIN : GI_E_IO};
    return err->status;
}

/* Returns the number of inputs that an earlier run has finished or that are skipped. */
static uint64_t count_skipped(const struct gi_batch_files *files)
{
    uint64_t n = 0;
    bool any = files->named && (files->params->resume || files->skips_existing);
    for (size_t i = 0; any && i < files->n; i++) {
        size_t place = place_of(files, i);
        char *output = gi_naming_output(&files->naming, &files->list, place);
        n += output && is_done(files, place, output);
        free(output);
    }
    return n;
}

enum gi_status gi_batch_go(struct gi_batch_files *files, const struct gi_work_on *work, int threads,
                           struct gi_err *err)
{
    if (files->by_page) {
        size_t n;
        files->cursor = (struct gi_page_cursor){.list = &files->list,
                                                .io = files->io,
                                                .share = files->share,
                                                .named = files->by_names,
                                                .n = files->n};
        enum gi_status status = gi_page_cursor_count(&n, &files->cursor, err);
        if (status)
            return status;
        files->feed.n = n;
    } else if (files->feed.self == files) {
        files->feed.n = files->n;
        files->feed.skipped = count_skipped(files);
    }
    return gi_feed_run(&files->feed, work, files->params, threads, err);
}

const struct gi_feed_kind gi_feed_files = {
    .next = next,
    .open_report = open_report,
    .note = note,
    .conclude = conclude,
};
