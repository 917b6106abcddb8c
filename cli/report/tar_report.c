/* The report of a batch from tars to tars.
 * SPDX-License-Identifier: MIT */
#include "cli/report/tar_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/journal.h"
#include "cli/inputs/input_list.h"
#include "cli/inputs/tar_feed.h"

struct gi_tar_report {
    const struct gi_tar_names *names;
    struct gi_journal *journal;
    /* For the tar that is being delivered: its line so far, and the members that failed. */
    struct gi_line tar;
    size_t shard;
    uint64_t lost;
};

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

static int compare(const void *input, const void *list_input)
{
    return strcmp(input, (*(struct gi_input *const *)list_input)->path);
}

/* The inputs, sorted. */
struct wanted {
    const struct gi_tar_names *names;
    struct gi_list list;
    struct gi_input **sorted;
};

/* A tar of many is there with all of them, or none. */
static bool is_wanted(void *arg, const char *input, const char *output)
{
    const struct wanted *wanted = arg;
    struct gi_input **found =
        bsearch(input, wanted->sorted, wanted->list.n, sizeof *wanted->sorted, compare);
    size_t i = found ? (size_t)(*found - wanted->list.inputs) : 0;
    return found && !gi_tars_are_joined(wanted->names) &&
           strcmp(gi_tar_output(wanted->names, i), output) == 0;
}

static enum gi_status read_names(struct wanted *wanted, const struct gi_tar_names *names,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *wanted = (struct wanted){.names = names};
    for (size_t i = 0; i < names->ninputs && !status; i++)
        status = gi_list_add(&wanted->list, names->inputs[i], err);
    if (!status && !(wanted->sorted = gi_list_sorted(&wanted->list, err)))
        status = GI_E_MEMORY;
    for (size_t i = 1; i < wanted->list.n && !status; i++)
        if (strcmp(wanted->sorted[i - 1]->path, wanted->sorted[i]->path) == 0)
            status = gi_fail(err, GI_E_USAGE, "--report: %s is among the tars twice, want it once",
                             wanted->sorted[i]->path);
    return status;
}

/* Returns the operation as text, including --suffix, which affects the content of the tars. NULL:
 * out of memory. */
static char *chain_text(const struct gi_batch_job *job)
{
    const char *suffix = gi_batch_params_of(job->command, job->params)->suffix;
    char *first, *text = NULL;
    if (asprintf(&first, "%s --tar%s%s%s", job->text ? job->text : job->command->name,
                 suffix ? " --suffix '" : "", suffix ? suffix : "", suffix ? "'" : "") >= 0) {
        text = gi_batch_text(job->command, first, job->params);
        free(first);
    }
    return text;
}

enum gi_status gi_tar_report_open(struct gi_tar_report **out, const struct gi_batch_job *job,
                                  const struct gi_tar_names *names, struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    struct wanted wanted;
    *out = NULL;
    if (!p->report)
        return GI_OK;
    struct gi_journal_head head = {.with = gi_chain_hash(job->chain),
                                   .files = names->ninputs,
                                   .shard = names->shard,
                                   .tars = true};
    struct gi_journal_wants resume = {is_wanted, &wanted};
    struct gi_tar_report *report = *out = calloc(1, sizeof *report);
    char *chain = report ? chain_text(job) : NULL;
    enum gi_status status =
        chain ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a report of tars");
    if (!status)
        status = read_names(&wanted, names, err);
    if (!status)
        status = gi_list_hash(&head.list, &wanted.list, err);
    head.chain = chain;
    if (!status)
        status =
            gi_journal_open(&report->journal, p->report, p->resume ? &resume : NULL, &head, err);
    if (chain) {
        free(wanted.sorted);
        gi_list_free(&wanted.list);
    }
    free(chain);
    if (status) {
        free(report);
        *out = NULL;
    } else {
        report->names = names;
    }
    return status;
}

bool gi_tar_report_has(const struct gi_tar_report *report, size_t input)
{
    return report && gi_journal_has(report->journal, report->names->inputs[input],
                                    gi_tar_output(report->names, input));
}

enum gi_status gi_tar_report_member(struct gi_tar_report *report, const struct gi_item *item,
                                    struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    if (!report)
        return GI_OK;
    const char *input = report->names->inputs[tag->shard];
    const char *output = gi_tar_output(report->names, tag->shard);
    struct gi_line line = item->line;
    report->shard = tag->shard;
    report->lost += item->line.status != GI_OK;
    if (item->line.status)
        report->tar.status = item->line.status;
    for (int i = 0; i < GI_STAGES; i++)
        report->tar.ms[i] += item->line.ms[i];
    int n = asprintf(&line.input, "%s:%s", input, tag->name), m = 0;
    line.output = NULL;
    if (output)
        m = asprintf(&line.output, "%s:%s", output, gi_tar_entry_name(tag->entry));
    enum gi_status status = n >= 0 && m >= 0
                                ? gi_journal_add_part(report->journal, &line, "tar", input, err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: a report of tars");
    if (n >= 0)
        free(line.input);
    if (m >= 0)
        free(line.output);
    return status;
}

/* The line of the tar that is being delivered, and the next one begins. */
static enum gi_status end_tar(struct gi_tar_report *report, bool written, struct gi_err *err)
{
    struct gi_line *tar = &report->tar;
    tar->input = report->names->inputs[report->shard];
    tar->output = (char *)gi_tar_output(report->names, report->shard);
    if (written)
        gi_line_note_output(tar);
    if (report->lost && !*tar->err.text)
        gi_fail(&tar->err, tar->status, "%llu member%s left out", (unsigned long long)report->lost,
                report->lost == 1 ? " was" : "s were");
    enum gi_status status = gi_journal_add(report->journal, tar, err);
    report->tar = (struct gi_line){0};
    report->lost = 0;
    return status;
}

enum gi_status gi_tar_report_end(struct gi_tar_report *report, const struct gi_item *item,
                                 bool written, struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    if (!report)
        return GI_OK;
    report->shard = tag->shard;
    report->tar.input_nbytes = tag->nbytes;
    report->tar.input_mtime_ns = tag->mtime_ns;
    if (item->line.status) {
        report->tar.status = item->line.status;
        report->tar.err = item->line.err;
    }
    return end_tar(report, written, err);
}

enum gi_status gi_tar_report_close(struct gi_tar_report **out, struct gi_err *err)
{
    struct gi_tar_report *report = *out;
    enum gi_status status = GI_OK;
    *out = NULL;
    if (!report)
        return status;
    if (report->lost)
        status = end_tar(report, false, err);
    gi_journal_close(&report->journal);
    free(report);
    return status;
}
