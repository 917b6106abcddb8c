/* Reads and writes tars member by member, through libarchive. It reads ustar, pax and GNU tar,
 * plain or compressed. It writes pax, which is plain ustar for members that need no more.
 *
 * A member keeps its name, kind, mode, owner, times, links, ACLs and extended attributes. Records
 * of pax that libarchive does not know, such as comments, are lost.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "imgio/buffer.h"

/* Loads libarchive. Must be called before all other functions here. Errors: GI_E_UNSUPPORTED if it
 * is not installed. */
enum gi_status gi_tar_load(struct gi_err *err);

/* The metadata of a member. */
struct gi_tar_entry;
void gi_tar_entry_free(struct gi_tar_entry **entry);
/* Returns the member's name, or "" if it has none. The text is valid until the name is changed or
 * the entry is freed. */
const char *gi_tar_entry_name(const struct gi_tar_entry *entry);
bool gi_tar_entry_is_file(const struct gi_tar_entry *entry);
uint64_t gi_tar_entry_nbytes(const struct gi_tar_entry *entry);
void gi_tar_entry_rename(struct gi_tar_entry *entry, const char *name);
void gi_tar_entry_resize(struct gi_tar_entry *entry, uint64_t nbytes);

/* Opens the tar at `path`, where "-" is standard input. Error texts start with `path`. A member is
 * returned as soon as its header has arrived. Errors: GI_E_IO, GI_E_FORMAT (no tar),
 * GI_E_MEMORY. */
struct gi_tar_reader;
enum gi_status gi_tar_reader_open(struct gi_tar_reader **reader, const char *path,
                                  struct gi_err *err);
/* The same for a file that another process still writes; `growth` and `fd` as in
 * gi_reader_open_growing(). Error texts start with `name`. */
struct gi_reader_growth;
enum gi_status gi_tar_reader_open_growing(struct gi_tar_reader **reader, const char *name, int fd,
                                          const struct gi_reader_growth *growth,
                                          struct gi_err *err);
void gi_tar_reader_close(struct gi_tar_reader **reader);

/* Returns the maximum bytes of memory that reading ahead takes, 0 in a file without
 * compression. */
uint64_t gi_tar_reader_memory(const struct gi_tar_reader *reader);

/* Returns the next member, which the caller frees, or NULL after the last member. Skips unread
 * bytes of the member before. Errors: GI_E_IO, GI_E_FORMAT (damaged or truncated), GI_E_MEMORY. */
enum gi_status gi_tar_next(struct gi_tar_reader *reader, struct gi_tar_entry **entry,
                           struct gi_err *err);
/* Appends `nbytes` of the member to `buffer`, or fewer bytes only at the member's end. Errors: as
 * gi_tar_next(). */
enum gi_status gi_tar_read(struct gi_tar_reader *reader, struct gi_buffer *buffer, size_t nbytes,
                           struct gi_err *err);

/* The bytes of a member in the file of a tar, which any thread may read at any time, or in memory
 * that many members share. */
struct gi_tar_range;
/* Returns the range of the member that gi_tar_next() has returned last, which the caller frees.
 * Returns NULL if the member is stored as pieces, or if its end is not in the file yet. If the tar
 * is compressed or a pipe, waits for the end of the member, and returns NULL for a long member, and
 * unless the caller will free the range `soon`. */
struct gi_tar_range *gi_tar_member_range(struct gi_tar_reader *reader,
                                         const struct gi_tar_entry *entry, bool soon);
/* Reads the bytes of the range, and sets *bytes to them, which the caller frees, even after an
 * error. Does nothing if `range` is NULL. Error texts start with `name`. Errors: GI_E_AGAIN if they
 * can't be read any more, and GI_E_MEMORY. */
enum gi_status gi_tar_range_read(const struct gi_tar_range *range, void **bytes, const char *name,
                                 struct gi_err *err);
/* Does nothing if *range is NULL already. */
void gi_tar_range_free(struct gi_tar_range **range);

/* Returns how many bytes of the tar's file have been needed so far, counted as stored (compressed
 * or not). */
uint64_t gi_tar_stored_nbytes(const struct gi_tar_reader *reader);

/* Returns whether the path names a tar that can be written. It must end in .tar or in a
 * compression's suffix that gi_tar_writer_open() knows, or be "-". */
bool gi_tar_is_name(const char *path);

/* A tar that is written through a sink (imgio/imgio.h). Nothing exists at `path` before
 * gi_tar_writer_commit(). The suffix selects gzip, bzip2, xz or zstd (.tar.gz .tgz .tar.bz2 .tbz2
 * .tar.xz .txz .tar.zst .tzst). Errors: the sink's. */
struct gi_tar_writer;
enum gi_status gi_tar_writer_open(struct gi_tar_writer **writer, const char *path, bool no_clobber,
                                  struct gi_err *err);
/* The same for an open file without a name, which the writer closes. `path` is only looked at for
 * its suffix; without one of those the tar is not compressed. Error texts start with `name`. */
enum gi_status gi_tar_writer_open_fd(struct gi_tar_writer **writer, const char *name, int fd,
                                     const char *path, struct gi_err *err);
/* Begins a member. The caller must then write as many bytes as the entry says. Errors: the sink's,
 * and GI_E_UNSUPPORTED for entries that pax can't represent. */
enum gi_status gi_tar_write_entry(struct gi_tar_writer *writer, const struct gi_tar_entry *entry,
                                  struct gi_err *err);
enum gi_status gi_tar_write(struct gi_tar_writer *writer, const void *bytes, size_t nbytes,
                            struct gi_err *err);
/* Ends the member and flushes the output, so that the reader of a pipe gets the whole member. */
enum gi_status gi_tar_write_end(struct gi_tar_writer *writer, struct gi_err *err);
/* Ends the tar and sets *writer to NULL. On an error no file appears and an older file stays. */
enum gi_status gi_tar_writer_commit(struct gi_tar_writer **writer, bool durable,
                                    struct gi_err *err);
/* Discards the tar and sets *writer to NULL. Does nothing if *writer is NULL already. */
void gi_tar_writer_abandon(struct gi_tar_writer **writer);
