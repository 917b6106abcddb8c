/* The report of a command that makes one image of several: a line an input, and behind them one of
 * the whole, by gi_report_end(). SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_N_TO_ONE_H
#define GI_CLI_REPORT_N_TO_ONE_H

#include "cli/report/report.h"

/* The option of such commands. */
#define GI_N_TO_ONE_OPTION(params, member)                                                         \
    {                                                                                              \
        .name = "report", .type = GI_OPT_PATH, .offset = offsetof(params, member),                 \
        .metavar = "FILE",                                                                         \
        .help = "Write a JSON object per line: first the work, then each input when it is "        \
                "read, and last the whole"                                                         \
    }

/* Opens the report at `path` (NULL: none) of a command with these params, which makes `output`,
 * possibly with a prefix, from the inputs. `output` outlives it. Errors: GI_E_USAGE, and as
 * gi_report_open(). */
enum gi_status gi_n_to_one_open(struct gi_report *report, const char *path,
                                const struct gi_command *command, void *const *params,
                                const struct gi_list *inputs, const char *output,
                                struct gi_err *err);

/* The same of a command whose operands are the inputs and behind them the output. */
enum gi_status gi_n_to_one_open_operands(struct gi_report *report, const char *path,
                                         const struct gi_command *command, void *const *params,
                                         char *const *operands, int noperands, struct gi_err *err);

/* Adds the line of an input that a command reads in turn: it is of the shape of `image` and took
 * these milliseconds, or is what `err` with `status` tells of. Returns `status`, or where that is
 * GI_OK the error of writing. */
enum gi_status gi_n_to_one_note(struct gi_report *report, const char *input,
                                const struct gi_image *image, const double ms[GI_STAGES],
                                enum gi_status status, struct gi_err *err);

#endif
