/* Tables of shapes and of the boxes of detectors, for gpuimg draw.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/plot/drawing.h"

/* A row. Texts and numbers are owned here. */
struct gi_shape_row {
    struct gi_shape shape; /* width and size NAN, and the alpha of ink -1, if the row has none */
    char *file;            /* the image; NULL: every image */
    char *text;            /* label and score; NULL: none */
    int kind;              /* number of the class in the order of the table, from 0 */
};

struct gi_shapes_table {
    struct gi_shape_row *rows;
    size_t n;
    char **classes; /* the labels, each once */
    size_t nclasses;
    bool larger, broken; /* a coordinate is above 1; one is no whole number */
};

/* Reads a CSV table, whose columns are found by their names (shapes_table.c). It is freed by
 * gi_shapes_table_free(), also after an error. Errors: GI_E_IO, GI_E_FORMAT, GI_E_MEMORY. */
enum gi_status gi_shapes_table_read(struct gi_shapes_table *table, const char *path,
                                    struct gi_err *err);
void gi_shapes_table_free(struct gi_shapes_table *table);

/* Returns whether the row is drawn on the image `input`: the row has no file, or one of the two
 * paths is the end of the other, from a slash on. If the row's file has no dot, the suffix of the
 * input does not count. */
bool gi_shape_row_is_for(const struct gi_shape_row *row, const char *input);
/* Returns the file of the first row, or NULL if there is a row for every image, or none at all. */
const char *gi_shapes_table_first(const struct gi_shapes_table *table);

/* Reads the numbers of a shape, separated by commas or blanks, such as "10,20 30,40". shape->kind
 * is set; shape->v, which the caller frees, and shape->n become the numbers. `what` names the text
 * in messages. Errors: GI_E_USAGE. */
enum gi_status gi_shape_numbers(struct gi_shape *shape, const char *what, const char *text,
                                struct gi_err *err);

/* Reads a colour that has a name or is written as #rrggbb. Returns false for other texts. */
bool gi_shape_ink(struct gi_ink *ink, const char *text);
