/* Reads tables of numbers: comma-separated values, after a line of names.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/lines.h"

enum { GI_CSV_COLUMNS_MAX = 8 };

/* A table being read. */
struct gi_csv {
    struct gi_lines lines;
    int ncolumns;                   /* number of columns that are wanted */
    int column[GI_CSV_COLUMNS_MAX]; /* index of each column in a line, from 0; -1: missing */
    const char *const *names;
};

/* Opens the table at `path` for reading the columns with these names; the first `must` columns are
 * required. gi_csv_close() frees the table, also after an error. Errors: those of
 * gi_lines_next(), with the path in the message. */
enum gi_status gi_csv_open(struct gi_csv *csv, const char *path, const char *const *names, int n,
                           int must, struct gi_err *err);
/* Reads the next row into `v`, which gets a number per column, in the order of the names, and NAN
 * for missing columns. Sets *end to true if there is no row. Errors: those of
 * gi_lines_next(), and GI_E_FORMAT. */
enum gi_status gi_csv_next(struct gi_csv *csv, double *v, bool *end, struct gi_err *err);
void gi_csv_close(struct gi_csv *csv);
