/* Prints CSV in aligned columns.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/columns.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/process.h"

enum { GAP = 2, DIGITS = 6, KEYS_MAX = 2 };

struct column {
    int width; /* in characters; 0: all rows are empty, and the column is left out */
    bool number;
};

/* A table of `nrows` rows, of which the first has the names. */
struct table {
    char *text; /* the fields, each ended by a zero byte */
    const char **fields;
    struct column *columns;
    size_t nrows, ncolumns;
};

static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80; /* not inside a character of UTF-8 */
    return n;
}

/* Returns whether the text is a number or empty. */
static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return !*end;
}

/* Rounds a number with a fraction to DIGITS digits, in place. */
static void shorten(char *text)
{
    char *end, rounded[32];
    double value = strtod(text, &end);
    if (end == text || *end || !strpbrk(text, ".e"))
        return;
    snprintf(rounded, sizeof rounded, "%.*g", DIGITS, value);
    if (strlen(rounded) < strlen(text))
        memcpy(text, rounded, strlen(rounded) + 1);
}

enum gi_status gi_columns_next_line(struct gi_lines *lines, bool *more, struct gi_err *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    enum gi_status status;
    do {
        status = gi_lines_next(lines, more, err);
        if (status || !*more)
            return status;
        if (lines->n && lines->text[lines->n - 1] == '\r')
            lines->text[--lines->n] = '\0';
        if (lines->number == 1 && strncmp(lines->text, mark, 3) == 0)
            memmove(lines->text, lines->text + 3, (lines->n -= 3) + 1);
    } while (!lines->n);
    return GI_OK;
}

char *gi_columns_take_field(char *to, const char **from, const char *end, bool *last)
{
    const char *at = *from;
    for (bool quoted = false; at < end; at++) {
        if (*at == '"' && quoted && at + 1 < end && at[1] == '"')
            *to++ = *at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && (*at == ',' || *at == '\n'))
            break;
        else
            *to++ = *at;
    }
    *last = at >= end || *at == '\n';
    *from = at + (at < end);
    *to = '\0';
    return to;
}

/* Splits the CSV into fields. Missing fields of a row are empty, and surplus ones are left out. */
static bool parse(struct table *table, const char *csv, size_t nbytes)
{
    const char *at = csv, *end = csv + nbytes;
    size_t room = 1;
    for (const char *p = csv; p < end; p++)
        room += *p == ',' || *p == '\n';
    table->text = malloc(nbytes + room + 1);
    table->fields = malloc(room * sizeof *table->fields);
    char *to = table->text;
    if (!to || !table->fields)
        return false;
    for (size_t n = 0; at < end; n = 0, table->nrows++) {
        const char **row = table->fields + table->nrows * table->ncolumns;
        for (bool last = false; !last; n++) {
            char *field = to;
            to = gi_columns_take_field(to, &at, end, &last) + 1;
            shorten(field);
            if (!table->nrows || n < table->ncolumns)
                row[n] = field;
        }
        for (; table->nrows && n < table->ncolumns; n++)
            row[n] = "";
        table->ncolumns = table->nrows ? table->ncolumns : n;
    }
    table->columns = calloc(table->ncolumns + 1, sizeof *table->columns);
    return table->columns;
}

static void measure(struct table *table)
{
    for (size_t c = 0; c < table->ncolumns; c++) {
        struct column *column = &table->columns[c];
        column->number = true;
        bool empty = table->nrows > 1;
        for (size_t r = 1; r < table->nrows; r++)
            empty = empty && !*table->fields[r * table->ncolumns + c];
        if (empty)
            continue; /* its width stays 0 */
        for (size_t r = 0; r < table->nrows; r++) {
            const char *field = table->fields[r * table->ncolumns + c];
            int width = width_of(field);
            column->width = width > column->width ? width : column->width;
            column->number = column->number && (!r || is_number(field));
        }
    }
}

/* Prints the field of a row, after a gap unless it is the first. Returns the padding that is due
 * before the next field. */
static int print_field(const struct table *table, size_t row, size_t c, int due)
{
    const struct column *column = &table->columns[c];
    if (!column->width)
        return due;
    const char *field = table->fields[row * table->ncolumns + c];
    int pad = column->width - width_of(field);
    printf("%*s", due + (column->number ? pad : 0), "");
    gi_print_safe(stdout, field);
    return GAP + (column->number ? 0 : pad);
}

/* Prints the columns first <= c < end, after those before `keys`. */
static void print_block(const struct table *table, size_t keys, size_t first, size_t end)
{
    for (size_t r = 0; r < table->nrows; r++) {
        int due = 0;
        for (size_t c = 0; c < keys; c++)
            due = print_field(table, r, c, due);
        for (size_t c = first; c < end; c++)
            due = print_field(table, r, c, due);
        putchar('\n');
    }
}

static void print_blocks(const struct table *table, int width)
{
    size_t keys = 0;
    int used = 0;
    while (keys < KEYS_MAX && keys < table->ncolumns && !table->columns[keys].number)
        used += table->columns[keys++].width + GAP;
    if (!keys && table->ncolumns)
        used = table->columns[keys++].width + GAP;
    size_t first = keys, end;
    do {
        int at = used;
        for (end = first; end < table->ncolumns; end++) {
            int more = table->columns[end].width ? table->columns[end].width + GAP : 0;
            if (at + more - GAP > width && at > used)
                break;
            at += more;
        }
        if (at == used && first > keys)
            break; /* only empty columns are left */
        if (first > keys)
            putchar('\n');
        print_block(table, keys, first, end);
        first = end;
    } while (end < table->ncolumns);
}

enum gi_status gi_columns_print(const char *csv, size_t nbytes, int width, struct gi_err *err)
{
    struct table table = {0};
    bool good = !nbytes || parse(&table, csv, nbytes);
    if (good && nbytes) {
        measure(&table);
        print_blocks(&table, width);
    }
    free(table.text);
    free(table.fields);
    free(table.columns);
    return good ? gi_cli_flush(err) : gi_fail(err, GI_E_MEMORY, "out of memory: a table");
}

enum gi_status gi_columns_end(struct gi_sink **sink, struct gi_err *err)
{
    void *csv;
    size_t nbytes;
    enum gi_status status = gi_sink_take(sink, &csv, &nbytes, err);
    if (status)
        return status;
    status = gi_columns_print(csv, nbytes, gi_terminal_width(STDOUT_FILENO), err);
    free(csv);
    return status;
}
