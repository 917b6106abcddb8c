/* The source of images in tars.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tar_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args/rules.h"
#include "cli/inputs/tar_feed.h"
#include "cli/log.h"
#include "cli/paths/brace.h"
#include "cli/shell.h"
#include "cli/stop.h"
#include "imgio/small.h"

enum gi_status gi_tar_list_add(struct gi_list *list, const char *operand, struct gi_err *err)
{
    char **names;
    size_t n;
    const char *command = gi_shell_command(operand);
    if (command && !command[strspn(command, " \t\n")])
        return gi_fail(err, GI_E_USAGE, "--tar: %s: want a command after pipe:", operand);
    enum gi_status status = gi_brace_list(&names, &n, operand, err);
    for (size_t i = 0; i < n && !status; i++)
        status = gi_list_add(list, names[i], err);
    gi_brace_free(&names, n);
    return status;
}

enum gi_status gi_tar_list(struct gi_list *list, const struct gi_batch_params *p, char **operands,
                           int noperands, struct gi_err *err)
{
    if (p->out_dir || p->out || p->files_from || p->recursive || p->null || p->resume)
        return gi_fail(err, GI_E_USAGE,
                       "--tar: makes one table of all: want it without --out-dir, --out, "
                       "--files-from, --recursive, --null and --resume");
    /* "--tar - -" names the table as it would name a tar: there is only one standard input. */
    int piped = 0;
    for (int i = 0; i < noperands; i++)
        piped += strcmp(operands[i], "-") == 0;
    bool to_stdout = !p->table || strcmp(p->table, "-") == 0;
    if (piped == 2 && strcmp(operands[noperands - 1], "-") == 0 && to_stdout)
        noperands--;
    else if (piped > 1)
        return gi_fail(err, GI_E_USAGE, "-: is named %d times, want standard input once", piped);
    if (!noperands)
        return gi_fail(err, GI_E_USAGE, "--tar: want tars, got nothing");
    enum gi_status status = gi_tar_load(err);
    for (int i = 0; i < noperands && !status; i++) {
        if (strcmp(operands[i], "-") == 0 && isatty(STDIN_FILENO))
            return gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want a tar");
        status = gi_tar_list_add(list, operands[i], err);
    }
    return status;
}

bool gi_tars_are_joined(const struct gi_tar_source *tars)
{
    return tars->outputs.n == 1 && tars->inputs->n > 1;
}

const char *gi_tar_output(const struct gi_tar_source *tars, size_t input)
{
    return tars->outputs.n ? tars->outputs.inputs[gi_tars_are_joined(tars) ? 0 : input].path : NULL;
}

/* Returns whether a tar belongs to another task, or, with --resume, whether it was done before. The
 * report tells whether it was. Without a report, it was done if its output exists, because
 * incomplete outputs never appear. */
static bool is_left_out(void *arg, size_t i)
{
    const struct gi_tar_source *tars = arg;
    const char *output = gi_tar_output(tars, i);
    bool is_file = output && !gi_tars_are_joined(tars) && strcmp(output, "-") != 0 &&
                   !gi_shell_command(output);
    bool done = tars->params->report
                    ? output && gi_report_has(&tars->report, tars->inputs->inputs[i].path, output)
                    : tars->params->resume && is_file && access(output, F_OK) == 0;
    return done || !gi_shard_takes(&tars->shard, i);
}

void gi_tar_source_new(struct gi_tar_source *tars, const struct gi_io_params *io)
{
    const struct gi_tar_feed_options options = {.inputs = tars->inputs->inputs,
                                                .ninputs = tars->inputs->n,
                                                .skip = is_left_out,
                                                .arg = tars,
                                                .io = io,
                                                .rules = tars->rules,
                                                .cancelled = &tars->cancelled,
                                                .suffix = tars->suffix};
    tars->feed = gi_tar_feed_new(&options);
}

/* Returns the output of a tar. Returns NULL if many tars have one output together, because --resume
 * can't keep the part of a single tar. */
static char *output_of(void *arg, size_t input)
{
    const struct gi_tar_source *tars = arg;
    return gi_tars_are_joined(tars) ? NULL : gi_small_copy(gi_tar_output(tars, input));
}

static enum gi_status open_report(struct gi_source *source, const struct gi_batch_job *job,
                                  struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_tar_source *tars = source->self;
    const struct gi_batch_params *p = tars->params;
    /* --suffix changes the content of the tars, so it is part of the chain's text. */
    char *text = gi_small_format("%s --tar%s%s%s", job->text ? job->text : job->command->name,
                                 p->suffix ? " --suffix '" : "", p->suffix ? p->suffix : "",
                                 p->suffix ? "'" : "");
    /* So do the rules, also those that only choose members. */
    char *all = gi_rules_text(tars->rules, text, true);
    const struct gi_report_options options = {
        .path = p->report,
        .command = job->command,
        .params = job->params,
        .text = all,
        .inputs = tars->inputs,
        .head = {.with = gi_rules_hash(tars->rules, job->chain),
                 .files = tars->inputs->n,
                 .shard = tars->shard,
                 .tars = true},
        .once = "tars",
        .resume = p->resume,
        .output = output_of,
        .arg = tars};
    tars->report.key = "tar";
    enum gi_status status = gi_report_open(&tars->report, &options, err);
    free(text);
    free(all);
    return status;
}

bool gi_tars_send(const struct gi_tar_source *tars, size_t shard)
{
    const char *output = gi_tar_output(tars, shard);
    return output && gi_shell_command(output) &&
           (!gi_tars_are_joined(tars) || shard + 1 == tars->inputs->n);
}

/* Makes the item that tells how the command of the earliest of the outputs has ended. */
static void next_sent(struct gi_tar_source *tars, struct gi_item *item)
{
    gi_tar_feed_sent(tars->feed, item, &tars->unsent[0]);
    tars->nunsent--;
    memmove(tars->unsent, tars->unsent + 1, (size_t)tars->nunsent * sizeof *tars->unsent);
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_tar_source *tars = self;
    enum gi_status status = GI_OK;
    *more = tars->nunsent == GI_TAR_SENDING;
    if (!*more)
        status = gi_tar_feed_next(tars->feed, item, more, err);
    else
        next_sent(tars, item);
    const struct gi_tar_tag *tag = item->source.tag;
    if (!status && *more && tag->kind == GI_TAR_END && gi_tars_send(tars, tag->shard))
        tars->unsent[tars->nunsent++] = *tag;
    if (!status && !*more && tars->nunsent) {
        next_sent(tars, item);
        *more = true;
    }
    *more &=
        !tars->cancelled; /* the tar may be broken only because its command was not waited for */
    return status;
}

static void cancel(void *self)
{
    struct gi_tar_source *tars = self;
    tars->cancelled = true;
}

static bool describe(void *self, const struct gi_item *item, const char **tar, const char **file)
{
    const struct gi_tar_source *tars = self;
    const struct gi_tar_tag *tag = item->source.tag;
    if (tag->kind != GI_TAR_MEMBER || item->line.pass)
        return false;
    *tar = tars->inputs->inputs[tag->shard].path;
    *file = tag->name;
    return true;
}

/* Writes the line of the tar that is being delivered. It fails if a member fails. `tag` is that of
 * the tar's end; NULL if that was not reached. */
static enum gi_status end_tar(struct gi_tar_source *tars, const struct gi_tar_tag *tag,
                              struct gi_err *err)
{
    struct gi_line *tar = &tars->report.whole;
    unsigned long long lost = tars->report.failed;
    tar->input_file.nbytes = tag ? tag->nbytes : 0;
    tar->input_file.mtime_ns = tag ? tag->mtime_ns : 0;
    tar->input_file.piped = gi_shell_command(tar->input);
    tar->output_file.nbytes = 0;
    tar->output_file.piped = tar->output && gi_shell_command(tar->output);
    if (tag && tag->written && tar->output_file.piped)
        tar->output_file.nbytes = tag->sent_nbytes;
    else if (tag && tag->written)
        gi_line_note_output(tar);
    if (lost && !*tar->err.text)
        gi_fail(&tar->err, tar->status, "%llu member%s left out", lost,
                lost == 1 ? " was" : "s were");
    return gi_report_add_whole(&tars->report, err);
}

/* Takes up the line of the earliest tar whose command ran. */
static void take_up(struct gi_tar_source *tars)
{
    gi_report_take_up(&tars->report, &tars->later[0]);
    tars->nlater--;
    memmove(tars->later, tars->later + 1, (size_t)tars->nlater * sizeof *tars->later);
}

/* The report has a line of each member that is in an output, or was an image. */
static enum gi_status note(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_tar_source *tars = self;
    struct gi_line *tar = &tars->report.whole;
    const struct gi_tar_tag *tag = item->source.tag;
    bool copied = item->line.pass && !item->line.status;
    bool sent = tag->kind == GI_TAR_SENT;
    bool broken = tag->kind == GI_TAR_BROKEN || (sent && item->line.status);
    tars->broken += broken;
    if (!tars->report.journal || (sent && !broken && !tag->written))
        return GI_OK;
    if (sent)
        take_up(tars);
    if (broken && gi_stop_asked())
        return GI_OK;
    tar->input = tars->inputs->inputs[tag->shard].path;
    tar->output = (char *)gi_tar_output(tars, tag->shard);
    if (tag->kind == GI_TAR_MEMBER || tag->kind == GI_TAR_COPY)
        return tag->cut || (copied && !tars->outputs.n)
                   ? GI_OK
                   : gi_report_add_member(&tars->report, &item->line, tag->name,
                                          gi_tar_entry_name(tag->entry), err);
    tar->err = item->line.err; /* the error of the tar itself, not that of its last member */
    if (item->line.status)
        tar->status = item->line.status;
    if (!tag->later)
        return end_tar(tars, tag, err);
    gi_report_put_off(&tars->report, &tars->later[tars->nlater++]);
    return GI_OK;
}

/* Closes the report. If the end of a tar that has lost members was not reached, a line says that
 * this tar failed. */
static enum gi_status close_report(struct gi_tar_source *tars, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    tars->report.whole.err = (struct gi_err){0};
    if (tars->report.failed)
        status = end_tar(tars, NULL, err);
    gi_report_close(&tars->report);
    return status;
}

void gi_tar_source_free(struct gi_tar_source *tars)
{
    struct gi_err err = {0};
    close_report(tars, &err);
    gi_tar_feed_free(&tars->feed);
    gi_list_free(&tars->outputs);
}

/* Logs how many members were left out, and how many tars could not be read to their end. */
static enum gi_status conclude(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err)
{
    struct gi_tar_source *tars = self;
    uint64_t members = tally->failed - tars->broken;
    struct gi_err fault = {0};
    if (!status && !tars->shard.n && !tars->params->resume)
        gi_matcher_warn(gi_rules_matcher(tars->rules));
    if (close_report(tars, &fault) && !status)
        status = (*err = fault).status;
    if (status || !tally->failed)
        return status;
    if (members)
        gi_cli_log("%llu member%s left out", (unsigned long long)members,
                   members == 1 ? " was" : "s were");
    if (tars->broken && tars->inputs->n > 1 && !gi_stop_asked())
        gi_cli_log("%zu of %zu tars failed", tars->broken, tars->inputs->n);
    return gi_batch_failed(tally, err);
}

const struct gi_source_kind gi_source_tars = {
    .unit = "members",
    .waits = "input or output",
    .open = open_report,
    .next = next,
    .cancel = cancel,
    .describe = describe,
    .note = note,
    .conclude = conclude,
};
