/* Refuses the outputs of a batch if one would be written twice, or over an input or another file
 * that an option names.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/file_batch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/rules.h"
#include "cli/paths/path_conflicts.h"
#include "imgio/small.h"

/* Returns the option that named the file, or NULL if an operand named it. */
static const char *option_of(const struct gi_batch_files *files, const struct gi_path *entry,
                             const char **path)
{
    const struct gi_batch_params *p = files->params;
    switch (entry->kind) {
    case GI_PATH_REPORT:
        *path = entry->index == 2 ? files->html : entry->index ? files->junit : p->report;
        return entry->index == 2 ? "--html" : entry->index ? "--junit" : "--report";
    case GI_PATH_TABLE:
        *path = p->table;
        return "--table";
    case GI_PATH_LIST:
        *path = p->files_from;
        return files->unit ? "--pairs" : "--files-from";
    case GI_PATH_IMAGE:
        *path = gi_rules_image(files->rules, files->chain, (int)entry->index);
        return "the image";
    default:
        return NULL;
    }
}

/* Returns the name of an input. Indices from the end of the list on are those of the further
 * inputs. */
static const char *input_of(const struct gi_batch_files *files, size_t index)
{
    const struct gi_list *more = files->in.others.n ? &files->in.others : &files->in.beside;
    return index < files->in.list.n ? files->in.list.inputs[index].path
                                    : more->inputs[index - files->in.list.n].path;
}

/* Reports a conflict between files, at least one of which an option named. */
static enum gi_status fail_option(const struct gi_batch_files *files, const struct gi_path *a,
                                  const struct gi_path *b, struct gi_err *err)
{
    const char *path = NULL, *path_b;
    const char *option = option_of(files, a, &path);
    const struct gi_path *other = option ? b : a;
    if (!option)
        option = option_of(files, b, &path);
    const char *option_b = option_of(files, other, &path_b);
    if (option_b)
        return gi_fail(err, GI_E_USAGE, "%s %s: is the file of %s too, want another one", option,
                       path, option_b);
    return gi_fail(err, GI_E_USAGE, "%s %s: is %s %s, want another file", option, path,
                   other->kind == GI_PATH_OUTPUT ? "the output of" : "the input",
                   input_of(files, other->index));
}

static enum gi_status fail_clash(const struct gi_batch_files *files, const struct gi_path *a,
                                 const struct gi_path *b, struct gi_err *err)
{
    if (a->kind != GI_PATH_OUTPUT || (b->kind != GI_PATH_OUTPUT && b->kind != GI_PATH_INPUT))
        return fail_option(files, a, b, err);
    char *output = gi_naming_output(&files->out.naming, &files->in.list, a->index);
    const char *one = input_of(files, a->index), *other = input_of(files, b->index);
    enum gi_status status =
        b->kind == GI_PATH_INPUT
            ? gi_fail(err, GI_E_USAGE,
                      "%s: the output of %s would be written over the input %s, want another %s",
                      output, one, other, files->unit ? "--diff" : "--out-dir, --out or --suffix")
            : gi_fail(err, GI_E_USAGE,
                      "%s: would be the output of %s and of %s, want --out with {dir}, {tree} or "
                      "{index}",
                      output, one, other);
    free(output);
    return status;
}

/* Adds the output of input i. If there is an output per channel, adds those of all possible
 * channels. */
static enum gi_status add_outputs(const struct gi_batch_files *files, struct gi_paths *paths,
                                  size_t i, struct gi_err *err)
{
    bool many = files->out.results == GI_BATCH_A_FILE_A_CHANNEL;
    struct gi_naming naming = files->out.naming;
    enum gi_status status = GI_OK;
    for (int c = 0; c < (many ? GI_NAMING_CHANNELS : 1) && !status; c++) {
        if (many)
            naming.channel = gi_naming_channels[c];
        char *output = gi_naming_output(&naming, &files->in.list, i);
        status = gi_paths_add(paths, GI_PATH_OUTPUT, i, output, err);
        free(output);
    }
    return status;
}

/* Adds the folders that are results. If `above` is true, adds the folders around them too, as
 * inputs. */
static enum gi_status add_folders(const struct gi_batch_files *files, struct gi_paths *paths,
                                  bool above, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < files->in.list.n && !status; i++) {
        char *output = gi_naming_output(&files->out.naming, &files->in.list, i), *inside;
        if (files->in.list.inputs[i].why || strlen(output) >= PATH_MAX) {
            free(output);
            continue;
        }
        inside = gi_small_format("%s/", output);
        status = gi_paths_add_folder(paths, GI_PATH_OUTPUT, i, inside, err);
        for (char *slash; above && !status && (slash = strrchr(output, '/'));) {
            slash[1] = '\0';
            status = gi_paths_add_folder(paths, GI_PATH_INPUT, i, output, err);
            slash[0] = '\0';
        }
        free(output);
        free(inside);
    }
    return status;
}

/* Refuses a result inside a folder that is another result, because either of the two may be written
 * first. */
static enum gi_status check_nested(const struct gi_batch_files *files, struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    enum gi_status status = add_folders(files, &paths, true, err);
    if (!status && gi_paths_conflict(&paths, false, &a, &b) && b.kind == GI_PATH_INPUT)
        status = gi_fail(err, GI_E_USAGE,
                         "the folder of %s would be inside that of %s, want another --out",
                         input_of(files, b.index), input_of(files, a.index));
    gi_paths_free(&paths);
    return status;
}

/* Refuses a folder as a result if it contains an input. If `report` is not NULL, refuses it only if
 * it contains the report. Both are checked in separate calls, because the folder of the inputs may
 * contain the report. */
static enum gi_status check_inside(const struct gi_batch_files *files, const char *report,
                                   struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    enum gi_status status = add_folders(files, &paths, false, err);
    if (!status && report)
        status = gi_paths_add_folder(&paths, GI_PATH_REPORT, 0, report, err);
    for (size_t i = 0; i < files->in.list.n + files->in.beside.n && !status && !report; i++)
        status = gi_paths_add_folder(&paths, GI_PATH_INPUT, i, input_of(files, i), err);
    if (!status && gi_paths_conflict(&paths, false, &a, &b))
        status = fail_clash(files, &a, &b, err);
    gi_paths_free(&paths);
    return status;
}

static enum gi_status check_folders(const struct gi_batch_files *files, struct gi_err *err)
{
    const char *report = files->params->report;
    enum gi_status status = check_nested(files, err);
    if (!status)
        status = check_inside(files, NULL, err);
    return status || !report ? status : check_inside(files, report, err);
}

enum gi_status gi_batch_add_options(const struct gi_batch_files *files, struct gi_paths *paths,
                                    struct gi_err *err)
{
    const struct gi_batch_params *p = files->params;
    enum gi_status status = gi_paths_add(paths, GI_PATH_REPORT, 0, p->report, err);
    if (!status)
        status = gi_paths_add(paths, GI_PATH_REPORT, 1, files->junit, err);
    if (!status)
        status = gi_paths_add(paths, GI_PATH_REPORT, 2, files->html, err);
    if (!status)
        status = gi_paths_add(paths, GI_PATH_TABLE, 0, p->table, err);
    if (!status)
        status = gi_paths_add(paths, GI_PATH_LIST, 0, p->files_from, err);
    const char *image;
    for (int i = 0; !status && (image = gi_rules_image(files->rules, files->chain, i)); i++)
        status = gi_paths_add(paths, GI_PATH_IMAGE, (size_t)i, image, err);
    return status;
}

enum gi_status gi_batch_check_listed(const struct gi_batch_files *files, struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    enum gi_status status = gi_batch_add_options(files, &paths, err);
    for (size_t i = 0; i < files->in.list.n && !status; i++) {
        if (files->out.named && !files->in.list.inputs[i].why)
            status = add_outputs(files, &paths, i, err);
        if (!status)
            status = gi_paths_add(&paths, GI_PATH_INPUT, i, files->in.list.inputs[i].path, err);
    }
    for (size_t i = files->in.list.n;
         i < files->in.list.n + files->in.others.n + files->in.beside.n && !status; i++)
        status = gi_paths_add(&paths, GI_PATH_INPUT, i, input_of(files, i), err);
    if (!status && files->out.results == GI_BATCH_A_FOLDER)
        status = check_folders(files, err);
    if (!status && gi_paths_conflict(&paths, false, &a, &b))
        status = fail_clash(files, &a, &b, err);
    gi_paths_free(&paths);
    return status;
}

enum gi_status gi_batch_check(struct gi_batch_files *files, struct gi_err *err)
{
    return files->in.stream ? gi_batch_check_stream(files, err) : gi_batch_check_listed(files, err);
}
