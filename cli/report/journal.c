/* Writes and reads the report of a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/report/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/hash.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/shell.h"
#include "cli/stop.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

struct gi_journal {
    char *path;
    const struct gi_journal_wants *resume; /* while it is being opened */
    int fd;
    bool tars; /* members have lines, too */
    /* The outputs that an earlier run finished. This is a hash table with open addressing, whose
     * entries are hashes of the names of input and output; 0 is a free slot. It has `room` slots, a
     * power of 2, and is at most half full. */
    uint64_t *done;
    size_t n, room;
};

/* Returns the hash of both names. */
static uint64_t key_of(const char *input, const char *output)
{
    uint64_t key = gi_hash(GI_HASH_START, input, strlen(input) + 1);
    key = gi_hash(key, output, strlen(output) + 1);
    return key ? key : 1;
}

static uint64_t *place_of(const struct gi_journal *journal, uint64_t key)
{
    size_t i = key & (journal->room - 1);
    while (journal->done[i] && journal->done[i] != key)
        i = (i + 1) & (journal->room - 1);
    return &journal->done[i];
}

static bool grow(struct gi_journal *journal)
{
    struct gi_journal bigger = *journal;
    bigger.room = journal->room ? 2 * journal->room : 1024;
    bigger.done = calloc(bigger.room, sizeof *bigger.done);
    if (!bigger.done)
        return false;
    for (size_t i = 0; i < journal->room; i++)
        if (journal->done[i])
            *place_of(&bigger, journal->done[i]) = journal->done[i];
    free(journal->done);
    *journal = bigger;
    return true;
}

/* Returns whether the file still has the size and the time that are recorded in the line. The
 * output or input of a command has no time, and can't be compared. */
static bool is_as(const char *path, const json_t *line, const char *nbytes, const char *mtime_ns)
{
    struct stat st;
    if (gi_shell_command(path) && !json_object_get(line, mtime_ns))
        return true;
    return stat(path, &st) == 0 &&
           json_integer_value(json_object_get(line, nbytes)) == (json_int_t)st.st_size &&
           json_integer_value(json_object_get(line, mtime_ns)) == gi_mtime_ns(&st);
}

/* Returns whether the output still has the recorded size and time. If it has parts, all of them
 * must. */
static bool is_output_as(const char *output, const json_t *line)
{
    const json_t *parts = json_object_get(line, "outputs");
    bool good = parts || is_as(output, line, "output_bytes", "output_mtime_ns");
    for (size_t i = 0; good && i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        char *path = gi_json_name(part, "output");
        good = is_as(path, part, "output_bytes", "output_mtime_ns");
        free(path);
    }
    return good;
}

static bool is_beside_as(const json_t *line)
{
    char *beside = gi_json_name(line, "beside");
    bool good = !beside || is_as(beside, line, "beside_bytes", "beside_mtime_ns");
    free(beside);
    return good;
}

/* Returns whether the line says that an item is done and the files of the item have not changed
 * since then. */
static bool is_done(const json_t *line, const char *input, const char *output)
{
    const char *status = json_string_value(json_object_get(line, "status"));
    return input && output && status && strcmp(status, "done") == 0 &&
           is_as(input, line, "input_bytes", "input_mtime_ns") && is_beside_as(line) &&
           is_output_as(output, line);
}

static enum gi_status fail_memory(struct gi_err *err)
{
    return gi_fail(err, GI_E_MEMORY, "out of memory: the report of an earlier run");
}

/* Records an item as done. Returns its key, or 0 if it was recorded before or memory ran out. */
static uint64_t note(struct gi_journal *journal, uint64_t key, struct gi_err *err)
{
    if (2 * journal->n >= journal->room && !grow(journal)) {
        fail_memory(err);
        return 0;
    }
    uint64_t *place = place_of(journal, key), before = *place;
    journal->n += !before;
    *place = key;
    return before ? 0 : key;
}

/* Returns a key. The line is kept if this key has been recorded; it is never kept if the key is 0.
 * For the line of a success this is the key of its item, which this function records. For a member
 * of a tar it is the key of the tar. */
static uint64_t key_of_line(struct gi_journal *journal, const json_t *line, struct gi_err *err)
{
    char *input = gi_json_name(line, "input"), *output = gi_json_name(line, "output");
    char *tar = gi_json_name(line, "tar");
    uint64_t key = tar ? key_of(tar, "") : 0;
    if (!tar && is_done(line, input, output) &&
        journal->resume->are(journal->resume->arg, input, output)) {
        key = note(journal, key_of(input, output), err);
        if (journal->tars)
            note(journal, key_of(input, ""), err);
    }
    free(input);
    free(output);
    free(tar);
    return key;
}

/* Prints "3/8"; "" if there is no shard. */
static void print_shard(char text[32], const struct gi_shard *shard)
{
    *text = '\0';
    if (shard->n)
        snprintf(text, 32, "%" PRIu32 "/%" PRIu32, shard->k, shard->n);
}

/* Prints "" if there is no hash. */
static void print_hash(char text[24], uint64_t hash)
{
    *text = '\0';
    if (hash)
        snprintf(text, 24, "%016" PRIx64, hash);
}

/* Checks the first line of the earlier report against this batch. */
static enum gi_status check_head(const char *text, const char *path,
                                 const struct gi_journal_head *head, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    json_t *line = gi_json_read(text);
    const char *chain = json_string_value(json_object_get(line, "chain"));
    const char *shard = json_string_value(json_object_get(line, "shard"));
    const char *with = json_string_value(json_object_get(line, "with"));
    char want[32], want_with[24];
    print_shard(want, &head->shard);
    print_hash(want_with, head->with);
    if (!chain || !json_object_get(line, "gpuimg"))
        status = gi_fail(err, GI_E_FORMAT, "--report %s: is no report of gpuimg", path);
    else if (strcmp(chain, head->chain) != 0)
        status = gi_fail(err, GI_E_USAGE, "--resume: the report %s is of \"%s\", want \"%s\"", path,
                         chain, head->chain);
    else if (strcmp(with ? with : "", want_with) != 0)
        status = gi_fail(err, GI_E_USAGE,
                         "--resume: the report %s is of other images, or other files, than are "
                         "now under the names in \"%s\"",
                         path, chain);
    else if (strcmp(shard ? shard : "", want) != 0)
        status = gi_fail(err, GI_E_USAGE, "--resume: the report %s is of %s%s, want %s%s", path,
                         shard ? "shard " : "the whole list", shard ? shard : "",
                         *want ? "shard " : "the whole list", want);
    json_decref(line);
    return status;
}

/* For each line of the earlier report a key. The line is kept if this key has been recorded. */
struct lines {
    uint64_t *keys;
    size_t n, room;
};

/* Handles a line. `whole` says whether the line ends in a newline. If it does not, its run was
 * killed while it wrote the line. */
static enum gi_status add_line(struct gi_journal *journal, struct lines *lines, const char *text,
                               bool whole, struct gi_err *err)
{
    if (lines->n == lines->room) {
        size_t room = 2 * lines->room + 1024;
        uint64_t *grown = realloc(lines->keys, room * sizeof *grown);
        if (!grown)
            return fail_memory(err);
        lines->keys = grown;
        lines->room = room;
    }
    json_t *line = whole ? gi_json_read(text) : NULL;
    lines->keys[lines->n] = 0;
    if (whole && !line)
        gi_cli_warn("--report %s: line %zu is damaged: its inputs are processed again",
                    journal->path, lines->n + 2);
    if (line)
        lines->keys[lines->n] = key_of_line(journal, line, err);
    json_decref(line);
    lines->n++;
    return err->status;
}

/* Returns whether getline(), which returned n, did not run out of memory. It did if it found
 * neither a line, nor the end of the file, nor an error of the file. */
static bool is_read(ssize_t n, FILE *old)
{
    return n >= 0 || feof(old) || ferror(old);
}

static enum gi_status read_done(struct gi_journal *journal, struct lines *lines, FILE *old,
                                const struct gi_journal_head *head, struct gi_err *err)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t n = getline(&text, &room, old);
    enum gi_status status = n > 0 ? check_head(text, journal->path, head, err) : GI_OK;
    while (!status && n > 0 && (n = getline(&text, &room, old)) > 0)
        status = add_line(journal, lines, text, text[n - 1] == '\n', err);
    free(text);
    return status || is_read(n, old) ? status : fail_memory(err);
}

/* Copies the lines of successes from the earlier report. Reads the report twice, because the line
 * of a tar may follow the lines of its members. */
static enum gi_status copy_done(struct gi_journal *journal, struct gi_sink *sink, FILE *old,
                                const struct gi_journal_head *head, struct gi_err *err)
{
    struct lines lines = {0};
    char *text = NULL;
    size_t room = 0;
    enum gi_status status = read_done(journal, &lines, old, head, err);
    ssize_t n = 0;
    if (!status && !ferror(old)) {
        rewind(old);
        n = getline(&text, &room, old);
    }
    for (size_t i = 0; n > 0 && i < lines.n && !status && (n = getline(&text, &room, old)) > 0; i++)
        if (lines.keys[i] && *place_of(journal, lines.keys[i]))
            status = gi_sink_write(sink, text, (size_t)n, err);
    if (!status && !is_read(n, old))
        status = fail_memory(err);
    if (!status && ferror(old))
        status = gi_fail(err, gi_status_of_errno(errno), "--report %s: %s", journal->path,
                         strerror(errno));
    free(text);
    free(lines.keys);
    return status;
}

static char *head_text(const struct gi_journal_head *head)
{
    char list[24], shard[32], with[24];
    print_shard(shard, &head->shard);
    print_hash(with, head->with);
    snprintf(list, sizeof list, "%016" PRIx64, head->list);
    json_t *line = json_object();
    json_object_set_new(line, "gpuimg", json_string(GI_VERSION));
    json_object_set_new(line, "chain", gi_json_text(head->chain));
    if (*with)
        json_object_set_new(line, "with", json_string(with));
    json_object_set_new(line, "list", json_string(list));
    json_object_set_new(line, "files", json_integer((json_int_t)head->files));
    if (head->list_nbytes)
        json_object_set_new(line, "list_bytes", json_integer((json_int_t)head->list_nbytes));
    if (*shard)
        json_object_set_new(line, "shard", json_string(shard));
    return gi_json_dump(line, 0);
}

/* Locks the file at journal->path until `fd` is closed, so that no other run uses it. If it can't
 * be locked, it is used without a lock. */
static enum gi_status lock(const struct gi_journal *journal, int fd, struct gi_err *err)
{
    struct stat own, there;
    if (fd < 0 || fstat(fd, &own) || !S_ISREG(own.st_mode))
        return GI_OK;
    bool busy = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    bool replaced = stat(journal->path, &there) || there.st_ino != own.st_ino;
    return busy || replaced
               ? gi_fail(err, GI_E_USAGE,
                         "--report %s: another run is writing it, want another file", journal->path)
               : GI_OK;
}

static void clear_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = gi_small_copy_n(slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    gi_sink_clear_dead(folder);
    free(folder);
}

static int open_report(const char *path, int how)
{
    int fd;
    do
        fd = open(path, O_WRONLY | O_CLOEXEC | how);
    while (fd < 0 && errno == EINTR && !gi_stop_asked());
    return fd;
}

/* Writes the header and the earlier successes to a new report, which replaces the old one. */
static enum gi_status start(struct gi_journal *journal, const struct gi_journal_head *head,
                            struct gi_err *err)
{
    struct gi_sink *sink = NULL;
    FILE *old = journal->resume ? fopen(journal->path, "r") : NULL;
    if (journal->resume && !old && errno != ENOENT)
        return gi_fail(err, gi_status_of_errno(errno), "--report %s: %s", journal->path,
                       strerror(errno));
    struct stat st;
    bool is_new = strcmp(journal->path, "-") != 0 && lstat(journal->path, &st) && errno == ENOENT;
    char *text = head_text(head);
    enum gi_status status = gi_sink_open(&sink, journal->path, is_new, err);
    if (!status)
        status = gi_sink_printf(sink, err, "%s\n", text);
    if (!status && old)
        status = copy_done(journal, sink, old, head, err);
    if (!status)
        status = gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    free(text);
    if (old)
        fclose(old);
    return status;
}

enum gi_status gi_journal_open(struct gi_journal **out, const char *path,
                               const struct gi_journal_wants *resume,
                               const struct gi_journal_head *head, struct gi_err *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct gi_journal *journal = *out = gi_small_calloc(1, sizeof *journal);
    journal->path = gi_small_copy(path);
    if (!grow(journal)) {
        gi_journal_close(out);
        return fail_memory(err);
    }
    journal->fd = -1;
    journal->resume = resume;
    journal->tars = head->tars;
    int older = standard ? -1 : open_report(path, O_NONBLOCK | O_NOCTTY);
    if (older < 0 && !standard && errno == ENXIO) /* a pipe, which one reader reads */
        older = open_report(path, O_NOCTTY);
    enum gi_status status =
        standard && resume
            ? gi_fail(err, GI_E_USAGE, "--resume: want a file as --report, not standard output")
            : lock(journal, older, err);
    if (!status && !standard)
        clear_folder(path);
    if (!status)
        status = start(journal, head, err);
    if (!status) {
        journal->fd = standard ? STDOUT_FILENO : open_report(path, O_APPEND);
        status = standard           ? GI_OK
                 : journal->fd >= 0 ? lock(journal, journal->fd, err)
                                    : gi_fail(err, gi_status_of_errno(errno), "--report %s: %s",
                                              path, strerror(errno));
    }
    if (older >= 0)
        close(older);
    if (status)
        gi_journal_close(out);
    return status;
}

void gi_journal_close(struct gi_journal **out)
{
    struct gi_journal *journal = *out;
    *out = NULL;
    if (!journal)
        return;
    if (journal->fd > STDOUT_FILENO)
        close(journal->fd);
    free(journal->done);
    free(journal->path);
    free(journal);
}

bool gi_journal_has(const struct gi_journal *journal, const char *input, const char *output)
{
    return *place_of(journal, key_of(input, output)) != 0;
}

/* Returns the results of an item with several results. */
static json_t *parts_json(const struct gi_line *of)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < of->nparts; i++) {
        json_t *part = json_object();
        gi_json_set_name(part, "output", of->parts[i].path);
        json_object_set_new(part, "output_bytes",
                            json_integer((json_int_t)of->parts[i].file.nbytes));
        json_object_set_new(part, "output_mtime_ns", json_integer(of->parts[i].file.mtime_ns));
        json_array_append_new(parts, part);
    }
    return parts;
}

/* Returns the line of an item. If the item is part of a tar or a stream, `key` is "tar" or "stream"
 * and `whole` is its name; otherwise both are NULL. */
static char *line_text(const struct gi_line *of, const char *key, const char *whole)
{
    static const char *const types[] = {"u8", "u16", "f32", "u32"};
    json_t *line = json_object(), *ms = json_object();
    const char *status = of->status ? "failed" : of->pass ? "passed" : "done";
    if (of->inputs)
        json_object_set_new(line, "inputs", json_integer((json_int_t)of->inputs));
    else
        gi_json_set_name(line, "input", of->input);
    if (of->other)
        gi_json_set_name(line, "other", of->other);
    else
        gi_json_set_name(line, "output", of->output);
    if (key)
        gi_json_set_name(line, key, whole);
    json_object_set_new(line, "status", json_string(status));
    if (of->status)
        json_object_set_new(line, "error", gi_json_text(of->err.text));
    if (of->other)
        json_object_set_new(line, "differs", json_boolean(!of->status && *of->err.text));
    if (of->shape.width) {
        json_object_set_new(line, "width", json_integer(of->shape.width));
        json_object_set_new(line, "height", json_integer(of->shape.height));
        json_object_set_new(line, "channels", json_integer(of->shape.channels));
        json_object_set_new(line, "type", json_string(types[of->shape.type]));
    }
    json_object_set_new(line, "input_bytes", json_integer((json_int_t)of->input_file.nbytes));
    if (!key && !of->inputs && !of->input_file.piped)
        json_object_set_new(line, "input_mtime_ns", json_integer(of->input_file.mtime_ns));
    if (of->place.width)
        json_object_set_new(line, "place",
                            json_pack("{s:i, s:i, s:i, s:i}", "x", of->place.x, "y", of->place.y,
                                      "width", of->place.width, "height", of->place.height));
    if (of->beside.path) {
        gi_json_set_name(line, "beside", of->beside.path);
        json_object_set_new(line, "beside_bytes", json_integer((json_int_t)of->beside.file.nbytes));
        json_object_set_new(line, "beside_mtime_ns", json_integer(of->beside.file.mtime_ns));
    }
    json_object_set_new(line, "output_bytes", json_integer((json_int_t)of->output_file.nbytes));
    if (!key && !of->in_parts && !of->output_file.piped)
        json_object_set_new(line, "output_mtime_ns", json_integer(of->output_file.mtime_ns));
    if (of->in_parts && !of->status)
        json_object_set_new(line, "outputs", parts_json(of));
    for (int i = 0; i < GI_STAGES; i++)
        json_object_set_new(ms, gi_stage_names[i], json_real(0.001 * (int)(1000 * of->ms[i])));
    json_object_set_new(line, "ms", ms);
    return gi_json_dump(line, JSON_REAL_PRECISION(9));
}

enum gi_status gi_journal_add(struct gi_journal *journal, const struct gi_line *line,
                              struct gi_err *err)
{
    return gi_journal_add_part(journal, line, NULL, NULL, err);
}

enum gi_status gi_journal_add_part(struct gi_journal *journal, const struct gi_line *line,
                                   const char *key, const char *whole, struct gi_err *err)
{
    char *text = line_text(line, key, whole), *bytes = gi_small_format("%s\n", text);
    size_t n = strlen(bytes);
    enum gi_status status = GI_OK;
    free(text);
    for (char *at = bytes; n > 0 && !status;) {
        ssize_t written = write(journal->fd, at, n);
        if (written < 0 && errno != EINTR)
            status = gi_fail(err, gi_status_of_errno(errno), "--report %s: %s", journal->path,
                             strerror(errno));
        else if (written > 0) {
            at += written;
            n -= (size_t)written;
        }
    }
    free(bytes);
    return status;
}
