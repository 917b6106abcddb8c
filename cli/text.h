/* Text that is printed into memory. open_memstream() of glibc 2.36 forgets what it had no memory
 * for and says so neither by ferror() nor by fclose(). SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TEXT_H
#define GI_CLI_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* What was printed; `at` ends in a zero behind nbytes. */
struct gi_text_memory {
    char *at;
    size_t nbytes, capacity;
};

/* A stream into *text, which stays where it is until gi_text_close(). NULL: out of memory. */
FILE *gi_text_open(struct gi_text_memory *text);
/* Ends the stream. Returns the text, malloc()ed, owned by the caller; NULL where memory ran out at
 * any time, or `stream` is NULL. */
char *gi_text_close(FILE *stream, struct gi_text_memory *text);

#endif
