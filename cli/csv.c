/* Reads CSV tables line by line, because they may have hundreds of millions of lines.
 * SPDX-License-Identifier: MIT */
#include "cli/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads the next line without its newline. */
static enum gi_status next_line(struct gi_csv *csv, bool *more, struct gi_err *err)
{
    struct gi_lines *lines = &csv->lines;
    enum gi_status status = gi_lines_next(lines, more, err);
    while (!status && lines->n && lines->text[lines->n - 1] == '\r')
        lines->text[--lines->n] = '\0';
    return status;
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
    bool more;
    *csv = (struct gi_csv){
        .lines = {.file = fopen(path, "r"), .end = '\n'}, .ncolumns = n, .names = names};
    if (!csv->lines.file)
        return gi_fail(err, gi_status_of_errno(errno), "%s: %s", path, strerror(errno));
    enum gi_status status = next_line(csv, &more, err);
    if (!status && !more)
        status = gi_fail(err, GI_E_FORMAT, "is empty, want a line of names");
    if (status)
        return gi_err_prefix(err, "%s", path);
    const char *head = csv->lines.text + (strncmp(csv->lines.text, mark, 3) == 0 ? 3 : 0);
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
    const char *at = csv->lines.text;
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
                return gi_fail(err, GI_E_FORMAT, "line %zu: %s is \"%.*s\", want a number",
                               csv->lines.number, csv->names[i], n < 40 ? (int)n : 40, at);
            found++;
        }
        at += n;
        if (!*at)
            break;
    }
    return found == wanted ? GI_OK
                           : gi_fail(err, GI_E_FORMAT, "line %zu: ends early", csv->lines.number);
}

enum gi_status gi_csv_next(struct gi_csv *csv, double *v, bool *end, struct gi_err *err)
{
    enum gi_status status;
    bool more;
    do
        status = next_line(csv, &more, err);
    while (!status && more && !*csv->lines.text);
    *end = status || !more;
    return *end ? status : read_row(csv, v, err);
}

void gi_csv_close(struct gi_csv *csv)
{
    if (csv->lines.file)
        fclose(csv->lines.file);
    gi_lines_free(&csv->lines);
    *csv = (struct gi_csv){0};
}
