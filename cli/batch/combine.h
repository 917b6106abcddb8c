/* One table of the tables of many files, with a column for the file in front: CSV, JSON lines or a
 * structured array of NumPy. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_BATCH_COMBINE_H
#define GI_CLI_BATCH_COMBINE_H

#include "imgio/imgio.h"

struct gi_combine;

enum gi_combine_format { GI_COMBINE_CSV, GI_COMBINE_JSONL, GI_COMBINE_NPY };

/* By the suffix of `path`. Errors: GI_E_USAGE. */
enum gi_status gi_combine_format_of(enum gi_combine_format *format, const char *path,
                                    struct gi_err *err);

/* A column of text. */
struct gi_combine_text {
    const char *name;
    size_t nbytes; /* of the longest */
};

struct gi_combine_options {
    const char *path;
    enum gi_combine_format format;
    struct gi_combine_text first; /* that of the file */
    const struct gi_combine_text
        *texts; /* others, for NumPy, ended by {0}; NULL: all are numbers */
};

/* Opens the table. Nothing stands there before gi_combine_end(), which takes and nulls, and drops
 * all where `keep` is false. What the options point to outlives it. Errors: as gi_sink_open(). */
enum gi_status gi_combine_new(struct gi_combine **combine, const struct gi_combine_options *options,
                              struct gi_err *err);
enum gi_status gi_combine_end(struct gi_combine **combine, bool keep, struct gi_err *err);

/* Adds the table of a file: for JSON lines an object (ended here by one newline), else CSV, whose
 * first line names the columns, the same for all. Errors: GI_E_UNSUPPORTED for other columns, and
 * as gi_sink_write(). */
enum gi_status gi_combine_add(struct gi_combine *combine, const char *file, const char *text,
                              size_t nbytes, struct gi_err *err);

/* Writes a field of CSV, in quotes where it has to be (RFC 4180). Errors: as gi_sink_write(). */
enum gi_status gi_combine_field(struct gi_sink *sink, const char *text, struct gi_err *err);

#endif
