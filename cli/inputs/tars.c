/* Batches from tars to tars. Each output (shard) appears once its last member has been written, so
 * that it is always complete.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tars.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args/batch_options.h"
#include "cli/paths/brace.h"
#include "cli/paths/path_conflicts.h"
#include "cli/run/imaging.h"
#include "cli/run/progress.h"
#include "cli/args/rules.h"
#include "cli/inputs/feed.h"
#include "cli/paths/shard.h"
#include "cli/stop.h"
#include "cli/inputs/tar_feed.h"
#include "cli/inputs/tar_report.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/log.h"
#include "cli/text.h"

struct tars {
    const struct gi_batch_params *params;
    const struct gi_chain *chain;
    /* Suffix of the results for members that are images; NULL: the member's suffix. */
    const char *suffix;
    struct gi_io_params io;
    struct gi_tar_names names;
    struct gi_rules *rules;
    bool analyses; /* images become arrays or tables */
    struct gi_imaging *imaging;
    struct gi_tar_feed *feed;
    /* Writes the shard that is being delivered; NULL if no shard is open. */
    struct gi_tar_writer *writer;
    struct gi_tar_report report;
    size_t broken; /* number of shards that could not be read to their end */
    bool spoilt;   /* the machine failed on a member of the shard being delivered */
};

static enum gi_status check_counts(const struct tars *tars, char **operands, struct gi_err *err)
{
    if (gi_tars_are_joined(&tars->names) && tars->names.shard.n)
        return gi_fail(err, GI_E_USAGE,
                       "--shard: all tasks would write %s: want a tar for each of the %zu inputs",
                       operands[1], tars->names.ninputs);
    if (tars->names.noutputs == tars->names.ninputs || tars->names.noutputs == 1)
        return GI_OK;
    return gi_fail(err, GI_E_USAGE,
                   "--tar: %s stands for %zu tars and %s for %zu: want as many, or "
                   "one that takes all",
                   operands[0], tars->names.ninputs, operands[1], tars->names.noutputs);
}

/* Checks that no two shards have the same output, and that no output replaces a tar that is read.
 * Otherwise members that are left out would be lost, and --resume could not tell whether the work
 * has been done. */
static enum gi_status check_collisions(const struct tars *tars, struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    enum gi_status status = gi_paths_add(&paths, GI_PATH_REPORT, 0, tars->params->report, err);
    for (size_t i = 0; i < tars->names.noutputs && !status; i++)
        status = gi_paths_add(&paths, GI_PATH_OUTPUT, i, tars->names.outputs[i], err);
    for (size_t i = 0; i < tars->names.ninputs && !status; i++)
        status = gi_paths_add(&paths, GI_PATH_INPUT, i, tars->names.inputs[i], err);
    if (!status && gi_paths_conflict(&paths, false, &a, &b)) {
        const struct gi_tar_names *names = &tars->names;
        const char *other = b.kind == GI_PATH_INPUT ? names->inputs[b.index] : NULL;
        if (a.kind == GI_PATH_REPORT || b.kind == GI_PATH_REPORT)
            status = gi_fail(err, GI_E_USAGE, "--report %s: is %s, want another file",
                             tars->params->report, other ? "among the tars" : "an output too");
        else if (other)
            status = gi_fail(err, GI_E_USAGE,
                             "--tar: %s would be written over the input %s, want another tar",
                             names->outputs[a.index], other);
        else
            status = gi_fail(err, GI_E_USAGE, "--tar: two tars would both be written to %s",
                             names->outputs[a.index]);
    }
    gi_paths_free(&paths);
    return status;
}

static enum gi_status check_output(const struct tars *tars, const char *path, struct gi_err *err)
{
    if (!gi_tar_is_name(path))
        return gi_fail(err, GI_E_USAGE,
                       "--tar: %s: want - or a name that ends in .tar, .tar.gz, .tar.xz, .tar.bz2 "
                       "or .tar.zst",
                       path);
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return gi_fail(err, GI_E_USAGE, "-: standard output is a terminal, want a file or a pipe");
    if (!gi_output_has_folder(path))
        return gi_path_fail(path, path, errno, err);
    if (tars->io.no_clobber && !tars->params->resume && access(path, F_OK) == 0)
        return gi_fail(err, GI_E_IO, "%s: exists, and --no-clobber was given", path);
    return GI_OK;
}

/* Reads and checks the names. */
static enum gi_status read_names(struct tars *tars, char **operands, int noperands,
                                 struct gi_err *err)
{
    const struct gi_batch_params *p = tars->params;
    if (noperands != 2)
        return gi_fail(err, GI_E_USAGE, "--tar: want INPUT.tar and OUTPUT.tar, got %d names%s",
                       noperands,
                       noperands > 2 ? " (brace lists go in quotes: 'x-{0..9}.tar')" : "");
    if (p->out_dir || p->out || p->files_from || p->recursive || p->null)
        return gi_fail(err, GI_E_USAGE,
                       "--tar: goes from tar to tar: want it without --out-dir, --out, "
                       "--files-from, --recursive and --null");
    enum gi_status status = gi_shard_read(&tars->names.shard, p->shard, err);
    if (!status)
        status = gi_brace_list(&tars->names.inputs, &tars->names.ninputs, operands[0], err);
    if (!status)
        status = gi_brace_list(&tars->names.outputs, &tars->names.noutputs, operands[1], err);
    if (!status)
        status = check_counts(tars, operands, err);
    for (size_t i = 0; i < tars->names.noutputs && !status; i++)
        status = check_output(tars, tars->names.outputs[i], err);
    for (size_t i = 0; i < tars->names.ninputs && !status; i++)
        if (strcmp(tars->names.inputs[i], "-") == 0 && isatty(STDIN_FILENO))
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
        status = gi_tables_suffix(&tars->suffix, gi_chain_makes_arrays(tars->chain), err);
    } else if (!status && p->suffix) {
        char name[64];
        snprintf(name, sizeof name, "x.%s", p->suffix + (*p->suffix == '.'));
        status = gi_save_check(name, tars->io.format, err);
    } else if (!status && tars->io.format) {
        status = gi_save_check("-", tars->io.format, err);
    }
    return status;
}

/* Returns whether a tar belongs to another task, or, with --resume, whether it was done before. The
 * report tells whether it was. Without a report, it was done if its output exists, because
 * incomplete outputs never appear. */
static bool is_left_out(void *arg, size_t i)
{
    const struct tars *tars = arg;
    const char *output = gi_tars_are_joined(&tars->names) ? "-" : tars->names.outputs[i];
    bool done = tars->params->report
                    ? gi_tar_report_has(&tars->report, i)
                    : tars->params->resume && strcmp(output, "-") != 0 && access(output, F_OK) == 0;
    return done || !gi_shard_takes(&tars->names.shard, i);
}

static enum gi_status open_writer(struct tars *tars, size_t shard, struct gi_err *err)
{
    const char *path = gi_tar_output(&tars->names, shard);
    if (tars->writer)
        return GI_OK;
    enum gi_status status = gi_tar_writer_open(&tars->writer, path, tars->io.no_clobber, err);
    if (status == GI_E_IO && !gi_output_has_folder(path)) /* it existed before the work began */
        status = err->status = GI_E_AGAIN;
    return status;
}

/* Discards a shard that can't be read to its end. The reason has already been reported. */
static enum gi_status drop_shard(struct tars *tars, const struct gi_item *item, struct gi_err *err)
{
    gi_tar_writer_abandon(&tars->writer);
    tars->broken++;
    tars->spoilt = false;
    enum gi_status status =
        gi_stop_asked() ? GI_OK : gi_tar_report_end(&tars->report, item, false, err);
    return status || !gi_tars_are_joined(&tars->names) ? status : gi_engine_end_by(item, err);
}

/* Ends a shard. If the machine failed, another run could produce more members. The shard is then
 * not written, because --resume would not make it again. */
static enum gi_status end_shard(struct tars *tars, struct gi_item *item, struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    if (tars->spoilt) {
        item->line.status =
            gi_fail(&item->line.err, GI_E_AGAIN,
                    "%s: is not written: the machine failed, not its members: try again",
                    gi_tar_output(&tars->names, tag->shard));
        return drop_shard(tars, item, err);
    }
    bool open = gi_tars_are_joined(&tars->names) && tag->shard + 1 < tars->names.ninputs;
    enum gi_status status =
        open ? GI_OK : gi_tar_writer_commit(&tars->writer, tars->io.durable, err);
    return status ? status : gi_tar_report_end(&tars->report, item, !open, err);
}

/* Writes a member. Sets *whole to false if the tar ends within a copy. */
static enum gi_status write_member(struct tars *tars, const struct gi_item *item, bool *whole,
                                   struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    const void *bytes = item->made.bytes ? item->made.bytes : item->source.bytes;
    size_t nbytes = item->made.bytes ? item->made.nbytes : item->source.nbytes;
    if (item->made.bytes)
        gi_tar_entry_resize(tag->entry, nbytes);
    enum gi_status status = gi_tar_write_entry(tars->writer, tag->entry, err);
    if (!status)
        status = gi_tar_write(tars->writer, bytes, nbytes, err);
    if (!status && tag->kind == GI_TAR_COPY)
        status = gi_tar_feed_copy(tag, tars->writer, whole, err);
    /* If the tar ends within the member, the rest of the member is filled with zeros. */
    return status || !*whole ? status : gi_tar_write_end(tars->writer, err);
}

/* Delivers an item. A failed member is left out. */
static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct tars *tars = self;
    const struct gi_tar_tag *tag = item->source.tag;
    bool whole = true;
    if (tag->kind == GI_TAR_BROKEN)
        return drop_shard(tars, item, err);
    enum gi_status status = open_writer(tars, tag->shard, err);
    if (!status && tag->kind == GI_TAR_END)
        return end_shard(tars, item, err);
    if (item->line.pass)
        item->line.input_nbytes = gi_tar_entry_nbytes(tag->entry);
    if (item->line.pass && !item->line.status)
        item->line.output_nbytes = item->line.input_nbytes;
    tars->spoilt |= gi_status_is_machine(item->line.status);
    if (!status && !item->line.status)
        status = write_member(tars, item, &whole, err);
    return status || !whole ? status : gi_tar_report_member(&tars->report, item, err);
}

/* Makes the array or the table of a member. */
static enum gi_status analyse(const struct tars *tars, struct gi_item *item, struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    struct gi_imaging_table table = {.file = tag->name,
                                     .into_memory = true,
                                     .json = gi_text_has_suffix(item->line.output, "json")};
    struct gi_image image = {0};
    struct gi_file_info info = {0};
    enum gi_status status =
        gi_imaging_load_for_chain(tars->imaging, item, &image, NULL, &info, err);
    if (!status)
        status = gi_imaging_analyse(tars->imaging, item, &image, &info, &table, err);
    gi_image_free(&image);
    return status;
}

static enum gi_status run_item(void *self, struct gi_item *item, struct gi_err *err)
{
    struct tars *tars = self;
    return tars->analyses ? analyse(tars, item, err) : gi_imaging_memory(tars->imaging, item, err);
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct tars *tars = self;
    return gi_tar_feed_next(tars->feed, item, more, err);
}

static enum gi_status conclude(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err)
{
    struct tars *tars = self;
    gi_tar_writer_abandon(&tars->writer); /* of a shard whose end was not reached */
    if (!status && !tars->names.shard.n && !tars->params->resume)
        gi_matcher_warn(gi_rules_matcher(tars->rules));
    return gi_tar_conclude(&tars->report, tally, tars->broken, status, err);
}

const struct gi_feed_kind gi_feed_tars = {
    .unit = "members", .waits = "input or output", .next = next, .conclude = conclude};

static enum gi_status run_tars(struct tars *tars, const struct gi_batch_job *job,
                               struct gi_err *err)
{
    struct gi_tar_feed_options options = {.inputs = tars->names.inputs,
                                          .ninputs = tars->names.ninputs,
                                          .skip = is_left_out,
                                          .arg = tars,
                                          .io = &tars->io,
                                          .rules = tars->rules,
                                          .suffix = tars->suffix};
    struct gi_work_on work = {.self = tars, .run = run_item, .deliver = deliver, .ordered = true};
    const struct gi_feed feed = {.kind = &gi_feed_tars, .self = tars};
    enum gi_status status = gi_tar_report_open(&tars->report, job, &tars->names, tars->rules, err);
    if (!status)
        status = gi_tar_feed_new(&tars->feed, &options, err);
    if (!status)
        status = gi_feed_run(&feed, &work, tars->params, gi_imaging_threads(tars->imaging), err);
    gi_tar_feed_free(&tars->feed);
    return status;
}

enum gi_status gi_tars_run(const struct gi_batch_job *job, char **operands, int noperands,
                           struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    struct tars tars = {.params = p,
                        .io = *gi_batch_io(job),
                        .chain = job->chain,
                        .analyses = gi_chain_ends_in_analysis(job->chain),
                        .suffix = p->suffix};
    struct gi_imaging_options options = {
        .chain = job->chain, .io = &tars.io, .device = gi_batch_device(job)};
    if (tars.analyses && gi_chain_no_clobber(&job->chain->steps[job->chain->n - 1]))
        tars.io.no_clobber = true;
    options.times = tars.params->report || gi_progress_shows(tars.params->progress);
    enum gi_status status = read_names(&tars, operands, noperands, err);
    if (!status)
        status = gi_rules_new(&tars.rules, job, err);
    options.rules = tars.rules;
    if (!status)
        status = gi_tar_load(err);
    if (!status)
        status = gi_imaging_new(&tars.imaging, &options, err);
    if (!status)
        status = run_tars(&tars, job, err);
    if (gi_cli_tears_down())
        gi_imaging_free(&tars.imaging);
    gi_rules_free(&tars.rules);
    gi_brace_free(&tars.names.inputs, tars.names.ninputs);
    gi_brace_free(&tars.names.outputs, tars.names.noutputs);
    return status;
}
