/* N-to-one reports, of commands that make one image from several: a line per input, followed by one
 * for the result, which gi_report_end() writes.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_N_TO_ONE_H
#define GI_CLI_REPORT_N_TO_ONE_H

#include "cli/report/report.h"

/* The row of --report for such commands. */
#define GI_N_TO_ONE_OPTION(params, member)                                                         \
    {                                                                                              \
        .name = "report", .type = GI_OPT_PATH, .offset = offsetof(params, member),                 \
        .metavar = "FILE",                                                                         \
        .help = "Write a JSON object per line: first the work, then each input when it is "        \
                "read, and last the whole"                                                         \
    }

/* Opens the report at `path` (NULL: none) of a command with these params, which makes `output`,
 * possibly with a prefix, from the inputs. `output` must outlive it. Errors: GI_E_USAGE, and as
 * gi_report_open(). */
enum gi_status gi_n_to_one_open(struct gi_report *report, const char *path,
                                const struct gi_command *command, void *const *params,
                                const struct gi_list *inputs, const char *output,
                                struct gi_err *err);

/* Does the same for a command whose operands are the inputs followed by the output. */
enum gi_status gi_n_to_one_open_operands(struct gi_report *report, const char *path,
                                         const struct gi_command *command, void *const *params,
                                         char *const *operands, int noperands, struct gi_err *err);

/* Adds the line of an input that a command has read: its shape is that of `image` and it took these
 * milliseconds, or it failed with `status` and `err`. Returns `status`, or if that is GI_OK the
 * error of writing. */
enum gi_status gi_n_to_one_note(struct gi_report *report, const char *input,
                                const struct gi_image *image, const double ms[GI_STAGES],
                                enum gi_status status, struct gi_err *err);

#endif
