/* Reads tables of places, line by line.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/places_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lines.h"
#include "cli/tables/columns.h"
#include "filters/option.h"
#include "imgio/small.h"

enum { COLUMNS_MAX = 256, FILE_NAME = 0, X, Y, FIELDS };

static const char *const names[FIELDS] = {"file", "x", "y"};

/* Splits a line into the fields of the columns `at`, which are texts in `to`; NULL: it has none. */
static enum gi_status split(char *fields[FIELDS], const int at[FIELDS],
                            const struct gi_lines *lines, char *to, struct gi_err *err)
{
    const char *from = lines->text, *end = from + lines->n;
    bool last = false;
    memset(fields, 0, FIELDS * sizeof *fields);
    for (int i = 0; !last; i++) {
        char *field = to;
        if (i == COLUMNS_MAX)
            return gi_fail(err, GI_E_FORMAT, "line %zu: more than %d columns", lines->number,
                           COLUMNS_MAX);
        to = gi_columns_take_field(to, &from, end, &last) + 1;
        for (int f = 0; f < FIELDS; f++)
            if (at[f] == i)
                fields[f] = field;
    }
    return GI_OK;
}

/* Finds the columns in the line of names. */
static enum gi_status find_columns(int at[FIELDS], const struct gi_lines *lines, char *copy,
                                   struct gi_err *err)
{
    for (int f = 0; f < FIELDS; f++) {
        at[f] = -1;
        for (int i = 0; i < COLUMNS_MAX && at[f] < 0; i++) {
            char *fields[FIELDS];
            const int one[FIELDS] = {i, -1, -1};
            enum gi_status status = split(fields, one, lines, copy, err);
            if (status)
                return status;
            if (!fields[0])
                return gi_fail(err, GI_E_FORMAT, "has no column %s in its first line", names[f]);
            at[f] = strcmp(fields[0], names[f]) == 0 ? i : -1;
        }
    }
    return GI_OK;
}

static enum gi_status read_place(int *place, const char *text, const char *name, size_t line,
                                 struct gi_err *err)
{
    double v = NAN;
    const char *end = text;
    bool is_number = text && gi_number_read(&v, text, &end) && !*end;
    if (!is_number || v != floor(v) || fabs(v) > GI_PIXELS_MAX)
        return gi_fail(err, GI_E_FORMAT, "line %zu: %s is \"%.40s\": want whole pixels, up to %d",
                       line, name, text ? text : "", GI_PIXELS_MAX);
    *place = (int)v;
    return GI_OK;
}

static enum gi_status add_row(struct gi_places_table *table, char *const fields[FIELDS],
                              size_t line, struct gi_err *err)
{
    struct gi_place_row row = {0};
    if (!fields[FILE_NAME] || !*fields[FILE_NAME])
        return gi_fail(err, GI_E_FORMAT, "line %zu: has no file", line);
    enum gi_status status = read_place(&row.x, fields[X], "x", line, err);
    if (!status)
        status = read_place(&row.y, fields[Y], "y", line, err);
    if (status)
        return status;
    if (!(table->n & (table->n - 1))) { /* doubled at powers of two */
        size_t room = table->n ? 2 * table->n : 1;
        struct gi_place_row *rows = realloc(table->rows, room * sizeof *rows);
        if (!rows)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %zu places", room);
        table->rows = rows;
    }
    row.file = gi_small_copy(fields[FILE_NAME]);
    table->rows[table->n++] = row;
    return GI_OK;
}

static enum gi_status read_lines(struct gi_places_table *table, struct gi_lines *lines,
                                 struct gi_err *err)
{
    int at[FIELDS];
    bool more = true, known = false;
    enum gi_status status = GI_OK;
    while (!status) {
        char *fields[FIELDS];
        status = gi_columns_next_line(lines, &more, err);
        if (status || !more)
            break;
        char *copy = gi_small_alloc(lines->n + COLUMNS_MAX + 1);
        if (!known) {
            status = find_columns(at, lines, copy, err);
        } else {
            status = split(fields, at, lines, copy, err);
            if (!status)
                status = add_row(table, fields, lines->number, err);
        }
        known = true;
        free(copy);
    }
    return status || table->n ? status : gi_fail(err, GI_E_FORMAT, "has no rows");
}

enum gi_status gi_places_table_read(struct gi_places_table *table, const char *path,
                                    struct gi_err *err)
{
    *table = (struct gi_places_table){0};
    struct gi_lines lines = {.file = fopen(path, "re"), .end = '\n'};
    if (!lines.file)
        return gi_fail(err, gi_status_of_errno(errno), "%s: %s", path, strerror(errno));
    enum gi_status status = read_lines(table, &lines, err);
    fclose(lines.file);
    gi_lines_free(&lines);
    return status ? gi_err_prefix(err, "%s", path) : GI_OK;
}

void gi_places_table_free(struct gi_places_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        free(table->rows[i].file);
    free(table->rows);
    *table = (struct gi_places_table){0};
}
