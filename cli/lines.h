/* Reads a text line by line. Unlike getline(), it tells the end of the file from a lack of memory,
 * and bounds the length of a line.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "imgio/status.h"

/* Maximum bytes of a line of a list or a table: 256 paths of the maximum length. */
enum { GI_LINE_MAX = 1 << 20 };

/* A text being read. A reader fills in the first members. */
struct gi_lines {
    FILE *file;
    int end;    /* character at the end of a line; EOF: all of the file is one line */
    size_t max; /* maximum bytes of a line; 0 means GI_LINE_MAX */
    /* the current line, which ends in a zero byte in place of its end, its number of bytes without
     * that, and its number, from 1; owned here until gi_lines_free() */
    char *text;
    size_t n, number;
    size_t room;
};

/* Reads the next line. Sets *more to false at the end of the file; an end without a line before it
 * is none. The errors' texts do not name the file. Errors: GI_E_MEMORY, GI_E_FORMAT (a longer
 * line), and those of the file. */
enum gi_status gi_lines_next(struct gi_lines *lines, bool *more, struct gi_err *err);
void gi_lines_free(struct gi_lines *lines);
