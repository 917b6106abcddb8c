/* Joins the reports of the tasks of a batch into one report. It has one line per input, which is
 * the last line that says that the input is done.
 * SPDX-License-Identifier: MIT */
#include "cli/hash.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/paths/input_list.h"
#include "cli/paths/list_stream.h"
#include "cli/paths/shard.h"
#include "cli/report/journal_merge.h"
#include "cli/report/journal_merge_texts.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum gi_status out_of_memory(struct gi_err *err)
{
    return gi_fail(err, GI_E_MEMORY, "out of memory: reports");
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Reads the shard that a header names; {0, 0} for the whole list. */
static bool read_shard(struct gi_shard *shard, const json_t *header)
{
    const json_t *value = json_object_get(header, "shard");
    const char *text = json_string_value(value);
    *shard = (struct gi_shard){0, 0};
    if (!value || json_is_null(value))
        return true;
    return text && isdigit((unsigned char)*text) && gi_shard_read(shard, text, NULL) == GI_OK;
}

static enum gi_status check_same(const struct gi_journal_merge *merge, const char *path,
                                 uint64_t files, const json_t *header, struct gi_err *err)
{
    const char *list = text_of(header, "list"), *chain = text_of(header, "chain");
    const char *version = text_of(header, "gpuimg");
    uint64_t nbytes = (uint64_t)json_integer_value(json_object_get(header, "list_bytes"));
    if (strcmp(list, merge->list) != 0 || nbytes != merge->list_nbytes ||
        (!merge->list_nbytes && files != merge->files))
        return gi_fail(err, GI_E_FORMAT,
                       "%s: is of another list: %s with %" PRIu64
                       " files, %s is of %s with %" PRIu64,
                       path, list, files, merge->first, merge->list, merge->files);
    if (strcmp(chain, merge->chain) != 0)
        return gi_fail(err, GI_E_FORMAT, "%s: is of another chain: %s, %s is of %s", path, chain,
                       merge->first, merge->chain);
    if (strcmp(text_of(header, "with"), merge->with) != 0)
        return gi_fail(err, GI_E_FORMAT,
                       "%s: is of other images, or other files, than stood under the names in its "
                       "chain for %s",
                       path, merge->first);
    if (strcmp(version, merge->version) != 0)
        gi_cli_warn("%s: is of version %s, %s of %s", path, version, merge->first, merge->version);
    return GI_OK;
}

/* Adds a shard with its number of files. A number may occur again because a task ran again, or
 * because a task was by mistake given the number of another task. In the second case the shard of
 * the task will be missing. */
static void add_shard(struct gi_journal_merge *merge, const char *path,
                      const struct gi_shard *shard, uint64_t files)
{
    for (size_t i = 0; i < merge->nshards; i++)
        if (merge->shards[i].k == shard->k && merge->shards[i].n == shard->n) {
            char part[48] = "the whole list";
            if (shard->n)
                snprintf(part, sizeof part, "shard %" PRIu32 "/%" PRIu32, shard->k, shard->n);
            gi_cli_warn("%s: is of %s, as %s is: for each input the last line that says it is done "
                        "counts",
                        path, part, merge->shards[i].path);
            return;
        }
    merge->shards = gi_small_realloc(merge->shards, merge->nshards + 1, sizeof *merge->shards);
    merge->shards[merge->nshards++] =
        (struct gi_journal_merge_shard){shard->k, shard->n, gi_small_copy(path), files};
    if (merge->list_nbytes)
        merge->files += files;
}

static enum gi_status add_header(struct gi_journal_merge *merge, const char *path,
                                 const json_t *header, struct gi_shard *shard, struct gi_err *err)
{
    json_int_t files = json_integer_value(json_object_get(header, "files"));
    if (!*text_of(header, "list") || files < 0 || !read_shard(shard, header))
        return gi_fail(err, GI_E_FORMAT, "%s: its header lacks list, files or a right shard", path);
    merge->n_differs |= merge->first && shard->n != merge->n;
    if (merge->first && check_same(merge, path, (uint64_t)files, header, err))
        return err->status;
    if (merge->list_nbytes && shard->n != merge->n)
        return gi_fail(err, GI_E_FORMAT,
                       "%s: is of one of %" PRIu32 " shards, %s is of one of %" PRIu32
                       ": want one number, because shards of so long a list are ranges of bytes",
                       path, shard->n, merge->first, merge->n);
    if (!merge->first)
        merge->list_nbytes = (uint64_t)json_integer_value(json_object_get(header, "list_bytes"));
    add_shard(merge, path, shard, (uint64_t)files);
    if (merge->first)
        return GI_OK;
    merge->n = shard->n;
    merge->first = gi_small_copy(path);
    merge->version = gi_small_copy(text_of(header, "gpuimg"));
    merge->chain = gi_small_copy(text_of(header, "chain"));
    merge->with = gi_small_copy(text_of(header, "with"));
    merge->list = gi_small_copy(text_of(header, "list"));
    if (!merge->list_nbytes)
        merge->files = (uint64_t)files;
    return GI_OK;
}

/* Returns the name that identifies a line. For a pair it is both names with a tab between them. For
 * an image made from several inputs it is the name of this image. */
static char *name_of(const json_t *item)
{
    if (json_object_get(item, "inputs"))
        return gi_json_name(item, "output");
    char *input = gi_json_name(item, "input"), *other = gi_json_name(item, "other");
    if (!input || !other)
        return input;
    char *both = gi_small_format("%s\t%s", input, other);
    free(input);
    free(other);
    return both;
}

static enum gi_status add_item(struct gi_journal_merge *merge, const json_t *item, const char *text,
                               const struct gi_shard *shard, struct gi_err *err)
{
    if (merge->nlines == merge->room) {
        size_t room = merge->room ? 2 * merge->room : 256;
        struct gi_journal_merge_line *more = realloc(merge->lines, room * sizeof *more);
        if (!more)
            return out_of_memory(err);
        merge->lines = more;
        merge->room = room;
    }
    const char *status = text_of(item, "status");
    uint64_t at;
    if (gi_journal_merge_texts_add(&merge->texts, text, &at, err))
        return err->status;
    struct gi_journal_merge_line line = {
        .text = at,
        .input = name_of(item),
        .text_nbytes = strlen(text),
        .order = merge->nlines,
        .shard = shard->k,
        .verdict = strcmp(status, "done") == 0      ? GI_JOURNAL_MERGE_DONE
                   : strcmp(status, "skipped") == 0 ? GI_JOURNAL_MERGE_KEPT
                                                    : GI_JOURNAL_MERGE_FAILED,
        .part = json_object_get(item, "tar") || json_object_get(item, "stream") ||
                json_object_get(item, "inputs"),
    };
    char *output = merge->list_nbytes ? gi_json_name(item, "output") : NULL;
    line.output = output ? gi_hash(GI_HASH_START, output, strlen(output)) : 0;
    free(output);
    merge->lines[merge->nlines++] = line;
    return line.input ? GI_OK : out_of_memory(err);
}

/* State of reading a report. */
struct reading {
    const char *path;
    uint64_t number; /* number of the line, from 1 */
    bool has_header;
    struct gi_shard shard; /* of the last header */
};

/* Handles a line of a report. `whole` says whether the line ends in a newline. */
static enum gi_status add_line(struct gi_journal_merge *merge, struct reading *r, const char *text,
                               bool whole, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    json_t *object = gi_json_read(text);
    bool is_header = json_object_get(object, "gpuimg") != NULL;
    if (!object && !whole && *text == '{')
        gi_cli_warn("%s: line %" PRIu64 " is cut short, as of a task that was killed", r->path,
                    r->number);
    else if (!object && r->has_header)
        gi_cli_warn("%s: line %" PRIu64 " is damaged", r->path, r->number);
    else if (is_header)
        status = add_header(merge, r->path, object, &r->shard, err);
    else if (r->has_header && (*text_of(object, "input") || json_object_get(object, "inputs")))
        status = add_item(merge, object, text, &r->shard, err);
    else
        status = gi_fail(err, GI_E_FORMAT, "%s: line %" PRIu64 " is none of a report of --report",
                         r->path, r->number);
    r->has_header |= is_header;
    json_decref(object);
    return status;
}

enum gi_status gi_journal_merge_add(struct gi_journal_merge *merge, const char *path,
                                    struct gi_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct reading r = {.path = is_stdin ? "standard input" : path};
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (!file)
        return gi_fail(err, GI_E_IO, "%s: %s", path, strerror(errno));
    enum gi_status status = GI_OK;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while (!status && (n = getline(&line, &room, file)) > 0) {
        bool whole = line[n - 1] == '\n';
        r.number++;
        if (whole)
            line[--n] = '\0';
        if (n)
            status = add_line(merge, &r, line, whole, err);
    }
    if (!status && !feof(file))
        status = gi_fail(err, gi_status_of_errno(errno), "%s: %s", r.path, strerror(errno));
    if (!status && r.number == 0)
        gi_cli_warn("%s: is empty, as of a task that was killed", r.path);
    free(line);
    if (!is_stdin)
        fclose(file);
    return status;
}

/* Compares lines by name. Among lines with equal names the line that counts comes last. */
static int compare(const void *a, const void *b)
{
    const struct gi_journal_merge_line *x = a, *y = b;
    int names = strcmp(x->input, y->input);
    if (names)
        return names;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

enum gi_status gi_journal_merge_join(struct gi_journal_merge *merge, struct gi_err *err)
{
    size_t n = 0;
    if (!merge->first)
        return gi_fail(err, GI_E_FORMAT, "no report has a header: no task came as far");
    if (merge->nlines)
        qsort(merge->lines, merge->nlines, sizeof *merge->lines, compare);
    for (size_t i = 0; i < merge->nlines; i++) {
        if (i + 1 < merge->nlines && strcmp(merge->lines[i].input, merge->lines[i + 1].input) == 0)
            free(merge->lines[i].input);
        else
            merge->lines[n++] = merge->lines[i];
    }
    merge->nlines = n;
    for (size_t i = 0; i < n; i++)
        merge->nfiles += !merge->lines[i].part;
    if (merge->nfiles > merge->files)
        return gi_fail(err, GI_E_FORMAT, "reports name %zu inputs of a list of %" PRIu64 " files",
                       merge->nfiles, merge->files);
    return GI_OK;
}

uint64_t gi_journal_merge_failed(const struct gi_journal_merge *merge)
{
    uint64_t n = 0;
    for (size_t i = 0; i < merge->nlines; i++)
        n += !merge->lines[i].part && merge->lines[i].verdict == GI_JOURNAL_MERGE_FAILED;
    return n;
}

uint64_t gi_journal_merge_untold(const struct gi_journal_merge *merge)
{
    return merge->files - merge->nfiles;
}

uint32_t gi_journal_merge_absent(const struct gi_journal_merge *merge)
{
    bool all = !merge->list_nbytes || merge->n_differs || merge->nshards > merge->n;
    return all ? 0 : merge->n - (uint32_t)merge->nshards;
}

static int compare_outputs(const void *a, const void *b)
{
    const struct gi_journal_merge_line *x = *(struct gi_journal_merge_line *const *)a,
                                       *y = *(struct gi_journal_merge_line *const *)b;
    return x->output != y->output ? (x->output < y->output ? -1 : 1) : strcmp(x->input, y->input);
}

enum gi_status gi_journal_merge_check_outputs(const struct gi_journal_merge *merge,
                                              struct gi_err *err)
{
    enum gi_status status = GI_OK;
    struct gi_journal_merge_line **lines =
        merge->list_nbytes ? malloc((merge->nlines + 1) * sizeof *lines) : NULL;
    size_t n = 0;
    if (merge->list_nbytes && !lines)
        return out_of_memory(err);
    for (size_t i = 0; lines && i < merge->nlines; i++)
        if (merge->lines[i].output)
            lines[n++] = &merge->lines[i];
    if (n)
        qsort(lines, n, sizeof *lines, compare_outputs);
    for (size_t i = 1; i < n && !status; i++)
        if (lines[i]->output == lines[i - 1]->output)
            status = gi_fail(err, GI_E_DIFFERENT,
                             "%s and %s have the same output, which one of them has replaced",
                             lines[i - 1]->input, lines[i]->input);
    free(lines);
    return status;
}

enum gi_status gi_journal_merge_write(const struct gi_journal_merge *merge, const char *path,
                                      struct gi_err *err)
{
    struct gi_sink *sink = NULL;
    json_t *header = json_object();
    json_object_set_new(header, "gpuimg", gi_json_text(merge->version));
    json_object_set_new(header, "chain", gi_json_text(merge->chain));
    if (*merge->with)
        json_object_set_new(header, "with", json_string(merge->with));
    json_object_set_new(header, "list", gi_json_text(merge->list));
    json_object_set_new(header, "files", json_integer((json_int_t)merge->files));
    if (merge->list_nbytes)
        json_object_set_new(header, "list_bytes", json_integer((json_int_t)merge->list_nbytes));
    char *text = gi_json_dump(header, 0);
    enum gi_status status = gi_sink_open(&sink, path, false, err);
    if (!status)
        status = gi_sink_printf(sink, err, "%s\n", text);
    free(text);
    for (size_t i = 0; i < merge->nlines && !status; i++) {
        const struct gi_journal_merge_line *line = &merge->lines[i];
        const char *bytes;
        status =
            gi_journal_merge_texts_read(merge->texts, line->text, line->text_nbytes, &bytes, err);
        if (!status)
            status = gi_sink_write(sink, bytes, line->text_nbytes, err);
        if (!status)
            status = gi_sink_write(sink, "\n", 1, err);
    }
    if (status)
        gi_sink_abandon(&sink);
    return status ? status : gi_sink_commit(&sink, false, err);
}

static int compare_shards(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Returns the number of files in shard k; UINT64_MAX if it is not known. */
static uint64_t shard_files(const struct gi_journal_merge *merge, uint32_t k)
{
    const struct gi_shard shard = {k, merge->n};
    if (!merge->list_nbytes)
        return gi_shard_size(&shard, merge->files);
    for (size_t i = 0; i < merge->nshards; i++)
        if (merge->shards[i].k == k)
            return merge->shards[i].files;
    return UINT64_MAX;
}

enum gi_status gi_journal_merge_print_tasks(const struct gi_journal_merge *merge, FILE *out,
                                            struct gi_err *err)
{
    if (gi_journal_merge_failed(merge) + gi_journal_merge_untold(merge) +
            gi_journal_merge_absent(merge) ==
        0)
        return GI_OK;
    if (!merge->n || merge->n_differs)
        return gi_fail(err, GI_E_USAGE, "--missing array: want reports of %s",
                       merge->n_differs ? "one number of shards, these are of several" : "--shard");
    uint32_t *finished = malloc((merge->nlines + 1) * sizeof *finished);
    size_t n = 0, at = 0;
    if (!finished)
        return out_of_memory(err);
    for (size_t i = 0; i < merge->nlines; i++)
        if (!merge->lines[i].part && merge->lines[i].verdict != GI_JOURNAL_MERGE_FAILED)
            finished[n++] = merge->lines[i].shard;
    qsort(finished, n, sizeof *finished, compare_shards);
    uint32_t begin = 0; /* first of the current range of missing shards; 0 outside such a range */
    const char *comma = "";
    for (uint32_t k = 1; k <= merge->n + 1; k++) {
        uint64_t had = 0;
        for (; at < n && finished[at] == k; at++)
            had++;
        bool is_missing = k <= merge->n && had < shard_files(merge, k);
        if (is_missing && !begin)
            begin = k;
        if (is_missing || !begin)
            continue;
        fprintf(out, "%s%" PRIu32, comma, begin);
        if (k - 1 > begin)
            fprintf(out, "-%" PRIu32, k - 1);
        comma = ",";
        begin = 0;
    }
    fputs("\n", out);
    free(finished);
    return GI_OK;
}

/* Computes the hash of a list that is too long for memory, and its number of bytes; 0 for any other
 * list. */
static enum gi_status hash_stream(uint64_t *hash, uint64_t *nbytes, const char *path, bool zero,
                                  struct gi_err *err)
{
    struct gi_list_stream *stream = NULL;
    enum gi_status status = gi_list_stream_open(&stream, path, zero, NULL, err);
    *nbytes = stream ? gi_list_stream_nbytes(stream) : 0;
    if (stream)
        status = gi_list_stream_hash(hash, stream, err);
    gi_list_stream_close(&stream);
    return status;
}

/* Reads the list at `path`, which must be the list of the reports. */
static enum gi_status read_list(struct gi_list *list, const struct gi_journal_merge *merge,
                                const char *path, bool zero, struct gi_err *err)
{
    struct stat st;
    uint64_t hash, nbytes = 0;
    char *folder = (char *)path, text[24];
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    enum gi_status status = is_folder ? gi_list_operands(list, &folder, 1, true, err)
                                      : gi_list_from(list, path, zero, true, err);
    if (!status && merge->list_nbytes && !is_folder)
        status = hash_stream(&hash, &nbytes, path, zero, err);
    if (!status && !nbytes)
        status = gi_list_hash(&hash, list, err);
    if (status)
        return status;
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    if (strcmp(text, merge->list) != 0 || (!nbytes && list->n != merge->files))
        return gi_fail(err, GI_E_USAGE,
                       "--files-from %s: is another list: %s with %zu files, the reports are of %s "
                       "with %" PRIu64,
                       path, text, list->n, merge->list, merge->files);
    return GI_OK;
}

enum gi_status gi_journal_merge_print_files(const struct gi_journal_merge *merge, FILE *out,
                                            const char *path, int end, struct gi_err *err)
{
    struct gi_list list = {0};
    struct gi_input **inputs = NULL;
    size_t at = 0;
    enum gi_status status = path ? read_list(&list, merge, path, end == 0, err) : GI_OK;
    if (!status && path && !(inputs = gi_list_sorted(&list, err)))
        status = GI_E_MEMORY;
    for (size_t i = 0; i <= merge->nlines && !status; i++) {
        const struct gi_journal_merge_line *line = i < merge->nlines ? &merge->lines[i] : NULL;
        if (line && line->part)
            continue;
        for (; at < list.n && (!line || strcmp(inputs[at]->path, line->input) < 0); at++)
            fprintf(out, "%s%c", inputs[at]->path, end);
        at += at < list.n && line && strcmp(inputs[at]->path, line->input) == 0;
        if (line && line->verdict == GI_JOURNAL_MERGE_FAILED)
            fprintf(out, "%s%c", line->input, end);
    }
    if (!status && !path && gi_journal_merge_untold(merge))
        gi_cli_warn("%" PRIu64
                    " that never ran are in no report: want --files-from for their names",
                    gi_journal_merge_untold(merge));
    free(inputs);
    gi_list_free(&list);
    return status;
}

void gi_journal_merge_free(struct gi_journal_merge *merge)
{
    for (size_t i = 0; i < merge->nlines; i++)
        free(merge->lines[i].input);
    free(merge->lines);
    gi_journal_merge_texts_free(&merge->texts);
    for (size_t i = 0; i < merge->nshards; i++)
        free(merge->shards[i].path);
    free(merge->shards);
    free(merge->first);
    free(merge->version);
    free(merge->chain);
    free(merge->with);
    free(merge->list);
    *merge = (struct gi_journal_merge){0};
}
