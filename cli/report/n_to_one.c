/* Writes N-to-one reports: for commands that make one image from several.
 * SPDX-License-Identifier: MIT */
#include "cli/report/n_to_one.h"

#include <string.h>

#include "cli/run/output.h"

enum gi_status gi_n_to_one_open(struct gi_report *report, const char *path,
                                const struct gi_command *command, void *const *params,
                                const struct gi_list *inputs, const char *output,
                                struct gi_err *err)
{
    const struct gi_report_options options = {.path = path,
                                              .command = command,
                                              .params = params,
                                              .inputs = inputs,
                                              .head = {.files = inputs->n}};
    output = gi_output_file(output);
    report->whole = (struct gi_line){.output = (char *)output, .inputs = inputs->n};
    enum gi_status status = path ? gi_report_check(path, inputs, output, err) : GI_OK;
    return status ? status : gi_report_open(report, &options, err);
}

enum gi_status gi_n_to_one_open_operands(struct gi_report *report, const char *path,
                                         const struct gi_command *command, void *const *params,
                                         char *const *operands, int noperands, struct gi_err *err)
{
    struct gi_list inputs = {0};
    enum gi_status status = GI_OK;
    for (int i = 0; path && i < noperands - 1 && !status; i++)
        status = gi_list_add(&inputs, operands[i], err);
    if (!status)
        status =
            gi_n_to_one_open(report, path, command, params, &inputs, operands[noperands - 1], err);
    gi_list_free(&inputs);
    return status;
}

enum gi_status gi_n_to_one_note(struct gi_report *report, const char *input,
                                const struct gi_image *image, const double ms[GI_STAGES],
                                enum gi_status status, struct gi_err *err)
{
    struct gi_line line = {.input = (char *)input, .status = status};
    struct gi_err fault = {0};
    if (!report->journal)
        return status;
    memcpy(line.ms, ms, sizeof line.ms);
    if (status)
        line.err = *err;
    else
        line.shape = *image;
    gi_line_note_input(&line);
    if (!gi_report_add(report, &line, &fault) || status)
        return status;
    *err = fault;
    return fault.status;
}
