/* An input that is read once, from front to end: a pipe, a socket, or a file from its current
 * position.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_READER_H
#define GI_IMGIO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

struct gi_reader;

/* Sets a callback that functions call repeatedly while they wait for a pipe: for its other end or
 * for bytes. If it returns true, the wait ends and reading fails, for a reader with an error that
 * has no text. Must be called before threads read. NULL, as at first: nothing stops the wait. */
void gi_input_heed(bool (*stops)(void));
/* Waits until `fd` has bytes or is at its end. Returns false if the callback ended the wait. */
bool gi_input_wait(int fd);
/* Opens a file for reading, as open() does. Returns -1 with errno, which is EINTR if the callback
 * ended the wait. */
int gi_input_open(const char *path);

/* Opens `path`; "-" is standard input, which stays open when the reader is closed. Enlarges a
 * pipe's buffer by gi_pipe_widen(). Errors: GI_E_IO (also for a directory), GI_E_MEMORY; texts
 * start with the path, as those of all functions below. */
enum gi_status gi_reader_open(struct gi_reader **reader, const char *path, struct gi_err *err);
/* Closes the reader and sets *reader to NULL. NULL: does nothing. */
void gi_reader_close(struct gi_reader **reader);

/* Returns "standard input", or the path. */
const char *gi_reader_name(const struct gi_reader *reader);

/* Returns the number of bytes taken since the input was opened. */
unsigned long long gi_reader_at(const struct gi_reader *reader);

enum { GI_READER_AHEAD = 256 << 10 };

/* Shows the next bytes without taking them. They are *nbytes at *bytes: `least` (1 to
 * GI_READER_AHEAD) or more, and fewer only at the end. Waits only until `least` have arrived. Valid
 * until the next call. Errors: GI_E_IO. */
enum gi_status gi_reader_peek(struct gi_reader *reader, const unsigned char **bytes, size_t *nbytes,
                              size_t least, struct gi_err *err);

/* Takes `nbytes` of the visible bytes. */
void gi_reader_skip(struct gi_reader *reader, size_t nbytes);

/* For files: copies up to `nbytes` to `to`, beginning `ahead` bytes after the current position, and
 * takes none. *got is smaller past the end. Errors: GI_E_IO, also if this is not a file. */
enum gi_status gi_reader_glance(const struct gi_reader *reader, void *to, size_t nbytes,
                                uint64_t ahead, size_t *got, struct gi_err *err);

/* Takes `nbytes` into `to`; *got is smaller only at the end. Errors: GI_E_IO. */
enum gi_status gi_reader_read(struct gi_reader *reader, void *to, size_t nbytes, size_t *got,
                              struct gi_err *err);

/* Enlarges a pipe's buffer to the maximum for unprivileged processes; other files are unchanged.
 * Returns `fd`. */
int gi_pipe_widen(int fd);

#endif
