/* Prints the cells of tables, whose columns say where a struct has its value.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/tables/number.h"
#include "cli/text.h"
#include "imgio/npy.h"

enum { NAME_NBYTES = 9 /* in .npy */ };

/* A value, in the member for its type. */
struct value {
    bool none;
    const char *text; /* NAME and TEXT; NULL for numbers */
    uint64_t whole;   /* WHOLE, INT and BOOL */
    double real;
};

static struct value value_of(const struct gi_column *column, const void *row)
{
    const void *at = (const char *)row + column->offset;
    struct value value = {.none = column->missing};
    switch (column->type) {
    case GI_COLUMN_NAME:
        value.text = at;
        break;
    case GI_COLUMN_TEXT:
        value.text = *(const char *const *)at;
        value.none |= !value.text;
        break;
    case GI_COLUMN_INT:
        value.whole = (uint64_t) * (const int *)at;
        value.none |= *(const int *)at < 0;
        break;
    case GI_COLUMN_WHOLE:
        value.whole = *(const uint64_t *)at;
        break;
    case GI_COLUMN_BOOL:
        value.whole = *(const bool *)at;
        break;
    case GI_COLUMN_REAL:
        value.real = *(const double *)at;
        value.none |= isnan(value.real);
    }
    return value;
}

/* Prints the number with `digits` digits. 0 digits: prints the shortest decimal number that reads
 * back as `value`. */
static void print_real(char text[GI_NUMBER_NBYTES], double value, int digits)
{
    for (int n = digits ? digits : 15; n <= 17; n++) {
        snprintf(text, GI_NUMBER_NBYTES, "%.*g", n, value);
        double back = strtod(text, NULL);
        if (digits || memcmp(&back, &value, sizeof back) == 0)
            break;
    }
}

static void print_cell(FILE *out, const struct gi_column *column, const struct gi_cell_style *style,
                       const void *row)
{
    const struct value value = value_of(column, row);
    char number[GI_NUMBER_NBYTES];
    if (!value.none && value.text) {
        gi_cells_csv_text(out, value.text);
        return;
    }
    if (column->type == GI_COLUMN_REAL)
        print_real(number, value.real, style->digits);
    else
        *gi_number_whole(number, value.whole) = '\0';
    fprintf(out, "%*s", style->width, value.none ? style->missing : number);
}

void gi_cells_line(FILE *out, const struct gi_column *column, const struct gi_cell_style *style,
                   const void *rows, size_t stride, int n)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", column->name, column->unit ? ", " : "",
             column->unit ? column->unit : "");
    for (char *p = name; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    fprintf(out, "%-*s", style->name_width, name);
    for (int i = 0; i < n; i++)
        print_cell(out, column, style, (const char *)rows + (size_t)i * stride);
    putc('\n', out);
}

void gi_cells_csv_names(FILE *out, const struct gi_column *columns, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(out, i ? ",%s" : "%s", columns[i].name);
}

void gi_cells_csv(FILE *out, const struct gi_column *columns, int n,
                  const struct gi_cell_style *style, const void *row)
{
    for (int i = 0; i < n; i++) {
        if (i)
            putc(',', out);
        print_cell(out, &columns[i], style, row);
    }
}

void gi_cells_csv_text(FILE *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\n\r");
    if (quoted)
        putc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, out);
    if (quoted)
        putc('"', out);
}

void gi_cells_json(json_t *object, const struct gi_column *columns, int n, const void *row)
{
    for (int i = 0; i < n; i++) {
        const struct value value = value_of(&columns[i], row);
        enum gi_column_type type = columns[i].type;
        json_object_set_new(object, columns[i].name,
                            value.none               ? json_null()
                            : value.text             ? gi_json_text(value.text)
                            : type == GI_COLUMN_REAL ? gi_json_real(value.real)
                            : type == GI_COLUMN_BOOL ? json_boolean(value.whole)
                                                     : json_integer((json_int_t)value.whole));
    }
}

/* The types that .npy files can hold. */
static const struct {
    const char *name;
    size_t nbytes;
} npy_types[] = {
    [GI_COLUMN_NAME] = {"S9", NAME_NBYTES},
    [GI_COLUMN_INT] = {GI_NPY_ORDER "i4", sizeof(int32_t)},
    [GI_COLUMN_WHOLE] = {GI_NPY_ORDER "u8", sizeof(uint64_t)},
    [GI_COLUMN_REAL] = {GI_NPY_ORDER "f8", sizeof(double)},
};

enum gi_status gi_cells_npy_head(struct gi_sink *sink, const struct gi_column *columns, int n,
                                 uint64_t nrows, struct gi_err *err)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    for (int i = 0; i < n; i++)
        fprintf(out, "%s('%s', '%s')", i ? ", " : "[", columns[i].name,
                npy_types[columns[i].type].name);
    putc(']', out);
    char *type = gi_text_close(out, &memory);
    enum gi_status status = gi_npy_head(sink, type, &nrows, 1, err);
    free(type);
    return status;
}

enum gi_status gi_cells_npy(struct gi_sink *sink, const struct gi_column *columns, int n,
                            const void *row, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++) {
        const char *at = (const char *)row + columns[i].offset;
        char name[NAME_NBYTES + 1] = "";
        if (columns[i].type == GI_COLUMN_NAME)
            at = strncpy(name, at, NAME_NBYTES);
        status = gi_sink_write(sink, at, npy_types[columns[i].type].nbytes, err);
    }
    return status;
}

/* ---- tables ---- */

static const void *row_at(const struct gi_cells_table *table, uint64_t i)
{
    return (const char *)table->rows + (size_t)i * table->stride;
}

void gi_cells_table_csv(FILE *out, const struct gi_cells_table *table,
                        const struct gi_cell_style *style)
{
    gi_cells_csv_names(out, table->columns, table->ncolumns);
    putc('\n', out);
    for (uint64_t i = 0; i < table->nrows; i++) {
        gi_cells_csv(out, table->columns, table->ncolumns, style, row_at(table, i));
        putc('\n', out);
    }
}

json_t *gi_cells_table_json(const struct gi_cells_table *table)
{
    json_t *list = json_array();
    for (uint64_t i = 0; i < table->nrows; i++) {
        json_t *object = json_object();
        gi_cells_json(object, table->columns, table->ncolumns, row_at(table, i));
        json_array_append_new(list, object);
    }
    return list;
}

enum gi_status gi_cells_table_npy(struct gi_sink *sink, const struct gi_cells_table *table,
                                  struct gi_err *err)
{
    enum gi_status status =
        gi_cells_npy_head(sink, table->columns, table->ncolumns, table->nrows, err);
    for (uint64_t i = 0; i < table->nrows && !status; i++)
        status = gi_cells_npy(sink, table->columns, table->ncolumns, row_at(table, i), err);
    return status;
}
