/* Joins the tables of many files into one, with the file as first column: CSV, JSON lines or a
 * structured array of NumPy.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TABLES_TABLE_WRITER_H
#define GI_CLI_TABLES_TABLE_WRITER_H

#include "imgio/imgio.h"

struct gi_table_writer;

enum gi_table_writer_format { GI_TABLE_WRITER_CSV, GI_TABLE_WRITER_JSONL, GI_TABLE_WRITER_NPY };

/* Finds the format for the suffix of `path`. Errors: GI_E_USAGE. */
enum gi_status gi_table_writer_format_of(enum gi_table_writer_format *format, const char *path,
                                         struct gi_err *err);

struct gi_table_writer_options {
    const char *path;
    enum gi_table_writer_format format;
    const char *tar;          /* name of the column for the tar, before the file's; NULL: none */
    const char *first;        /* name of the column for the file */
    const char *const *texts; /* names of other columns with text, ended by NULL; NULL: all are
                                 numbers */
    bool no_clobber;          /* an existing file is an error */
};

/* Opens the table. Its file appears with gi_table_writer_end(). The options must outlive it.
 * Errors: as gi_sink_open(). */
enum gi_status gi_table_writer_new(struct gi_table_writer **writer,
                                   const struct gi_table_writer_options *options,
                                   struct gi_err *err);
/* Ends the table of a batch that ended with `status` and the message in `err`; takes and nulls. If
 * single files failed, which was printed and left `err` without text, the rows of the others
 * are kept. If the machine failed (GI_E_AGAIN), no file is written and an older one stays, because
 * another run may give all rows. Standard output and pipes get the rows in either case. Returns
 * `status`, or the status of what failed here. NULL: nothing is done. */
enum gi_status gi_table_writer_end(struct gi_table_writer **writer, enum gi_status status,
                                   struct gi_err *err);
/* Frees the table without writing it; takes and nulls. NULL: does nothing. */
void gi_table_writer_abandon(struct gi_table_writer **writer);

/* One part of the table: for JSON lines an object that names the file itself (a newline is added),
 * else CSV, whose first line names the columns, which are the same for all files. */
struct gi_table_writer_table {
    const char *tar;  /* NULL if there is no column for it */
    const char *file; /* in NumPy arrays limited to GI_TABLE_WRITER_TEXT_MAX bytes, as all texts */
    const char *text;
    size_t nbytes;
};
enum { GI_TABLE_WRITER_TEXT_MAX = 4096 };

/* Adds a part. Errors: GI_E_UNSUPPORTED for other columns, GI_E_MEMORY, and as gi_sink_write(). */
enum gi_status gi_table_writer_add(struct gi_table_writer *writer,
                                   const struct gi_table_writer_table *table, struct gi_err *err);

/* Writes a field of CSV, quoted if necessary (RFC 4180). Errors: as gi_sink_write(). */
enum gi_status gi_table_writer_field(struct gi_sink *sink, const char *text, struct gi_err *err);

#endif
