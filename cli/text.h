/* Prints text into memory. This is needed because open_memstream() of glibc 2.36 loses text if
 * memory runs out and reports that neither by ferror() nor by fclose().
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TEXT_H
#define GI_CLI_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* The printed text, of nbytes, followed by a zero. */
struct gi_text_memory {
    char *at;
    size_t nbytes, capacity;
};

/* Opens a stream that writes to *text, which must not move until gi_text_close(). NULL: out of
 * memory. */
FILE *gi_text_open(struct gi_text_memory *text);
/* Closes the stream. Returns the text, malloc()ed, owned by the caller; NULL if memory ran out at
 * any time, or `stream` is NULL. */
char *gi_text_close(FILE *stream, struct gi_text_memory *text);

#endif
