/* Internals of ranges of a tar's file.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/tar/tar.h"

enum { GI_TAR_BLOCK = 512 /* bytes of a header; members are padded to a multiple of it */ };

/* An open file. It is closed when its last reference is released. */
struct gi_tar_file;

/* Makes a file with one reference and a descriptor of its own. Returns NULL if there is no further
 * descriptor. */
struct gi_tar_file *gi_tar_file_new(int fd);
/* Releases a reference. Does nothing if `file` is NULL. */
void gi_tar_file_release(struct gi_tar_file *file);

/* Makes a range of `nbytes` from byte `at` of the file on. Returns NULL if the file does not have
 * them and the padding of the member, without which it is damaged. The range has a reference to the
 * file. */
struct gi_tar_range *gi_tar_range_new(struct gi_tar_file *file, uint64_t at, uint64_t nbytes);
/* The same in a stream. Returns NULL if the stream ends before, or for too many bytes. */
struct gi_tar_stream;
struct gi_tar_range *gi_tar_range_of_stream(struct gi_tar_stream *stream, uint64_t at,
                                            uint64_t nbytes);
