/* Joins the tables of many files into one, whose first column is the file. It is CSV, JSON lines or
 * a structured array of NumPy.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

struct gi_table_writer;

enum gi_table_writer_format { GI_TABLE_WRITER_CSV, GI_TABLE_WRITER_JSONL, GI_TABLE_WRITER_NPY };

/* Finds the table's format by the suffix of `path`. Errors: GI_E_USAGE. */
enum gi_status gi_table_writer_format_of(enum gi_table_writer_format *format, const char *path,
                                         struct gi_err *err);

struct gi_table_writer_options {
    const char *path;
    enum gi_table_writer_format format;
    /* Name of the column for the tar, which precedes the column for the file; NULL: none. */
    const char *tar;
    const char *first;        /* name of the column for the file */
    const char *const *texts; /* names of other columns of text, ended by NULL; NULL: none */
    /* Names of the columns after those, separated by commas, so that a table without rows has them.
     * NULL: they are those of the first row. */
    const char *columns;
    bool no_clobber; /* an existing file is an error */
};

/* Opens the table. gi_table_writer_end() makes its file appear. The options must outlive it.
 * Errors: as gi_sink_open(). */
enum gi_status gi_table_writer_new(struct gi_table_writer **writer,
                                   const struct gi_table_writer_options *options,
                                   struct gi_err *err);
/* Ends the table of a batch that ended with `status` and the message in `err`, and sets *writer to
 * NULL. If single files failed, their errors have been logged and `err` has no text; the rows of
 * the other files are kept. If the machine failed (GI_E_AGAIN), no file is written and an older
 * file stays, because another run may produce all rows. Standard output and pipes get the rows in
 * either case. Returns `status`, or that of a failure here. Does nothing if *writer is NULL. */
enum gi_status gi_table_writer_end(struct gi_table_writer **writer, enum gi_status status,
                                   struct gi_err *err);
/* Frees the table without writing it, and sets *writer to NULL. Does nothing if it is NULL. */
void gi_table_writer_abandon(struct gi_table_writer **writer);

/* The part of the table for one file. For JSON lines this is an object that contains the name of
 * the file; a newline is added to it. Otherwise it is CSV, whose first line has the names of the
 * columns and is the same for all files. */
struct gi_table_writer_table {
    const char *tar;  /* NULL if there is no column for it */
    const char *file; /* at most GI_TABLE_WRITER_TEXT_MAX bytes in NumPy arrays, like all texts */
    const char *text;
    size_t nbytes;
};
enum { GI_TABLE_WRITER_TEXT_MAX = 4096 };

/* Adds the part of a file. Errors: GI_E_UNSUPPORTED for other columns, GI_E_MEMORY, and as
 * gi_sink_write(). */
enum gi_status gi_table_writer_add(struct gi_table_writer *writer,
                                   const struct gi_table_writer_table *table, struct gi_err *err);
