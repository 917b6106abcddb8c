/* Makes the names of a batch's outputs from the names of its inputs.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/inputs/path_conflicts.h"
#include "cli/text.h"
#include "imgio/imgio.h"

static const char plain[] = "{tree}/{stem}.{ext}", a_channel[] = "{tree}/{stem}_{channel}.{ext}";

const char *const gi_naming_channels[GI_NAMING_CHANNELS] = {"r", "g", "b", "a", "k"};

enum field { DIR_FIELD, TREE, STEM, EXT, NAME, INDEX, CHANNEL, FIELDS };
static const char *const fields[FIELDS] = {"dir",  "tree",  "stem",   "ext",
                                           "name", "index", "channel"};

/* Looks for a field at `text`, which begins with a brace. Returns its number, and sets *n to its
 * length with both braces. -1: there is no such field. */
static int field_at(const char *text, size_t *n)
{
    for (int i = 0; i < FIELDS; i++) {
        *n = strlen(fields[i]) + 2;
        if (strncmp(text + 1, fields[i], *n - 2) == 0 && text[*n - 1] == '}')
            return i;
    }
    return -1;
}

enum gi_status gi_naming_check(const struct gi_naming *naming, struct gi_err *err)
{
    size_t n;
    const char *option = naming->option ? naming->option : "--out";
    bool channel = !naming->channel || !naming->template;
    for (const char *at = naming->template; at && (at = strchr(at, '{')); at += n) {
        int field = field_at(at, &n);
        if (field < 0 || (field == CHANNEL && !naming->channel))
            return gi_fail(
                err, GI_E_USAGE, "%s %s: %s: want {dir}, {tree}, {stem}, {ext}, {name}%s", option,
                naming->template, at, naming->channel ? ", {index} or {channel}" : " or {index}");
        channel |= field == CHANNEL;
    }
    return channel ? GI_OK
                   : gi_fail(err, GI_E_USAGE, "%s %s: want {channel} in it, for a file per channel",
                             option, naming->template);
}

/* A part of a path. */
struct piece {
    const char *text;
    size_t n;
};

static struct piece piece_of(enum field field, const struct gi_naming *naming,
                             const struct gi_input *input, char index[24])
{
    const char *path = input->path, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    if (dot == name)
        dot = NULL;
    const char *suffix = naming->suffix ? naming->suffix : dot ? dot : "";
    suffix += *suffix == '.';
    switch (field) {
    case DIR_FIELD:
        return slash ? (struct piece){path, slash == path ? 1 : (size_t)(slash - path)}
                     : (struct piece){".", 1};
    case TREE:
        return path + input->root < name
                   ? (struct piece){path + input->root, (size_t)(name - path) - input->root - 1}
                   : (struct piece){"", 0};
    case STEM:
        return (struct piece){name, dot ? (size_t)(dot - name) : strlen(name)};
    case EXT:
        return (struct piece){suffix, strlen(suffix)};
    case NAME:
        return (struct piece){name, strlen(name)};
    case CHANNEL:
        return *naming->channel ? (struct piece){naming->channel, strlen(naming->channel)}
                                : (struct piece){"{channel}", 9};
    default:
        return (struct piece){index, strlen(index)};
    }
}

char *gi_naming_output(const struct gi_naming *naming, const struct gi_list *list, size_t at)
{
    const struct gi_input *input = &list->inputs[at];
    const char *text = naming->template ? naming->template : naming->channel ? a_channel : plain;
    char index[24];
    size_t n;
    snprintf(index, sizeof index, "%zu", at);
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    if (!out)
        return NULL;
    size_t length = naming->folder ? strlen(naming->folder) : 0;
    if (length)
        fprintf(out, "%s%s", naming->folder, naming->folder[length - 1] == '/' ? "" : "/");
    for (; *text; text += n) {
        int field = *text == '{' ? field_at(text, &n) : -1;
        if (field < 0 || (field == CHANNEL && !naming->channel)) {
            n = 1;
            putc(*text, out);
            continue;
        }
        struct piece piece = piece_of((enum field)field, naming, input, index);
        fwrite(piece.text, 1, piece.n, out);
        n += !piece.n && text[n] == '/'; /* an empty folder adds no slash */
    }
    return gi_text_close(out, &memory);
}

/* Makes the folder of a path and all folders above it, except in the first `there` characters,
 * which exist. `path` is cut after its folder. */
static enum gi_status make_folder(char *path, size_t there, struct gi_err *err)
{
    char *end = strrchr(path, '/');
    if (!end)
        return GI_OK;
    end[1] = '\0';
    for (char *at = strchr(path + (there ? there : 1), '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        struct stat st;
        int why = mkdir(path, 0777) ? errno : 0;
        if (why && why != EEXIST)
            return gi_fail(err, gi_status_of_errno(why), "%s: %s", path, strerror(why));
        if (why && (stat(path, &st) || !S_ISDIR(st.st_mode)))
            return gi_fail(err, GI_E_IO, "%s: is no folder, want one for the results", path);
        *at = '/';
    }
    return GI_OK;
}

/* Returns the output up to the field {channel}: this part is the same for all channels. */
static char *start_of(const struct gi_naming *naming, const struct gi_list *list, size_t index)
{
    char *output = gi_naming_output(naming, list, index);
    char *channel = output && naming->channel ? strstr(output, "{channel}") : NULL;
    if (channel)
        *channel = '\0';
    return output;
}

enum gi_status gi_naming_folder(const struct gi_naming *naming, const struct gi_list *list,
                                size_t index, const char *path, struct gi_err *err)
{
    char *start = start_of(naming, list, index), *copy = strdup(path);
    const char *slash = start ? strrchr(start, '/') : NULL;
    enum gi_status status = start && copy
                                ? make_folder(copy, slash ? (size_t)(slash - start) + 1 : 0, err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
    free(start);
    free(copy);
    return status;
}

/* Returns output `index` of all: that of input index / n for its channel index % n. */
static char *channel_output(const struct gi_naming *naming, const struct gi_list *list,
                            size_t index)
{
    struct gi_naming one = *naming;
    one.channel = gi_naming_channels[index % GI_NAMING_CHANNELS];
    return gi_naming_output(&one, list, index / GI_NAMING_CHANNELS);
}

/* Removes abandoned temporary files from those folders of outputs per channel that exist. */
static enum gi_status clear_channels(const struct gi_naming *naming, const struct gi_list *list,
                                     struct gi_err *err)
{
    struct gi_paths folders = {0};
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < list->n * GI_NAMING_CHANNELS && !status; i++) {
        char *output = channel_output(naming, list, i);
        status = output ? gi_paths_add_folder(&folders, GI_PATH_OUTPUT, i, output, err)
                        : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        free(output);
    }
    gi_paths_sort(&folders);
    for (size_t i = 0; i < folders.n && !status; i++) {
        if (i && folders.all[i].key == folders.all[i - 1].key)
            continue;
        char *output = channel_output(naming, list, folders.all[i].index);
        char *slash = output ? strrchr(output, '/') : NULL;
        if (slash)
            slash[1] = '\0';
        gi_sink_clear_dead(slash ? output : ".");
        free(output);
    }
    gi_paths_free(&folders);
    return status;
}

enum gi_status gi_naming_folders(const struct gi_naming *naming, const struct gi_list *list,
                                 struct gi_err *err)
{
    struct gi_paths folders = {0};
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < list->n && !status; i++) {
        if (list->inputs[i].why)
            continue;
        char *output = start_of(naming, list, i);
        status = output ? gi_paths_add_folder(&folders, GI_PATH_OUTPUT, i, output, err)
                        : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        free(output);
    }
    gi_paths_sort(&folders);
    for (size_t i = 0; i < folders.n && !status; i++) {
        if (i && folders.all[i].key == folders.all[i - 1].key)
            continue;
        char *output = start_of(naming, list, folders.all[i].index);
        status = output ? make_folder(output, 0, err)
                        : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        if (!status)
            gi_sink_clear_dead(strrchr(output, '/') ? output : ".");
        free(output);
    }
    gi_paths_free(&folders);
    return status || !naming->channel ? status : clear_channels(naming, list, err);
}
