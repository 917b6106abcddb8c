/* The report of a command (--report): a line for each input, and where the inputs are parts of a
 * whole, a tar or a stream, or become one image, a line of the whole behind them.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_REPORT_H
#define GI_CLI_REPORT_REPORT_H

#include "cli/command.h"
#include "cli/inputs/input_list.h"
#include "cli/report/journal.h"

/* Starts as {0}; closed by gi_report_close(). Without --report all below do nothing. */
struct gi_report {
    struct gi_journal *journal; /* NULL: no report */
    const char *key;            /* "tar" or "stream", which the lines are parts of; NULL: none */
    struct gi_line whole;       /* its line so far; whoever fills it owns the names */
    uint64_t added, failed, differing; /* lines of the whole so far */
};

struct gi_report_options {
    const char *path; /* --report; NULL: no report */
    const struct gi_command *command;
    void *const *params;
    const char *text;             /* the operation as text; NULL: the command's name */
    const struct gi_list *inputs; /* all, those of other shards too */
    struct gi_journal_head head;  /* `chain` and `list` are filled in here */
    const char *once;             /* what the inputs are, "tars", where each may be named only once;
                                     NULL: any number of times */
    struct gi_input *const *share; /* of `inputs`, sorted, those of the shard; NULL: all */
    size_t nshare;
    bool resume;
    /* With `resume`: the path that the result of an input goes to, malloc()ed; NULL: it is to be
     * made again, or there is no memory. */
    char *(*output)(void *arg, size_t input);
    void *arg;
};

/* Errors: GI_E_USAGE, also where an input is named twice, and as gi_journal_open(). */
enum gi_status gi_report_open(struct gi_report *report, const struct gi_report_options *options,
                              struct gi_err *err);
void gi_report_close(struct gi_report *report);

/* Whether the report is neither what is read nor what is written; `output` without a prefix, or
 * NULL: none. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_report_check(const char *path, const struct gi_list *inputs, const char *output,
                               struct gi_err *err);

/* As gi_journal_has(). */
bool gi_report_has(const struct gi_report *report, const char *input, const char *output);

/* Adds the line of an input, and what it took to the line of the whole. Errors: as
 * gi_journal_add(). */
enum gi_status gi_report_add(struct gi_report *report, const struct gi_line *line,
                             struct gi_err *err);
/* The same of a member of report->whole.input, a tar: the names of the tars and a colon are put
 * before those of the members. `output` or `other` of the whole is the tar that the other name is
 * of; NULL: there is no other name. */
enum gi_status gi_report_add_member(struct gi_report *report, const struct gi_line *line,
                                    const char *input, const char *other, struct gi_err *err);

/* The line of the whole, and an empty one begins. Errors: as gi_journal_add(). */
enum gi_status gi_report_add_whole(struct gi_report *report, struct gi_err *err);
/* The same, with sizes and times of its files, for a work that ended by `status` and `err` and made
 * the image (NULL: several); no line after a signal. Closes the report. Returns `status`, or where
 * that is GI_OK the error of writing. */
enum gi_status gi_report_end(struct gi_report *report, const struct gi_image *made,
                             enum gi_status status, struct gi_err *err);

#endif
