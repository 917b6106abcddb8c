/* Batches of files: lists inputs, names outputs, and runs the engine.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/file_batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/args/rules.h"
#include "cli/inputs/pair_list.h"
#include "cli/inputs/tar_pairs.h"
#include "cli/log.h"
#include "cli/paths/known_folders.h"
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

/* Returns whether an input needs no work: an earlier run has finished it, or --no-clobber keeps its
 * output. With a report, which says what became of each input, the latter is an error instead. */
static bool is_done(const struct gi_batch_files *files, const struct gi_input *input,
                    const char *output)
{
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

/* Returns whether the list of --files-from may stay in its file. */
static bool may_stream(const struct gi_batch_files *files, const struct gi_batch_job *job,
                       int noperands)
{
    const struct gi_batch_params *p = files->params;
    bool one_each = !job->work || (files->out.results == GI_BATCH_A_FILE && !job->work->beside);
    return job->streams_list && one_each && !noperands && !p->recursive && !p->tar;
}

/* Reads the list of --files-from, or opens it to be read during the batch. */
static enum gi_status read_list(struct gi_batch_files *files, const struct gi_batch_job *job,
                                int noperands, struct gi_err *err)
{
    const struct gi_batch_params *p = files->params;
    struct gi_batch_inputs *in = &files->in;
    struct gi_list_bytes pipe = {0};
    enum gi_status status = GI_OK;
    if (may_stream(files, job, noperands))
        status = gi_list_stream_open(&in->stream, p->files_from, p->null, &pipe, err);
    if (!status && !in->stream)
        status = pipe.bytes ? gi_list_from_bytes(&in->list, p->files_from, pipe.bytes, pipe.n,
                                                 p->null, err)
                            : gi_list_from(&in->list, p->files_from, p->null, p->recursive, err);
    free(pipe.bytes);
    if (status || !in->stream)
        return status;
    files->source.rules = files->rules;
    char *text =
        in->shard.n ? gi_batch_text(job->command, job->text ? job->text : "", job->params) : NULL;
    bool numbered = (text && strstr(text, "{index")) || (p->out && strstr(p->out, "{index"));
    free(text);
    return gi_list_stream_select(in->stream, &in->shard, in->list.matcher, numbered, err);
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
        status = read_list(files, job, noperands, err);
    if (status || files->in.stream)
        return status;
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
    gi_list_stream_close(&files->in.stream);
    gi_known_folders_free(&files->out.folders);
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

enum gi_status gi_batch_places(struct gi_batch_files *files, struct gi_err *err)
{
    return gi_naming_folders(&files->out.naming, &files->in.list, err);
}

/* An input of this task: the one at `at` of `list`. */
struct place {
    const struct gi_list *list;
    size_t at;
    struct gi_list one; /* of an input that is not in memory */
};

static enum gi_status next_place(struct gi_batch_files *files, struct place *place, bool *more,
                                 struct gi_err *err)
{
    struct gi_batch_inputs *in = &files->in;
    *place = (struct place){.list = &in->list};
    if (in->stream) {
        place->list = &place->one;
        return gi_list_stream_next_one(files->in.stream, &place->one, more, err);
    }
    *more = in->next < in->n;
    if (*more)
        place->at = place_of(files, in->next++);
    return GI_OK;
}

/* Prepares the output of an input that is not in memory. For inputs in memory this was done for all
 * outputs before the work began. */
static void prepare_output(struct gi_batch_files *files, struct gi_item *item,
                           const struct gi_list *one)
{
    struct stat st;
    struct gi_line *line = &item->line;
    if (line->status)
        return;
    if (lstat(gi_output_file(line->output), &st) == 0 && S_ISLNK(st.st_mode))
        line->status = gi_fail(&line->err, GI_E_IO,
                               "%s: is a symbolic link, want a file for the result of an input in "
                               "so long a list",
                               line->output);
    else
        line->status = gi_known_folders_make(&files->out.folders, &files->out.naming, one,
                                             line->output, &line->err);
    if (files->out.images && !line->status)
        gi_batch_refuse_format(item, files, one->inputs);
}

/* Fills in an item for the input. */
static void fill_item(struct gi_item *item, struct gi_batch_files *files, const struct place *place)
{
    const struct gi_input *input = &place->list->inputs[place->at];
    size_t i = place->at;
    item->line.other = files->in.others.n ? files->in.others.inputs[i].path : NULL;
    item->line.beside.path = files->in.beside.n ? files->in.beside.inputs[i].path : NULL;
    item->source.place = i;
    item->source.number = input->number ? input->number - 1 : i;
    item->source.rule = input->rule;
    item->line.in_parts = files->out.results != GI_BATCH_A_FILE || files->out.a_file_a_page ||
                          files->out.a_file_a_size;
    item->line.input = gi_small_copy(input->path);
    gi_item_refuse(item, input);
    if (input->unwritable)
        gi_batch_refuse_format(item, files, input);
    if (files->in.stream && files->out.named)
        prepare_output(files, item, place->list);
}

/* Returns the next input that an earlier run has not finished and that is not skipped. */
static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_batch_files *files = self;
    struct place place;
    enum gi_status status;
    while (!(status = next_place(files, &place, more, err)) && *more) {
        const struct gi_input *input = &place.list->inputs[place.at];
        free(item->line.output);
        item->line.output =
            files->out.named ? gi_naming_output(&files->out.naming, place.list, place.at) : NULL;
        if (files->out.named && is_done(files, input, item->line.output))
            continue;
        fill_item(item, files, &place);
        break;
    }
    return status;
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

/* Returns whether this batch makes `output` from an input with that name. A number in the name of
 * the output is not checked, because it is not known where in the list the input is. */
static bool is_output_of(void *arg, const char *input, const char *output)
{
    const struct gi_batch_files *files = arg;
    const char *slash = strrchr(input, '/');
    struct gi_input own = {.path = (char *)(uintptr_t)input,
                           .root = slash ? (size_t)(slash - input) + 1 : 0};
    const struct gi_list one = {.inputs = &own, .n = 1};
    if (files->params->out && strstr(files->params->out, "{index"))
        return true;
    char *made = gi_naming_output(&files->out.naming, &one, 0);
    bool same = strcmp(made, output) == 0;
    free(made);
    return same;
}

/* Describes a list that is not in memory. */
static enum gi_status describe_stream(struct gi_report_options *options,
                                      const struct gi_batch_files *files, struct gi_err *err)
{
    options->inputs = NULL;
    options->is_output = is_output_of;
    options->head.files = files->in.n;
    options->head.list_nbytes = gi_list_stream_nbytes(files->in.stream);
    return gi_list_stream_hash(&options->head.list, files->in.stream, err);
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
    if (!status && files->in.stream)
        status = describe_stream(&options, files, err);
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

/* Sets *n to the number of inputs that an earlier run has finished or that are skipped. */
static enum gi_status count_skipped(struct gi_batch_files *files, uint64_t *n, struct gi_err *err)
{
    struct place place;
    bool more = files->out.named && (files->params->resume || files->out.skips_existing);
    enum gi_status status = GI_OK;
    *n = 0;
    while (more && !(status = next_place(files, &place, &more, err)) && more) {
        char *output = gi_naming_output(&files->out.naming, place.list, place.at);
        *n += is_done(files, &place.list->inputs[place.at], output);
        free(output);
    }
    files->in.next = 0;
    if (files->in.stream)
        gi_list_stream_rewind(files->in.stream);
    return status;
}

static enum gi_status open_files(struct gi_source *source, const struct gi_batch_job *job,
                                 struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_batch_files *files = source->self;
    enum gi_status status = gi_batch_files_report(files, job, err);
    return status ? status : count_skipped(files, &source->skipped, err);
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
    files->cursor.stream = files->in.stream;
    if (!status && !files->in.stream) {
        status = gi_page_cursor_count(&n, &files->cursor, err);
        source->n = n;
    }
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
