/* Unnamed temporary files.
 * SPDX-License-Identifier: MIT */
#include "cli/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imgio/small.h"

static const char *folder(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/var/tmp";
}

enum gi_status gi_scratch_file_fail(struct gi_err *err)
{
    return gi_fail(err, gi_status_of_errno(errno),
                   "a temporary file in %s: %s (TMPDIR says where it goes)", folder(),
                   strerror(errno));
}

enum gi_status gi_scratch_file_open(int *fd, uint64_t nbytes, struct gi_err *err)
{
    char *path = gi_small_format("%s/gpuimg-XXXXXX", folder());
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd >= 0)
        unlink(path);
    enum gi_status status = *fd >= 0 ? GI_OK : gi_scratch_file_fail(err);
    free(path);
    if (!status && nbytes && fallocate(*fd, 0, 0, (off_t)nbytes) &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
        status = gi_scratch_file_fail(err);
        close(*fd);
        *fd = -1;
    }
    return status;
}

/* Writes or reads all bytes at an offset of the file. */
static bool transfer(int fd, char *bytes, size_t nbytes, uint64_t at, bool writes)
{
    while (nbytes) {
        ssize_t n =
            writes ? pwrite(fd, bytes, nbytes, (off_t)at) : pread(fd, bytes, nbytes, (off_t)at);
        if (n == 0)
            errno = EIO;
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0) {
            bytes += n;
            nbytes -= (size_t)n;
            at += (uint64_t)n;
        }
    }
    return true;
}

bool gi_scratch_file_write(int fd, const void *bytes, size_t nbytes, uint64_t at)
{
    return transfer(fd, (char *)(uintptr_t)bytes, nbytes, at, true);
}

bool gi_scratch_file_read(int fd, void *bytes, size_t nbytes, uint64_t at)
{
    return transfer(fd, bytes, nbytes, at, false);
}
