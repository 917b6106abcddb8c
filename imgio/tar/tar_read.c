/* Reads the members of a tar.
 * SPDX-License-Identifier: MIT */
#include "imgio/reader.h"
#include "imgio/small.h"
#include "imgio/tar/libarchive.h"
#include "imgio/tar/tar.h"
#include "imgio/tar/tar_entry.h"
#include "imgio/tar/tar_range.h"
#include "imgio/tar/tar_stream.h"

#include <stdlib.h>
#include <string.h>

struct gi_tar_reader {
    struct archive *archive;
    struct gi_reader *from;
    struct gi_tar_stream *stream; /* its bytes without compression; NULL: it is a plain file */
    struct gi_err fault;          /* of the input */
    const unsigned char *lent_bytes;
    size_t lent;        /* number of bytes that libarchive received last, from lent_bytes on */
    bool ended;         /* libarchive asked for more than the input has */
    bool inside;        /* a member has been found, whose data may not be read */
    uint64_t data_at;   /* position of its data in the tar, without compression */
    uint64_t data_read; /* number of its bytes that gi_tar_read() has returned */
    bool plain;         /* as is_plain() */
    struct gi_tar_file *file; /* the input, for ranges; NULL: there was none yet */
};

/* Takes the bytes that libarchive received last. */
static void take_lent(struct gi_tar_reader *reader)
{
    if (reader->stream)
        gi_tar_stream_pass(reader->stream, reader->lent);
    else
        gi_reader_skip(reader->from, reader->lent);
    reader->lent = 0;
}

static la_ssize_t give(struct archive *archive, void *self, const void **bytes)
{
    struct gi_tar_reader *reader = self;
    const unsigned char *at;
    size_t nbytes;
    take_lent(reader);
    if (reader->stream ? gi_tar_stream_peek(reader->stream, &at, &nbytes, &reader->fault)
                       : gi_reader_peek(reader->from, &at, &nbytes, 1, &reader->fault)) {
        gi_libarchive.archive_set_error(archive, -1, "%s", "read error");
        return -1;
    }
    reader->ended = !nbytes;
    *bytes = reader->lent_bytes = at;
    reader->lent = nbytes;
    return (la_ssize_t)nbytes;
}

/* Lets libarchive skip bytes without a look at them. */
static la_int64_t pass(struct archive *archive, void *self, la_int64_t nbytes)
{
    struct gi_tar_reader *reader = self;
    take_lent(reader);
    if (nbytes <= 0)
        return 0;
    return (la_int64_t)(reader->stream ? gi_tar_stream_pass(reader->stream, (uint64_t)nbytes)
                                       : gi_reader_pass(reader->from, (uint64_t)nbytes));
}

/* Returns the position of the bytes that libarchive received last. */
static uint64_t lent_at(const struct gi_tar_reader *reader)
{
    return reader->stream ? gi_tar_stream_at(reader->stream) : gi_reader_at(reader->from);
}

/* Reports the error of the input if the input failed, otherwise libarchive's error. */
static enum gi_status fail(struct gi_tar_reader *reader, struct gi_err *err)
{
    const char *why = gi_libarchive.archive_error_string(reader->archive);
    if (reader->fault.status) {
        *err = reader->fault;
        return err->status;
    }
    /* A pipeline of the shell hides that its first command failed, and writes nothing. */
    if (reader->ended && !gi_tar_stored_nbytes(reader))
        why = "is empty, want a tar";
    return gi_fail(err, GI_E_FORMAT, "%s: %s", gi_reader_name(reader->from),
                   why ? why : "is a damaged tar");
}

/* Opens the archive of an open input. */
static enum gi_status open_archive(struct gi_tar_reader *reader, struct gi_err *err)
{
    enum { MAGIC_NBYTES = 6 };
    const unsigned char *bytes;
    size_t nbytes;
    uint64_t next;
    int fd;
    enum gi_status status = gi_reader_peek(reader->from, &bytes, &nbytes, MAGIC_NBYTES, err);
    bool packed = !status && gi_tar_stream_knows(bytes, nbytes);
    if (status)
        return status;
    if (packed || !gi_reader_file(reader->from, &fd, &next))
        gi_tar_stream_open(&reader->stream, reader->from, packed);
    struct archive *a = reader->archive = gi_small_check(gi_libarchive.archive_read_new());
    gi_libarchive.archive_read_support_format_tar(a);
    /* Tars may follow one another, as `cat` joins them; otherwise the members of those behind the
     * first one would be lost without a word. */
    gi_libarchive.archive_read_set_format_option(a, "tar", "read_concatenated_archives", "1");
    gi_libarchive.archive_read_support_filter_gzip(a);
    gi_libarchive.archive_read_support_filter_bzip2(a);
    gi_libarchive.archive_read_support_filter_xz(a);
    gi_libarchive.archive_read_support_filter_zstd(a);
    if (gi_libarchive.archive_read_open2(a, reader, NULL, give, pass, NULL) != ARCHIVE_OK)
        return fail(reader, err);
    return GI_OK;
}

enum gi_status gi_tar_reader_open(struct gi_tar_reader **out, const char *path, struct gi_err *err)
{
    struct gi_tar_reader *reader = *out = gi_small_calloc(1, sizeof *reader);
    enum gi_status status = gi_reader_open(&reader->from, path, err);
    if (!status)
        status = open_archive(reader, err);
    if (status)
        gi_tar_reader_close(out);
    return status;
}

enum gi_status gi_tar_reader_open_growing(struct gi_tar_reader **out, const char *name, int fd,
                                          const struct gi_reader_growth *growth, struct gi_err *err)
{
    struct gi_tar_reader *reader = *out = gi_small_calloc(1, sizeof *reader);
    gi_reader_open_growing(&reader->from, name, fd, growth);
    enum gi_status status = open_archive(reader, err);
    if (status)
        gi_tar_reader_close(out);
    return status;
}

void gi_tar_reader_close(struct gi_tar_reader **out)
{
    struct gi_tar_reader *reader = *out;
    *out = NULL;
    if (!reader)
        return;
    if (reader->archive)
        gi_libarchive.archive_read_free(reader->archive);
    gi_tar_stream_close(&reader->stream);
    gi_reader_close(&reader->from);
    gi_tar_file_release(reader->file);
    free(reader);
}

/* Skips the rest of the current member. Sets *at to the number of bytes of the tar, without
 * compression, up to the end of the member. */
static enum gi_status skip_member(struct gi_tar_reader *reader, la_int64_t *at, struct gi_err *err)
{
    if (reader->inside && gi_libarchive.archive_read_data_skip(reader->archive) < ARCHIVE_WARN)
        return fail(reader, err);
    reader->inside = false;
    *at = gi_libarchive.archive_filter_bytes(reader->archive, 0);
    return GI_OK;
}

/* Reports an error if no end mark, which is a block of zeros, follows the last member, which ends
 * at `end`. Such a tar was truncated between two members. */
static enum gi_status at_end(struct gi_tar_reader *reader, la_int64_t end, struct gi_err *err)
{
    if (gi_libarchive.archive_filter_bytes(reader->archive, 0) - end < GI_TAR_BLOCK)
        return gi_fail(err, GI_E_FORMAT, "%s: breaks off: the tar's end is missing",
                       gi_reader_name(reader->from));
    return GI_OK;
}

/* Returns whether a block is the header of a regular file of `nbytes` that is stored as it is. */
static bool is_plain_header(const unsigned char *block, uint64_t nbytes)
{
    enum { SIZE = 124, SIZE_LENGTH = 12, TYPE = 156, MAGIC = 257 };
    uint64_t size = 0;
    int i = SIZE;
    while (i < SIZE + SIZE_LENGTH && block[i] == ' ')
        i++;
    for (; i < SIZE + SIZE_LENGTH && block[i] >= '0' && block[i] <= '7'; i++)
        size = size * 8 + (uint64_t)(block[i] - '0');
    return size == nbytes && (block[TYPE] == '0' || !block[TYPE]) &&
           memcmp(block + MAGIC, "ustar", 5) == 0;
}

/* Returns whether the member, whose header libarchive has just read, is stored as it is at
 * reader->data_at. Returns false if that is not certain, because the header is not before it. */
static bool is_plain(const struct gi_tar_reader *reader, struct archive_entry *entry)
{
    la_int64_t nbytes = gi_libarchive.archive_entry_size(entry);
    uint64_t header = reader->data_at - GI_TAR_BLOCK, lent = lent_at(reader);
    return reader->data_at >= GI_TAR_BLOCK && nbytes > 0 &&
           gi_libarchive.archive_filter_code(reader->archive, 0) == ARCHIVE_FILTER_NONE &&
           !gi_libarchive.archive_entry_sparse_count(entry) && header >= lent &&
           header - lent + GI_TAR_BLOCK <= reader->lent &&
           is_plain_header(reader->lent_bytes + (header - lent), (uint64_t)nbytes);
}

enum gi_status gi_tar_next(struct gi_tar_reader *reader, struct gi_tar_entry **out,
                           struct gi_err *err)
{
    struct archive_entry *entry;
    la_int64_t end = 0;
    *out = NULL;
    locale_t before = gi_tar_enter();
    enum gi_status status = skip_member(reader, &end, err);
    int got =
        status ? ARCHIVE_FATAL : gi_libarchive.archive_read_next_header(reader->archive, &entry);
    if (!status && got == ARCHIVE_EOF)
        status = at_end(reader, end, err);
    else if (!status && got != ARCHIVE_OK && got != ARCHIVE_WARN)
        status = fail(reader, err);
    else if (!status) {
        *out = gi_tar_entry_new(entry);
        reader->data_at = (uint64_t)gi_libarchive.archive_filter_bytes(reader->archive, 0);
        reader->data_read = 0;
        reader->plain = is_plain(reader, entry);
        reader->inside = true;
    }
    gi_tar_leave(before);
    return status;
}

struct gi_tar_range *gi_tar_member_range(struct gi_tar_reader *reader,
                                         const struct gi_tar_entry *entry, bool soon)
{
    int fd;
    uint64_t next, nbytes = gi_tar_entry_nbytes(entry);
    if (reader->plain && reader->stream && soon)
        return gi_tar_range_of_stream(reader->stream, reader->data_at, nbytes);
    if (!reader->plain || reader->stream || !gi_reader_file(reader->from, &fd, &next))
        return NULL;
    if (!reader->file)
        reader->file = gi_tar_file_new(fd);
    uint64_t at = next - gi_reader_at(reader->from) + reader->data_at;
    return reader->file ? gi_tar_range_new(reader->file, at, nbytes) : NULL;
}

uint64_t gi_tar_reader_memory(const struct gi_tar_reader *reader)
{
    return reader->stream ? gi_tar_stream_memory(reader->stream) : 0;
}

uint64_t gi_tar_stored_nbytes(const struct gi_tar_reader *reader)
{
    if (!reader->stream)
        return gi_reader_at(reader->from) + reader->lent;
    uint64_t at = reader->data_at + reader->data_read, end = lent_at(reader) + reader->lent;
    return gi_tar_stream_stored(reader->stream, at < end ? at : end);
}

enum gi_status gi_tar_read(struct gi_tar_reader *reader, struct gi_buffer *buffer, size_t nbytes,
                           struct gi_err *err)
{
    enum {
        STEP_NBYTES = 1 << 20
    }; /* memory for a member is allocated in steps of this size, because its stated size may be
          wrong */
    enum gi_status status = GI_OK;
    la_ssize_t got = 1;
    while (nbytes && got && !status) {
        size_t n = nbytes;
        if (n > buffer->capacity - buffer->nbytes && n > STEP_NBYTES + buffer->nbytes)
            n = STEP_NBYTES + buffer->nbytes;
        status = gi_buffer_reserve(buffer, n, err);
        if (status)
            break;
        got = gi_libarchive.archive_read_data(reader->archive, buffer->at + buffer->nbytes, n);
        if (got < 0)
            return fail(reader, err);
        buffer->nbytes += (size_t)got;
        reader->data_read += (size_t)got;
        nbytes -= (size_t)got;
    }
    return status;
}
