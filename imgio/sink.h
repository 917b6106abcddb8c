/* A file being written, as who puts several in place at once sees it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_SINK_H
#define GI_IMGIO_SINK_H

#include <sys/types.h>

#include "imgio/imgio.h"

enum { GI_SINK_NBYTES = 1 << 20 };

struct gi_sink {
    char *name;   /* as the caller gave it, for messages */
    char *target; /* what comes to stand there, symbolic links resolved; NULL: written directly */
    char *temporary; /* NULL while the file has no name, and once it stands at its target */
    int fd;
    int lock;    /* of the temporary, once `fd` is closed; -1: none */
    int mode;    /* permissions of the older file, kept; -1: there is none */
    uid_t owner; /* of the older file, kept where the system allows it */
    gid_t group;
    nlink_t links;                     /* names of the older file */
    bool standard, no_clobber, failed; /* standard: `fd` is standard output, and stays open */
    bool stands;                       /* at its target already */
    bool in_memory; /* what is written is gathered in `bytes`; there is no file */
    unsigned char *bytes;
    size_t nbytes, room;
    size_t used;
    unsigned char buffer[GI_SINK_NBYTES];
};

/* The status of errno `why` when an open file can't be put in its place: as gi_status_of_errno(),
 * but GI_E_AGAIN for ENOENT, because its folder existed and is gone (unmounted, removed). */
enum gi_status gi_sink_status_of(int why);

/* gi_sink_open() of `path`, which messages call `name`. */
enum gi_status gi_sink_open_as(struct gi_sink **sink, const char *name, const char *path,
                               bool no_clobber, struct gi_err *err);

/* Writes what is left and closes; the file then stands under sink->temporary, unless it is written
 * directly or, where it comes `alone`, stands at its target already. Errors: as gi_sink_commit().
 */
enum gi_status gi_sink_prepare(struct gi_sink *sink, bool durable, bool alone, struct gi_err *err);

#endif
