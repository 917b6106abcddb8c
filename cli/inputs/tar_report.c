/* Writes the report of a batch from tars to tars.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tar_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inputs/tar_feed.h"
#include "cli/log.h"
#include "cli/args/rules.h"
#include "cli/stop.h"

const char *gi_tar_output(const struct gi_tar_names *names, size_t input)
{
    if (!names->noutputs)
        return NULL;
    return names->outputs[gi_tars_are_joined(names) ? 0 : input];
}

bool gi_tars_are_joined(const struct gi_tar_names *names)
{
    return names->noutputs == 1 && names->ninputs > 1;
}

/* Returns the output of a tar. Returns NULL if many tars have one output together, because --resume
 * can't keep the part of a single tar. */
static char *output_of(void *arg, size_t input)
{
    const struct gi_tar_names *names = arg;
    return gi_tars_are_joined(names) ? NULL : strdup(gi_tar_output(names, input));
}

enum gi_status gi_tar_report_open(struct gi_tar_report *report, const struct gi_batch_job *job,
                                  const struct gi_tar_names *names, const struct gi_rules *rules,
                                  struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    struct gi_list list = {0};
    char *text = NULL, *all = NULL;
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < names->ninputs && !status; i++)
        status = gi_list_add(&list, names->inputs[i], err);
    /* --suffix changes the content of the tars, so it is part of the chain's text. */
    if (!status && asprintf(&text, "%s --tar%s%s%s", job->text ? job->text : job->command->name,
                            p->suffix ? " --suffix '" : "", p->suffix ? p->suffix : "",
                            p->suffix ? "'" : "") < 0)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a report of tars");
    /* So do the rules, also those that only choose members. */
    if (!status && !(all = gi_rules_text(rules, text, true)))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a report of tars");
    const struct gi_report_options options = {.path = p->report,
                                              .command = job->command,
                                              .params = job->params,
                                              .text = all,
                                              .inputs = &list,
                                              .head = {.with = gi_rules_hash(rules, job->chain),
                                                       .files = names->ninputs,
                                                       .shard = names->shard,
                                                       .tars = true},
                                              .once = "tars",
                                              .resume = p->resume,
                                              .output = output_of,
                                              .arg = (void *)names};
    *report = (struct gi_tar_report){.report = {.key = "tar"}, .names = names};
    if (!status)
        status = gi_report_open(&report->report, &options, err);
    gi_list_free(&list);
    free(text);
    free(all);
    return status;
}

bool gi_tar_report_has(const struct gi_tar_report *report, size_t input)
{
    return gi_report_has(&report->report, report->names->inputs[input],
                         gi_tar_output(report->names, input));
}

/* Sets the names in the line of the tar that is being delivered. */
static void name_tar(struct gi_tar_report *report, const struct gi_tar_tag *tag)
{
    report->report.whole.input = report->names->inputs[tag->shard];
    report->report.whole.output = (char *)gi_tar_output(report->names, tag->shard);
}

enum gi_status gi_tar_report_member(struct gi_tar_report *report, const struct gi_item *item,
                                    struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    if (!report->report.journal)
        return GI_OK;
    name_tar(report, tag);
    return gi_report_add_member(&report->report, &item->line, tag->name,
                                gi_tar_entry_name(tag->entry), err);
}

/* Writes the line of the tar that is being delivered. `nbytes` and `mtime_ns` are the size and the
 * time of its file. */
static enum gi_status end_tar(struct gi_tar_report *report, uint64_t nbytes, int64_t mtime_ns,
                              bool written, struct gi_err *err)
{
    struct gi_line *tar = &report->report.whole;
    unsigned long long lost = report->report.failed;
    tar->input_nbytes = nbytes;
    tar->input_mtime_ns = mtime_ns;
    tar->output_nbytes = 0;
    if (written)
        gi_line_note_output(tar);
    if (lost && !*tar->err.text)
        gi_fail(&tar->err, tar->status, "%llu member%s left out", lost,
                lost == 1 ? " was" : "s were");
    return gi_report_add_whole(&report->report, err);
}

enum gi_status gi_tar_report_end(struct gi_tar_report *report, const struct gi_item *item,
                                 bool written, struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    struct gi_line *tar = &report->report.whole;
    if (!report->report.journal)
        return GI_OK;
    name_tar(report, tag);
    tar->err = item->line.err; /* the error of the tar itself, not that of its last member */
    if (item->line.status)
        tar->status = item->line.status;
    return end_tar(report, tag->nbytes, tag->mtime_ns, written, err);
}

enum gi_status gi_tar_report_close(struct gi_tar_report *report, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    report->report.whole.err = (struct gi_err){0};
    if (report->report.failed)
        status = end_tar(report, 0, 0, false, err);
    gi_report_close(&report->report);
    return status;
}

enum gi_status gi_tar_conclude(struct gi_tar_report *report, const struct gi_tally *tally,
                               size_t broken, enum gi_status status, struct gi_err *err)
{
    uint64_t members = tally->failed - broken;
    size_t ntars = report->names->ninputs;
    struct gi_err fault = {0};
    if (gi_tar_report_close(report, &fault) && !status)
        status = (*err = fault).status;
    if (status || !tally->failed)
        return status;
    if (members)
        gi_cli_log("%llu member%s left out", (unsigned long long)members,
                   members == 1 ? " was" : "s were");
    if (broken && ntars > 1 && !gi_stop_asked())
        gi_cli_log("%zu of %zu tars failed", broken, ntars);
    *err = (struct gi_err){.status = tally->machine ? GI_E_AGAIN : GI_E_IO};
    return err->status;
}
