/* Unnamed temporary files.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

/* Opens a file for reading and writing in $TMPDIR, or in /var/tmp if TMPDIR is not set. /var/tmp is
 * on a disk even if /tmp is in memory. The file has no name, and disappears when the caller closes
 * its descriptor. Space for `nbytes` (0: unknown) is allocated at once if the file system can do
 * that. On an error *fd is -1. Errors: GI_E_AGAIN, GI_E_IO. */
enum gi_status gi_scratch_file_open(int *fd, uint64_t nbytes, struct gi_err *err);

/* Reports that a system call on the file failed, with the reason in errno. Returns GI_E_AGAIN, or
 * GI_E_IO for EFBIG. */
enum gi_status gi_scratch_file_fail(struct gi_err *err);

/* Returns whether the disk, or a quota, has less than 64 KiB left, so that another process that
 * wrote to the file has probably failed to write all. */
bool gi_scratch_file_is_full(int fd);

/* Write or read all bytes at an offset of the file. Return false if a system call failed, with the
 * reason in errno. */
bool gi_scratch_file_write(int fd, const void *bytes, size_t nbytes, uint64_t at);
bool gi_scratch_file_read(int fd, void *bytes, size_t nbytes, uint64_t at);
