/* Prints text into memory, and compares words. open_memstream() can't be used: if memory runs out,
 * the one of glibc 2.36 loses text, and neither ferror() nor fclose() reports it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TEXT_H
#define GI_CLI_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "imgio/imgio.h"

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
/* Closes the stream and writes its text to the sink, unless printing it failed with `status`.
 * Errors: `status`, GI_E_MEMORY, and as gi_sink_write(). */
enum gi_status gi_text_write(FILE *stream, struct gi_text_memory *text, enum gi_status status,
                             struct gi_sink *sink, struct gi_err *err);

/* Returns whether the first `n` characters of `word` are one of the names, which are separated by
 * spaces, in any case. */
bool gi_text_is_one_of(const char *names, const char *word, size_t n);
/* Returns whether the name ends in a dot and one of the suffixes. */
bool gi_text_has_suffix(const char *name, const char *suffixes);

#endif
