/* Internals of an output file, for code that commits several files together (bundle.c).
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_SINK_H
#define GI_IMGIO_SINK_H

#include <sys/types.h>

#include "imgio/imgio.h"

enum { GI_SINK_NBYTES = 1 << 20 };

struct gi_sink {
    char *name;      /* as given by the caller, for messages */
    char *target;    /* final path, with symbolic links resolved; NULL: written directly */
    char *temporary; /* name of the temporary file; NULL while it has none, and once it is in
                        place */
    int fd;
    int lock;    /* descriptor that holds the lock of the temporary file once `fd` is closed; -1:
                    none */
    int mode;    /* permissions of the older file, to be copied; -1: there is none */
    uid_t owner; /* of the older file, copied if the system allows it */
    gid_t group;
    nlink_t links;                     /* number of names of the older file */
    bool standard, no_clobber, failed; /* standard: `fd` is standard output, and stays open */
    bool in_place;                     /* the file is at its target already */
    bool in_memory;                    /* the bytes are collected in `bytes`; there is no file */
    unsigned char *bytes;
    size_t nbytes, room;
    size_t used;
    unsigned char buffer[GI_SINK_NBYTES];
};

/* Returns the status for errno `why` of a failed move to the target: as gi_status_of_errno(), but
 * GI_E_AGAIN for ENOENT, because the folder existed and is gone (unmounted, removed). */
enum gi_status gi_sink_status_of(int why);

/* Opens a sink as gi_sink_open() does; messages call `path` `name`. */
enum gi_status gi_sink_open_as(struct gi_sink **sink, const char *name, const char *path,
                               bool no_clobber, struct gi_err *err);

/* Writes the buffered bytes and closes the file. It then has the name sink->temporary, unless it is
 * written directly or, if `alone`, is at its target already. Errors: as gi_sink_commit(). */
enum gi_status gi_sink_prepare(struct gi_sink *sink, bool durable, bool alone, struct gi_err *err);

#endif
