/* All bytes of an input: a mapped file, or a buffer.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

struct gi_source {
    const unsigned char *bytes; /* owned here, valid until gi_source_close() */
    size_t nbytes;              /* 1 or more */
    int guard;                  /* number of the guard of the mapping; -1 if `bytes` is a buffer */
};

/* Reads the file at `path`, where "-" is standard input. A buffer may have up to limits->max_bytes.
 * The error texts do not name the path. Errors: GI_E_IO (also for a directory), GI_E_FORMAT
 * (empty), GI_E_LIMIT, GI_E_MEMORY. After an error there is nothing to close. */
enum gi_status gi_source_open(struct gi_source *source, const char *path,
                              const struct gi_limits *limits, struct gi_err *err);

/* Reads the rest of an input. Takes ownership of both members of `ahead`, even after an error. */
enum gi_status gi_source_continue(struct gi_source *source, struct gi_ahead *ahead,
                                  const struct gi_limits *limits, struct gi_err *err);

/* Releases the bytes. GI_E_IO means that the file was truncated meanwhile, and that the bytes past
 * its new end were read as zeros. */
enum gi_status gi_source_close(struct gi_source *source, struct gi_err *err);
