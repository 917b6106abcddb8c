/* Lists pairs of inputs, by name.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/pair_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/imgio.h"

enum gi_status gi_pair_add(struct gi_batch_files *files, const char *a, const char *b,
                           struct gi_err *err)
{
    enum gi_status status = gi_list_add(&files->list, a, err);
    return status ? status : gi_list_add(&files->others, b, err);
}

enum gi_status gi_pairs_read(struct gi_batch_files *files, struct gi_err *err)
{
    const struct gi_batch_params *p = files->params;
    bool standard = strcmp(p->files_from, "-") == 0;
    FILE *file = standard ? stdin : fopen(p->files_from, "r");
    char *line = NULL, *second = NULL;
    size_t room = 0, room2 = 0, number = 0;
    ssize_t n;
    enum gi_status status = GI_OK;
    if (!file)
        return gi_fail(err, gi_status_of_errno(errno), "--pairs %s: %s", p->files_from,
                       strerror(errno));
    while (!status && (n = getdelim(&line, &room, p->null ? 0 : '\n', file)) > 0) {
        char *tab = p->null ? NULL : strchr(line, '\t'), *other = tab ? tab + 1 : NULL;
        number++;
        if (line[n - 1] == '\n' && !p->null)
            line[n - 1] = '\0';
        if (p->null && getdelim(&second, &room2, 0, file) > 0)
            other = second;
        if (tab)
            *tab = '\0';
        else if (!*line && !p->null)
            continue;
        status =
            other && *other && *line && (p->null || !strchr(other, '\t'))
                ? gi_pair_add(files, line, other, err)
                : gi_fail(err, GI_E_USAGE, "--pairs %s: %s %zu: want two names%s", p->files_from,
                          p->null ? "pair" : "line", number, p->null ? "" : " with a tab between");
    }
    if (!status && ferror(file))
        status = gi_fail(err, gi_status_of_errno(errno), "--pairs %s: %s", p->files_from,
                         strerror(errno));
    free(line);
    free(second);
    if (!standard)
        fclose(file);
    return status;
}

/* Compares by the path within the tree. */
static int by_place(const void *a, const void *b)
{
    const struct gi_input *x = *(struct gi_input *const *)a, *y = *(struct gi_input *const *)b;
    return strcmp(x->path + x->root, y->path + y->root);
}

/* Adds a pair, which is the file at the path `place` in each of the two folders. If a file is
 * missing, the pair fails when the file is opened. */
static enum gi_status add_place(struct gi_batch_files *files, char **folders, const char *place,
                                struct gi_err *err)
{
    char *names[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(folders[i]);
        if (asprintf(&names[i], "%s%s%s", folders[i], folders[i][n - 1] == '/' ? "" : "/", place) <
            0)
            names[i] = NULL;
    }
    enum gi_status status = names[0] && names[1]
                                ? gi_pair_add(files, names[0], names[1], err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: names");
    if (!status) /* its place in the tree is kept by --diff */
        files->list.inputs[files->list.n - 1].root = strlen(names[0]) - strlen(place);
    free(names[0]);
    free(names[1]);
    return status;
}

enum gi_status gi_pairs_of_folders(struct gi_batch_files *files, char **folders, struct gi_err *err)
{
    struct gi_list list = {0};
    enum gi_status status = gi_list_operands(&list, folders, 2, true, err);
    struct gi_input **sorted = status ? NULL : gi_list_sorted(&list, err);
    if (!status && !sorted)
        status = GI_E_MEMORY;
    if (!status)
        qsort(sorted, list.n, sizeof *sorted, by_place);
    for (size_t i = 0; i < list.n && !status; i++)
        if (i == 0 || by_place(&sorted[i - 1], &sorted[i]) != 0)
            status = add_place(files, folders, sorted[i]->path + sorted[i]->root, err);
    free(sorted);
    gi_list_free(&list);
    return status;
}

enum gi_status gi_pairs_name(struct gi_list *names, const struct gi_batch_files *files,
                             struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < files->others.n && !status; i++) {
        char *both;
        if (asprintf(&both, "%s\t%s", files->list.inputs[i].path, files->others.inputs[i].path) < 0)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a report");
        status = gi_list_add(names, both, err);
        free(both);
    }
    return status;
}

struct pair {
    struct gi_input a, b;
};

static int by_names(const void *x, const void *y)
{
    const struct pair *p = x, *q = y;
    int first = strcmp(p->a.path, q->a.path);
    return first ? first : strcmp(p->b.path, q->b.path);
}

/* Sorts the pairs by both names, so that the tasks agree even if they get the pairs in different
 * orders. */
static enum gi_status sort(struct gi_batch_files *files, struct gi_err *err)
{
    size_t n = files->list.n;
    struct pair *pairs = calloc(n, sizeof *pairs);
    if (!pairs)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu pairs", n);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (struct pair){files->list.inputs[i], files->others.inputs[i]};
    qsort(pairs, n, sizeof *pairs, by_names);
    for (size_t i = 0; i < n; i++) {
        files->list.inputs[i] = pairs[i].a;
        files->others.inputs[i] = pairs[i].b;
    }
    free(pairs);
    return GI_OK;
}

enum gi_status gi_pairs_share(struct gi_batch_files *files, struct gi_err *err)
{
    enum gi_status status = gi_shard_read(&files->shard, files->params->shard, err);
    files->n = files->list.n;
    if (status || !files->shard.n)
        return status;
    status = sort(files, err);
    files->share = status ? NULL : calloc(files->n + 1, sizeof *files->share);
    if (!status && !files->share)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu pairs", files->n);
    files->n = 0;
    for (size_t i = 0; i < files->list.n && !status; i++)
        if (gi_shard_takes(&files->shard, i))
            files->share[files->n++] = &files->list.inputs[i];
    return status;
}
