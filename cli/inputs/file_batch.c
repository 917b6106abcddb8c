/* Batches of files: lists inputs, names outputs, and runs the engine.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/file_batch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/args/rules.h"
#include "cli/inputs/pair_list.h"
#include "cli/inputs/tar_pairs.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

enum gi_status gi_batch_share(struct gi_batch_files *files, struct gi_err *err)
{
    struct gi_batch_inputs *in = &files->in;
    size_t n = 0;
    files->source.n = in->n = in->list.n;
    files->source.rules = files->rules;
    if (!in->shard.n)
        return GI_OK;
    in->share = calloc(in->n + 1, sizeof *in->share);
    if (!in->share)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu inputs", in->n);
    for (size_t i = 0; i < in->n; i++)
        if (gi_shard_takes(&in->shard, i))
            in->share[n++] = &in->list.inputs[i];
    files->source.n = in->n = n;
    return GI_OK;
}

/* Returns the position in the whole list of this task's i-th input. */
static size_t place_of(const struct gi_batch_files *files, size_t i)
{
    return files->in.share ? (size_t)(files->in.share[i] - files->in.list.inputs) : i;
}

/* Returns whether input i needs no work: an earlier run has finished it, or --no-clobber keeps its
 * output. With a report, which says what became of each input, the latter is an error instead. */
static bool is_done(const struct gi_batch_files *files, size_t i, const char *output)
{
    const struct gi_input *input = &files->in.list.inputs[i];
    bool one = !files->out.a_file_a_page && !files->out.a_file_a_size;
    bool skips = files->out.skips_existing && one && !input->why;
    return gi_report_has(&files->report, input->path, output) ||
           (skips && gi_output_exists(output));
}

/* For each input, makes the name of the further input that belongs to it. */
static enum gi_status name_beside(struct gi_batch_files *files, const struct gi_batch_work *work,
                                  struct gi_err *err)
{
    const struct gi_naming naming = {.template = work->beside, .option = work->beside_option};
    enum gi_status status = gi_naming_check(&naming, err);
    for (size_t i = 0; i < files->in.list.n && !status; i++) {
        char *path = gi_naming_output(&naming, &files->in.list, i);
        status = gi_list_add(&files->in.beside, path, err);
        free(path);
    }
    return status;
}

enum gi_status gi_batch_open(struct gi_batch_files *files, const struct gi_batch_job *job,
                             char **operands, int noperands, struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params(job);
    *files = (struct gi_batch_files){
        .params = p,
        .chain = job->chain,
        .io = gi_batch_io(job),
        .out.naming = {.folder = p->out_dir,
                       .template = p->out,
                       .suffix = p->suffix,
                       .pages = !job->work && !p->tar,
                       .sizes = !job->work && !p->tar && !gi_chain_ends_in_analysis(job->chain),
                       .page = -1},
        .source = {.kind = &gi_source_files, .self = files}};
    if (job->work)
        files->out.results = job->work->results;
    if (files->out.results == GI_BATCH_A_FILE_A_CHANNEL)
        files->out.naming.channel = "";
    files->out.skips_existing =
        files->out.results == GI_BATCH_A_FILE && !p->report && gi_batch_is_no_clobber(job);
    if (p->resume && !p->report)
        return gi_fail(err, GI_E_USAGE, "--resume: want --report with the earlier run's report");
    enum gi_status status = gi_shard_read(&files->in.shard, p->shard, err);
    bool standard = job->takes_stdin && noperands == 1 && strcmp(operands[0], "-") == 0;
    if (!status)
        status = gi_rules_new(&files->rules, job, err);
    if (!status && standard && !p->tar && files->rules)
        status =
            gi_fail(err, GI_E_USAGE, "-: has no name that --only, --except or --for can match");
    files->in.list.matcher = p->tar ? NULL : gi_rules_matcher(files->rules);
    if (!status && p->tar)
        status = gi_tar_list(&files->in.list, p, operands, noperands, err);
    else if (!status)
        status = standard
                     ? gi_list_add(&files->in.list, "-", err)
                     : gi_list_operands(&files->in.list, operands, noperands, p->recursive, err);
    if (!status && p->files_from)
        status = gi_list_from(&files->in.list, p->files_from, p->null, p->recursive, err);
    if (!status)
        status = gi_list_check(&files->in.list, err);
    if (!status && files->in.shard.n)
        gi_list_sort(&files->in.list);
    if (!status)
        status = gi_batch_share(files, err);
    if (!status && job->work && job->work->beside)
        status = name_beside(files, job->work, err);
    if (status || !p->tar)
        return status;
    files->tars = (struct gi_tar_source){
        .params = p, .inputs = &files->in.list, .shard = files->in.shard, .rules = files->rules};
    files->source =
        (struct gi_source){.kind = &gi_source_tars, .self = &files->tars, .rules = files->rules};
    gi_tar_source_new(&files->tars, files->io);
    return GI_OK;
}

void gi_batch_close(struct gi_batch_files *files)
{
    gi_report_close(&files->report);
    gi_tar_source_free(&files->tars);
    gi_tar_pairs_free(&files->tar_pairs);
    gi_page_cursor_close(&files->cursor);
    free(files->in.share);
    gi_list_free(&files->in.list);
    gi_list_free(&files->in.others);
    gi_list_free(&files->in.beside);
    gi_rules_free(&files->rules);
}

enum gi_status gi_batch_part(char **path, const struct gi_batch_files *files,
                             const struct gi_item *item, const char *channel, struct gi_err *err)
{
    struct gi_naming naming = files->out.naming;
    naming.channel = channel;
    *path = gi_naming_output(&naming, &files->in.list, item->source.place);
    return gi_naming_folder(&files->out.naming, &files->in.list, item->source.place, *path, err);
}

/* Returns what gives the results suffixes of their own, if those of the inputs name their formats;
 * otherwise NULL. */
static const char *other_suffix(const struct gi_naming *naming)
{
    if (!naming->template || strstr(naming->template, "{ext}"))
        return naming->suffix ? NULL : "--suffix, such as --suffix .png";
    return strstr(naming->template, "{name}") ? "--out with {stem}.png in place of {name}" : NULL;
}

/* Checks that the output of input i, an image, has the name of a format that can be written. One
 * that is named after a video passes, because its reader reports what can be done with it. */
static enum gi_status check_format(const struct gi_batch_files *files, size_t i, const char *output,
                                   const char *image_format, struct gi_err *err)
{
    char *const *input = &files->in.list.inputs[i].path;
    const char *want = other_suffix(&files->out.naming), *format = gi_save_format(output, NULL);
    if (want && !image_format && format && strcmp(format, "y4m") == 0)
        return GI_OK;
    enum gi_status status = gi_save_check(output, image_format, err);
    status = gi_cli_missing_first(status, input, 1, err);
    return !status || status == GI_E_IO || !want || image_format
               ? status
               : gi_err_prefix(err, "%s: want %s", *input, want);
}

/* Checks the formats of all outputs. If some of them can be written, the inputs of the others fail
 * on their own. */
static enum gi_status check_formats(struct gi_batch_files *files, const char *image_format,
                                    struct gi_err *err)
{
    struct gi_err first = {0};
    bool any = false;
    for (size_t i = 0; i < files->in.list.n; i++) {
        struct gi_input *input = &files->in.list.inputs[i];
        if (input->why)
            continue;
        char *output = gi_naming_output(&files->out.naming, &files->in.list, i);
        struct gi_err refused = {0};
        input->unwritable = check_format(files, i, output, image_format, &refused);
        any |= !input->unwritable;
        first = first.status ? first : refused;
        free(output);
    }
    return any || !first.status ? GI_OK : gi_fail(err, first.status, "%s", first.text);
}

/* Fails the item whose output check_formats() refused. */
static void refuse_format(struct gi_item *item, const struct gi_batch_files *files, size_t i)
{
    if (!item->line.status)
        item->line.status = check_format(files, i, item->line.output, NULL, &item->line.err);
    if (item->line.status == GI_E_USAGE)
        item->line.status = item->line.err.status = GI_E_UNSUPPORTED;
}

enum gi_status gi_batch_names(struct gi_batch_files *files, bool images, const char *image_format,
                              struct gi_err *err)
{
    files->out.named = true;
    files->out.a_file_a_page = images && gi_naming_has_page(&files->out.naming);
    files->out.a_file_a_size =
        files->out.naming.sizes && gi_naming_is_per_size(files->out.naming.template);
    if (!files->out.naming.suffix && image_format)
        files->out.naming.suffix = image_format;
    if (!files->params->out_dir && !files->params->out)
        return gi_fail(err, GI_E_USAGE, "want --out-dir or --out for the results");
    enum gi_status status = gi_naming_check(&files->out.naming, err);
    if (!status && images)
        status = check_formats(files, image_format, err);
    return status ? status : gi_batch_check(files, err);
}

enum gi_status gi_batch_places(struct gi_batch_files *files, struct gi_err *err)
{
    return gi_naming_folders(&files->out.naming, &files->in.list, err);
}

/* Returns the next input that an earlier run has not finished and that is not skipped. */
static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_batch_files *files = self;
    for (*more = false; files->in.next < files->in.n && !*more; files->in.next++) {
        size_t i = place_of(files, files->in.next);
        const char *input = files->in.list.inputs[i].path;
        free(item->line.output);
        item->line.output =
            files->out.named ? gi_naming_output(&files->out.naming, &files->in.list, i) : NULL;
        if (files->out.named && is_done(files, i, item->line.output))
            continue;
        item->line.other = files->in.others.n ? files->in.others.inputs[i].path : NULL;
        item->line.beside.path = files->in.beside.n ? files->in.beside.inputs[i].path : NULL;
        item->source.place = item->source.number = i;
        item->source.rule = files->in.list.inputs[i].rule;
        item->line.in_parts = files->out.results != GI_BATCH_A_FILE || files->out.a_file_a_page ||
                              files->out.a_file_a_size;
        item->line.input = gi_small_copy(input);
        gi_item_refuse(item, &files->in.list.inputs[i]);
        if (files->in.list.inputs[i].unwritable)
            refuse_format(item, files, i);
        *more = true;
    }
    return GI_OK;
}

static enum gi_status note(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_batch_files *files = self;
    return gi_report_add(&files->report, &item->line, err);
}

/* Returns the path of an input's result, for --resume. */
static char *output_of(void *arg, size_t input)
{
    const struct gi_batch_files *files = arg;
    return gi_naming_output(&files->out.naming, &files->in.list, input);
}

enum gi_status gi_batch_files_report(struct gi_batch_files *files, const struct gi_batch_job *job,
                                     struct gi_err *err)
{
    const struct gi_batch_params *p = files->params;
    struct gi_list pairs = {0};
    char *text = gi_rules_text(files->rules, job->text ? job->text : job->command->name, false);
    bool share = files->in.share && !files->in.others.n;
    struct gi_report_options options = {.path = p->report,
                                        .command = job->command,
                                        .params = job->params,
                                        .text = text,
                                        .inputs = files->in.others.n ? &pairs : &files->in.list,
                                        .head = {.files = files->in.list.n,
                                                 .shard = files->in.shard,
                                                 .with = gi_rules_hash(files->rules, job->chain)},
                                        .once = "inputs",
                                        .share = share ? files->in.share : NULL,
                                        .nshare = files->in.n,
                                        .resume = p->resume,
                                        .output = output_of,
                                        .arg = files};
    enum gi_status status = p->report ? gi_pairs_name(&pairs, files, err) : GI_OK;
    if (!status)
        status = gi_report_open(&files->report, &options, err);
    gi_list_free(&pairs);
    free(text);
    return status;
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
    return gi_batch_failed(tally, err);
}

/* Returns the number of inputs that an earlier run has finished or that are skipped. */
static uint64_t count_skipped(const struct gi_batch_files *files)
{
    uint64_t n = 0;
    bool any = files->out.named && (files->params->resume || files->out.skips_existing);
    for (size_t i = 0; any && i < files->in.n; i++) {
        size_t place = place_of(files, i);
        char *output = gi_naming_output(&files->out.naming, &files->in.list, place);
        n += is_done(files, place, output);
        free(output);
    }
    return n;
}

static enum gi_status open_files(struct gi_source *source, const struct gi_batch_job *job,
                                 struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_batch_files *files = source->self;
    enum gi_status status = gi_batch_files_report(files, job, err);
    source->skipped = status ? 0 : count_skipped(files);
    return status;
}

static enum gi_status open_pages(struct gi_source *source, const struct gi_batch_job *job,
                                 struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_batch_files *files = source->self;
    size_t n = 0;
    enum gi_status status = gi_batch_files_report(files, job, err);
    files->cursor.list = &files->in.list;
    files->cursor.io = files->io;
    files->cursor.share = files->in.share;
    files->cursor.n = files->in.n;
    if (!status)
        status = gi_page_cursor_count(&n, &files->cursor, err);
    source->n = n;
    return status;
}

static enum gi_status next_page(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_batch_files *files = self;
    return gi_page_cursor_next(&files->cursor, item, more, err);
}

const struct gi_source_kind gi_source_files = {
    .open = open_files,
    .next = next,
    .note = note,
    .conclude = conclude,
};

const struct gi_source_kind gi_source_file_pages = {
    .open = open_pages,
    .next = next_page,
    .note = note,
    .conclude = conclude,
};
