/* All bytes of an input: a mapped file, or a buffer.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/ahead.h"
#include "imgio/imgio.h"

#include <time.h>

/* How the bytes of a file are held. */
enum gi_source_way {
    /* In a buffer, which does not change if the file does. */
    GI_SOURCE_READ,
    /* The same for a file that may stay coded: if the options ask for coded images, the buffer is
     * memory of options->allocator, which the image may keep. */
    GI_SOURCE_KEEP,
    /* Mapped, if the file is large. Whoever may write to the file changes the mapping, so a decoder
     * reads lengths, counts and offsets once, into its own memory. */
    GI_SOURCE_MAP,
    /* Not at all, because no decoder accepts the file: the buffer only has the first bytes. */
    GI_SOURCE_STOP,
};
/* Chooses how the file is read from its first bytes: GI_SOURCE_HEAD bytes, or the whole file if it
 * is shorter. */
typedef enum gi_source_way gi_source_chooser(const unsigned char *bytes, size_t nbytes,
                                             bool header_only);
enum { GI_SOURCE_HEAD = 4096 };

struct gi_source {
    const unsigned char *bytes; /* owned here, valid until gi_source_close() */
    size_t nbytes;              /* 1 or more */
    int guard;                  /* number of the guard of the mapping; -1 if `bytes` is a buffer */
    const struct gi_allocator *allocator; /* of the buffer, with `room` bytes; NULL: malloc() */
    size_t room;
    int fd;                  /* of the mapped file */
    struct timespec changed; /* when the mapped file was last changed before it was opened */
};

/* Reads the file at `path`, where "-" is standard input. A buffer may have up to limits->max_bytes.
 * `choose` may be NULL, which means GI_SOURCE_MAP. The error texts do not name the path. Errors:
 * GI_E_IO (also for a directory, and for a file that changed while it was read), GI_E_FORMAT
 * (empty), GI_E_LIMIT, GI_E_MEMORY. After an error there is nothing to close. */
enum gi_status gi_source_open(struct gi_source *source, const char *path,
                              const struct gi_load_options *options, gi_source_chooser *choose,
                              struct gi_err *err);

/* Reads the rest of an input into ahead->whole, and sets *bytes to it. If it was called before,
 * only sets *bytes. Errors: as gi_source_open(); gi_source_continue() returns them again. */
enum gi_status gi_ahead_complete(struct gi_ahead *ahead, const void **bytes, size_t *nbytes,
                                 const struct gi_limits *limits, gi_source_chooser *choose,
                                 struct gi_err *err);
/* Reads the rest of an input. Takes ownership of the members of `ahead`, even after an error. */
enum gi_status gi_source_continue(struct gi_source *source, struct gi_ahead *ahead,
                                  const struct gi_load_options *options, gi_source_chooser *choose,
                                  struct gi_err *err);

/* Releases the memory of these bytes of a source, if they are mapped. They can still be read. */
void gi_source_forget(const unsigned char *bytes, size_t nbytes);

/* Releases the bytes. GI_E_IO means that a mapped file was changed or truncated meanwhile. The
 * bytes past its new end were read as zeros. Other errors mean that this is not known. */
enum gi_status gi_source_close(struct gi_source *source, struct gi_err *err);
