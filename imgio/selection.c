/* Reads the brackets behind a path, which choose images of a file and bands of them.
 * SPDX-License-Identifier: MIT */
#include "imgio/imgio.h"
#include "imgio/small.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads at most 9 digits, and moves *text past them. Returns -1 if there are no digits. */
static int read_number(const char **text)
{
    int v = -1;
    for (int i = 0; i < 9 && **text >= '0' && **text <= '9'; i++, (*text)++)
        v = 10 * (v < 0 ? 0 : v) + **text - '0';
    return v;
}

/* Returns the last bracket that opens in the first `length` characters of `path`, if they end in a
 * bracket that closes. Otherwise returns NULL. */
static const char *last_bracket(const char *path, size_t length)
{
    const char *open = length && path[length - 1] == ']' ? memrchr(path, '[', length) : NULL;
    return open == path ? NULL : open;
}

/* Reads the brackets that choose images, at the end of the first `length` characters of `path`.
 * Returns the number of characters before them. */
static size_t read_images(const char *path, size_t length, struct gi_selection *selection)
{
    const char *open = last_bracket(path, length), *at = open ? open + 1 : NULL;
    if (!open)
        return length;
    struct gi_selection s = {.given = true, .step = 1};
    if (*at == '*') {
        at++;
        s.several = true;
        s.last = -1;
    } else {
        s.first = s.last = read_number(&at);
        if (s.first >= 0 && *at == '-') {
            at++;
            s.several = true;
            s.last = read_number(&at); /* -1 if there is none */
        }
        if (s.first < 0 || (s.last >= 0 && s.last < s.first))
            return length;
    }
    if (s.several && at[0] == '.' && at[1] == '.') {
        at += 2;
        s.step = read_number(&at);
    }
    if (at != path + length - 1 || s.step < 1)
        return length;
    s.bands = selection->bands;
    *selection = s;
    return (size_t)(open - path);
}

size_t gi_path_file(const char *path, struct gi_selection *selection)
{
    static const char word[] = "[bands=";
    size_t length = strlen(path);
    *selection = (struct gi_selection){0};
    const char *open = last_bracket(path, length);
    if (!open || access(path, F_OK) == 0)
        return length;
    if (strncmp(open, word, sizeof word - 1) != 0)
        return read_images(path, length, selection);
    if (!gi_band_choice_read(&selection->bands, open + sizeof word - 1, path + length - 1)) {
        *selection = (struct gi_selection){0};
        return length;
    }
    return read_images(path, (size_t)(open - path), selection);
}

bool gi_selection_is_all(const struct gi_selection *selection)
{
    return !selection->given ||
           (selection->first == 0 && selection->last < 0 && selection->step == 1);
}

bool gi_selection_has(const struct gi_selection *selection, uint64_t i)
{
    uint64_t first = (uint64_t)selection->first;
    return !selection->given ||
           (i >= first && (selection->last < 0 || i <= (uint64_t)selection->last) &&
            (i - first) % (uint64_t)selection->step == 0);
}

const char *gi_path_hint(const char *path)
{
    const char *open = strrchr(path, '[');
    bool bands = open && strncmp(open, "[bands", 6) == 0;
    size_t n = !open ? 0 : bands ? strcspn(open + 1, "]") : strspn(open + 1, "0123456789:,.-* ");
    char *file =
        n && strcmp(open + 1 + n, "]") == 0 ? gi_small_copy_n(path, (size_t)(open - path)) : NULL;
    bool exists = file && access(file, F_OK) == 0;
    free(file);
    return !exists ? ""
           : bands ? "; bands are chosen as x.tif[bands=1], [bands=3,2,1] or [bands=1,2,3,a4]"
                   : "; pages are chosen as x.tif[3], [0-2], [2-], [*] or [0-8..2]";
}
