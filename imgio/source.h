/* All bytes of an input: a mapped file, or a buffer.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_SOURCE_H
#define GI_IMGIO_SOURCE_H

#include "imgio/imgio.h"

struct gi_source {
    const unsigned char *bytes; /* owned here, valid until gi_source_close() */
    size_t nbytes;              /* 1 or more */
    int guard;                  /* number of the mapping's guard; -1: `bytes` is a buffer */
};

/* Reads the file at `path`; "-" is standard input. A buffer may have up to limits->max_bytes.
 * Errors, which do not name the path: GI_E_IO (also for a directory), GI_E_FORMAT (empty),
 * GI_E_LIMIT, GI_E_MEMORY; then there is nothing to close. */
enum gi_status gi_source_open(struct gi_source *source, const char *path,
                              const struct gi_limits *limits, struct gi_err *err);

/* Reads the rest of an input. Takes over both parts of `ahead`, even if it fails. */
enum gi_status gi_source_continue(struct gi_source *source, struct gi_ahead *ahead,
                                  const struct gi_limits *limits, struct gi_err *err);

/* Releases the bytes. GI_E_IO means that the file was truncated meanwhile, and that the bytes past
 * its new end were read as zeros. */
enum gi_status gi_source_close(struct gi_source *source, struct gi_err *err);

#endif
