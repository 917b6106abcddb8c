/* Refuses the outputs of a batch whose list is not in memory if one would be written twice, or over
 * an input or another file that an option names. The list is read once for the keys of all paths,
 * and once more for the names of paths with equal keys, if there are any.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/hash.h"
#include "cli/inputs/file_batch.h"
#include "cli/paths/equal_keys.h"
#include "cli/paths/matcher.h"
#include "cli/paths/output.h"
#include "cli/paths/path_conflicts.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

enum {
    FOLDER_SLOTS = 4096,
    FOUND_MAX = 64,   /* equal keys whose names are looked up */
    NAMES_MAX = 1024, /* names that are looked up */
};

/* A folder and its key, which takes system calls to find. */
struct folder {
    char *path;
    uint64_t key;
};

struct check {
    struct gi_batch_files *files;
    struct folder *folders; /* FOLDER_SLOTS, each for the paths with its hash */
    struct gi_equal_keys *keys;
    uint64_t found[FOUND_MAX];
    size_t nfound;
};

static uint64_t folder_key(const struct check *check, const char *path, size_t n)
{
    struct folder *folder = &check->folders[gi_hash(GI_HASH_START, path, n) % FOLDER_SLOTS];
    if (folder->path && strncmp(folder->path, path, n) == 0 && !folder->path[n])
        return folder->key;
    free(folder->path);
    folder->path = gi_small_copy_n(path, n);
    folder->key = gi_path_folder_key(folder->path);
    return folder->key;
}

/* Returns the key of the file whose path has `n` characters. */
static uint64_t key_of(const struct check *check, const char *path, size_t n)
{
    const char *slash = memrchr(path, '/', n);
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    return gi_path_key(folder_key(check, path, folder), path + folder, n - folder);
}

static uint64_t key_of_input(const struct check *check, const struct gi_input *input)
{
    struct gi_selection selection;
    return key_of(check, input->path, gi_path_file(input->path, &selection));
}

/* Sets *key to the key of the output of an input. Returns false if it has none. */
static bool key_of_output(uint64_t *key, const struct check *check, const struct gi_list *one)
{
    const struct gi_batch_files *files = check->files;
    if (!files->out.named || one->inputs->why)
        return false;
    char *output = gi_naming_output(&files->out.naming, one, 0);
    const char *file = gi_output_file(output);
    size_t n = strlen(file);
    bool has = n < PATH_MAX && strcmp(output, "-") != 0;
    if (has)
        *key = key_of(check, file, n);
    free(output);
    return has;
}

/* Adds the keys of the files that options name. */
static enum gi_status add_options(const struct check *check, struct gi_err *err)
{
    struct gi_paths paths = {0};
    enum gi_status status = gi_batch_add_options(check->files, &paths, err);
    for (size_t i = 0; i < paths.n && !status; i++)
        status = gi_equal_keys_add(check->keys, paths.all[i].key, paths.all[i].kind < GI_PATH_INPUT,
                                   err);
    gi_paths_free(&paths);
    return status;
}

/* Adds the keys of all inputs and outputs, and counts the inputs. */
static enum gi_status add_all(const struct check *check, struct gi_err *err)
{
    struct gi_batch_files *files = check->files;
    struct gi_list one;
    uint64_t key;
    bool more;
    enum gi_status status;
    files->in.n = 0;
    while (!(status = gi_list_stream_next_one(files->in.stream, &one, &more, err)) && more) {
        files->in.n++;
        if (!one.inputs->why)
            status = gi_equal_keys_add(check->keys, key_of_input(check, one.inputs), false, err);
        if (!status && key_of_output(&key, check, &one))
            status = gi_equal_keys_add(check->keys, key, true, err);
        if (status)
            break;
    }
    return status;
}

static bool is_found(const struct check *check, uint64_t hash)
{
    uint64_t key = gi_equal_keys_key(hash);
    for (size_t i = 0; i < check->nfound; i++)
        if (check->found[i] == key)
            return true;
    return false;
}

/* Puts the inputs with the keys that were found into in.list. */
static enum gi_status look_up(const struct check *check, struct gi_err *err)
{
    struct gi_batch_files *files = check->files;
    struct gi_list one, *list = &files->in.list;
    uint64_t key;
    bool more;
    enum gi_status status = GI_OK;
    gi_list_stream_rewind(files->in.stream);
    while (list->n < NAMES_MAX &&
           !(status = gi_list_stream_next_one(files->in.stream, &one, &more, err)) && more) {
        const struct gi_input *input = one.inputs;
        if (input->why || (!is_found(check, key_of_input(check, input)) &&
                           !(key_of_output(&key, check, &one) && is_found(check, key))))
            continue;
        status = gi_list_add(list, input->path, err);
        if (status)
            break;
        list->inputs[list->n - 1].root = input->root;
        list->inputs[list->n - 1].number = input->number;
    }
    return status;
}

/* Checks the inputs with equal keys like those of a list in memory. */
static enum gi_status check_found(const struct check *check, struct gi_err *err)
{
    struct gi_list *list = &check->files->in.list;
    struct gi_matcher *matcher = list->matcher;
    enum gi_status status = look_up(check, err);
    if (!status)
        status = gi_batch_check_listed(check->files, err);
    gi_list_free(list);
    list->matcher = matcher;
    return status;
}

/* Refuses a list without names, and warns of patterns that no name matches. A shard may be empty,
 * and the other shards may have names that match. */
static enum gi_status check_any(const struct gi_batch_files *files, struct gi_err *err)
{
    bool any = files->in.n > 0;
    enum gi_status status = GI_OK;
    if (files->in.shard.n && !any)
        status = gi_list_stream_find(files->in.stream, &any, err);
    if (status || (files->in.shard.n && any))
        return status;
    struct gi_list all = {.n = files->in.n,
                          .matcher = files->in.list.matcher,
                          .not_chosen = gi_list_stream_left_out(files->in.stream)};
    return gi_list_check(&all, err);
}

enum gi_status gi_batch_check_stream(struct gi_batch_files *files, struct gi_err *err)
{
    struct check check = {.files = files,
                          .folders = gi_small_calloc(FOLDER_SLOTS, sizeof *check.folders),
                          .keys = gi_equal_keys_new()};
    enum gi_status status = add_options(&check, err);
    if (!status)
        status = add_all(&check, err);
    if (!status)
        status = check_any(files, err);
    if (!status)
        status = gi_equal_keys_find(check.keys, check.found, FOUND_MAX, &check.nfound, err);
    gi_equal_keys_free(&check.keys);
    if (!status && check.nfound)
        status = check_found(&check, err);
    files->source.n = files->in.n;
    gi_list_stream_rewind(files->in.stream);
    for (int i = 0; i < FOLDER_SLOTS; i++)
        free(check.folders[i].path);
    free(check.folders);
    return status;
}
