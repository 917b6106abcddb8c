/* Lists pairs of inputs, by name.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/pair_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/rules.h"
#include "cli/lines.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

enum gi_status gi_pair_add(struct gi_batch_files *files, const char *a, const char *b,
                           struct gi_err *err)
{
    enum gi_status status = gi_list_add(&files->in.list, a, err);
    return status ? status : gi_list_add(&files->in.others, b, err);
}

/* Adds the pair of a line of two names with a tab between, or, with -0, of two lines. */
static enum gi_status add_pair(struct gi_batch_files *files, struct gi_lines *lines,
                               struct gi_err *err)
{
    const struct gi_batch_params *p = files->params;
    char *tab = p->null ? NULL : strchr(lines->text, '\t'), *first = lines->text, *kept = NULL;
    const char *other = tab ? tab + 1 : NULL;
    size_t number = p->null ? (lines->number + 1) / 2 : lines->number;
    enum gi_status status = GI_OK;
    if (tab)
        *tab = '\0';
    if (p->null) {
        bool more;
        first = kept = gi_small_copy(lines->text);
        status = gi_lines_next(lines, &more, err);
        other = !status && more ? lines->text : NULL;
    }
    if (status)
        gi_err_prefix(err, "--pairs %s", p->files_from);
    else if (other && *other && *first && (p->null || !strchr(other, '\t')))
        status = gi_matcher_rule(gi_rules_matcher(files->rules), first) == GI_RULE_NOT_CHOSEN
                     ? GI_OK
                     : gi_pair_add(files, first, other, err);
    else
        status = gi_fail(err, GI_E_USAGE, "--pairs %s: %s %zu: want two names%s", p->files_from,
                         p->null ? "pair" : "line", number, p->null ? "" : " with a tab between");
    free(kept);
    return status;
}

enum gi_status gi_pairs_read(struct gi_batch_files *files, struct gi_err *err)
{
    const struct gi_batch_params *p = files->params;
    bool standard = strcmp(p->files_from, "-") == 0, more = true;
    FILE *file = standard ? stdin : fopen(p->files_from, "r");
    enum gi_status status = GI_OK;
    if (!file)
        return gi_fail(err, gi_status_of_errno(errno), "--pairs %s: %s", p->files_from,
                       strerror(errno));
    struct gi_lines lines = {.file = file, .end = p->null ? 0 : '\n'};
    while (!status) {
        status = gi_lines_next(&lines, &more, err);
        if (status)
            gi_err_prefix(err, "--pairs %s", p->files_from);
        if (status || !more)
            break;
        if (*lines.text || p->null)
            status = add_pair(files, &lines, err);
    }
    gi_lines_free(&lines);
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
    char *names[2];
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(folders[i]);
        names[i] =
            gi_small_format("%s%s%s", folders[i], folders[i][n - 1] == '/' ? "" : "/", place);
    }
    enum gi_status status = gi_pair_add(files, names[0], names[1], err);
    if (!status) /* its place in the tree is kept by --diff */
        files->in.list.inputs[files->in.list.n - 1].root = strlen(names[0]) - strlen(place);
    free(names[0]);
    free(names[1]);
    return status;
}

enum gi_status gi_pairs_of_folders(struct gi_batch_files *files, char **folders, struct gi_err *err)
{
    struct gi_list list = {.matcher = gi_rules_matcher(files->rules)};
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
    for (size_t i = 0; i < files->in.others.n && !status; i++) {
        char *both = gi_small_format("%s\t%s", files->in.list.inputs[i].path,
                                     files->in.others.inputs[i].path);
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
    size_t n = files->in.list.n;
    struct pair *pairs = calloc(n, sizeof *pairs);
    if (!pairs)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu pairs", n);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (struct pair){files->in.list.inputs[i], files->in.others.inputs[i]};
    qsort(pairs, n, sizeof *pairs, by_names);
    for (size_t i = 0; i < n; i++) {
        files->in.list.inputs[i] = pairs[i].a;
        files->in.others.inputs[i] = pairs[i].b;
    }
    free(pairs);
    return GI_OK;
}

enum gi_status gi_pairs_share(struct gi_batch_files *files, struct gi_err *err)
{
    enum gi_status status = gi_shard_read(&files->in.shard, files->params->shard, err);
    if (!status && files->in.shard.n)
        status = sort(files, err);
    return status ? status : gi_batch_share(files, err);
}
