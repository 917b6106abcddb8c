/* Internals of an output file, for bundle.c, which commits several files together.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "imgio/imgio.h"

/* Less than the blocks that free() returns to the system at once (gi_memory_give_back()): a batch
 * opens a sink per file. */
enum { GI_SINK_NBYTES = 1 << 18 };

struct gi_sink {
    char *name; /* as given by the caller, for messages */
    /* final path with links resolved; NULL if written directly, without a temporary file */
    char *target;
    /* name of the temporary file, or NULL before it has a name or once it is at its target */
    char *temporary;
    int fd;
    int lock;    /* descriptor that keeps the temporary file locked once `fd` is closed, or -1 */
    int mode;    /* permissions to copy from the older file; -1 if there is none */
    uid_t owner; /* owner and group, copied from the older file if the system allows that */
    gid_t group;
    nlink_t links;                     /* number of names of the older file */
    bool standard, no_clobber, failed; /* `standard`: `fd` is standard output, which stays open */
    bool in_place;                     /* the file is at its target already */
    bool in_memory; /* if true, the bytes are collected in `bytes`, and there is no file */
    unsigned char *bytes;
    size_t nbytes, room;
    size_t used;
    unsigned char *buffer; /* GI_SINK_NBYTES bytes; NULL once the sink is prepared */
};

/* Returns the status for errno `why` of a failed move to the target. It is that of
 * gi_status_of_errno(), except that ENOENT has GI_E_AGAIN, because the folder existed before (it
 * was unmounted or removed). */
enum gi_status gi_sink_status_of(int why);

/* Opens a sink for `path` as gi_sink_open() does. Messages begin with `name` instead of the
 * path. */
enum gi_status gi_sink_open_as(struct gi_sink **sink, const char *name, const char *path,
                               bool no_clobber, struct gi_err *err);

/* Writes the bytes of a buffer, which may have spilled, piece by piece. */
enum gi_status gi_sink_write_buffer(struct gi_sink *sink, const struct gi_buffer *buffer,
                                    struct gi_err *err);

/* Returns whether written bytes can be read and replaced. This is true for files that appear at the
 * end, and for sinks in memory. */
bool gi_sink_can_patch(const struct gi_sink *sink);
/* Read or replace written bytes, from byte `at` of the output on. Errors: GI_E_IO. */
enum gi_status gi_sink_read_at(struct gi_sink *sink, void *to, size_t nbytes, uint64_t at,
                               struct gi_err *err);
enum gi_status gi_sink_patch(struct gi_sink *sink, const void *bytes, size_t nbytes, uint64_t at,
                             struct gi_err *err);

/* Writes the buffered bytes and closes the file. Then the file has the name sink->temporary, unless
 * it was written directly, or (only with `alone`) is at its target already. Errors: as
 * gi_sink_commit(). */
enum gi_status gi_sink_prepare(struct gi_sink *sink, bool durable, bool alone, struct gi_err *err);
/* Closes the lock of a prepared sink, because another lock protects its temporary file. */
void gi_sink_unlock(struct gi_sink *sink);
