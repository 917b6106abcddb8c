/* The bytes of a pipe or of a compressed tar in memory. Threads of their own, if they can be
 * started, read and decompress them ahead of the thread that reads the tar.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/reader.h"
#include "imgio/tar/tar.h"

struct gi_tar_stream;

/* Returns whether a file that begins with these bytes may be compressed in a way that
 * gi_tar_stream_open() knows. 6 bytes tell. */
bool gi_tar_stream_knows(const unsigned char *bytes, size_t nbytes);

/* Makes the stream of the bytes of the input `from`, if `packed` without their compression. The
 * input must outlive it, and the caller must not read it any more. */
void gi_tar_stream_open(struct gi_tar_stream **stream, struct gi_reader *from, bool packed);
/* Returns the maximum bytes of memory that reading ahead takes. Bytes that are held
 * (gi_tar_stream_hold()) do not count. */
uint64_t gi_tar_stream_memory(const struct gi_tar_stream *stream);
/* Does nothing if *stream is NULL already. */
void gi_tar_stream_close(struct gi_tar_stream **stream);

/* Shows the next bytes, at most GI_READER_AHEAD, which are valid until they are passed. Waits until
 * there is one. *nbytes is 0 only at the end of the stream. Errors: those of the input, and
 * GI_E_FORMAT (damaged). The error texts start with the name of the input. */
enum gi_status gi_tar_stream_peek(struct gi_tar_stream *stream, const unsigned char **bytes,
                                  size_t *nbytes, struct gi_err *err);
/* Takes `nbytes` bytes, for which it waits. Returns their number, which is smaller only at the end
 * of the stream and before an error. */
uint64_t gi_tar_stream_pass(struct gi_tar_stream *stream, uint64_t nbytes);
/* Returns the number of bytes that were passed. */
uint64_t gi_tar_stream_at(const struct gi_tar_stream *stream);
/* Returns how many bytes of the input were needed for the bytes before `at`, which is a position in
 * the bytes that were shown last, or their end. */
uint64_t gi_tar_stream_stored(struct gi_tar_stream *stream, uint64_t at);

/* Consecutive bytes of a stream in memory, which do not change any more. */
struct gi_tar_piece;
enum {
    GI_TAR_HELD_NBYTES = 4 << 20, /* maximum that can be held together */
    GI_TAR_HELD_PIECES = 6,
};
/* Waits for `nbytes` bytes from `at` on, at most GI_TAR_HELD_NBYTES, which are not passed yet. Sets
 * pieces[] to the pieces that have them, each with a reference more, and the rest to NULL. Returns
 * false if the stream ends before, or if they are in too many pieces. */
bool gi_tar_stream_hold(struct gi_tar_stream *stream, uint64_t at, uint64_t nbytes,
                        struct gi_tar_piece *pieces[GI_TAR_HELD_PIECES]);
/* Copies these bytes. */
void gi_tar_pieces_copy(struct gi_tar_piece *const pieces[GI_TAR_HELD_PIECES], unsigned char *to,
                        uint64_t at, uint64_t nbytes);
/* Releases a reference. Does nothing if `piece` is NULL. */
void gi_tar_piece_release(struct gi_tar_piece *piece);
