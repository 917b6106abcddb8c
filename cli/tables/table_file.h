/* Tables of analyses, each in a file or on standard output.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/reporter.h"

enum gi_table_format {
    GI_TABLE_AUTO,
    GI_TABLE_TEXT,
    GI_TABLE_CSV,
    GI_TABLE_JSON,
    GI_TABLE_NPY,
};

/* The options of reporters that only write a table; struct gi_findings has them as `output`. */
struct gi_table_file_params {
    int format; /* enum gi_table_format */
    bool no_clobber;
};

extern const struct gi_option gi_table_file_options[];

/* The rows of these options, for reporters with further ones. `member` of the struct `params` is
 * the struct gi_table_file_params. */
#define GI_TABLE_FILE_OPTIONS(params, member)                                                      \
    {GI_OPTION("format", CHOICE, params, member.format), .default_text = "auto",                   \
     .choices = gi_table_file_formats, .help = "Format of the table"},                             \
    {                                                                                              \
        GI_OPTION("no-clobber", FLAG, params, member.no_clobber),                                  \
            .help = "Never replace a file that exists"                                             \
    }
extern const struct gi_choice gi_table_file_formats[]; /* in the order of enum gi_table_format */

/* Checks the name of a table that is made of `input`: it is a plain file, does not replace the
 * input, and does not exist if `no_clobber` is set. Errors: GI_E_USAGE, GI_E_IO. */
enum gi_status gi_table_file_check_path(const char *input, const char *to, bool no_clobber,
                                        struct gi_err *err);
/* gi_reporter.check of these reporters. */
enum gi_status gi_table_file_check(const char *input, const char *to, const void *output,
                                   void *params, struct gi_err *err);

/* Returns how an image beside the table is saved: with the usual quality, as a part of `bundle`;
 * NULL: on its own. */
struct gi_io_params gi_table_file_io(const struct gi_table_file_params *params,
                                     struct gi_bundle *bundle);

/* Checks that an image beside the table `to` can be written to `path`, the value of `option`
 * ("--map"), and replaces neither the table nor one of `inputs`, a list that ends with NULL. `path`
 * NULL: there is no image. Errors: GI_E_USAGE, GI_E_IO. */
enum gi_status gi_table_file_check_image(const char *path, const char *option, const char *to,
                                         const char *const *inputs,
                                         const struct gi_table_file_params *params,
                                         struct gi_err *err);

/* Prints a table. GI_TABLE_NPY is written to `sink`, and `out` is NULL. All other formats are
 * printed to `out`, and `sink` is NULL. */
typedef enum gi_status gi_table_print_fn(FILE *out, struct gi_sink *sink,
                                         enum gi_table_format format,
                                         const struct gi_findings *report, struct gi_err *err);

/* The gi_reporter.write of these reporters; `print` prints the table. */
enum gi_status gi_table_file_write(const struct gi_findings *report, gi_table_print_fn *print,
                                   struct gi_err *err);
