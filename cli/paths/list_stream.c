/* Reads names from a list that is too long for memory.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/list_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/hash.h"
#include "cli/lines.h"
#include "cli/paths/matcher.h"
#include "imgio/scratch_file.h"
#include "imgio/imgio.h"
#include "imgio/reader.h"
#include "imgio/small.h"

enum {
    STREAM_NBYTES = 64 << 20, /* a list of more bytes is not kept in memory */
    BUFFER_NBYTES = GI_LINE_MAX + (1 << 20),
    HASHED_NBYTES = 64 << 10,
};

struct gi_list_stream {
    char *path;
    int fd;
    int separator;
    uint64_t first,
        last;            /* offsets of the list in the file, which for standard input may be read */
    uint64_t begin, end; /* offsets of the first bytes of names in the shard */
    struct gi_matcher *matcher;
    uint64_t before; /* number of names before the shard */
    uint64_t number; /* number of the name read last */
    uint64_t left_out;
    char *buffer;            /* of BUFFER_NBYTES, and a byte for a terminating zero */
    uint64_t offset;         /* of the buffer in the file */
    size_t at, n;            /* the next byte to read, and the number of bytes in the buffer */
    struct gi_input current; /* of gi_list_stream_next_one() */
};

static enum gi_status fail(const char *path, int why, struct gi_err *err)
{
    return gi_fail(err, gi_status_of_errno(why), "--files-from %s: %s", path, strerror(why));
}

/* Copies the rest of a pipe to the temporary file `to`, behind the bytes in `bytes`. */
static enum gi_status copy_pipe(int from, const char *path, int to, const struct gi_list_bytes *all,
                                struct gi_err *err)
{
    size_t room = all->n < BUFFER_NBYTES ? all->n : BUFFER_NBYTES;
    uint64_t at = all->n;
    ssize_t n = 1;
    if (!gi_scratch_file_write(to, all->bytes, all->n, 0))
        return gi_scratch_file_fail(err);
    while (n) {
        n = read(from, all->bytes, room);
        if (n < 0 && errno != EINTR)
            return fail(path, errno, err);
        if (n > 0 && !gi_scratch_file_write(to, all->bytes, (size_t)n, at))
            return gi_scratch_file_fail(err);
        at += n > 0 ? (uint64_t)n : 0;
    }
    return GI_OK;
}

/* Reads a pipe to its end, or more than `most` bytes, which are too many for memory. */
static enum gi_status read_pipe(struct gi_list_bytes *all, int from, uint64_t most,
                                const char *path, struct gi_err *err)
{
    size_t room = 0;
    for (ssize_t n = 1; n && all->n <= most;) {
        if (all->n == room) {
            room = 2 * room + (64 << 10);
            char *grown = realloc(all->bytes, room);
            if (!grown)
                return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %zu bytes", all->n);
            all->bytes = grown;
        }
        n = read(from, all->bytes + all->n, room - all->n);
        if (n < 0 && errno != EINTR)
            return fail(path, errno, err);
        all->n += n > 0 ? (size_t)n : 0;
    }
    return GI_OK;
}

/* Reads a pipe into *all, or if that is longer than `most` bytes into the temporary file *fd. */
static enum gi_status take_pipe(int *fd, int from, uint64_t most, const char *path,
                                struct gi_list_bytes *all, struct gi_err *err)
{
    *all = (struct gi_list_bytes){0};
    *fd = -1;
    enum gi_status status = read_pipe(all, from, most, path, err);
    if (!status && all->n > most) {
        status = gi_scratch_file_open(fd, 0, err);
        if (!status)
            status = copy_pipe(from, path, *fd, all, err);
        free(all->bytes);
        *all = (struct gi_list_bytes){0};
    }
    if (status && *fd >= 0)
        close(*fd);
    return status;
}

static struct gi_list_stream *new_stream(const char *path, int fd, bool zero, uint64_t first,
                                         uint64_t last)
{
    struct gi_list_stream *stream = gi_small_calloc(1, sizeof *stream);
    stream->path = gi_small_copy(path);
    stream->fd = fd;
    stream->separator = zero ? 0 : '\n';
    stream->first = stream->begin = first;
    stream->last = stream->end = last;
    stream->buffer = gi_small_alloc(BUFFER_NBYTES + 1);
    gi_list_stream_rewind(stream);
    return stream;
}

enum gi_status gi_list_stream_open(struct gi_list_stream **out, const char *path, bool zero,
                                   struct gi_list_bytes *from_pipe, struct gi_err *err)
{
    struct stat st;
    bool standard = strcmp(path, "-") == 0;
    uint64_t most = STREAM_NBYTES;
    *out = NULL;
    enum gi_status status = gi_environment_bytes("GPUIMG_LIST_BYTES", &most, err);
    if (status)
        return status;
    if ((standard ? fstat(STDIN_FILENO, &st) : stat(path, &st)) || S_ISDIR(st.st_mode))
        return GI_OK; /* gi_list_from() tells why */
    bool regular = S_ISREG(st.st_mode);
    if (!regular && !from_pipe)
        return GI_OK;
    int own = standard ? -1 : gi_input_open(path), fd = standard ? STDIN_FILENO : own;
    if (fd < 0)
        return fail(path, errno, err);
    off_t first = 0;
    if (!regular)
        status = take_pipe(&fd, fd, most, path, from_pipe, err);
    else if (standard)
        first = lseek(fd, 0, SEEK_CUR);
    if (!status && fd >= 0 && fstat(fd, &st) == 0 && first >= 0 && st.st_size > first &&
        (uint64_t)(st.st_size - first) > most)
        *out = new_stream(path, fd, zero, (uint64_t)first, (uint64_t)st.st_size);
    if (own >= 0 && !(*out && regular))
        close(own);
    return status;
}

void gi_list_stream_close(struct gi_list_stream **out)
{
    struct gi_list_stream *stream = *out;
    *out = NULL;
    if (!stream)
        return;
    if (stream->fd != STDIN_FILENO)
        close(stream->fd);
    free(stream->buffer);
    free(stream->path);
    free(stream);
}

/* Reads bytes of the list at an offset, until the buffer is full or the list ends. */
static enum gi_status fetch(const struct gi_list_stream *stream, char *bytes, size_t nbytes,
                            uint64_t at, size_t *got, struct gi_err *err)
{
    for (*got = 0; *got < nbytes && at + *got < stream->last;) {
        uint64_t left = stream->last - at - *got;
        size_t want = nbytes - *got < left ? nbytes - *got : (size_t)left;
        ssize_t n = pread(stream->fd, bytes + *got, want, (off_t)(at + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(stream->path, errno, err);
        if (n == 0)
            return gi_fail(err, GI_E_IO, "--files-from %s: became shorter while it was read",
                           stream->path);
        *got += (size_t)n;
    }
    return GI_OK;
}

/* Moves the rest of the buffer to its beginning, and fills it. */
static enum gi_status refill(struct gi_list_stream *stream, struct gi_err *err)
{
    size_t rest = stream->n - stream->at, got;
    memmove(stream->buffer, stream->buffer + stream->at, rest);
    stream->offset += stream->at;
    stream->at = 0;
    stream->n = rest;
    enum gi_status status = fetch(stream, stream->buffer + rest, BUFFER_NBYTES - rest,
                                  stream->offset + rest, &got, err);
    stream->n += status ? 0 : got;
    return status;
}

/* Sets *line to the next line of the file, whose separator becomes a zero byte. NULL at the end of
 * the list. */
static enum gi_status next_line(struct gi_list_stream *stream, char **line, size_t *n,
                                struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *line = stream->buffer + stream->at;
    char *end = memchr(*line, stream->separator, stream->n - stream->at);
    if (!end) {
        status = refill(stream, err);
        *line = stream->buffer;
        end = status ? NULL : memchr(*line, stream->separator, stream->n);
    }
    *n = end ? (size_t)(end - *line) : stream->n - stream->at;
    if (!status && *n > GI_LINE_MAX)
        status = gi_fail(err, GI_E_FORMAT,
                         "--files-from %s: byte %" PRIu64 ": a line is longer than %d bytes",
                         stream->path, stream->offset + stream->at, GI_LINE_MAX);
    if (status)
        return status;
    (*line)[*n] = '\0';
    if (!end && !*n)
        *line = NULL;
    stream->at += *n + (end != NULL);
    return GI_OK;
}

/* Positions the buffer at the first name whose first byte is at `offset` or behind it. */
static enum gi_status seek(struct gi_list_stream *stream, uint64_t offset, struct gi_err *err)
{
    char *line;
    size_t n;
    stream->offset = offset > stream->first ? offset - 1 : offset;
    stream->at = stream->n = 0;
    return offset > stream->first ? next_line(stream, &line, &n, err) : GI_OK;
}

void gi_list_stream_rewind(struct gi_list_stream *stream)
{
    stream->offset = stream->begin;
    stream->at = stream->n = 0;
    stream->number = stream->before;
    stream->left_out = 0;
}

/* Returns the offset at which range k of n, from 0, begins. */
static uint64_t range_begin(const struct gi_list_stream *stream, uint64_t k, uint64_t n)
{
    uint64_t nbytes = stream->last - stream->first;
    return stream->first + nbytes / n * k + nbytes % n * k / n;
}

enum gi_status gi_list_stream_select(struct gi_list_stream *stream, const struct gi_shard *shard,
                                     struct gi_matcher *matcher, bool before, struct gi_err *err)
{
    struct gi_input input;
    bool more = before && shard->n > 1;
    enum gi_status status = GI_OK;
    stream->matcher = matcher;
    if (!shard->n)
        return GI_OK;
    uint64_t begin = range_begin(stream, shard->k - 1, shard->n);
    stream->end = begin;
    while (more && !status)
        status = gi_list_stream_next(stream, &input, &more, err);
    stream->before = stream->number;
    if (!status)
        status = seek(stream, begin, err);
    stream->begin = stream->offset + stream->at;
    stream->end = range_begin(stream, shard->k, shard->n);
    gi_list_stream_rewind(stream);
    return status;
}

/* Fills in the input that a line names. Returns false if the matcher leaves it out. */
static bool choose(struct gi_list_stream *stream, struct gi_input *input, char *name)
{
    struct gi_selection selection;
    const char *slash = strrchr(name, '/');
    int rule = GI_RULE_MAIN;
    if (stream->matcher) {
        size_t n = gi_path_file(name, &selection);
        char kept = name[n];
        name[n] = '\0';
        rule = gi_matcher_rule(stream->matcher, name);
        name[n] = kept;
    }
    *input = (struct gi_input){.path = name,
                               .root = slash ? (size_t)(slash - name) + 1 : 0,
                               .why = strlen(name) >= PATH_MAX ? ENAMETOOLONG : 0,
                               .rule = rule};
    return rule != GI_RULE_NOT_CHOSEN;
}

enum gi_status gi_list_stream_next(struct gi_list_stream *stream, struct gi_input *input,
                                   bool *more, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *more = false;
    while (!status && !*more && stream->offset + stream->at < stream->end) {
        uint64_t offset = stream->offset + stream->at;
        char *name;
        size_t n;
        status = next_line(stream, &name, &n, err);
        if (status || !name)
            break;
        const char *wrong = gi_list_fault(name, n, !stream->separator);
        if (!wrong && strcmp(name, "-") == 0)
            wrong = "-: want the name of a file";
        if (wrong)
            return gi_fail(err, GI_E_USAGE, "--files-from %s: byte %" PRIu64 ": %s", stream->path,
                           offset - stream->first, wrong);
        *more = n && choose(stream, input, name);
        stream->left_out += n && !*more;
    }
    if (*more)
        input->number = ++stream->number;
    return status;
}

enum gi_status gi_list_stream_next_one(struct gi_list_stream *stream, struct gi_list *one,
                                       bool *more, struct gi_err *err)
{
    *one = (struct gi_list){.inputs = &stream->current, .n = 1};
    return gi_list_stream_next(stream, &stream->current, more, err);
}

enum gi_status gi_list_stream_find(struct gi_list_stream *stream, bool *found, struct gi_err *err)
{
    const uint64_t begin = stream->begin, end = stream->end;
    struct gi_input input;
    stream->begin = stream->first;
    stream->end = stream->last;
    gi_list_stream_rewind(stream);
    enum gi_status status = gi_list_stream_next(stream, &input, found, err);
    uint64_t left_out = stream->left_out;
    stream->begin = begin;
    stream->end = end;
    gi_list_stream_rewind(stream);
    stream->left_out = left_out;
    return status;
}

uint64_t gi_list_stream_left_out(const struct gi_list_stream *stream)
{
    return stream->left_out;
}

uint64_t gi_list_stream_nbytes(const struct gi_list_stream *stream)
{
    return stream->last - stream->first;
}

enum gi_status gi_list_stream_hash(uint64_t *hash, const struct gi_list_stream *stream,
                                   struct gi_err *err)
{
    uint64_t nbytes = gi_list_stream_nbytes(stream);
    size_t part = nbytes < HASHED_NBYTES ? (size_t)nbytes : HASHED_NBYTES, got;
    char *bytes = gi_small_alloc(HASHED_NBYTES);
    *hash = gi_hash(GI_HASH_START, &nbytes, sizeof nbytes);
    enum gi_status status = fetch(stream, bytes, part, stream->first, &got, err);
    if (!status)
        *hash = gi_hash(*hash, bytes, got);
    if (!status)
        status = fetch(stream, bytes, part, stream->last - part, &got, err);
    if (!status)
        *hash = gi_hash(*hash, bytes, got);
    free(bytes);
    return status;
}
