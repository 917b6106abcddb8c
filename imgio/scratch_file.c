/* Unnamed temporary files.
 * SPDX-License-Identifier: MIT */
#include "imgio/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "imgio/small.h"

static const char *folder(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/var/tmp";
}

enum gi_status gi_scratch_file_fail(struct gi_err *err)
{
    /* A missing folder is a fault of the machine, not of an input. A limit on the size of files is
     * neither, as for outputs. */
    return gi_fail(err, errno == EFBIG ? GI_E_IO : GI_E_AGAIN,
                   "a temporary file in %s: %s (TMPDIR says where it goes)", folder(),
                   strerror(errno));
}

bool gi_scratch_file_is_full(int fd)
{
    enum { LEAST_NBYTES = 64 << 10 };
    struct stat st;
    struct statvfs disk;
    if (fstat(fd, &st) || fstatvfs(fd, &disk))
        return false;
    return disk.f_bavail < LEAST_NBYTES / disk.f_frsize ||
           (fallocate(fd, FALLOC_FL_KEEP_SIZE, st.st_size, LEAST_NBYTES) &&
            (errno == ENOSPC || errno == EDQUOT));
}

/* Where the file system has no files without a name, a kill may leave a file behind. */
static int open_named(void)
{
    char *path = gi_small_format("%s/gpuimg-XXXXXX", folder());
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

enum gi_status gi_scratch_file_open(int *fd, uint64_t nbytes, struct gi_err *err)
{
    *fd = open(folder(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (*fd < 0)
        *fd = open_named();
    enum gi_status status = *fd >= 0 ? GI_OK : gi_scratch_file_fail(err);
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
