/* Temporary files that have no name. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_SCRATCH_FILE_H
#define GI_CLI_RUN_SCRATCH_FILE_H

#include <stdint.h>

#include "imgio/status.h"

/* Opens a file for reading and writing in $TMPDIR, or if that is not set in /var/tmp, which is on a
 * disk where /tmp may be memory. The file is unnamed and disappears with its descriptor, which the
 * caller closes. Space for `nbytes` (0: unknown) is allocated at once if the file system can do
 * that. Errors: *fd is -1 and GI_E_IO or GI_E_AGAIN. */
enum gi_status gi_scratch_file_open(int *fd, uint64_t nbytes, struct gi_err *err);

/* The error of a call on it that left errno. */
enum gi_status gi_scratch_file_fail(struct gi_err *err);

#endif
