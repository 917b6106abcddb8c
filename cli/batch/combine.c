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
#include "cli/say.h"
#include "cli/text.h"
#include "imgio/npy.h"

struct gi_combine {
    struct gi_combine_options options;
    struct gi_sink *sink;
    bool terminal; /* it is one */
    char *head;    /* the first line of CSV, without its end; NULL: no file came yet */
    FILE *rows;    /* NumPy: without their number the array's head can't be written */
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
    combine->options.first.nbytes += !options->first.nbytes; /* NumPy has no S0 in a structure */
    combine->terminal = strcmp(options->path, "-") == 0 && isatty(STDOUT_FILENO);
    enum gi_status status = gi_sink_open(&combine->sink, options->path, false, err);
    if (!status && options->format == GI_COMBINE_NPY)
        status = open_rows(combine, err);
    if (status)
        gi_combine_end(out, false, NULL);
    return status;
}

/* The column of text among the others whose name is `n` bytes at `name`; NULL: of numbers. */
static const struct gi_combine_text *text_column(const struct gi_combine *combine, const char *name,
                                                 size_t n)
{
    const struct gi_combine_text *text = combine->options.texts;
    for (; text && text->name; text++)
        if (strlen(text->name) == n && strncmp(text->name, name, n) == 0)
            return text;
    return NULL;
}

/* Columns of the head: the file, then doubles and texts. */
static enum gi_status npy_head(struct gi_combine *combine, struct gi_err *err)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    if (!out)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    fprintf(out, "[('%s', 'S%zu')", combine->options.first.name, combine->options.first.nbytes);
    for (const char *at = combine->head ? combine->head : ""; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        const struct gi_combine_text *text = text_column(combine, at, n);
        if (text)
            fprintf(out, ", ('%s', 'S%zu')", text->name, text->nbytes);
        else
            fprintf(out, ", ('%.*s', '" GI_NPY_ORDER "f8')", (int)n, at);
        at += n;
    }
    fputc(']', out);
    char *type = gi_text_close(out, &memory);
    enum gi_status status = type ? gi_npy_head(combine->sink, type, &combine->nrows, 1, err)
                                 : gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    free(type);
    return status;
}

static enum gi_status copy_rows(struct gi_combine *combine, struct gi_err *err)
{
    char buffer[65536];
    if (fflush(combine->rows))
        return gi_temporary_fail(err);
    enum gi_status status = npy_head(combine, err);
    rewind(combine->rows);
    for (size_t n; !status && (n = fread(buffer, 1, sizeof buffer, combine->rows)) > 0;)
        status = gi_sink_write(combine->sink, buffer, n, err);
    return status || !ferror(combine->rows) ? status : gi_temporary_fail(err);
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

/* The field [at, end), padded with zeros to `nbytes`. */
static bool put_text(FILE *rows, const char *at, const char *end, size_t nbytes)
{
    bool good = true, quoted = at < end && *at == '"';
    size_t n = 0;
    for (at += quoted, end -= quoted; at < end; at++, n++) {
        at += quoted && *at == '"'; /* the first of two */
        good = good && (n >= nbytes || fputc(*at, rows) != EOF);
    }
    for (; n < nbytes; n++)
        good = good && fputc(0, rows) != EOF;
    return good;
}

/* One row for NumPy: the name, then the others; an empty field is NaN. */
static enum gi_status put_row(struct gi_combine *combine, const char *file, const char *row,
                              const char *end, struct gi_err *err)
{
    const char *column = combine->head;
    size_t n = strlen(file), room = combine->options.first.nbytes;
    bool good = fwrite(file, 1, n < room ? n : room, combine->rows) > 0;
    for (; n < room; n++)
        good = good && fputc(0, combine->rows) != EOF;
    for (bool more = true; more; column++) {
        const char *stop = csv_end(row, end, false);
        size_t length = strcspn(column, ",");
        const struct gi_combine_text *text = text_column(combine, column, length);
        char *parsed;
        double value = text ? 0 : strtod(row, &parsed);
        if (!text && parsed == row)
            value = NAN;
        good = good && (text ? put_text(combine->rows, row, stop, text->nbytes)
                             : fwrite(&value, sizeof value, 1, combine->rows) == 1);
        row = stop + (stop < end);
        column += length;
        more = *column == ',';
    }
    combine->nrows++;
    return good ? GI_OK : gi_temporary_fail(err);
}

/* The first line has to be that of the files before. */
static enum gi_status check_head(struct gi_combine *combine, const char *file, const char *text,
                                 size_t n, struct gi_err *err)
{
    if (!combine->head) {
        combine->head = strndup(text, n);
        if (!combine->head)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a table");
        return combine->options.format == GI_COMBINE_NPY
                   ? GI_OK
                   : gi_sink_printf(combine->sink, err, "%s,%s\n", combine->options.first.name,
                                    combine->head);
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

/* A row of CSV behind the file's name. */
static enum gi_status put_csv(struct gi_combine *combine, const char *file, const char *row,
                              size_t n, struct gi_err *err)
{
    char *safe_file = combine->terminal ? make_safe(file, strlen(file)) : NULL;
    char *safe_row = combine->terminal ? make_safe(row, n) : NULL;
    enum gi_status status = GI_OK;
    if (combine->terminal && (!safe_file || !safe_row))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    if (!status)
        status = gi_combine_field(combine->sink, safe_file ? safe_file : file, err);
    if (!status)
        status = gi_sink_write(combine->sink, ",", 1, err);
    if (!status)
        status = safe_row ? gi_sink_write(combine->sink, safe_row, strlen(safe_row), err)
                          : gi_sink_write(combine->sink, row, n, err);
    free(safe_file);
    free(safe_row);
    return status ? status : gi_sink_write(combine->sink, "\n", 1, err);
}

enum gi_status gi_combine_add(struct gi_combine *combine, const char *file, const char *text,
                              size_t nbytes, struct gi_err *err)
{
    if (combine->options.format == GI_COMBINE_JSONL)
        return add_json(combine, text, nbytes, err);
    const char *end = text + nbytes, *newline = memchr(text, '\n', nbytes);
    size_t n = newline ? (size_t)(newline - text) : nbytes;
    enum gi_status status = check_head(combine, file, text, n, err);
    for (const char *at = text + n + 1; at < end && !status; at += n + 1) {
        n = (size_t)(csv_end(at, end, true) - at);
        if (combine->options.format == GI_COMBINE_NPY) {
            status = put_row(combine, file, at, at + n, err);
            continue;
        }
        status = put_csv(combine, file, at, n, err);
    }
    return status;
}
