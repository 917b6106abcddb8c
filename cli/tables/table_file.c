/* Writes tables of analyses. The format follows from an option or the suffix, and the text is
 * written in one piece.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/table_file.h"

#include <stdlib.h>
#include <string.h>

#include "cli/paths/output.h"
#include "cli/text.h"
#include "imgio/npy.h"

const struct gi_choice gi_table_file_formats[] = {
    {"auto", NULL, "the format of the table's suffix; on standard output text"},
    {"text", NULL, "a table to read"},
    {"csv", NULL, "a line of names, then a line per row"},
    {"json", NULL, "one object"},
    {"npy", NULL, "a structured array of NumPy"},
    {0},
};

/* For GI_TABLE_FILE_OPTIONS. */
struct at_first {
    struct gi_table_file_params table;
};

const struct gi_option gi_table_file_options[] = {
    GI_TABLE_FILE_OPTIONS(struct at_first, table),
    {0},
};

static enum gi_status pick_format(enum gi_table_format *format, const char *path, int asked,
                                  struct gi_err *err)
{
    *format = (enum gi_table_format)asked;
    if (asked != GI_TABLE_AUTO)
        return GI_OK;
    *format = strcmp(path, "-") == 0 || gi_text_has_suffix(path, "txt") ? GI_TABLE_TEXT
              : gi_text_has_suffix(path, "csv")                         ? GI_TABLE_CSV
              : gi_text_has_suffix(path, "json")                        ? GI_TABLE_JSON
              : gi_npy_is(path)                                         ? GI_TABLE_NPY
                                                                        : GI_TABLE_AUTO;
    if (*format == GI_TABLE_AUTO)
        return gi_fail(err, GI_E_USAGE,
                       "%s: want a name that ends in .csv, .json, .npy or .txt, or --format", path);
    return GI_OK;
}

static enum gi_status write_as(struct gi_sink *sink, const struct gi_findings *report,
                               enum gi_table_format format, gi_table_print_fn *print,
                               struct gi_err *err)
{
    if (format == GI_TABLE_NPY)
        return print(NULL, sink, format, report, err);
    struct gi_text_memory memory;
    FILE *out = gi_text_open_large(&memory);
    enum gi_status status = print(out, NULL, format, report, err);
    return gi_text_write(out, &memory, status, sink, err);
}

enum gi_status gi_table_file_write(const struct gi_findings *report, gi_table_print_fn *print,
                                   struct gi_err *err)
{
    const struct gi_table_file_params *output = report->output;
    enum gi_table_format format;
    struct gi_sink *sink = NULL;
    if (report->table)
        return write_as(report->table, report, report->json ? GI_TABLE_JSON : GI_TABLE_CSV, print,
                        err);
    enum gi_status status = pick_format(&format, report->to, output->format, err);
    if (!status)
        status = gi_bundle_open(report->bundle, &sink, report->to, output->no_clobber, err);
    if (!status)
        status = write_as(sink, report, format, print, err);
    if (!status)
        status = gi_bundle_keep(report->bundle, &sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}

enum gi_status gi_table_file_check_path(const char *input, const char *to, bool no_clobber,
                                        struct gi_err *err)
{
    const char *const outputs[] = {to, NULL}, *const inputs[] = {input, NULL};
    enum gi_status status = gi_output_check_plain("TABLE", to, err);
    if (!status)
        status = gi_output_check_inputs(outputs, inputs, err);
    return status ? status : gi_output_check(to, no_clobber, err);
}

enum gi_status gi_table_file_check(const char *input, const char *to, const void *arg, void *params,
                                   struct gi_err *err)
{
    const struct gi_table_file_params *output = arg;
    enum gi_table_format format;
    enum gi_status status = pick_format(&format, to, output->format, err);
    return status ? status : gi_table_file_check_path(input, to, output->no_clobber, err);
}

struct gi_io_params gi_table_file_io(const struct gi_table_file_params *params,
                                     struct gi_bundle *bundle)
{
    return (struct gi_io_params){
        .encoding = {.quality = GI_DEFAULT_QUALITY, .compression = GI_DEFAULT_COMPRESSION},
        .no_clobber = params->no_clobber,
        .passed.bundle = bundle};
}

enum gi_status gi_table_file_check_image(const char *path, const char *option, const char *to,
                                         const char *const *inputs,
                                         const struct gi_table_file_params *params,
                                         struct gi_err *err)
{
    const char *const outputs[] = {to, path, NULL};
    const struct gi_io_params io = gi_table_file_io(params, NULL);
    enum gi_status status = path ? gi_output_check_inputs(outputs, inputs, err) : GI_OK;
    if (!status && path && gi_cli_check_save(path, &io, err))
        return gi_err_prefix(err, "%s", option);
    return status;
}
