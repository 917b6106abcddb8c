/* Prints text into memory. open_memstream() can't be used: if memory runs out, the one of glibc
 * 2.36 loses text, and neither ferror() nor fclose() reports it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TEXT_H
#define GI_CLI_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* The printed text of nbytes bytes, followed by a zero byte. */
struct gi_text_memory {
    char *at;
    size_t nbytes, capacity;
};

/* Opens a stream that prints to *text, which must stay where it is until gi_text_close(). NULL: out
 * of memory. */
FILE *gi_text_open(struct gi_text_memory *text);
/* Closes the stream and returns the malloc()ed text, which the caller frees. NULL: memory ran out
 * at some time, or `stream` is NULL. */
char *gi_text_close(FILE *stream, struct gi_text_memory *text);

#endif
