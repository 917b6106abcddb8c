/* The report of a command (--report), with a line per input. If the inputs are parts of a whole (a
 * tar or a stream), or become one image, a line for the whole follows after the lines of the
 * inputs.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"
#include "cli/paths/input_list.h"
#include "cli/report/journal.h"

/* The caller initialises the struct as {0}, and closes the report by gi_report_close(). If --report
 * was not given, all functions below do nothing. */
struct gi_report {
    struct gi_journal *journal; /* NULL: no report */
    /* What the inputs are parts of: "tar" or "stream"; NULL if nothing. */
    const char *key;
    /* Line of the whole so far; whoever sets the names in the line owns them. */
    struct gi_line whole;
    uint64_t added, failed, differing; /* counts of the whole's lines so far */
};

/* The line of a whole whose outcome is not known yet, while the next whole begins. */
struct gi_report_later {
    struct gi_line whole;
    uint64_t added, failed, differing;
};

struct gi_report_options {
    const char *path; /* --report; NULL: no report */
    const struct gi_command *command;
    void *const *params;
    const char *text; /* the operation as text; NULL: name of the command */
    /* All inputs, including those of other shards. NULL if the list is not in memory. */
    const struct gi_list *inputs;
    struct gi_journal_head head; /* `chain` is filled in here, and `list` if there are inputs */
    /* If each input may be named only once, the word for inputs in messages ("tars"). NULL if
     * inputs may be repeated. */
    const char *once;
    /* Sorted pointers to those of `inputs` that are in the shard; NULL: all. */
    struct gi_input *const *share;
    size_t nshare;
    bool resume;
    /* Used for `resume`. Returns the malloc()ed path of the result of an input. Returns NULL if the
     * result must be made again, or if memory ran out. */
    char *(*output)(void *arg, size_t input);
    /* In place of `output` if the list is not in memory. Returns whether `output` is the name of
     * the result of `input`. */
    bool (*is_output)(void *arg, const char *input, const char *output);
    void *arg;
};

/* Opens the report. Errors: GI_E_USAGE, also if an input is named twice, and as
 * gi_journal_open(). */
enum gi_status gi_report_open(struct gi_report *report, const struct gi_report_options *options,
                              struct gi_err *err);
void gi_report_close(struct gi_report *report);

/* Checks that the report is neither one of the inputs nor the output. The path of the output must
 * have no prefix of a format; it is NULL if there is no output. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_report_check(const char *path, const struct gi_list *inputs, const char *output,
                               struct gi_err *err);

/* As gi_journal_has(). */
bool gi_report_has(const struct gi_report *report, const char *input, const char *output);

/* Adds the line of an input, and adds its times and sizes to the line of the whole. Errors: as
 * gi_journal_add(). */
enum gi_status gi_report_add(struct gi_report *report, const struct gi_line *line,
                             struct gi_err *err);
/* Like gi_report_add(), for a member of a tar. The name of the member gets the prefix
 * report->whole.input, which is the name of the tar, and a colon. The second name, if it is not
 * NULL, gets the `output` or the `other` of report->whole as a prefix. */
enum gi_status gi_report_add_member(struct gi_report *report, const struct gi_line *line,
                                    const char *input, const char *other, struct gi_err *err);

/* Writes the line of the whole, and begins an empty one. Errors: as gi_journal_add(). */
enum gi_status gi_report_add_whole(struct gi_report *report, struct gi_err *err);
/* Puts off the line of the whole, and begins an empty one. */
void gi_report_put_off(struct gi_report *report, struct gi_report_later *later);
/* Makes it the line of the whole again, in place of an empty one. */
void gi_report_take_up(struct gi_report *report, const struct gi_report_later *later);
/* Ends the report of a command that ended with `status` and `err`. Unless a signal ended the
 * command, writes the line of the whole, with the sizes and times of the files and the shape of the
 * image `made`. `made` is NULL if there are several images. Closes the report. Returns `status`, or
 * if that is GI_OK the status of writing. */
enum gi_status gi_report_end(struct gi_report *report, const struct gi_image *made,
                             enum gi_status status, struct gi_err *err);
