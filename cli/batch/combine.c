/* One table of the tables of many files.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/combine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/batch/temporary.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/text.h"
#include "imgio/npy.h"

/* A column of NumPy's. */
struct column {
    const char *name; /* `length` characters */
    size_t length;
    bool text;
    size_t nbytes; /* of the longest text so far */
};

struct gi_combine {
    struct gi_combine_options options;
    struct gi_sink *sink;
    bool terminal; /* it is one */
    char *head;    /* the first line of CSV, without its end; NULL: no file came yet */
    /* NumPy: rows wait in a file, as neither their number nor how long texts are is known before:
     * each text by its length and its bytes, each number as a double. */
    FILE *rows;
    uint64_t nrows;
    struct column *columns;
    size_t ncolumns;
};

enum gi_status gi_combine_format_of(enum gi_combine_format *format, const char *path,
                                    struct gi_err *err)
{
    static const char *const suffixes[] = {".csv", ".jsonl", ".npy"};
    const char *dot = strrchr(path, '.');
    *format = GI_COMBINE_CSV;
    if (strcmp(path, "-") == 0)
        return GI_OK;
    for (int i = 0; dot && i < 3; i++)
        if (strcasecmp(dot, suffixes[i]) == 0) {
            *format = (enum gi_combine_format)i;
            return GI_OK;
        }
    return gi_fail(err, GI_E_USAGE, "--table %s: want a name that ends in .csv, .jsonl or .npy",
                   path);
}

static enum gi_status open_rows(struct gi_combine *combine, struct gi_err *err)
{
    int fd;
    enum gi_status status = gi_temporary_open(&fd, 0, err);
    if (status)
        return status;
    combine->rows = fdopen(fd, "w+");
    if (combine->rows)
        return GI_OK;
    close(fd);
    return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
}

enum gi_status gi_combine_new(struct gi_combine **out, const struct gi_combine_options *options,
                              struct gi_err *err)
{
    struct gi_combine *combine = calloc(1, sizeof *combine);
    *out = combine;
    if (!combine)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    combine->options = *options;
    combine->terminal = strcmp(options->path, "-") == 0 && isatty(STDOUT_FILENO);
    enum gi_status status = gi_sink_open(&combine->sink, options->path, options->no_clobber, err);
    if (!status && options->format == GI_COMBINE_NPY)
        status = open_rows(combine, err);
    if (status)
        gi_combine_abandon(out);
    return status;
}

static bool is_text(const struct gi_combine *combine, const char *name, size_t n)
{
    const char *const *text = combine->options.texts;
    for (; text && *text; text++)
        if (strlen(*text) == n && strncmp(*text, name, n) == 0)
            return true;
    return false;
}

/* The columns that the first line names, behind those of the names. */
static enum gi_status read_columns(struct gi_combine *combine, struct gi_err *err)
{
    const char *head = combine->head ? combine->head : "";
    const char *const names[] = {combine->options.tar, combine->options.first};
    size_t n = 3;
    for (const char *at = head; *at; at++)
        n += *at == ',';
    combine->columns = calloc(n, sizeof *combine->columns);
    if (!combine->columns)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    for (int i = 0; i < 2; i++)
        if (names[i])
            combine->columns[combine->ncolumns++] =
                (struct column){names[i], strlen(names[i]), true, 0};
    for (const char *at = head; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        combine->columns[combine->ncolumns++] =
            (struct column){at, length, is_text(combine, at, length), 0};
        at += length;
    }
    return GI_OK;
}

static enum gi_status npy_head(struct gi_combine *combine, struct gi_err *err)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    if (!out)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    for (size_t i = 0; i < combine->ncolumns; i++) {
        struct column *column = &combine->columns[i];
        column->nbytes += !column->nbytes; /* NumPy has no S0 in a structure */
        fprintf(out, "%s('%.*s', '", i ? ", " : "[", (int)column->length, column->name);
        if (column->text)
            fprintf(out, "S%zu')", column->nbytes);
        else
            fprintf(out, GI_NPY_ORDER "f8')");
    }
    fputc(']', out);
    char *type = gi_text_close(out, &memory);
    enum gi_status status = type ? gi_npy_head(combine->sink, type, &combine->nrows, 1, err)
                                 : gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    free(type);
    return status;
}

/* One row from the file, texts padded with zeros. */
static enum gi_status copy_row(struct gi_combine *combine, struct gi_err *err)
{
    static const char zeros[GI_COMBINE_TEXT_MAX];
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < combine->ncolumns && !status; i++) {
        const struct column *column = &combine->columns[i];
        char field[GI_COMBINE_TEXT_MAX];
        uint32_t n = sizeof(double);
        if (column->text && fread(&n, sizeof n, 1, combine->rows) != 1)
            return gi_temporary_fail(err);
        if (fread(field, 1, n, combine->rows) != n)
            return gi_temporary_fail(err);
        status = gi_sink_write(combine->sink, field, n, err);
        if (!status && column->text)
            status = gi_sink_write(combine->sink, zeros, column->nbytes - n, err);
    }
    return status;
}

static enum gi_status copy_rows(struct gi_combine *combine, struct gi_err *err)
{
    if (fflush(combine->rows))
        return gi_temporary_fail(err);
    enum gi_status status = combine->columns ? GI_OK : read_columns(combine, err);
    if (!status)
        status = npy_head(combine, err);
    rewind(combine->rows);
    for (uint64_t i = 0; i < combine->nrows && !status; i++)
        status = copy_row(combine, err);
    return status;
}

void gi_combine_abandon(struct gi_combine **out)
{
    struct gi_combine *combine = *out;
    *out = NULL;
    if (!combine)
        return;
    gi_sink_abandon(&combine->sink);
    if (combine->rows)
        fclose(combine->rows);
    free(combine->columns);
    free(combine->head);
    free(combine);
}

static enum gi_status commit(struct gi_combine *combine, struct gi_err *err)
{
    enum gi_status status = combine->rows ? copy_rows(combine, err) : GI_OK;
    return status ? status : gi_sink_commit(&combine->sink, false, err);
}

enum gi_status gi_combine_end(struct gi_combine **out, enum gi_status status, struct gi_err *err)
{
    struct gi_combine *combine = *out;
    struct gi_err fault = {0};
    bool complete = !status || (!*err->text && status != GI_E_PIPE);
    if (combine && complete && status == GI_E_AGAIN && gi_sink_is_file(combine->sink))
        gi_fail(err, status, "%s: is not written: the machine failed, not its inputs: try again",
                combine->options.path);
    else if (combine && complete && commit(combine, &fault))
        status = (*err = fault).status;
    gi_combine_abandon(out);
    return status;
}

enum gi_status gi_combine_field(struct gi_sink *sink, const char *text, struct gi_err *err)
{
    if (!strpbrk(text, ",\"\n\r"))
        return gi_sink_write(sink, text, strlen(text), err);
    enum gi_status status = gi_sink_write(sink, "\"", 1, err);
    for (; *text && !status; text++)
        status = gi_sink_printf(sink, err, *text == '"' ? "\"\"" : "%c", *text);
    return status ? status : gi_sink_write(sink, "\"", 1, err);
}

/* Of a text that ends at `end`: past its last field's or row's end, which lies outside quotes. */
static const char *csv_end(const char *at, const char *end, bool row)
{
    for (bool quoted = false; at < end; at++) {
        quoted ^= *at == '"';
        if (!quoted && (*at == '\n' || (!row && *at == ',')))
            break;
    }
    return at;
}

static bool put_text(FILE *rows, struct column *column, const char *text, size_t n)
{
    uint32_t length = n < GI_COMBINE_TEXT_MAX ? (uint32_t)n : GI_COMBINE_TEXT_MAX;
    if (length > column->nbytes)
        column->nbytes = length;
    return fwrite(&length, sizeof length, 1, rows) == 1 && fwrite(text, 1, length, rows) == length;
}

/* The field [at, end) of CSV without its quotes. */
static bool put_field(FILE *rows, struct column *column, const char *at, const char *end)
{
    char text[GI_COMBINE_TEXT_MAX];
    bool quoted = at < end && *at == '"';
    size_t n = 0;
    for (at += quoted, end -= quoted; at < end && n < sizeof text; at++) {
        at += quoted && *at == '"'; /* the first of two */
        text[n++] = *at;
    }
    return put_text(rows, column, text, n);
}

/* One row for NumPy: the names, then the others; an empty field is NaN. */
static enum gi_status put_row(struct gi_combine *combine, const struct gi_combine_table *table,
                              const char *row, const char *end, struct gi_err *err)
{
    const char *const names[] = {table->tar, table->file};
    size_t i = 0;
    bool good = true;
    for (int k = 0; k < 2; k++)
        if (names[k])
            good &= put_text(combine->rows, &combine->columns[i++], names[k], strlen(names[k]));
    for (; i < combine->ncolumns; i++) {
        const char *stop = csv_end(row, end, false);
        char *parsed;
        double value = combine->columns[i].text ? 0 : strtod(row, &parsed);
        if (!combine->columns[i].text && parsed == row)
            value = NAN;
        good &= combine->columns[i].text ? put_field(combine->rows, &combine->columns[i], row, stop)
                                         : fwrite(&value, sizeof value, 1, combine->rows) == 1;
        row = stop + (stop < end);
    }
    combine->nrows++;
    return good ? GI_OK : gi_temporary_fail(err);
}

/* The names of the columns in CSV. */
static enum gi_status put_head(struct gi_combine *combine, struct gi_err *err)
{
    const struct gi_combine_options *o = &combine->options;
    return gi_sink_printf(combine->sink, err, "%s%s%s,%s\n", o->tar ? o->tar : "",
                          o->tar ? "," : "", o->first, combine->head);
}

/* The first line has to be that of the files before. */
static enum gi_status check_head(struct gi_combine *combine, const struct gi_combine_table *table,
                                 size_t n, struct gi_err *err)
{
    if (!combine->head) {
        combine->head = strndup(table->text, n);
        if (!combine->head)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
        return combine->rows ? read_columns(combine, err) : put_head(combine, err);
    }
    if (strlen(combine->head) == n && strncmp(combine->head, table->text, n) == 0)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "%s: has the columns %.*s, the files before it %s: want --gray, .jsonl, or "
                   "--out-dir for a table each",
                   table->file, (int)n, table->text, combine->head);
}

/* The object's beginning with the tar in front. */
static enum gi_status put_tar(struct gi_combine *combine, const char *tar, struct gi_err *err)
{
    json_t *object = json_object();
    gi_json_set_name(object, combine->options.tar, tar);
    char *text = gi_json_dump(object, combine->terminal ? JSON_ENSURE_ASCII : 0);
    if (!text)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    enum gi_status status =
        gi_sink_printf(combine->sink, err, "%.*s, ", (int)strlen(text) - 1, text);
    free(text);
    return status;
}

static enum gi_status add_json(struct gi_combine *combine, const struct gi_combine_table *table,
                               struct gi_err *err)
{
    const char *at = table->text, *end = at + table->nbytes;
    enum gi_status status = GI_OK;
    while (end > at && end[-1] == '\n')
        end--;
    if (table->tar && at < end) {
        status = put_tar(combine, table->tar, err);
        at++;
    }
    while (at < end && !status) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = newline ? (size_t)(newline - at) : (size_t)(end - at);
        status = gi_sink_write(combine->sink, at, n, err);
        if (!status && newline) /* of JSON's own layout: strings hold none */
            status = gi_sink_write(combine->sink, " ", 1, err);
        at += n + (newline != NULL);
    }
    return status ? status : gi_sink_write(combine->sink, "\n", 1, err);
}

/* `n` bytes of text as a terminal can show them, owned by the caller; NULL: out of memory. */
static char *make_safe(const char *text, size_t n)
{
    struct gi_text_memory memory;
    char *copy = strndup(text, n);
    FILE *out = copy ? gi_text_open(&memory) : NULL;
    if (out)
        gi_print_safe(out, copy);
    free(copy);
    return gi_text_close(out, &memory);
}

/* A field of CSV, on a terminal as that can show it, and a comma. */
static enum gi_status put_name(struct gi_combine *combine, const char *name, struct gi_err *err)
{
    char *safe = combine->terminal ? make_safe(name, strlen(name)) : NULL;
    if (combine->terminal && !safe)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    enum gi_status status = gi_combine_field(combine->sink, safe ? safe : name, err);
    free(safe);
    return status ? status : gi_sink_write(combine->sink, ",", 1, err);
}

/* A row of CSV behind the names. */
static enum gi_status put_csv(struct gi_combine *combine, const struct gi_combine_table *table,
                              const char *row, size_t n, struct gi_err *err)
{
    enum gi_status status = table->tar ? put_name(combine, table->tar, err) : GI_OK;
    if (!status)
        status = put_name(combine, table->file, err);
    char *safe = combine->terminal && !status ? make_safe(row, n) : NULL;
    if (!status && combine->terminal && !safe)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    if (!status)
        status = gi_sink_write(combine->sink, safe ? safe : row, safe ? strlen(safe) : n, err);
    free(safe);
    return status ? status : gi_sink_write(combine->sink, "\n", 1, err);
}

enum gi_status gi_combine_add(struct gi_combine *combine, const struct gi_combine_table *table,
                              struct gi_err *err)
{
    if (combine->options.format == GI_COMBINE_JSONL)
        return add_json(combine, table, err);
    const char *text = table->text, *end = text + table->nbytes;
    const char *newline = memchr(text, '\n', table->nbytes);
    size_t n = newline ? (size_t)(newline - text) : table->nbytes;
    enum gi_status status = check_head(combine, table, n, err);
    for (const char *at = text + n + 1; at < end && !status; at += n + 1) {
        n = (size_t)(csv_end(at, end, true) - at);
        status = combine->rows ? put_row(combine, table, at, at + n, err)
                               : put_csv(combine, table, at, n, err);
    }
    return status;
}
