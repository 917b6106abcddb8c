/* Joins the tables of many files into one table.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/table_writer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/log.h"
#include "imgio/scratch_file.h"
#include "cli/stop.h"
#include "cli/tables/cells.h"
#include "cli/tables/columns.h"
#include "cli/text.h"
#include "imgio/npy.h"
#include "imgio/small.h"

/* A column of a NumPy array. */
struct table_writer_column {
    const char *name; /* name, of `length` characters */
    size_t length;
    bool text;
    size_t nbytes; /* length of the longest text so far */
};

struct gi_table_writer {
    struct gi_table_writer_options options;
    struct gi_sink *sink;
    bool terminal; /* the output is a terminal */
    bool columned; /* the CSV is printed in columns at the end */
    char *head;    /* first line of the CSV, without its newline; NULL before the first file */
    /* A temporary file of the rows for NumPy, because the number of rows and the lengths of texts
     * are known only at the end. In it each text is stored as its length and its bytes, and each
     * number as a double. */
    FILE *rows;
    uint64_t nrows;
    struct table_writer_column *columns;
    size_t ncolumns;
};

enum gi_status gi_table_writer_format_of(enum gi_table_writer_format *format, const char *path,
                                         struct gi_err *err)
{
    *format = gi_text_has_suffix(path, "jsonl") ? GI_TABLE_WRITER_JSONL
              : gi_npy_is(path)                 ? GI_TABLE_WRITER_NPY
                                                : GI_TABLE_WRITER_CSV;
    if (strcmp(path, "-") == 0 || gi_text_has_suffix(path, "csv jsonl npy"))
        return GI_OK;
    return gi_fail(err, GI_E_USAGE, "--table %s: want a name that ends in .csv, .jsonl or .npy",
                   path);
}

static enum gi_status open_rows(struct gi_table_writer *writer, struct gi_err *err)
{
    int fd;
    enum gi_status status = gi_scratch_file_open(&fd, 0, err);
    if (!status)
        writer->rows = gi_small_check(fdopen(fd, "w+"));
    return status;
}

static bool is_text(const struct gi_table_writer *writer, const char *name, size_t n)
{
    const char *const *text = writer->options.texts;
    for (; text && *text; text++)
        if (strlen(*text) == n && strncmp(*text, name, n) == 0)
            return true;
    return false;
}

/* Reads the names of the columns from the first line, and puts the columns for the tar and the file
 * before them. */
static void read_columns(struct gi_table_writer *writer)
{
    const char *head = writer->head ? writer->head : "";
    const char *const names[] = {writer->options.tar, writer->options.first};
    size_t n = 3;
    for (const char *at = head; *at; at++)
        n += *at == ',';
    writer->columns = gi_small_calloc(n, sizeof *writer->columns);
    for (int i = 0; i < 2; i++)
        if (names[i])
            writer->columns[writer->ncolumns++] =
                (struct table_writer_column){names[i], strlen(names[i]), true, 0};
    for (const char *at = head; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        writer->columns[writer->ncolumns++] =
            (struct table_writer_column){at, length, is_text(writer, at, length), 0};
        at += length;
    }
}

/* Writes the names of the columns as CSV. */
static enum gi_status put_head(struct gi_table_writer *writer, struct gi_err *err)
{
    const struct gi_table_writer_options *o = &writer->options;
    return gi_sink_printf(writer->sink, err, "%s%s%s,%s\n", o->tar ? o->tar : "", o->tar ? "," : "",
                          o->first, writer->head);
}

/* Sets the names of the columns, and begins the table with them. */
static enum gi_status set_head(struct gi_table_writer *writer, const char *names, size_t n,
                               struct gi_err *err)
{
    writer->head = gi_small_copy_n(names, n);
    if (!writer->rows)
        return put_head(writer, err);
    read_columns(writer);
    return GI_OK;
}

enum gi_status gi_table_writer_new(struct gi_table_writer **out,
                                   const struct gi_table_writer_options *options,
                                   struct gi_err *err)
{
    struct gi_table_writer *writer = *out = gi_small_calloc(1, sizeof *writer);
    writer->options = *options;
    writer->terminal = strcmp(options->path, "-") == 0 && isatty(STDOUT_FILENO);
    writer->columned = writer->terminal && options->format == GI_TABLE_WRITER_CSV;
    enum gi_status status =
        writer->columned ? gi_sink_open_memory(&writer->sink, "standard output", err)
                         : gi_sink_open(&writer->sink, options->path, options->no_clobber, err);
    if (!status && options->format == GI_TABLE_WRITER_NPY)
        status = open_rows(writer, err);
    if (!status && options->columns && options->format != GI_TABLE_WRITER_JSONL)
        status = set_head(writer, options->columns, strlen(options->columns), err);
    if (status)
        gi_table_writer_abandon(out);
    return status;
}

static enum gi_status npy_head(struct gi_table_writer *writer, struct gi_err *err)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    for (size_t i = 0; i < writer->ncolumns; i++) {
        struct table_writer_column *column = &writer->columns[i];
        column->nbytes += !column->nbytes; /* NumPy has no S0 in a structured type */
        fprintf(out, "%s('%.*s', '", i ? ", " : "[", (int)column->length, column->name);
        if (column->text)
            fprintf(out, "S%zu')", column->nbytes);
        else
            fprintf(out, GI_NPY_ORDER "f8')");
    }
    fputc(']', out);
    char *type = gi_text_close(out, &memory);
    enum gi_status status = gi_npy_head(writer->sink, type, &writer->nrows, 1, err);
    free(type);
    return status;
}

/* Copies one row from the temporary file. Texts are padded with zeros. */
static enum gi_status copy_row(struct gi_table_writer *writer, struct gi_err *err)
{
    static const char zeros[GI_TABLE_WRITER_TEXT_MAX];
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < writer->ncolumns && !status; i++) {
        const struct table_writer_column *column = &writer->columns[i];
        char field[GI_TABLE_WRITER_TEXT_MAX];
        uint32_t n = sizeof(double);
        if (column->text && fread(&n, sizeof n, 1, writer->rows) != 1)
            return gi_scratch_file_fail(err);
        if (fread(field, 1, n, writer->rows) != n)
            return gi_scratch_file_fail(err);
        status = gi_sink_write(writer->sink, field, n, err);
        if (!status && column->text)
            status = gi_sink_write(writer->sink, zeros, column->nbytes - n, err);
    }
    return status;
}

static enum gi_status copy_rows(struct gi_table_writer *writer, struct gi_err *err)
{
    if (fflush(writer->rows))
        return gi_scratch_file_fail(err);
    if (!writer->columns)
        read_columns(writer);
    enum gi_status status = npy_head(writer, err);
    rewind(writer->rows);
    for (uint64_t i = 0; i < writer->nrows && !status; i++)
        status = copy_row(writer, err);
    return status;
}

void gi_table_writer_abandon(struct gi_table_writer **out)
{
    struct gi_table_writer *writer = *out;
    *out = NULL;
    if (!writer)
        return;
    gi_sink_abandon(&writer->sink);
    if (writer->rows)
        fclose(writer->rows);
    free(writer->columns);
    free(writer->head);
    free(writer);
}

static enum gi_status commit(struct gi_table_writer *writer, struct gi_err *err)
{
    enum gi_status status = writer->rows ? copy_rows(writer, err) : GI_OK;
    if (!status && writer->columned)
        return gi_columns_end(&writer->sink, err);
    return status ? status : gi_sink_commit(&writer->sink, false, err);
}

enum gi_status gi_table_writer_end(struct gi_table_writer **out, enum gi_status status,
                                   struct gi_err *err)
{
    struct gi_table_writer *writer = *out;
    struct gi_err fault = {0};
    bool complete = !status || (!*err->text && status != GI_E_PIPE);
    if (writer && complete && status == GI_E_AGAIN && gi_sink_is_file(writer->sink))
        gi_fail(err, status, "%s: is not written: the machine failed, not its inputs: try again",
                writer->options.path);
    else if (writer && complete && gi_stop_asked() && gi_sink_is_file(writer->sink))
        status =
            gi_fail(err, GI_E_IO, "%s: is not written: ended by a signal", writer->options.path);
    else if (writer && complete && commit(writer, &fault))
        status = (*err = fault).status;
    gi_table_writer_abandon(out);
    return status;
}

/* Returns the end of a row, which is the first newline that is not in quotes, or `end`. */
static const char *row_end(const char *at, const char *end)
{
    for (bool quoted = false; at < end && (quoted || *at != '\n'); at++)
        quoted ^= *at == '"';
    return at;
}

static bool put_text(FILE *rows, struct table_writer_column *column, const char *text, size_t n)
{
    uint32_t length = n < GI_TABLE_WRITER_TEXT_MAX ? (uint32_t)n : GI_TABLE_WRITER_TEXT_MAX;
    if (length > column->nbytes)
        column->nbytes = length;
    return fwrite(&length, sizeof length, 1, rows) == 1 && fwrite(text, 1, length, rows) == length;
}

/* Stores one row for NumPy, with the names first and then the other columns. An empty field becomes
 * NaN. */
static enum gi_status put_row(struct gi_table_writer *writer,
                              const struct gi_table_writer_table *table, const char *row,
                              const char *end, struct gi_err *err)
{
    const char *const names[] = {table->tar, table->file};
    size_t i = 0;
    bool good = true, last;
    char *field = gi_small_alloc((size_t)(end - row) + 1);
    for (int k = 0; k < 2; k++)
        if (names[k])
            good &= put_text(writer->rows, &writer->columns[i++], names[k], strlen(names[k]));
    for (; i < writer->ncolumns; i++) {
        struct table_writer_column *column = &writer->columns[i];
        size_t n = (size_t)(gi_columns_take_field(field, &row, end, &last) - field);
        char *parsed;
        double value = strtod(field, &parsed);
        value = parsed == field ? NAN : value;
        good &= column->text ? put_text(writer->rows, column, field, n)
                             : fwrite(&value, sizeof value, 1, writer->rows) == 1;
    }
    free(field);
    writer->nrows++;
    return good ? GI_OK : gi_scratch_file_fail(err);
}

/* Checks that the first line is equal to that of the earlier files. */
static enum gi_status check_head(struct gi_table_writer *writer,
                                 const struct gi_table_writer_table *table, size_t n,
                                 struct gi_err *err)
{
    if (!writer->head)
        return set_head(writer, table->text, n, err);
    if (strlen(writer->head) == n && strncmp(writer->head, table->text, n) == 0)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "%s: has the columns %.*s, the files before it %s: want --gray, .jsonl, or "
                   "--out-dir for a table each",
                   table->file, (int)n, table->text, writer->head);
}

/* Writes the beginning of an object, whose first member is the tar. */
static enum gi_status put_tar(struct gi_table_writer *writer, const char *tar, struct gi_err *err)
{
    json_t *object = json_object();
    gi_json_set_name(object, writer->options.tar, tar);
    char *text = gi_json_dump(object, writer->terminal ? JSON_ENSURE_ASCII : 0);
    enum gi_status status =
        gi_sink_printf(writer->sink, err, "%.*s, ", (int)strlen(text) - 1, text);
    free(text);
    return status;
}

static enum gi_status add_json(struct gi_table_writer *writer,
                               const struct gi_table_writer_table *table, struct gi_err *err)
{
    const char *at = table->text, *end = at + table->nbytes;
    enum gi_status status = GI_OK;
    while (end > at && end[-1] == '\n')
        end--;
    if (table->tar && at < end) {
        status = put_tar(writer, table->tar, err);
        at++;
    }
    while (at < end && !status) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = newline ? (size_t)(newline - at) : (size_t)(end - at);
        status = gi_sink_write(writer->sink, at, n, err);
        /* The newline is layout of the JSON, because strings contain no newlines. */
        if (!status && newline)
            status = gi_sink_write(writer->sink, " ", 1, err);
        at += n + (newline != NULL);
    }
    return status ? status : gi_sink_write(writer->sink, "\n", 1, err);
}

/* Returns a copy of `n` bytes of text in a form that is safe on a terminal; the caller frees it.
 */
static char *make_safe(const char *text, size_t n)
{
    struct gi_text_memory memory;
    char *copy = gi_small_copy_n(text, n);
    FILE *out = gi_text_open(&memory);
    gi_print_safe(out, copy);
    free(copy);
    return gi_text_close(out, &memory);
}

/* Writes a CSV field and a comma; on a terminal the field is in a safe form. */
static enum gi_status put_name(struct gi_table_writer *writer, const char *name, struct gi_err *err)
{
    char *safe = writer->terminal ? make_safe(name, strlen(name)) : NULL;
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    gi_cells_csv_text(out, safe ? safe : name);
    putc(',', out);
    free(safe);
    return gi_text_write(out, &memory, GI_OK, writer->sink, err);
}

/* Writes a CSV row after the names. */
static enum gi_status put_csv(struct gi_table_writer *writer,
                              const struct gi_table_writer_table *table, const char *row, size_t n,
                              struct gi_err *err)
{
    enum gi_status status = table->tar ? put_name(writer, table->tar, err) : GI_OK;
    if (!status)
        status = put_name(writer, table->file, err);
    char *safe = writer->terminal && !status ? make_safe(row, n) : NULL;
    if (!status)
        status = gi_sink_write(writer->sink, safe ? safe : row, safe ? strlen(safe) : n, err);
    free(safe);
    return status ? status : gi_sink_write(writer->sink, "\n", 1, err);
}

enum gi_status gi_table_writer_add(struct gi_table_writer *writer,
                                   const struct gi_table_writer_table *table, struct gi_err *err)
{
    if (writer->options.format == GI_TABLE_WRITER_JSONL)
        return add_json(writer, table, err);
    const char *text = table->text, *end = text + table->nbytes;
    const char *newline = memchr(text, '\n', table->nbytes);
    size_t n = newline ? (size_t)(newline - text) : table->nbytes;
    enum gi_status status = check_head(writer, table, n, err);
    for (const char *at = text + n + 1; at < end && !status; at += n + 1) {
        n = (size_t)(row_end(at, end) - at);
        status = writer->rows ? put_row(writer, table, at, at + n, err)
                              : put_csv(writer, table, at, n, err);
    }
    return status;
}
