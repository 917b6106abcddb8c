/* Colour look-up tables in the text format .cube.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "imgio/status.h"

enum { GI_CUBE_3D_MAX = 256, GI_CUBE_1D_MAX = 65536 };

/* A table: n rows (1-D), or n^3 rows (3-D) in which red changes fastest. A row is red, green and
 * blue of the result. */
struct gi_cube {
    bool solid;   /* 3-D */
    int n;        /* 2 to GI_CUBE_3D_MAX or GI_CUBE_1D_MAX */
    size_t rows;  /* n or n^3 */
    double lo[3]; /* the input that the first entry is for, per channel; full scale is 1 */
    double hi[3]; /* that of the last entry; above `lo` */
};

/* Reads the lines before the rows of a .cube file, which tell the shape of the table. *text becomes
 * the first row and *line its number. Errors: as gi_cube_read(). */
enum gi_status gi_cube_read_head(struct gi_cube *cube, const char **text, int *line,
                                 struct gi_err *err);

/* Reads the text of a .cube file: comments, TITLE, LUT_1D_SIZE or LUT_3D_SIZE, DOMAIN_MIN,
 * DOMAIN_MAX, LUT_1D_INPUT_RANGE, LUT_3D_INPUT_RANGE, and the rows, which must be complete and
 * finite. The entries are written to `entries`, 3 * cube->rows floats; NULL: they are only checked.
 * Sources: Adobe, "Cube LUT specification", version 1.0, 2013; Blackmagic Design's files, for the
 * ranges. Errors: GI_E_USAGE, with a message that begins with "line 12: ". */
enum gi_status gi_cube_read(struct gi_cube *cube, float *entries, const char *text,
                            struct gi_err *err);
