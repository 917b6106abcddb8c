/* Tables of findings: a row per finding, as text, CSV, JSON and .npy.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/tables/cells.h"
#include "cli/tables/table_file.h"

struct gi_rows_table {
    const char *row, *rows; /* "peak", "peaks": names in text; `rows` is the member of JSON */
    struct gi_cells_table
        cells;        /* columns of GI_COLUMN_INT, _WHOLE and _REAL, in CSV and JSON also _TEXT */
    int digits;       /* of real numbers in CSV; 0: as in struct gi_cell_style */
    const char *note; /* follows the number of rows in text. NULL: nothing follows */
    /* Adds members to the JSON, before the list. NULL: none. */
    void (*add_json)(json_t *object, const struct gi_findings *report);
};

/* Prints the table in `format`. The arguments are those of gi_table_print_fn. Errors: GI_E_MEMORY,
 * GI_E_IO. */
enum gi_status gi_rows_table_print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                                   const struct gi_findings *report,
                                   const struct gi_rows_table *table, struct gi_err *err);
