/* The report of a command (--report): a line per input. If the inputs are parts of a whole (a tar
 * or a stream), or become one image, a line of the whole follows theirs.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_REPORT_H
#define GI_CLI_REPORT_REPORT_H

#include "cli/command.h"
#include "cli/inputs/input_list.h"
#include "cli/report/journal.h"

/* Initialised as {0}; closed by gi_report_close(). Without --report all functions below do
 * nothing. */
struct gi_report {
    struct gi_journal *journal;        /* NULL: no report */
    const char *key;                   /* the kind of whole of which the lines are parts, "tar" or
                                          "stream"; NULL: none */
    struct gi_line whole;              /* the whole's line so far; the caller that fills it owns the
                                          names */
    uint64_t added, failed, differing; /* counts of the whole's lines so far */
};

struct gi_report_options {
    const char *path; /* --report; NULL: no report */
    const struct gi_command *command;
    void *const *params;
    const char *text;              /* the operation as text; NULL: the command's name */
    const struct gi_list *inputs;  /* all inputs, including those of other shards */
    struct gi_journal_head head;   /* `chain` and `list` are filled in here */
    const char *once;              /* the unit of inputs that may be named only once, "tars";
                                      NULL: they may be repeated */
    struct gi_input *const *share; /* the inputs of the shard, out of `inputs`, sorted; NULL: all */
    size_t nshare;
    bool resume;
    /* With `resume`: returns the path of an input's result, malloc()ed; NULL: the result is to be
     * made again, or memory ran out. */
    char *(*output)(void *arg, size_t input);
    void *arg;
};

/* Opens the report. Errors: GI_E_USAGE, also if an input is named twice, and as
 * gi_journal_open(). */
enum gi_status gi_report_open(struct gi_report *report, const struct gi_report_options *options,
                              struct gi_err *err);
void gi_report_close(struct gi_report *report);

/* Checks that the report is neither an input nor the output; `output` without a prefix, or NULL:
 * none. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_report_check(const char *path, const struct gi_list *inputs, const char *output,
                               struct gi_err *err);

/* Does the same as gi_journal_has(). */
bool gi_report_has(const struct gi_report *report, const char *input, const char *output);

/* Adds the line of an input, and its times and sizes to the line of the whole. Errors: as
 * gi_journal_add(). */
enum gi_status gi_report_add(struct gi_report *report, const struct gi_line *line,
                             struct gi_err *err);
/* Does the same for a member of the tar report->whole.input: its names are preceded by those of the
 * tars and a colon. The other name's tar is `output` or `other` of the whole; NULL: there is no
 * other name. */
enum gi_status gi_report_add_member(struct gi_report *report, const struct gi_line *line,
                                    const char *input, const char *other, struct gi_err *err);

/* Writes the line of the whole and begins an empty one. Errors: as gi_journal_add(). */
enum gi_status gi_report_add_whole(struct gi_report *report, struct gi_err *err);
/* Does the same, with sizes and times of the files, for a command that ended with `status` and
 * `err` and made the image (NULL: several); no line after a signal. Closes the report. Returns
 * `status`, or if that is GI_OK the error of writing. */
enum gi_status gi_report_end(struct gi_report *report, const struct gi_image *made,
                             enum gi_status status, struct gi_err *err);

#endif
