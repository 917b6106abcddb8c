/* One table of the tables of many files.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/combine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "imgio/npy.h"

struct gi_combine {
    enum gi_combine_format format;
    struct gi_sink *sink;
    char *head; /* the first line of CSV, without its end; NULL: no file came yet */
    size_t longest;
    FILE *rows; /* NumPy: without their number the array's head can't be written */
    uint64_t nrows;
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

enum gi_status gi_combine_new(struct gi_combine **out, const char *path,
                              enum gi_combine_format format, size_t longest, bool no_clobber,
                              struct gi_err *err)
{
    struct gi_combine *combine = calloc(1, sizeof *combine);
    *out = combine;
    if (!combine)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    combine->format = format;
    combine->longest = longest ? longest : 1;
    enum gi_status status = gi_sink_open(&combine->sink, path, no_clobber, err);
    if (!status && format == GI_COMBINE_NPY && !(combine->rows = tmpfile()))
        status = gi_fail(err, gi_status_of_errno(errno), "a temporary file: %s", strerror(errno));
    if (status)
        gi_combine_end(out, false, NULL);
    return status;
}

/* Columns of the head: file, then doubles. */
static enum gi_status npy_head(struct gi_combine *combine, struct gi_err *err)
{
    char *type = NULL;
    size_t nbytes;
    FILE *out = open_memstream(&type, &nbytes);
    if (!out)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    fprintf(out, "[('file', 'S%zu')", combine->longest);
    for (const char *at = combine->head ? combine->head : ""; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        fprintf(out, ", ('%.*s', '" GI_NPY_ORDER "f8')", (int)n, at);
        at += n;
    }
    fputc(']', out);
    enum gi_status status = fclose(out) ? gi_fail(err, GI_E_MEMORY, "out of memory: a table")
                                        : gi_npy_head(combine->sink, type, &combine->nrows, 1, err);
    free(type);
    return status;
}

static enum gi_status copy_rows(struct gi_combine *combine, struct gi_err *err)
{
    char buffer[65536];
    enum gi_status status = npy_head(combine, err);
    rewind(combine->rows);
    for (size_t n; !status && (n = fread(buffer, 1, sizeof buffer, combine->rows)) > 0;)
        status = gi_sink_write(combine->sink, buffer, n, err);
    return status;
}

enum gi_status gi_combine_end(struct gi_combine **out, bool keep, struct gi_err *err)
{
    struct gi_combine *combine = *out;
    enum gi_status status = GI_OK;
    *out = NULL;
    if (!combine)
        return status;
    if (keep && combine->rows)
        status = copy_rows(combine, err);
    if (keep && !status)
        status = gi_sink_commit(&combine->sink, false, err);
    gi_sink_abandon(&combine->sink);
    if (combine->rows)
        fclose(combine->rows);
    free(combine->head);
    free(combine);
    return status;
}

/* A field of CSV: in quotes where it has to be (RFC 4180). */
static enum gi_status put_field(struct gi_sink *sink, const char *text, struct gi_err *err)
{
    if (!strpbrk(text, ",\"\n\r"))
        return gi_sink_write(sink, text, strlen(text), err);
    enum gi_status status = gi_sink_write(sink, "\"", 1, err);
    for (; *text && !status; text++)
        status = gi_sink_printf(sink, err, *text == '"' ? "\"\"" : "%c", *text);
    return status ? status : gi_sink_write(sink, "\"", 1, err);
}

/* One row for NumPy: the name, padded with zeros, then the numbers; an empty field is NaN. */
static enum gi_status put_row(struct gi_combine *combine, const char *file, const char *row,
                              struct gi_err *err)
{
    size_t n = strlen(file);
    bool good = fwrite(file, 1, n < combine->longest ? n : combine->longest, combine->rows) > 0;
    for (; n < combine->longest; n++)
        good = good && fputc(0, combine->rows) != EOF;
    const char *column = combine->head;
    for (;;) {
        char *end;
        double value = strtod(row, &end);
        if (end == row)
            value = NAN;
        good = good && fwrite(&value, sizeof value, 1, combine->rows) == 1;
        row = end + strcspn(end, ",\n");
        row += *row == ',';
        column = strchr(column, ',');
        if (!column)
            break;
        column++;
    }
    combine->nrows++;
    return good ? GI_OK
                : gi_fail(err, gi_status_of_errno(errno), "a temporary file: %s", strerror(errno));
}

/* The first line has to be that of the files before. */
static enum gi_status check_head(struct gi_combine *combine, const char *file, const char *text,
                                 size_t n, struct gi_err *err)
{
    if (!combine->head) {
        combine->head = strndup(text, n);
        if (!combine->head)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
        return combine->format == GI_COMBINE_NPY
                   ? GI_OK
                   : gi_sink_printf(combine->sink, err, "file,%s\n", combine->head);
    }
    if (strlen(combine->head) == n && strncmp(combine->head, text, n) == 0)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "%s: has the columns %.*s, the files before it %s: want --gray, .jsonl, or "
                   "--out-dir for a table each",
                   file, (int)n, text, combine->head);
}

static enum gi_status add_json(struct gi_combine *combine, const char *text, size_t nbytes,
                               struct gi_err *err)
{
    enum gi_status status = GI_OK;
    while (nbytes && text[nbytes - 1] == '\n')
        nbytes--;
    for (const char *at = text, *end = text + nbytes; at < end && !status;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = newline ? (size_t)(newline - at) : (size_t)(end - at);
        status = gi_sink_write(combine->sink, at, n, err);
        if (!status && newline) /* of JSON's own layout: strings hold none */
            status = gi_sink_write(combine->sink, " ", 1, err);
        at += n + (newline != NULL);
    }
    return status ? status : gi_sink_write(combine->sink, "\n", 1, err);
}

enum gi_status gi_combine_add(struct gi_combine *combine, const char *file, const char *text,
                              size_t nbytes, struct gi_err *err)
{
    if (combine->format == GI_COMBINE_JSONL)
        return add_json(combine, text, nbytes, err);
    const char *end = text + nbytes, *newline = memchr(text, '\n', nbytes);
    size_t n = newline ? (size_t)(newline - text) : nbytes;
    enum gi_status status = check_head(combine, file, text, n, err);
    for (const char *at = text + n + 1; at < end && !status; at += n + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        n = newline ? (size_t)(newline - at) : (size_t)(end - at);
        if (combine->format == GI_COMBINE_NPY) {
            status = put_row(combine, file, at, err);
            continue;
        }
        status = put_field(combine->sink, file, err);
        if (!status)
            status = gi_sink_write(combine->sink, ",", 1, err);
        if (!status)
            status = gi_sink_write(combine->sink, at, n, err);
        if (!status)
            status = gi_sink_write(combine->sink, "\n", 1, err);
    }
    return status;
}
