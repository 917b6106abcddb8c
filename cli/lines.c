/* Reads a text line by line.
 * SPDX-License-Identifier: MIT */
#include "cli/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum gi_status grow(struct gi_lines *lines, struct gi_err *err)
{
    size_t room = lines->room ? 2 * lines->room : 128;
    char *grown = realloc(lines->text, room);
    if (!grown)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a line of %zu bytes", lines->n);
    lines->text = grown;
    lines->room = room;
    return GI_OK;
}

enum gi_status gi_lines_next(struct gi_lines *lines, bool *more, struct gi_err *err)
{
    size_t max = lines->max ? lines->max : GI_LINE_MAX;
    int c = EOF;
    *more = false;
    lines->n = 0;
    errno = 0;
    for (;;) {
        if (lines->n == lines->room && grow(lines, err))
            return GI_E_MEMORY;
        c = getc_unlocked(lines->file);
        if (c == EOF || c == lines->end)
            break;
        if (lines->n == max)
            return gi_fail(err, GI_E_FORMAT, "line %zu: is longer than %zu bytes",
                           lines->number + 1, max);
        lines->text[lines->n++] = (char)c;
    }
    if (c == EOF && ferror(lines->file))
        return gi_fail(err, gi_status_of_errno(errno), "%s", strerror(errno));
    lines->text[lines->n] = '\0';
    *more = c != EOF || lines->n;
    lines->number += *more;
    return GI_OK;
}

void gi_lines_free(struct gi_lines *lines)
{
    free(lines->text);
    *lines = (struct gi_lines){0};
}
