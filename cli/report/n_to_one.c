/* The report of one image of several.
 * SPDX-License-Identifier: MIT */
#include "cli/report/n_to_one.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/batch_options.h"
#include "cli/inputs/path_conflicts.h"
#include "cli/run/stop.h"
#include "cli/run/output.h"

enum gi_status gi_n_to_one_check(const char *report, const struct gi_list *inputs,
                                 const char *output, struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    if (output && strcmp(report, "-") == 0 && strcmp(output, "-") == 0)
        return gi_fail(err, GI_E_USAGE, "--report -: is where the images go, want a file");
    enum gi_status status = gi_paths_add(&paths, GI_PATH_REPORT, 0, report, err);
    for (size_t i = 0; i < inputs->n && !status; i++)
        status = gi_paths_add(&paths, GI_PATH_INPUT, i, inputs->inputs[i].path, err);
    if (!status)
        status = gi_paths_add(&paths, GI_PATH_OUTPUT, 0, output, err);
    if (!status && gi_paths_conflict(&paths, true, &a, &b))
        status = gi_fail(err, GI_E_USAGE, "--report %s: is the %s too, want another file", report,
                         a.kind == GI_PATH_OUTPUT || b.kind == GI_PATH_OUTPUT ? "output" : "input");
    gi_paths_free(&paths);
    return status;
}

enum gi_status gi_n_to_one_open(struct gi_n_to_one *report_file, const char *path,
                                const struct gi_command *command, void *const *params,
                                const struct gi_list *inputs, const char *output,
                                struct gi_err *err)
{
    struct gi_journal_head head = {.files = inputs->n};
    if (!path)
        return GI_OK;
    output = gi_output_file(output);
    enum gi_status status = gi_n_to_one_check(path, inputs, output, err);
    if (!status)
        status = gi_list_hash(&head.list, inputs, err);
    char *chain = status ? NULL : gi_batch_text(command, command->name, params);
    if (!status && !chain)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a report");
    head.chain = chain;
    if (!status)
        status = gi_journal_open(&report_file->journal, path, NULL, &head, err);
    report_file->whole = (struct gi_line){.output = (char *)output, .inputs = inputs->n};
    free(chain);
    return status;
}

enum gi_status gi_n_to_one_open_operands(struct gi_n_to_one *report_file, const char *path,
                                         const struct gi_command *command, void *const *params,
                                         char *const *operands, int noperands, struct gi_err *err)
{
    struct gi_list inputs = {0};
    enum gi_status status = GI_OK;
    for (int i = 0; path && i < noperands - 1 && !status; i++)
        status = gi_list_add(&inputs, operands[i], err);
    if (!status)
        status = gi_n_to_one_open(report_file, path, command, params, &inputs,
                                  operands[noperands - 1], err);
    gi_list_free(&inputs);
    return status;
}

enum gi_status gi_n_to_one_add(struct gi_n_to_one *report_file, const struct gi_line *line,
                               struct gi_err *err)
{
    if (!report_file->journal)
        return GI_OK;
    gi_line_add(&report_file->whole, line);
    return gi_journal_add(report_file->journal, line, err);
}

enum gi_status gi_n_to_one_note(struct gi_n_to_one *report_file, const char *input,
                                const struct gi_image *image, const double ms[GI_STAGES],
                                enum gi_status status, struct gi_err *err)
{
    struct gi_line line = {.input = (char *)input, .status = status};
    struct gi_err fault = {0};
    if (!report_file->journal)
        return status;
    memcpy(line.ms, ms, sizeof line.ms);
    if (status)
        line.err = *err;
    else
        line.shape = *image;
    gi_line_note_input(&line);
    if (!gi_n_to_one_add(report_file, &line, &fault) || status)
        return status;
    *err = fault;
    return fault.status;
}

enum gi_status gi_n_to_one_end(struct gi_n_to_one *report_file, const struct gi_image *made,
                               enum gi_status status, struct gi_err *err)
{
    struct gi_line *whole = &report_file->whole;
    struct gi_err fault = {0};
    if (!report_file->journal)
        return status;
    if (status && !whole->status) {
        whole->status = status;
        whole->err = *err;
    } else if (!status) {
        whole->shape = *made;
        if (strcmp(whole->output, "-") != 0)
            gi_line_note_output(whole);
    }
    enum gi_status told =
        gi_stop_asked() ? GI_OK : gi_journal_add(report_file->journal, whole, &fault);
    gi_journal_close(&report_file->journal);
    if (told && !status) {
        *err = fault;
        status = told;
    }
    return status;
}
