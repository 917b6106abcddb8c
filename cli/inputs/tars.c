/* Batches from tars to tars. Each output (shard) appears, or is given to its command, once its last
 * member has been written, so that it is always complete.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tars.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args/batch_options.h"
#include "cli/args/rules.h"
#include "cli/inputs/tar_feed.h"
#include "cli/inputs/tar_pipe.h"
#include "cli/inputs/tar_source.h"
#include "cli/paths/output.h"
#include "cli/paths/path_conflicts.h"
#include "cli/paths/shard.h"
#include "cli/run/imaging.h"
#include "cli/shell.h"
#include "cli/text.h"

struct tars {
    struct gi_tar_source source;
    const struct gi_chain *chain;
    struct gi_io_params io;
    struct gi_list inputs;
    const struct gi_batch_work *work; /* NULL: the chain */
    bool analyses;                    /* images become arrays or tables */
    /* Writes the shard that is being delivered; NULL if no shard is open. */
    struct gi_tar_writer *writer;
    struct gi_tar_sending *sending; /* its file, if a command reads it; otherwise NULL */
    /* The commands of earlier shards that run, in order. */
    struct running {
        struct gi_tar_sending *sending;
        size_t shard;
        uint64_t nbytes; /* of its tar */
    } running[GI_TAR_SENDING];
    int nrunning;
    bool spoilt; /* the machine failed on a member of the shard being delivered */
};

static enum gi_status check_counts(const struct tars *tars, char **operands, struct gi_err *err)
{
    if (gi_tars_are_joined(&tars->source) && tars->source.shard.n)
        return gi_fail(err, GI_E_USAGE,
                       "--shard: all tasks would write %s: want a tar for each of the %zu inputs",
                       operands[1], tars->inputs.n);
    if (tars->source.outputs.n == tars->inputs.n || tars->source.outputs.n == 1)
        return GI_OK;
    return gi_fail(err, GI_E_USAGE,
                   "--tar: %s stands for %zu tars and %s for %zu: want as many, or "
                   "one that takes all",
                   operands[0], tars->inputs.n, operands[1], tars->source.outputs.n);
}

/* Checks that no two shards have the same output, and that no output replaces a tar that is read.
 * Otherwise members that are left out would be lost, and --resume could not tell whether the work
 * has been done. */
static enum gi_status check_collisions(const struct tars *tars, struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    enum gi_status status =
        gi_paths_add(&paths, GI_PATH_REPORT, 0, tars->source.params->report, err);
    for (size_t i = 0; i < tars->source.outputs.n && !status; i++)
        status = gi_paths_add(&paths, GI_PATH_OUTPUT, i, tars->source.outputs.inputs[i].path, err);
    for (size_t i = 0; i < tars->inputs.n && !status; i++)
        if (!gi_shell_command(tars->inputs.inputs[i].path))
            status = gi_paths_add(&paths, GI_PATH_INPUT, i, tars->inputs.inputs[i].path, err);
    if (!status && gi_paths_conflict(&paths, false, &a, &b)) {
        const struct gi_input *outputs = tars->source.outputs.inputs;
        const char *other = b.kind == GI_PATH_INPUT ? tars->inputs.inputs[b.index].path : NULL;
        if (a.kind == GI_PATH_REPORT || b.kind == GI_PATH_REPORT)
            status =
                gi_fail(err, GI_E_USAGE, "--report %s: is %s, want another file",
                        tars->source.params->report, other ? "among the tars" : "an output too");
        else if (other)
            status = gi_fail(err, GI_E_USAGE,
                             "--tar: %s would be written over the input %s, want another tar",
                             outputs[a.index].path, other);
        else
            status = gi_fail(err, GI_E_USAGE, "--tar: two tars would both be written to %s",
                             outputs[a.index].path);
    }
    gi_paths_free(&paths);
    return status;
}

/* Checks the options of an output that a command reads. What the command writes is not known. */
static enum gi_status check_pipe(const struct tars *tars, const char *path, struct gi_err *err)
{
    const struct gi_batch_params *p = tars->source.params;
    if (p->resume && !p->report)
        return gi_fail(
            err, GI_E_USAGE,
            "--resume: whether %s has been done is known only by a report: want --report", path);
    if (tars->io.no_clobber)
        return gi_fail(err, GI_E_USAGE,
                       "--no-clobber: what %s replaces is not known: want it without --no-clobber",
                       path);
    return GI_OK;
}

static enum gi_status check_output(const struct tars *tars, const char *path, struct gi_err *err)
{
    if (gi_shell_command(path))
        return check_pipe(tars, path, err);
    if (!gi_tar_is_name(path))
        return gi_fail(err, GI_E_USAGE,
                       "--tar: %s: want -, pipe:COMMAND or a name that ends in .tar, .tar.gz, "
                       ".tar.xz, .tar.bz2 or .tar.zst",
                       path);
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return gi_fail(err, GI_E_USAGE, "-: standard output is a terminal, want a file or a pipe");
    if (!gi_output_has_folder(path))
        return gi_path_fail(path, path, errno, err);
    if (tars->io.no_clobber && !tars->source.params->resume && access(path, F_OK) == 0)
        return gi_fail(err, GI_E_IO, "%s: exists, and --no-clobber was given", path);
    return GI_OK;
}

/* Reads and checks the names. */
static enum gi_status read_names(struct tars *tars, char **operands, int noperands,
                                 struct gi_err *err)
{
    const struct gi_batch_params *p = tars->source.params;
    if (noperands != 2)
        return gi_fail(err, GI_E_USAGE, "--tar: want INPUT.tar and OUTPUT.tar, got %d names%s",
                       noperands,
                       noperands > 2 ? " (brace lists go in quotes: 'x-{0..9}.tar')" : "");
    if (p->out_dir || p->out || p->files_from || p->recursive || p->null)
        return gi_fail(err, GI_E_USAGE,
                       "--tar: goes from tar to tar: want it without --out-dir, --out, "
                       "--files-from, --recursive and --null");
    enum gi_status status = gi_shard_read(&tars->source.shard, p->shard, err);
    if (!status)
        status = gi_tar_list_add(&tars->inputs, operands[0], err);
    if (!status)
        status = gi_tar_list_add(&tars->source.outputs, operands[1], err);
    if (!status)
        status = check_counts(tars, operands, err);
    for (size_t i = 0; i < tars->source.outputs.n && !status; i++)
        status = check_output(tars, tars->source.outputs.inputs[i].path, err);
    for (size_t i = 0; i < tars->inputs.n && !status; i++)
        if (strcmp(tars->inputs.inputs[i].path, "-") == 0 && isatty(STDIN_FILENO))
            status = gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want a tar");
    if (!status)
        status = check_collisions(tars, err);
    const char *const to[] = {"-", NULL}, *const from[] = {operands[0], NULL};
    bool to_stdout = strcmp(operands[1], "-") == 0;
    if (!status && to_stdout)
        status = gi_output_check_inputs(to, from, err);
    if (!status && to_stdout && p->report && strcmp(p->report, "-") == 0)
        status = gi_fail(err, GI_E_USAGE, "--report -: is where the tar goes, want a file");
    if (!status && tars->analyses) {
        status = gi_tables_suffix(&tars->source.suffix, tars->chain, err);
    } else if (!status && p->suffix) {
        char name[64];
        snprintf(name, sizeof name, "x.%s", p->suffix + (*p->suffix == '.'));
        status = gi_save_check(name, tars->io.format, err);
    } else if (!status && tars->io.format) {
        status = gi_save_check("-", tars->io.format, err);
    }
    return status;
}

static enum gi_status open_writer(struct tars *tars, size_t shard, struct gi_err *err)
{
    const char *path = gi_tar_output(&tars->source, shard);
    if (tars->writer)
        return GI_OK;
    if (gi_shell_command(path))
        return gi_tar_sending_open(&tars->sending, &tars->writer, path, err);
    enum gi_status status = gi_tar_writer_open(&tars->writer, path, tars->io.no_clobber, err);
    if (status == GI_E_IO && !gi_output_has_folder(path)) /* it existed before the work began */
        status = err->status = GI_E_AGAIN;
    return status;
}

/* Discards a shard that can't be read to its end. The reason has already been reported. */
static void drop_shard(struct tars *tars, struct gi_item *item)
{
    gi_tar_writer_abandon(&tars->writer);
    gi_tar_sending_close(&tars->sending);
    tars->spoilt = false;
    item->made.last = gi_tars_are_joined(&tars->source);
}

/* Makes the end of a shard that of one that failed. */
static void fail_shard(struct tars *tars, struct gi_item *item)
{
    struct gi_tar_tag *tag = item->source.tag;
    tag->kind = GI_TAR_BROKEN;
    tag->written = false;
    item->source.mark = false;
    drop_shard(tars, item);
}

/* Gives the tar of the shard to its command. The command runs while the next shard is made, if
 * there is space for that. With --fail-fast it does not, because no later shard may be delivered if
 * it fails. */
static void send(struct tars *tars, struct gi_item *item)
{
    struct gi_tar_tag *tag = item->source.tag;
    struct gi_err *err = &item->line.err;
    enum gi_status status = gi_tar_sending_start(tars->sending, &tag->sent_nbytes, err);
    tag->later = !status && !tars->source.params->fail_fast &&
                 gi_tar_sending_has_space(tars->sending, tag->sent_nbytes);
    if (tag->later) {
        tars->running[tars->nrunning++] =
            (struct running){tars->sending, tag->shard, tag->sent_nbytes};
        tars->sending = NULL;
        return;
    }
    item->line.status = status ? status : gi_tar_sending_wait(tars->sending, err);
    if (item->line.status)
        fail_shard(tars, item);
    gi_tar_sending_close(&tars->sending);
}

/* Ends the command of a shard, if that ran on behind the end of the shard. */
static void end_sending(struct tars *tars, struct gi_item *item)
{
    struct gi_tar_tag *tag = item->source.tag;
    struct running *first = &tars->running[0];
    if (!tars->nrunning || first->shard != tag->shard)
        return;
    item->line.status = gi_tar_sending_wait(first->sending, &item->line.err);
    tag->written = !item->line.status;
    tag->sent_nbytes = first->nbytes;
    item->source.mark = tag->written;
    item->made.last = !tag->written && gi_tars_are_joined(&tars->source);
    gi_tar_sending_close(&first->sending);
    tars->nrunning--;
    memmove(first, first + 1, (size_t)tars->nrunning * sizeof *first);
}

/* Completes the tar of a shard. If it goes to a command, and the command fails, only this shard
 * fails. */
static enum gi_status commit_shard(struct tars *tars, struct gi_item *item, struct gi_err *err)
{
    enum gi_status status =
        gi_tar_writer_commit(&tars->writer, tars->io.durable && !tars->sending, err);
    if (!status && tars->sending)
        send(tars, item);
    return status;
}

/* Ends a shard. If the machine failed, another run could produce more members. The shard is then
 * not written, because --resume would not make it again. */
static enum gi_status end_shard(struct tars *tars, struct gi_item *item, struct gi_err *err)
{
    struct gi_tar_tag *tag = item->source.tag;
    if (tars->spoilt) {
        item->line.status =
            gi_fail(&item->line.err, GI_E_AGAIN,
                    "%s: is not written: the machine failed, not its members: try again",
                    gi_tar_output(&tars->source, tag->shard));
        fail_shard(tars, item);
        return GI_OK;
    }
    tag->written = !gi_tars_are_joined(&tars->source) || tag->shard + 1 == tars->inputs.n;
    return tag->written ? commit_shard(tars, item, err) : GI_OK;
}

static enum gi_status write_member(struct tars *tars, const struct gi_item *item,
                                   struct gi_err *err)
{
    struct gi_tar_tag *tag = item->source.tag;
    const void *bytes = item->made.bytes ? item->made.bytes : item->source.bytes;
    size_t nbytes = item->made.bytes ? item->made.nbytes : item->source.nbytes;
    bool whole = true;
    if (item->made.bytes)
        gi_tar_entry_resize(tag->entry, nbytes);
    enum gi_status status = gi_tar_write_entry(tars->writer, tag->entry, err);
    if (!status)
        status = gi_tar_write(tars->writer, bytes, nbytes, err);
    if (!status && tag->kind == GI_TAR_COPY)
        status = gi_tar_feed_copy(tag, tars->writer, &whole, err);
    tag->cut = !whole;
    /* If the tar ends within the member, the rest of the member is filled with zeros. */
    return status || !whole ? status : gi_tar_write_end(tars->writer, err);
}

/* A failed member is left out. */
static enum gi_status put(void *self, struct gi_item *item, struct gi_err *err)
{
    struct tars *tars = self;
    const struct gi_tar_tag *tag = item->source.tag;
    if (tag->kind == GI_TAR_BROKEN) {
        drop_shard(tars, item);
        return GI_OK;
    }
    if (tag->kind == GI_TAR_SENT) {
        end_sending(tars, item);
        return GI_OK;
    }
    enum gi_status status = open_writer(tars, tag->shard, err);
    if (!status && tag->kind == GI_TAR_END)
        return end_shard(tars, item, err);
    if (item->line.pass)
        item->line.input_file.nbytes = gi_tar_entry_nbytes(tag->entry);
    if (item->line.pass && !item->line.status)
        item->line.output_file.nbytes = item->line.input_file.nbytes;
    tars->spoilt |= gi_status_is_machine(item->line.status);
    return status || item->line.status ? status : write_member(tars, item, err);
}

/* Abandons a shard whose end was not reached. */
static enum gi_status end(void *self, enum gi_status status, struct gi_err *err)
{
    struct tars *tars = self;
    gi_tar_writer_abandon(&tars->writer);
    gi_tar_sending_close(&tars->sending);
    for (int i = 0; i < tars->nrunning; i++)
        gi_tar_sending_close(&tars->running[i].sending);
    return status;
}

/* Makes the image, the array or the table of a member. */
static enum gi_status run_item(void *self, struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_err *err)
{
    const struct tars *tars = self;
    const struct gi_tar_tag *tag = item->source.tag;
    struct gi_imaging_table table = {.file = tag->name, .into_memory = true};
    struct gi_image image = {0};
    struct gi_file_info info = {0};
    if (tars->work)
        return tars->work->run(tars->work->self, NULL, imaging, item, err);
    if (!tars->analyses)
        return gi_imaging_process(imaging, item, true, err);
    table.json = gi_text_has_suffix(item->line.output, "json");
    enum gi_status status = gi_imaging_load(imaging, item, &image, NULL, &info, true, err);
    return status ? status : gi_imaging_analyse(imaging, item, &image, &info, &table, err);
}

static const struct gi_target_kind tar = {.ordered = true, .put = put, .end = end};

enum gi_status gi_tars_run(const struct gi_batch_job *job, char **operands, int noperands,
                           struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params(job);
    struct tars tars = {.io = *gi_batch_io(job),
                        .chain = job->chain,
                        .work = job->work,
                        .analyses = gi_chain_ends_in_analysis(job->chain)};
    tars.source = (struct gi_tar_source){.params = p, .inputs = &tars.inputs, .suffix = p->suffix};
    if (tars.analyses && gi_chain_no_clobber(&job->chain->steps[job->chain->n - 1]))
        tars.io.no_clobber = true;
    enum gi_status status = read_names(&tars, operands, noperands, err);
    if (!status)
        status = gi_rules_new(&tars.source.rules, job, err);
    if (!status)
        status = gi_tar_load(err);
    if (!status)
        gi_tar_source_new(&tars.source, &tars.io);
    struct gi_source source = {
        .kind = &gi_source_tars, .self = &tars.source, .rules = tars.source.rules};
    const struct gi_batch batch = {
        .job = job, .source = &source, .target = &tar, .self = &tars, .run = run_item};
    if (!status)
        status = gi_batch_run(&batch, err);
    gi_tar_source_free(&tars.source);
    gi_rules_free(&tars.source.rules);
    gi_list_free(&tars.inputs);
    return status;
}
