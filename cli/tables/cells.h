/* Prints tables whose columns are declared once as lines of text, CSV, JSON and .npy.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "imgio/imgio.h"

/* The C types of values. A missing value is null in JSON. */
enum gi_column_type {
    GI_COLUMN_NAME,  /* char[]; .npy has its first 9 bytes */
    GI_COLUMN_TEXT,  /* const char *, NULL if it is missing; not in .npy */
    GI_COLUMN_INT,   /* int, below 0 if it is missing */
    GI_COLUMN_WHOLE, /* uint64_t */
    GI_COLUMN_BOOL,  /* 0 or 1 in CSV; not in .npy */
    GI_COLUMN_REAL,  /* double, NAN if it is missing */
};

/* A column of a table whose rows are structs. */
struct gi_column {
    const char *name; /* as in CSV, JSON and .npy */
    const char *unit; /* follows the name in text; NULL: none */
    enum gi_column_type type;
    size_t offset; /* of the value in the struct */
    bool missing;  /* no row has a value; .npy has what is stored */
};

/* The column of `member` of the struct `row`. */
#define GI_COLUMN(name, unit, type, row, member)                                                   \
    {                                                                                              \
        name, unit, GI_COLUMN_##type, offsetof(row, member), false                                 \
    }

/* How the cells of a table are printed in text and CSV. */
struct gi_cell_style {
    int digits;            /* of real numbers; 0: as many as they need to read back unchanged */
    const char *missing;   /* printed for missing values */
    int name_width, width; /* of text; 0 in CSV */
};

/* Prints a line with the column's name, in which underscores become blanks, and its values in `n`
 * rows that are `stride` bytes apart. */
void gi_cells_line(FILE *out, const struct gi_column *column, const struct gi_cell_style *style,
                   const void *rows, size_t stride, int n);

/* Print the names of `n` columns, and their values in a row, separated by commas. */
void gi_cells_csv_names(FILE *out, const struct gi_column *columns, int n);
void gi_cells_csv(FILE *out, const struct gi_column *columns, int n,
                  const struct gi_cell_style *style, const void *row);
/* Prints a field of CSV, in quotes if necessary (RFC 4180). */
void gi_cells_csv_text(FILE *out, const char *text);

/* Adds the values in a row to the object, by the names of the columns. */
void gi_cells_json(json_t *object, const struct gi_column *columns, int n, const void *row);

/* Writes the header of a structured array of NumPy with `nrows` rows. gi_cells_npy() must write
 * each of them afterwards. Errors: GI_E_MEMORY, GI_E_IO. */
enum gi_status gi_cells_npy_head(struct gi_sink *sink, const struct gi_column *columns, int n,
                                 uint64_t nrows, struct gi_err *err);
enum gi_status gi_cells_npy(struct gi_sink *sink, const struct gi_column *columns, int n,
                            const void *row, struct gi_err *err);

/* A table of structs, all of whose columns are printed. */
struct gi_cells_table {
    const struct gi_column *columns;
    int ncolumns;
    const void *rows; /* `nrows` structs that are `stride` bytes apart */
    uint64_t nrows;
    size_t stride;
};

/* Prints a line of names, then a line per row. */
void gi_cells_table_csv(FILE *out, const struct gi_cells_table *table,
                        const struct gi_cell_style *style);
/* Returns an array with an object per row. */
json_t *gi_cells_table_json(const struct gi_cells_table *table);
/* Writes a structured array of NumPy. Errors: as gi_cells_npy_head(). */
enum gi_status gi_cells_table_npy(struct gi_sink *sink, const struct gi_cells_table *table,
                                  struct gi_err *err);
