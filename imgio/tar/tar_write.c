/* Writes the members of a tar.
 * SPDX-License-Identifier: MIT */
#include "imgio/imgio.h"
#include "imgio/small.h"
#include "imgio/tar/libarchive.h"
#include "imgio/tar/tar.h"
#include "imgio/tar/tar_entry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { ZSTD_THREADS_MOST = 8 /* each takes some 20 MB */ };

struct gi_tar_writer {
    struct archive *archive;
    struct gi_sink *sink;
    struct gi_err fault; /* of the sink */
    bool abandoned;
};

static const char gzip[] = "gzip", zstd[] = "zstd";

static const struct suffix {
    const char *text, *packing; /* name of the filter in libarchive; NULL if uncompressed */
} suffixes[] = {{".tar", NULL},        {".tar.gz", gzip},  {".tgz", gzip},
                {".tar.bz2", "bzip2"}, {".tbz2", "bzip2"}, {".tar.xz", "xz"},
                {".txz", "xz"},        {".tar.zst", zstd}, {".tzst", zstd}};

/* Returns the suffix in which the path ends, or NULL if it ends in none of the suffixes. */
static const struct suffix *find(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i].text);
        if (length > n && strcasecmp(path + length - n, suffixes[i].text) == 0)
            return &suffixes[i];
    }
    return NULL;
}

bool gi_tar_is_name(const char *path)
{
    return strcmp(path, "-") == 0 || find(path);
}

/* Receives libarchive's output. If a write fails, further output is dropped. libarchive is told
 * that all writes succeed, unless the tar is abandoned, because after an earlier failure it would
 * leak memory. check() reports the failed write. */
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

static void *nothing(void *unused)
{
    return unused;
}

/* Makes zstd compress on several threads, if any can be started; otherwise it would fail. The bytes
 * do not depend on the number of threads. A libarchive before 3.6 has no such option. */
static void set_threads(struct archive *archive)
{
    char threads[24];
    pthread_t trial;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (pthread_create(&trial, NULL, nothing, NULL))
        return;
    pthread_join(trial, NULL);
    cpus = cpus < 1 ? 1 : cpus < ZSTD_THREADS_MOST ? cpus : ZSTD_THREADS_MOST;
    snprintf(threads, sizeof threads, "%ld", cpus);
    gi_libarchive.archive_write_set_filter_option(archive, zstd, "threads", threads);
}

/* Sets compression and format. Equal members become equal bytes, because gzip's header gets no
 * time. */
static bool set_up(struct gi_tar_writer *writer, const char *packing)
{
    struct archive *a = writer->archive;
    int bad = gi_libarchive.archive_write_set_format_pax(a);
    if (packing)
        bad |= gi_libarchive.archive_write_add_filter_by_name(a, packing);
    if (packing == gzip)
        bad |= gi_libarchive.archive_write_set_filter_option(a, gzip, "timestamp", NULL);
    if (packing == zstd)
        set_threads(a);
    bad |= gi_libarchive.archive_write_set_bytes_per_block(a, 0);
    bad |= gi_libarchive.archive_write_set_bytes_in_last_block(a, 1);
    return bad == ARCHIVE_OK &&
           gi_libarchive.archive_write_open(a, writer, NULL, take, NULL) == ARCHIVE_OK;
}

/* Returns the status of an earlier write that failed, or otherwise of a call of libarchive. `good`
 * tells whether that call succeeded. */
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

/* Opens the archive of an open sink. On an error the tar is discarded. */
static enum gi_status open_archive(struct gi_tar_writer **out, const char *name, const char *path,
                                   struct gi_err *err)
{
    struct gi_tar_writer *writer = *out;
    const struct suffix *suffix = find(path);
    writer->archive = gi_small_check(gi_libarchive.archive_write_new());
    if (set_up(writer, suffix ? suffix->packing : NULL))
        return GI_OK;
    enum gi_status status = check(writer, false, name, err);
    gi_tar_writer_abandon(out);
    return status;
}

enum gi_status gi_tar_writer_open(struct gi_tar_writer **out, const char *path, bool no_clobber,
                                  struct gi_err *err)
{
    struct gi_tar_writer *writer = *out = gi_small_calloc(1, sizeof *writer);
    enum gi_status status = gi_sink_open(&writer->sink, path, no_clobber, err);
    if (!status)
        return open_archive(out, path, path, err);
    gi_tar_writer_abandon(out);
    return status;
}

enum gi_status gi_tar_writer_open_fd(struct gi_tar_writer **out, const char *name, int fd,
                                     const char *path, struct gi_err *err)
{
    *out = gi_small_calloc(1, sizeof **out);
    gi_sink_open_fd(&(*out)->sink, name, fd);
    return open_archive(out, name, path, err);
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
    for (size_t done = 0; done < nbytes;) {
        la_ssize_t got = gi_libarchive.archive_write_data(
            writer->archive, (const char *)bytes + done, nbytes - done);
        enum gi_status status = check(writer, got > 0, "a member", err);
        if (status)
            return status;
        done += (size_t)got;
    }
    return GI_OK;
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
