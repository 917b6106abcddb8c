/* The report of a command that makes one image of several: a line an input, and behind them one of
 * the whole. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_N_TO_ONE_H
#define GI_CLI_REPORT_N_TO_ONE_H

#include "cli/report/journal.h"
#include "cli/inputs/input_list.h"
#include "cli/command.h"

/* The option of such commands. */
#define GI_N_TO_ONE_OPTION(params, member)                                                         \
    {                                                                                              \
        .name = "report", .type = GI_OPT_PATH, .offset = offsetof(params, member),                 \
        .metavar = "FILE",                                                                         \
        .help = "Write a JSON object per line: first the work, then each input when it is "        \
                "read, and last the whole"                                                         \
    }

/* Starts as {0}; without a report all below do nothing. */
struct gi_n_to_one {
    struct gi_journal *journal; /* NULL: no report */
    struct gi_line whole;       /* its line so far: stages may be added to its `ms` */
};

/* Whether the report is neither what is read nor what is written; `output` without a prefix, or
 * NULL: none. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_n_to_one_check(const char *report, const struct gi_list *inputs,
                                 const char *output, struct gi_err *err);

/* Opens the report at `path` (NULL: none) of a command with these params, which makes `output`,
 * possibly with a prefix, from the inputs. The arguments outlive it. Errors: GI_E_USAGE, and as
 * gi_journal_open(). */
enum gi_status gi_n_to_one_open(struct gi_n_to_one *report_file, const char *path,
                                const struct gi_command *command, void *const *params,
                                const struct gi_list *inputs, const char *output,
                                struct gi_err *err);

/* The same of a command whose operands are the inputs and behind them the output. */
enum gi_status gi_n_to_one_open_operands(struct gi_n_to_one *report_file, const char *path,
                                         const struct gi_command *command, void *const *params,
                                         char *const *operands, int noperands, struct gi_err *err);

/* Adds the line of an input. Errors: as gi_journal_add(). */
enum gi_status gi_n_to_one_add(struct gi_n_to_one *report_file, const struct gi_line *line,
                               struct gi_err *err);
/* The same of an input that a command reads in turn: it is of the shape of `image` and took these
 * milliseconds, or is what `err` with `status` tells of. Returns `status`, or where that is GI_OK
 * the error of writing. */
enum gi_status gi_n_to_one_note(struct gi_n_to_one *report_file, const char *input,
                                const struct gi_image *image, const double ms[GI_STAGES],
                                enum gi_status status, struct gi_err *err);

/* The line of the whole, which ended by `status` and `err`, and of which the image is; none after a
 * signal. Takes the report. Returns `status`, or where that is GI_OK the error of writing. */
enum gi_status gi_n_to_one_end(struct gi_n_to_one *report_file, const struct gi_image *made,
                               enum gi_status status, struct gi_err *err);

#endif
