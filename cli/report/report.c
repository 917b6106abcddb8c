/* The report of a command.
 * SPDX-License-Identifier: MIT */
#include "cli/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/batch_options.h"
#include "cli/paths/path_conflicts.h"
#include "cli/stop.h"
#include "imgio/small.h"

/* The inputs that may have lines in an earlier report, sorted. */
struct wanted {
    const struct gi_report_options *options;
    struct gi_input *const *sorted;
    size_t n;
};

static int by_path(const void *path, const void *input)
{
    return strcmp(path, (*(struct gi_input *const *)input)->path);
}

static bool is_wanted(void *arg, const char *input, const char *output)
{
    const struct wanted *wanted = arg;
    const struct gi_report_options *o = wanted->options;
    struct gi_input *const *found =
        bsearch(input, wanted->sorted, wanted->n, sizeof *wanted->sorted, by_path);
    char *name = found ? o->output(o->arg, (size_t)(*found - o->inputs->inputs)) : NULL;
    bool same = name && strcmp(name, output) == 0;
    free(name);
    return same;
}

/* Checks that no input occurs twice, because reports identify lines by their inputs. */
static enum gi_status check_once(const struct wanted *wanted, struct gi_err *err)
{
    const char *what = wanted->options->once;
    for (size_t i = 1; what && i < wanted->n; i++)
        if (strcmp(wanted->sorted[i - 1]->path, wanted->sorted[i]->path) == 0)
            return gi_fail(err, GI_E_USAGE, "--report: %s is among the %s twice, want it once",
                           wanted->sorted[i]->path, what);
    return GI_OK;
}

/* Opens the journal. `o->path` is not NULL. */
static enum gi_status open_journal(struct gi_report *report, const struct gi_report_options *o,
                                   const struct gi_journal_wants *wants, uint64_t list,
                                   struct gi_err *err)
{
    struct gi_journal_head head = o->head;
    char *chain = gi_batch_text(o->command, o->text ? o->text : o->command->name, o->params);
    head.chain = chain;
    head.list = list;
    enum gi_status status =
        gi_journal_open(&report->journal, o->path, o->resume ? wants : NULL, &head, err);
    free(chain);
    return status;
}

enum gi_status gi_report_open(struct gi_report *report, const struct gi_report_options *o,
                              struct gi_err *err)
{
    uint64_t list = o->head.list;
    if (!o->path)
        return GI_OK;
    if (!o->inputs) {
        const struct gi_journal_wants resume = {o->is_output, o->arg};
        return open_journal(report, o, &resume, list, err);
    }
    struct gi_input **sorted = o->share ? NULL : gi_list_sorted(o->inputs, err);
    struct wanted wanted = {o, o->share ? o->share : sorted, o->share ? o->nshare : o->inputs->n};
    const struct gi_journal_wants resume = {is_wanted, &wanted};
    enum gi_status status = wanted.sorted ? check_once(&wanted, err) : GI_E_MEMORY;
    if (!status)
        status = gi_list_hash(&list, o->inputs, err);
    if (!status)
        status = open_journal(report, o, &resume, list, err);
    free(sorted);
    return status;
}

void gi_report_close(struct gi_report *report)
{
    gi_journal_close(&report->journal);
}

enum gi_status gi_report_check(const char *path, const struct gi_list *inputs, const char *output,
                               struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    if (output && strcmp(path, "-") == 0 && strcmp(output, "-") == 0)
        return gi_fail(err, GI_E_USAGE, "--report -: is where the images go, want a file");
    enum gi_status status = gi_paths_add(&paths, GI_PATH_REPORT, 0, path, err);
    for (size_t i = 0; i < inputs->n && !status; i++)
        status = gi_paths_add(&paths, GI_PATH_INPUT, i, inputs->inputs[i].path, err);
    if (!status)
        status = gi_paths_add(&paths, GI_PATH_OUTPUT, 0, output, err);
    if (!status && gi_paths_conflict(&paths, true, &a, &b))
        status = gi_fail(err, GI_E_USAGE, "--report %s: is the %s too, want another file", path,
                         a.kind == GI_PATH_OUTPUT || b.kind == GI_PATH_OUTPUT ? "output" : "input");
    gi_paths_free(&paths);
    return status;
}

bool gi_report_has(const struct gi_report *report, const char *input, const char *output)
{
    return report->journal && gi_journal_has(report->journal, input, output);
}

enum gi_status gi_report_add(struct gi_report *report, const struct gi_line *line,
                             struct gi_err *err)
{
    if (!report->journal)
        return GI_OK;
    gi_line_add(&report->whole, line);
    report->added++;
    report->failed += line->status != GI_OK;
    report->differing += !line->status && *line->err.text;
    return gi_journal_add_part(report->journal, line, report->key,
                               report->key ? report->whole.input : NULL, err);
}

enum gi_status gi_report_add_member(struct gi_report *report, const struct gi_line *line,
                                    const char *input, const char *other, struct gi_err *err)
{
    const struct gi_line *whole = &report->whole;
    const char *second = whole->other ? whole->other : whole->output;
    struct gi_line member = *line;
    if (!report->journal)
        return GI_OK;
    char *first = gi_small_format("%s:%s", whole->input, input);
    char *beside = second ? gi_small_format("%s:%s", second, other) : NULL;
    member.input = first;
    member.output = whole->other ? NULL : beside;
    member.other = whole->other ? beside : NULL;
    enum gi_status status = gi_report_add(report, &member, err);
    free(first);
    free(beside);
    return status;
}

enum gi_status gi_report_add_whole(struct gi_report *report, struct gi_err *err)
{
    enum gi_status status =
        report->journal ? gi_journal_add(report->journal, &report->whole, err) : GI_OK;
    gi_report_take_up(report, &(struct gi_report_later){.added = 0});
    return status;
}

void gi_report_put_off(struct gi_report *report, struct gi_report_later *later)
{
    *later =
        (struct gi_report_later){report->whole, report->added, report->failed, report->differing};
    gi_report_take_up(report, &(struct gi_report_later){.added = 0});
}

void gi_report_take_up(struct gi_report *report, const struct gi_report_later *later)
{
    report->whole = later->whole;
    report->added = later->added;
    report->failed = later->failed;
    report->differing = later->differing;
}

static bool is_file(const char *path)
{
    return path && strcmp(path, "-") != 0;
}

enum gi_status gi_report_end(struct gi_report *report, const struct gi_image *made,
                             enum gi_status status, struct gi_err *err)
{
    struct gi_line *whole = &report->whole;
    struct gi_err fault = {0};
    if (!report->journal)
        return status;
    if (status && !whole->status) {
        whole->status = status;
        whole->err = *err;
    }
    if (made && !status)
        whole->shape = *made;
    if (is_file(whole->input))
        gi_line_note_input(whole);
    if (is_file(whole->output) && !(made && status))
        gi_line_note_output(whole);
    if (!gi_stop_asked() && gi_report_add_whole(report, &fault) && !status) {
        *err = fault;
        status = fault.status;
    }
    gi_report_close(report);
    return status;
}
