/* Prints text into memory, and compares words.
 * SPDX-License-Identifier: MIT */
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "imgio/small.h"

static ssize_t append(void *cookie, const char *bytes, size_t nbytes)
{
    struct gi_text_memory *text = cookie;
    size_t wanted = text->nbytes + nbytes + 1;
    if (wanted > text->capacity) {
        size_t capacity = wanted > 2 * text->capacity ? wanted : 2 * text->capacity;
        char *grown = realloc(text->at, capacity);
        if (!grown && !text->large)
            gi_small_check(NULL);
        if (!grown)
            return 0;
        text->at = grown;
        text->capacity = capacity;
    }
    memcpy(text->at + text->nbytes, bytes, nbytes);
    text->nbytes += nbytes;
    text->at[text->nbytes] = '\0';
    return (ssize_t)nbytes;
}

FILE *gi_text_open(struct gi_text_memory *text)
{
    *text = (struct gi_text_memory){.at = gi_small_calloc(1, 1), .capacity = 1};
    return gi_small_check(fopencookie(text, "w", (cookie_io_functions_t){.write = append}));
}

FILE *gi_text_open_large(struct gi_text_memory *text)
{
    FILE *stream = gi_text_open(text);
    text->large = true;
    return stream;
}

char *gi_text_close(FILE *stream, struct gi_text_memory *text)
{
    bool bad = ferror(stream) != 0;
    if (fclose(stream) == 0 && !bad)
        return text->at;
    if (!text->large)
        gi_small_check(NULL);
    free(text->at);
    text->at = NULL;
    return NULL;
}

enum gi_status gi_text_write(FILE *stream, struct gi_text_memory *text, enum gi_status status,
                             struct gi_sink *sink, struct gi_err *err)
{
    char *printed = gi_text_close(stream, text);
    if (!printed && !status)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a table");
    if (!status)
        status = gi_sink_write(sink, printed, text->nbytes, err);
    free(printed);
    return status;
}

bool gi_text_is_one_of(const char *names, const char *word, size_t n)
{
    for (const char *s = names; *s; s += *s == ' ') {
        size_t length = strcspn(s, " ");
        if (length == n && strncasecmp(s, word, n) == 0)
            return true;
        s += length;
    }
    return false;
}

bool gi_text_has_suffix(const char *name, const char *suffixes)
{
    const char *dot = strrchr(name, '.');
    return dot && gi_text_is_one_of(suffixes, dot + 1, strlen(dot + 1));
}
