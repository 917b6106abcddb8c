/* Reads CSV tables line by line, because they may have hundreds of millions of lines.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads the next line without its newline. Returns false at the end. */
static bool next_line(struct gi_csv *csv)
{
    ssize_t n = getline(&csv->line, &csv->room, csv->file);
    while (n > 0 && (csv->line[n - 1] == '\n' || csv->line[n - 1] == '\r'))
        csv->line[--n] = '\0';
    csv->number += n >= 0;
    return n >= 0;
}

/* Returns the index of the column with this name in the line `head`, or -1 if there is none. */
static int find(const char *head, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0;; i++, head++) {
        size_t word = strcspn(head, ",");
        if (word == n && strncmp(head, name, n) == 0)
            return i;
        head += word;
        if (!*head)
            return -1;
    }
}

enum gi_status gi_csv_open(struct gi_csv *csv, const char *path, const char *const *names, int n,
                           int must, struct gi_err *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* UTF-8's byte order mark, which some files have */
    *csv = (struct gi_csv){.file = fopen(path, "r"), .ncolumns = n, .names = names};
    if (!csv->file)
        return gi_fail(err, GI_E_IO, "%s: %s", path, strerror(errno));
    if (!next_line(csv))
        return gi_fail(err, GI_E_FORMAT, "%s: %s", path,
                       ferror(csv->file) ? strerror(errno) : "is empty, want a line of names");
    const char *head = csv->line + (strncmp(csv->line, mark, 3) == 0 ? 3 : 0);
    for (int i = 0; i < n; i++) {
        csv->column[i] = find(head, names[i]);
        if (csv->column[i] < 0 && i < must)
            return gi_fail(err, GI_E_FORMAT, "%s: has no column %s in its first line", path,
                           names[i]);
    }
    return GI_OK;
}

static enum gi_status read_row(const struct gi_csv *csv, double *v, struct gi_err *err)
{
    const char *at = csv->line;
    int found = 0, wanted = 0;
    for (int i = 0; i < csv->ncolumns; i++) {
        v[i] = NAN;
        wanted += csv->column[i] >= 0;
    }
    for (int column = 0;; column++, at++) {
        size_t n = strcspn(at, ",");
        for (int i = 0; i < csv->ncolumns; i++) {
            char *end;
            if (csv->column[i] != column)
                continue;
            v[i] = strtod(at, &end);
            if (!n || end != at + n)
                return gi_fail(err, GI_E_FORMAT, "line %ld: %s is \"%.*s\", want a number",
                               csv->number, csv->names[i], n < 40 ? (int)n : 40, at);
            found++;
        }
        at += n;
        if (!*at)
            break;
    }
    return found == wanted ? GI_OK : gi_fail(err, GI_E_FORMAT, "line %ld: ends early", csv->number);
}

enum gi_status gi_csv_next(struct gi_csv *csv, double *v, bool *end, struct gi_err *err)
{
    errno = 0;
    do
        *end = !next_line(csv);
    while (!*end && !*csv->line);
    if (!*end)
        return read_row(csv, v, err);
    return ferror(csv->file) ? gi_fail(err, GI_E_IO, "%s", strerror(errno)) : GI_OK;
}

void gi_csv_close(struct gi_csv *csv)
{
    if (csv->file)
        fclose(csv->file);
    free(csv->line);
    *csv = (struct gi_csv){0};
}
