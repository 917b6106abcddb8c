/* Prints text into memory, and compares words. open_memstream() can't be used, because that of
 * glibc 2.36 loses text if memory runs out, and neither ferror() nor fclose() reports the loss.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "imgio/imgio.h"

/* The printed text of nbytes bytes, followed by a zero byte. */
struct gi_text_memory {
    char *at;
    size_t nbytes, capacity;
    bool large; /* the text may be too large for the memory */
};

/* Opens a stream that prints a small text (imgio/small.h) to *text. *text must stay at the same
 * address until gi_text_close(). */
FILE *gi_text_open(struct gi_text_memory *text);
/* The same for a text that grows with an input, as a table does. */
FILE *gi_text_open_large(struct gi_text_memory *text);
/* Closes the stream and returns the malloc()ed text, which the caller frees. Returns NULL if it is
 * a large text and memory ran out at any time since gi_text_open_large(). */
char *gi_text_close(FILE *stream, struct gi_text_memory *text);
/* Closes the stream of a large text. If `status`, the result of printing the text, is GI_OK, writes
 * the text to the sink. Errors: `status`, GI_E_MEMORY, and as gi_sink_write(). */
enum gi_status gi_text_write(FILE *stream, struct gi_text_memory *text, enum gi_status status,
                             struct gi_sink *sink, struct gi_err *err);

/* Returns whether the first `n` characters of `word` are one of `names`, which are separated by
 * spaces. Upper and lower case count as equal. */
bool gi_text_is_one_of(const char *names, const char *word, size_t n);
/* Returns whether the name ends in a dot followed by one of the suffixes. */
bool gi_text_has_suffix(const char *name, const char *suffixes);
