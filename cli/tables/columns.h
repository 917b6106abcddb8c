/* Tables for people, in columns that fit a terminal.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/lines.h"
#include "imgio/imgio.h"

/* Prints `nbytes` bytes of CSV, whose first line has the names of the columns, to standard output
 * in aligned columns. Numbers are rounded to 6 significant digits, and columns without any value
 * are left out. Columns that do not fit in `width` characters follow in further blocks, which
 * repeat the columns of text at the beginning. Errors: GI_E_MEMORY, GI_E_IO, GI_E_PIPE. */
enum gi_status gi_columns_print(const char *csv, size_t nbytes, int width, struct gi_err *err);

/* Reads the next line of a CSV file that is not empty, without a carriage return at its end, and
 * the first line without UTF-8's byte order mark. Errors: as gi_lines_next(). */
enum gi_status gi_columns_next_line(struct gi_lines *lines, bool *more, struct gi_err *err);

/* Copies the next field of the CSV at *from (RFC 4180) to `to`, without its quotes, and moves *from
 * past its comma or newline. Returns the end of the copy; *last tells whether the row ends. */
char *gi_columns_take_field(char *to, const char **from, const char *end, bool *last);

/* Prints the CSV in a sink in memory, in the width of the terminal that standard output is, and
 * sets *sink to NULL. Errors: as above, and those of gi_sink_take(). */
enum gi_status gi_columns_end(struct gi_sink **sink, struct gi_err *err);
