/* Prints tables of findings. In text the columns of whole numbers are 9 characters wide, and those
 * of real numbers 14.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/rows_table.h"

#include "cli/json.h"

static int width_of(const struct gi_column *column)
{
    return column->type == GI_COLUMN_REAL ? 14 : 9;
}

static void print_cell(FILE *out, const struct gi_column *column, const void *row)
{
    const void *value = (const char *)row + column->offset;
    if (column->type == GI_COLUMN_REAL)
        fprintf(out, "%*.6g", width_of(column), *(const double *)value);
    else if (column->type == GI_COLUMN_WHOLE)
        fprintf(out, "%*llu", width_of(column), (unsigned long long)*(const uint64_t *)value);
    else
        fprintf(out, "%*d", width_of(column), *(const int *)value);
}

static void print_text(FILE *out, const struct gi_findings *report,
                       const struct gi_rows_table *table)
{
    const struct gi_cells_table *cells = &table->cells;
    gi_report_print_head(out, report->file, report->image, report->maxval);
    fprintf(out, "\n%llu %s%s\n\n", (unsigned long long)cells->nrows,
            cells->nrows == 1 ? table->row : table->rows, table->note ? table->note : "");
    for (int i = 0; i < cells->ncolumns; i++)
        fprintf(out, "%s%*s", i ? " " : "", width_of(&cells->columns[i]), cells->columns[i].name);
    fputc('\n', out);
    for (uint64_t j = 0; j < cells->nrows; j++) {
        const void *row = (const char *)cells->rows + (size_t)j * cells->stride;
        for (int i = 0; i < cells->ncolumns; i++) {
            fputs(i ? " " : "", out);
            print_cell(out, &cells->columns[i], row);
        }
        fputc('\n', out);
    }
}

static enum gi_status print_json(FILE *out, const struct gi_findings *report,
                                 const struct gi_rows_table *table, struct gi_err *err)
{
    json_t *object = gi_report_json(report->file, report->image, report->maxval);
    if (table->add_json)
        table->add_json(object, report);
    json_object_set_new(object, table->rows, gi_cells_table_json(&table->cells));
    return gi_json_print(out, object, 0, err);
}

enum gi_status gi_rows_table_print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                                   const struct gi_findings *report,
                                   const struct gi_rows_table *table, struct gi_err *err)
{
    const struct gi_cell_style style = {.digits = table->digits, .missing = ""};
    if (format == GI_TABLE_NPY)
        return gi_cells_table_npy(sink, &table->cells, err);
    if (format == GI_TABLE_JSON)
        return print_json(out, report, table, err);
    if (format == GI_TABLE_CSV)
        gi_cells_table_csv(out, &table->cells, &style);
    else
        print_text(out, report, table);
    return GI_OK;
}
