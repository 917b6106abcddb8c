/* Batches from tars to tars: each shard appears whole, when its last member is written.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/tars.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/brace.h"
#include "cli/batch/claims.h"
#include "cli/batch/imaging.h"
#include "cli/batch/progress.h"
#include "cli/batch/shard.h"
#include "cli/batch/stop.h"
#include "cli/batch/tar_feed.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/say.h"

struct tars {
    const struct gi_batch_params *params;
    struct gi_io_params io;
    char **inputs, **outputs;
    size_t ninputs, noutputs; /* as many, or one output */
    struct gi_shard shard;    /* of the list of tars */
    struct gi_imaging *imaging;
    struct gi_tar_writer *writer; /* of the shard that is being delivered; NULL: not open */
    size_t broken;                /* shards */
};

/* All shards go into one tar. */
static bool is_joined(const struct tars *tars)
{
    return tars->noutputs == 1 && tars->ninputs > 1;
}

static enum gi_status check_counts(const struct tars *tars, char **operands, struct gi_err *err)
{
    if (is_joined(tars) && tars->shard.n)
        return gi_fail(err, GI_E_USAGE,
                       "--shard: all tasks would write %s: want a tar for each of the %zu inputs",
                       operands[1], tars->ninputs);
    if (tars->noutputs == tars->ninputs || tars->noutputs == 1)
        return GI_OK;
    return gi_fail(err, GI_E_USAGE,
                   "--tar: %s stands for %zu tars and %s for %zu: want as many, or "
                   "one that takes all",
                   operands[0], tars->ninputs, operands[1], tars->noutputs);
}

/* No two shards go to one tar, and none over one that is read; one may go over its own, which is
 * replaced when it was read whole. */
static enum gi_status check_collisions(const struct tars *tars, struct gi_err *err)
{
    struct gi_claims claims = {0};
    struct gi_claim a, b;
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < tars->noutputs && !status; i++)
        status = gi_claim(&claims, GI_CLAIM_OUTPUT, i, tars->outputs[i], err);
    for (size_t i = 0; i < tars->ninputs && !status; i++)
        status = gi_claim(&claims, GI_CLAIM_INPUT, i, tars->inputs[i], err);
    if (!status && gi_claims_clash(&claims, !is_joined(tars), &a, &b)) {
        const char *output = tars->outputs[a.index];
        status =
            b.kind == GI_CLAIM_INPUT
                ? gi_fail(err, GI_E_USAGE,
                          "--tar: %s would be written over the input %s, want another tar", output,
                          tars->inputs[b.index])
                : gi_fail(err, GI_E_USAGE, "--tar: two tars would both be written to %s", output);
    }
    gi_claims_free(&claims);
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
    if (tars->io.no_clobber && !tars->params->resume && access(path, F_OK) == 0)
        return gi_fail(err, GI_E_IO, "%s: exists, and --no-clobber was given", path);
    return GI_OK;
}

/* All that can be wrong with the names. */
static enum gi_status read_names(struct tars *tars, char **operands, int noperands,
                                 struct gi_err *err)
{
    const struct gi_batch_params *p = tars->params;
    if (noperands != 2)
        return gi_fail(err, GI_E_USAGE, "--tar: want INPUT.tar and OUTPUT.tar, got %d names%s",
                       noperands,
                       noperands > 2 ? " (brace lists go in quotes: 'x-{0..9}.tar')" : "");
    if (p->out_dir || p->out || p->files_from || p->report || p->recursive || p->null)
        return gi_fail(err, GI_E_USAGE,
                       "--tar: goes from tar to tar: want it without --out-dir, --out, "
                       "--files-from, --report, --recursive and --null");
    enum gi_status status = gi_shard_read(&tars->shard, p->shard, err);
    if (!status)
        status = gi_brace_list(&tars->inputs, &tars->ninputs, operands[0], err);
    if (!status)
        status = gi_brace_list(&tars->outputs, &tars->noutputs, operands[1], err);
    if (!status)
        status = check_counts(tars, operands, err);
    for (size_t i = 0; i < tars->noutputs && !status; i++)
        status = check_output(tars, tars->outputs[i], err);
    for (size_t i = 0; i < tars->ninputs && !status; i++)
        if (strcmp(tars->inputs[i], "-") == 0 && isatty(STDIN_FILENO))
            status = gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want a tar");
    if (!status)
        status = check_collisions(tars, err);
    const char *const to[] = {"-", NULL}, *const from[] = {operands[0], NULL};
    if (!status && strcmp(operands[1], "-") == 0)
        status = gi_output_check_inputs(to, from, err);
    if (!status && p->suffix) {
        char name[64];
        snprintf(name, sizeof name, "x.%s", p->suffix + (*p->suffix == '.'));
        status = gi_save_check(name, tars->io.format, err);
    } else if (!status && tars->io.format) {
        status = gi_save_check("-", tars->io.format, err);
    }
    return status;
}

/* Whether a tar is another task's, or under --resume is there: they are there whole or not at all.
 */
static bool is_left_out(void *arg, size_t i)
{
    const struct tars *tars = arg;
    const char *output = is_joined(tars) ? "-" : tars->outputs[i];
    bool done = tars->params->resume && strcmp(output, "-") != 0 && access(output, F_OK) == 0;
    return done || !gi_shard_takes(&tars->shard, i);
}

static enum gi_status open_writer(struct tars *tars, size_t shard, struct gi_err *err)
{
    const char *path = tars->outputs[is_joined(tars) ? 0 : shard];
    return tars->writer ? GI_OK : gi_tar_writer_open(&tars->writer, path, tars->io.no_clobber, err);
}

/* The shard can't be read on, which was said: nothing of it appears. */
static enum gi_status drop_shard(struct tars *tars, const struct gi_item *item, struct gi_err *err)
{
    gi_tar_writer_abandon(&tars->writer);
    tars->broken++;
    if (!is_joined(tars))
        return GI_OK;
    return gi_engine_end_by(item, err);
}

static enum gi_status write_member(struct tars *tars, const struct gi_item *item,
                                   const struct gi_tar_tag *tag, struct gi_err *err)
{
    const void *bytes = item->made ? item->made : item->bytes;
    size_t nbytes = item->made ? item->made_nbytes : item->nbytes;
    if (item->made)
        gi_tar_entry_resize(tag->entry, nbytes);
    enum gi_status status = gi_tar_write_entry(tars->writer, tag->entry, err);
    if (!status)
        status = gi_tar_write(tars->writer, bytes, nbytes, err);
    bool whole = true;
    if (!status && tag->kind == GI_TAR_COPY)
        status = gi_tar_feed_copy(tag, tars->writer, &whole, err);
    /* To end a member before its end is to write zeros. */
    return status || !whole ? status : gi_tar_write_end(tars->writer, err);
}

/* A member that failed is left out. */
static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct tars *tars = self;
    const struct gi_tar_tag *tag = item->tag;
    bool last = tag->shard + 1 == tars->ninputs;
    if (tag->kind == GI_TAR_BROKEN)
        return drop_shard(tars, item, err);
    enum gi_status status = open_writer(tars, tag->shard, err);
    if (!status && tag->kind == GI_TAR_END)
        return is_joined(tars) && !last
                   ? GI_OK
                   : gi_tar_writer_commit(&tars->writer, tars->io.durable, err);
    if (item->pass)
        item->input_nbytes = item->output_nbytes = item->nbytes;
    return status || item->status ? status : write_member(tars, item, tag, err);
}

static enum gi_status run_item(void *self, struct gi_item *item, struct gi_err *err)
{
    struct tars *tars = self;
    return gi_imaging_memory(tars->imaging, item, err);
}

/* What came of it, as the batch's own status. */
static enum gi_status conclude(const struct tars *tars, const struct gi_tally *tally,
                               struct gi_err *err)
{
    uint64_t members = tally->failed - tars->broken;
    if (!tally->failed)
        return GI_OK;
    if (members)
        gi_cli_say("%llu member%s left out", (unsigned long long)members,
                   members == 1 ? " was" : "s were");
    if (tars->broken && tars->ninputs > 1 && !gi_stop_asked())
        gi_cli_say("%zu of %zu tars failed", tars->broken, tars->ninputs);
    *err = (struct gi_err){.status = tally->machine ? GI_E_AGAIN : GI_E_IO};
    return err->status;
}

static enum gi_status run_engine(struct tars *tars, struct gi_tar_feed *members, struct gi_err *err)
{
    struct gi_feed feed = {.self = members, .next = gi_tar_feed_next};
    struct gi_work_on work = {.self = tars, .run = run_item, .deliver = deliver, .ordered = true};
    struct gi_engine_options options = {.threads = gi_imaging_threads(tars->imaging),
                                        .memory = tars->params->memory,
                                        .fail_fast = tars->params->fail_fast};
    struct gi_engine_watch watch = {
        .threads = options.threads, .unit = "members", .waits = "input or output"};
    struct gi_tally tally;
    enum gi_status status = gi_engine_new(&watch.engine, &options, &feed, &work, err);
    if (status)
        return status;
    gi_stop_listen();
    struct gi_progress *progress =
        gi_progress_start(tars->params->progress, gi_progress_of_engine, &watch);
    status = gi_engine_run(watch.engine, err);
    gi_progress_end(&progress);
    gi_engine_tally(watch.engine, &tally);
    gi_engine_free(&watch.engine);
    gi_tar_writer_abandon(&tars->writer); /* of a shard whose end did not come */
    return status ? status : conclude(tars, &tally, err);
}

static enum gi_status run_tars(struct tars *tars, struct gi_err *err)
{
    struct gi_tar_feed_options options = {.inputs = tars->inputs,
                                          .ninputs = tars->ninputs,
                                          .skip = is_left_out,
                                          .arg = tars,
                                          .io = &tars->io,
                                          .suffix = tars->params->suffix};
    struct gi_tar_feed *members;
    enum gi_status status = gi_tar_feed_new(&members, &options, err);
    if (!status)
        status = run_engine(tars, members, err);
    gi_tar_feed_free(&members);
    return status;
}

enum gi_status gi_tars_run(const struct gi_batch_job *job, char **operands, int noperands,
                           struct gi_err *err)
{
    const struct gi_io_params *io = job->params[gi_command_set(job->command, gi_io_options)];
    struct tars tars = {.params = gi_batch_params_of(job->command, job->params), .io = *io};
    struct gi_imaging_options options = {
        .chain = job->chain, .io = &tars.io, .device = job->device};
    if (!options.device)
        options.device = job->params[gi_command_set(job->command, gi_device_options)];
    options.times = gi_progress_shows(tars.params->progress);
    enum gi_status status = read_names(&tars, operands, noperands, err);
    if (!status)
        status = gi_tar_load(err);
    if (!status)
        status = gi_imaging_new(&tars.imaging, &options, err);
    if (!status)
        status = run_tars(&tars, err);
    if (gi_cli_tears_down())
        gi_imaging_free(&tars.imaging);
    gi_brace_free(&tars.inputs, tars.ninputs);
    gi_brace_free(&tars.outputs, tars.noutputs);
    return status;
}
