/* A list of names in a file that is too long for memory. Its names are read in the order of the
 * file, through a buffer, as often as needed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/paths/input_list.h"
#include "cli/paths/shard.h"

struct gi_list_stream;

/* The bytes of a list from a pipe that is short enough for memory; `bytes` is malloc()ed. */
struct gi_list_bytes {
    char *bytes;
    size_t n;
};

/* Opens the list at `path` ("-": standard input). If `zero` is true, zero bytes end the names,
 * otherwise newlines do. *stream becomes NULL if the list has no more than the bytes that may be in
 * memory: 64 MiB, or for tests GPUIMG_LIST_BYTES. The caller closes *stream. A pipe is read to its
 * end, into a temporary file if the list is longer, and otherwise into *from_pipe, which the caller
 * frees; nothing has been read from any other short list. If `from_pipe` is NULL, a pipe counts as
 * short and is not read. Errors: GI_E_IO, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_list_stream_open(struct gi_list_stream **stream, const char *path, bool zero,
                                   struct gi_list_bytes *from_pipe, struct gi_err *err);
void gi_list_stream_close(struct gi_list_stream **stream);

/* Selects the names of a shard. The bytes of the file are divided into shard->n equal ranges, and a
 * name belongs to the range that has its first byte. If `before` is true, reads the list up to the
 * range in order to number the names from the beginning of the list; otherwise they are numbered
 * from the beginning of the range. `matcher` (NULL: none) says which names are left out; they have
 * no numbers. Errors: as gi_list_stream_next(). */
enum gi_status gi_list_stream_select(struct gi_list_stream *stream, const struct gi_shard *shard,
                                     struct gi_matcher *matcher, bool before, struct gi_err *err);

/* Returns to the first name of the shard. */
void gi_list_stream_rewind(struct gi_list_stream *stream);

/* Reads the next name that the matcher chooses. input->path is valid until the next call. Sets
 * *more to false past the last name. Errors: GI_E_USAGE for a name that can't be one, GI_E_FORMAT
 * for a line longer than GI_LINE_MAX, GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_list_stream_next(struct gi_list_stream *stream, struct gi_input *input,
                                   bool *more, struct gi_err *err);

/* As gi_list_stream_next(), but makes *one a list of this input alone, for naming its output. */
enum gi_status gi_list_stream_next_one(struct gi_list_stream *stream, struct gi_list *one,
                                       bool *more, struct gi_err *err);

/* Finds out whether the matcher chooses any name of the whole list, and rewinds the list. If not,
 * gi_list_stream_left_out() is that of the whole list. Errors: as gi_list_stream_next(). */
enum gi_status gi_list_stream_find(struct gi_list_stream *stream, bool *found, struct gi_err *err);

/* Returns how many names the matcher has left out since the list was rewound. */
uint64_t gi_list_stream_left_out(const struct gi_list_stream *stream);

/* Returns the number of bytes of the whole list. */
uint64_t gi_list_stream_nbytes(const struct gi_list_stream *stream);

/* Computes a hash of the whole list from its size and from its first and its last 64 KiB, so that
 * reports of other lists are recognised without reading all of a list. Errors: GI_E_IO,
 * GI_E_AGAIN. */
enum gi_status gi_list_stream_hash(uint64_t *hash, const struct gi_list_stream *stream,
                                   struct gi_err *err);
