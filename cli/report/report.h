/* The report of a command (--report), with a line per input. If the inputs are parts of a whole (a
 * tar or a stream), or become one image, another line, that of the whole, follows theirs.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_REPORT_H
#define GI_CLI_REPORT_REPORT_H

#include "cli/command.h"
#include "cli/inputs/input_list.h"
#include "cli/report/journal.h"

/* Initialised as {0}; gi_report_close() closes it. Without --report all functions below do
 * nothing. */
struct gi_report {
    struct gi_journal *journal; /* NULL: no report */
    const char *key;            /* the whole that inputs belong to: "tar" or "stream"; NULL: none */
    struct gi_line whole;       /* line of the whole so far; whoever sets its names owns them */
    uint64_t added, failed, differing; /* counts of the whole's lines so far */
};

struct gi_report_options {
    const char *path; /* --report; NULL: no report */
    const struct gi_command *command;
    void *const *params;
    const char *text;             /* the operation as text; NULL: name of the command */
    const struct gi_list *inputs; /* all inputs, those of other shards included */
    struct gi_journal_head head;  /* `chain` and `list` are filled in here */
    const char *once; /* what the inputs are called ("tars") if each may be named only once; NULL:
                         inputs may be repeated */
    struct gi_input *const *share; /* the shard's inputs, out of `inputs`, sorted; NULL: all */
    size_t nshare;
    bool resume;
    /* For `resume`: returns the malloc()ed path of an input's result. NULL: the result must be made
     * again, or memory ran out. */
    char *(*output)(void *arg, size_t input);
    void *arg;
};

/* Opens the report. Errors: GI_E_USAGE, also if an input is named twice, and as
 * gi_journal_open(). */
enum gi_status gi_report_open(struct gi_report *report, const struct gi_report_options *options,
                              struct gi_err *err);
void gi_report_close(struct gi_report *report);

/* Checks that the report is neither an input nor the output, which is given without a prefix (NULL:
 * there is none). Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_report_check(const char *path, const struct gi_list *inputs, const char *output,
                               struct gi_err *err);

/* As gi_journal_has(). */
bool gi_report_has(const struct gi_report *report, const char *input, const char *output);

/* Adds the line of an input, and adds its times and sizes to the line of the whole. Errors: as
 * gi_journal_add(). */
enum gi_status gi_report_add(struct gi_report *report, const struct gi_line *line,
                             struct gi_err *err);
/* As gi_report_add(), for a member of a tar. Its name is preceded by that of the tar
 * report->whole.input and a colon, the other name (NULL: none) by that of the whole's `output` or
 * `other`. */
enum gi_status gi_report_add_member(struct gi_report *report, const struct gi_line *line,
                                    const char *input, const char *other, struct gi_err *err);

/* Writes the line of the whole, and begins an empty one. Errors: as gi_journal_add(). */
enum gi_status gi_report_add_whole(struct gi_report *report, struct gi_err *err);
/* Ends the report of a command that ended with `status` and `err`. Writes the line of the whole
 * with sizes and times of the files and the image `made` (NULL: several images), but no line after
 * a signal. Closes the report. Returns `status`, or the error of writing if that is GI_OK. */
enum gi_status gi_report_end(struct gi_report *report, const struct gi_image *made,
                             enum gi_status status, struct gi_err *err);

#endif
