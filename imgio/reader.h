/* An input that is read once, from beginning to end: a pipe, a socket, or a file from its current
 * position.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/buffer.h"

struct gi_reader;

/* Sets a callback that functions call repeatedly while they wait for a pipe, either for its other
 * end or for bytes. If the callback returns true, the wait ends and reading fails. The error of a
 * reader then has no text. gi_input_heed() must be called before threads read. With NULL, which is
 * the default, nothing stops the wait. */
void gi_input_heed(bool (*stops)(void));
/* Waits until `fd` has bytes or is at its end. Returns false if the callback ended the wait. */
bool gi_input_wait(int fd);
/* Opens a file for reading, as open() does. Returns -1 with errno, which is EINTR if the callback
 * ended the wait. */
int gi_input_open(const char *path);

/* Opens `path`. "-" is standard input, which stays open when the reader is closed. Enlarges a
 * pipe's buffer by gi_pipe_widen(). Errors: GI_E_IO (also for a directory), GI_E_MEMORY. The error
 * texts of this function and of all functions below start with the path. */
enum gi_status gi_reader_open(struct gi_reader **reader, const char *path, struct gi_err *err);
/* A file that another process still writes. */
struct gi_reader_growth {
    /* Sets *ended to whether the file is complete. An error is that of the other process. */
    enum gi_status (*has_ended)(void *arg, bool *ended, struct gi_err *err);
    void *arg;
};
/* Opens the file `fd`, which the reader closes, from its beginning on. At its end reading waits for
 * more bytes until the file is complete. The position of `fd` is neither used nor changed. Messages
 * begin with `name`. */
void gi_reader_open_growing(struct gi_reader **reader, const char *name, int fd,
                            const struct gi_reader_growth *growth);
/* Lets reading fail, with an error without a text, soon after *cancelled is set, if the reader then
 * waits for bytes. */
void gi_reader_cancel_by(struct gi_reader *reader, const atomic_bool *cancelled);
/* Closes the reader and sets *reader to NULL. Does nothing if *reader is NULL already. */
void gi_reader_close(struct gi_reader **reader);

/* Returns "standard input", or the path. */
const char *gi_reader_name(const struct gi_reader *reader);

/* Returns the number of bytes taken since the input was opened. */
unsigned long long gi_reader_at(const struct gi_reader *reader);

enum { GI_READER_AHEAD = 256 << 10 };

/* Shows the next bytes without taking them. Sets *bytes to the bytes and *nbytes to their number,
 * which is `least` (1 to GI_READER_AHEAD) or more, and smaller only at the end of the input. Waits
 * only until `least` bytes have arrived. The bytes are valid until the next call. Errors:
 * GI_E_IO. */
enum gi_status gi_reader_peek(struct gi_reader *reader, const unsigned char **bytes, size_t *nbytes,
                              size_t least, struct gi_err *err);

/* Takes `nbytes` of the visible bytes. */
void gi_reader_skip(struct gi_reader *reader, size_t nbytes);

/* For files: copies up to `nbytes` bytes to `to`, from `ahead` bytes after the current position on,
 * and takes none of them. *got is smaller than nbytes if the file ends before. Errors: GI_E_IO,
 * also if this is not a file. */
enum gi_status gi_reader_glance(const struct gi_reader *reader, void *to, size_t nbytes,
                                uint64_t ahead, size_t *got, struct gi_err *err);

/* Takes `nbytes` bytes and stores them at `to`. *got is smaller than nbytes only at the end of the
 * input. Errors: GI_E_IO. */
enum gi_status gi_reader_read(struct gi_reader *reader, void *to, size_t nbytes, size_t *got,
                              struct gi_err *err);

/* Appends the next `nbytes` bytes to the buffer. *got is smaller than nbytes only at the end of the
 * input. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_reader_append(struct gi_reader *reader, struct gi_buffer *buffer, size_t nbytes,
                                size_t *got, struct gi_err *err);

/* Returns whether the input is a regular file. Then sets *fd to its descriptor, which the reader
 * closes, and *at to the position of the next byte in the file. */
bool gi_reader_file(const struct gi_reader *reader, int *fd, uint64_t *at);

/* For regular files, once all visible bytes are taken: takes up to `nbytes` bytes without reading
 * them, but no more than the file has now. Returns their number, which is 0 for other inputs and
 * for so few bytes that reading them is as fast. The
 * next bytes are then read in short pieces first, because another pass may follow. Asks the system
 * to read the following part of the file in the background. */
uint64_t gi_reader_pass(struct gi_reader *reader, uint64_t nbytes);

/* As gi_reader_read(), but waits only for the first byte. *got is 0 only at the end of the input.
 * Asks the system to read the following part of a file in the background. */
enum gi_status gi_reader_read_some(struct gi_reader *reader, void *to, size_t nbytes, size_t *got,
                                   struct gi_err *err);

/* Enlarges a pipe's buffer to the maximum for unprivileged processes. Does nothing to other files.
 * Returns `fd`. */
int gi_pipe_widen(int fd);
