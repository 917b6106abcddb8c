/* Expands brace lists into names.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/brace.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

/* The names made so far, and the text that they are made from. */
struct names {
    char **at;
    size_t n, room;
    const char *text; /* the whole text, for messages */
};

/* A brace list in the text from `open` to `close`, and its numbers if it is a range. */
struct brace {
    const char *open, *close;
    bool range;
    long from, to;
    /* Number of digits to which zeros fill up the numbers; 0 if they are not filled up. */
    int width;
};

static enum gi_status add(struct names *names, const char *name, struct gi_err *err)
{
    if (names->n == GI_BRACE_NAMES_MAX)
        return gi_fail(err, GI_E_USAGE, "%s: stands for more than %d names", names->text,
                       GI_BRACE_NAMES_MAX);
    if (!*name || strlen(name) >= PATH_MAX)
        return gi_fail(err, GI_E_USAGE, "%s: is a name of %zu bytes: want 1 to %d", name,
                       strlen(name), PATH_MAX - 1);
    if (names->n == names->room) {
        names->room = names->room ? 2 * names->room : 16;
        names->at = gi_small_realloc(names->at, names->room, sizeof *names->at);
    }
    names->at[names->n++] = gi_small_copy(name);
    return GI_OK;
}

/* Reads an integer of up to 9 digits between `text` and `end`. */
static bool read_number(long *value, int *width, const char *text, const char *end)
{
    char digits[16] = "";
    size_t n = (size_t)(end - text);
    if (n < 1 || n > 9 || strspn(text, "0123456789") < n)
        return false;
    memcpy(digits, text, n);
    *value = strtol(digits, NULL, 10);
    *width = *text == '0' && n > 1 ? (int)n : 0;
    return true;
}

static bool read_range(struct brace *brace)
{
    int from, to;
    const char *dots = memmem(brace->open, (size_t)(brace->close - brace->open), "..", 2);
    if (!dots || !read_number(&brace->from, &from, brace->open + 1, dots) ||
        !read_number(&brace->to, &to, dots + 2, brace->close))
        return false;
    int left = (int)(dots - brace->open) - 1, right = (int)(brace->close - dots) - 2;
    brace->width = from || to ? (left > right ? left : right) : 0;
    return true;
}

/* Finds the first brace of `text` that is a list or a range. */
static bool find(struct brace *brace, const char *text)
{
    for (const char *open = text; (open = strchr(open, '{')); open++) {
        size_t n = strcspn(open + 1, "{}");
        *brace = (struct brace){.open = open, .close = open + 1 + n};
        if (*brace->close != '}')
            continue;
        brace->range = read_range(brace);
        if (brace->range || memchr(open, ',', n + 1))
            return true;
    }
    return false;
}

static enum gi_status expand(struct names *names, const char *text, struct gi_err *err);

/* Replaces the brace list by the `n` characters at `part`, and adds all names to which the
 * resulting text expands. */
static enum gi_status put(struct names *names, const char *text, const struct brace *brace,
                          const char *part, size_t n, struct gi_err *err)
{
    char *whole = gi_small_format("%.*s%.*s%s", (int)(brace->open - text), text, (int)n, part,
                                  brace->close + 1);
    enum gi_status status = expand(names, whole, err);
    free(whole);
    return status;
}

static enum gi_status expand(struct names *names, const char *text, struct gi_err *err)
{
    struct brace brace;
    enum gi_status status = GI_OK;
    if (!find(&brace, text))
        return add(names, text, err);
    if (!brace.range) {
        for (const char *at = brace.open + 1; at <= brace.close && !status;) {
            size_t n = strcspn(at, ",}");
            status = put(names, text, &brace, at, n, err);
            at += n + 1;
        }
        return status;
    }
    int step = brace.from <= brace.to ? 1 : -1;
    for (long v = brace.from; !status; v += step) {
        char part[32];
        int n = snprintf(part, sizeof part, "%0*ld", brace.width, v);
        status = put(names, text, &brace, part, (size_t)n, err);
        if (v == brace.to)
            break;
    }
    return status;
}

enum gi_status gi_brace_list(char ***out, size_t *n, const char *text, struct gi_err *err)
{
    struct names names = {.text = text};
    enum gi_status status = expand(&names, text, err);
    *out = names.at;
    *n = names.n;
    return status;
}

void gi_brace_free(char ***names, size_t n)
{
    for (size_t i = 0; *names && i < n; i++)
        free((*names)[i]);
    free(*names);
    *names = NULL;
}
