/* Tables that say where in a larger image the images of files are, for gpuimg mosaic.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* A row: a file, and the position of its upper left pixel. */
struct gi_place_row {
    char *file; /* owned here */
    int x, y;   /* pixels, at most GI_PIXELS_MAX from 0 */
};

struct gi_places_table {
    struct gi_place_row *rows;
    size_t n; /* 1 or more */
};

/* Reads a CSV table with the columns file, x and y, in any order and with others beside them. It is
 * freed by gi_places_table_free(), also after an error. Errors: GI_E_IO, GI_E_FORMAT, GI_E_MEMORY.
 */
enum gi_status gi_places_table_read(struct gi_places_table *table, const char *path,
                                    struct gi_err *err);
void gi_places_table_free(struct gi_places_table *table);
