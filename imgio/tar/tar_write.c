/* Members into a tar.
 * SPDX-License-Identifier: MIT */
#include "imgio/imgio.h"
#include "imgio/tar/libarchive.h"
#include "imgio/tar/tar.h"
#include "imgio/tar/tar_entry.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct gi_tar_writer {
    struct archive *archive;
    struct gi_sink *sink;
    struct gi_err fault; /* the sink's */
    bool abandoned;
    bool plain; /* not compressed */
};

enum packing { PLAIN, GZIP, BZIP2, XZ, ZSTD };

static const struct {
    const char *suffix;
    enum packing packing;
} suffixes[] = {{".tar", PLAIN},     {".tar.gz", GZIP},  {".tgz", GZIP},
                {".tar.bz2", BZIP2}, {".tbz2", BZIP2},   {".tar.xz", XZ},
                {".txz", XZ},        {".tar.zst", ZSTD}, {".tzst", ZSTD}};

/* The entry of `suffixes` that the path ends in; -1: none. */
static int find(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i].suffix);
        if (length > n && strcasecmp(path + length - n, suffixes[i].suffix) == 0)
            return (int)i;
    }
    return -1;
}

bool gi_tar_is_name(const char *path)
{
    return strcmp(path, "-") == 0 || find(path) >= 0;
}

/* libarchive forgets its memory where it sees a write fail before it is closed, so it sees that
 * then alone; until then what follows a failed write goes nowhere. */
static la_ssize_t take(struct archive *archive, void *self, const void *bytes, size_t nbytes)
{
    struct gi_tar_writer *writer = self;
    if (!writer->abandoned) {
        if (!writer->fault.status)
            gi_sink_write(writer->sink, bytes, nbytes, &writer->fault);
        return (la_ssize_t)nbytes;
    }
    gi_libarchive.archive_set_error(archive, -1, "%s", "abandoned");
    return -1;
}

/* Compression and format. The same members give the same bytes: gzip's head has no time. */
static bool set_up(struct gi_tar_writer *writer, enum packing packing)
{
    struct archive *a = writer->archive;
    int bad = gi_libarchive.archive_write_set_format_pax(a);
    if (packing == GZIP)
        bad |= gi_libarchive.archive_write_add_filter_gzip(a) |
               gi_libarchive.archive_write_set_filter_option(a, "gzip", "timestamp", NULL);
    else if (packing == BZIP2)
        bad |= gi_libarchive.archive_write_add_filter_bzip2(a);
    else if (packing == XZ)
        bad |= gi_libarchive.archive_write_add_filter_xz(a);
    else if (packing == ZSTD)
        bad |= gi_libarchive.archive_write_add_filter_zstd(a);
    bad |= gi_libarchive.archive_write_set_bytes_per_block(a, 0);
    bad |= gi_libarchive.archive_write_set_bytes_in_last_block(a, 1);
    return bad == ARCHIVE_OK &&
           gi_libarchive.archive_write_open(a, writer, NULL, take, NULL) == ARCHIVE_OK;
}

/* How a call went: `good` is libarchive's word. */
static enum gi_status check(struct gi_tar_writer *writer, bool good, const char *name,
                            struct gi_err *err)
{
    if (writer->fault.status)
        *err = writer->fault;
    if (writer->fault.status || good)
        return writer->fault.status;
    const char *why = gi_libarchive.archive_error_string(writer->archive);
    return gi_fail(err, GI_E_UNSUPPORTED, "%s: %s", name, why ? why : "can't be written to a tar");
}

enum gi_status gi_tar_writer_open(struct gi_tar_writer **out, const char *path, bool no_clobber,
                                  struct gi_err *err)
{
    struct gi_tar_writer *writer = *out = calloc(1, sizeof *writer);
    int kind = find(path);
    if (!writer)
        return gi_fail(err, GI_E_MEMORY, "%s: out of memory", path);
    writer->plain = kind < 0 || suffixes[kind].packing == PLAIN;
    enum gi_status status = gi_sink_open(&writer->sink, path, no_clobber, err);
    writer->archive = status ? NULL : gi_libarchive.archive_write_new();
    if (!status && !writer->archive)
        status = gi_fail(err, GI_E_MEMORY, "%s: out of memory", path);
    if (!status && !set_up(writer, kind < 0 ? PLAIN : suffixes[kind].packing))
        status = check(writer, false, path, err);
    if (status)
        gi_tar_writer_abandon(out);
    return status;
}

enum gi_status gi_tar_write_entry(struct gi_tar_writer *writer, const struct gi_tar_entry *entry,
                                  struct gi_err *err)
{
    locale_t before = gi_tar_enter();
    int got = gi_libarchive.archive_write_header(writer->archive, entry->entry);
    gi_tar_leave(before);
    return check(writer, got == ARCHIVE_OK || got == ARCHIVE_WARN, gi_tar_entry_name(entry), err);
}

enum gi_status gi_tar_write(struct gi_tar_writer *writer, const void *bytes, size_t nbytes,
                            struct gi_err *err)
{
    const char *at = bytes;
    enum gi_status status = GI_OK;
    while (nbytes && !status) {
        la_ssize_t got = gi_libarchive.archive_write_data(writer->archive, at, nbytes);
        status = check(writer, got > 0, "a member", err);
        at += status ? 0 : got;
        nbytes -= status ? 0 : (size_t)got;
    }
    return status;
}

enum gi_status gi_tar_write_end(struct gi_tar_writer *writer, struct gi_err *err)
{
    int got = gi_libarchive.archive_write_finish_entry(writer->archive);
    enum gi_status status =
        check(writer, got == ARCHIVE_OK || got == ARCHIVE_WARN, "a member", err);
    return status ? status : gi_sink_flush(writer->sink, err);
}

enum gi_status gi_tar_writer_commit(struct gi_tar_writer **out, bool durable, struct gi_err *err)
{
    struct gi_tar_writer *writer = *out;
    int got = gi_libarchive.archive_write_close(writer->archive);
    enum gi_status status =
        check(writer, got == ARCHIVE_OK || got == ARCHIVE_WARN, "the tar's end", err);
    if (!status)
        status = gi_sink_commit(&writer->sink, durable, err);
    gi_tar_writer_abandon(out);
    return status;
}

void gi_tar_writer_abandon(struct gi_tar_writer **out)
{
    struct gi_tar_writer *writer = *out;
    *out = NULL;
    if (!writer)
        return;
    if (writer->archive) {
        writer->abandoned = true;
        gi_libarchive.archive_write_free(writer->archive);
    }
    gi_sink_abandon(&writer->sink);
    free(writer);
}
