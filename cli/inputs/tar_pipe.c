/* Tars that commands of the shell write and read (pipe:COMMAND).
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tar_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "imgio/scratch_file.h"
#include "cli/shell.h"
#include "imgio/reader.h"
#include "imgio/small.h"

/* ---- tars that a command writes ---- */

struct gi_tar_fetch {
    const char *name;
    const atomic_bool *cancelled;
    struct gi_shell *shell;
    int fd;
};

enum gi_status gi_tar_fetch_start(struct gi_tar_fetch **out, const char *name,
                                  const atomic_bool *cancelled, struct gi_err *err)
{
    struct gi_tar_fetch *fetch = *out = gi_small_calloc(1, sizeof *fetch);
    fetch->name = name;
    fetch->cancelled = cancelled;
    enum gi_status status = gi_scratch_file_open(&fetch->fd, 0, err);
    if (!status)
        status = gi_shell_start(&fetch->shell, name, -1, fetch->fd, err);
    if (status)
        gi_tar_fetch_close(out);
    return status;
}

void gi_tar_fetch_close(struct gi_tar_fetch **out)
{
    struct gi_tar_fetch *fetch = *out;
    *out = NULL;
    if (!fetch)
        return;
    gi_shell_close(&fetch->shell);
    if (fetch->fd >= 0)
        close(fetch->fd);
    free(fetch);
}

enum gi_status gi_tar_fetch_blame(const struct gi_tar_fetch *fetch, enum gi_status status,
                                  struct gi_err *err)
{
    if (!gi_scratch_file_is_full(fetch->fd))
        return status;
    errno = ENOSPC;
    *err = (struct gi_err){0};
    gi_scratch_file_fail(err);
    return gi_err_prefix(err, "%s", fetch->name);
}

/* Waits for the end of a command. If it failed and the disk of its output is full, that is the
 * reason. */
static enum gi_status wait_for(const struct gi_tar_fetch *fetch, struct gi_err *err)
{
    enum gi_status status = gi_shell_wait(fetch->shell, fetch->cancelled, err);
    return status == GI_E_IO && *err->text ? gi_tar_fetch_blame(fetch, status, err) : status;
}

static enum gi_status has_ended(void *self, bool *ended, struct gi_err *err)
{
    const struct gi_tar_fetch *fetch = self;
    *ended = gi_shell_has_ended(fetch->shell) || *fetch->cancelled;
    return *ended ? wait_for(fetch, err) : GI_OK;
}

enum gi_status gi_tar_fetch_open(struct gi_tar_fetch *fetch, struct gi_tar_reader **reader,
                                 struct gi_err *err)
{
    const struct gi_reader_growth growth = {has_ended, fetch};
    int fd = fcntl(fetch->fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        return gi_tar_reader_open_growing(reader, fetch->name, fd, &growth, err);
    return gi_fail(err, gi_status_of_errno(errno), "%s: %s", fetch->name, strerror(errno));
}

static bool has_space(int fd, uint64_t nbytes)
{
    struct statvfs disk;
    return fstatvfs(fd, &disk) == 0 && (uint64_t)disk.f_bavail >= nbytes / disk.f_frsize;
}

bool gi_tar_fetch_has_space(const struct gi_tar_fetch *fetch, uint64_t nbytes)
{
    return has_space(fetch->fd, nbytes);
}

static uint64_t nbytes_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
}

enum gi_status gi_tar_fetch_finish(struct gi_tar_fetch *fetch, uint64_t *nbytes, struct gi_err *err)
{
    enum gi_status status = wait_for(fetch, err);
    *nbytes = nbytes_of(fetch->fd);
    return status;
}

/* ---- tars that a command reads ---- */

struct gi_tar_sending {
    const char *name;
    int fd;
    struct gi_shell *shell; /* NULL: not started */
};

/* Returns a copy of the command without the quotes and blanks at its end, which the caller
 * frees. */
static char *end_of(const char *name)
{
    size_t n = strlen(name);
    while (n && strchr("'\" \t\n", name[n - 1]))
        n--;
    return gi_small_copy_n(name, n);
}

enum gi_status gi_tar_sending_open(struct gi_tar_sending **out, struct gi_tar_writer **writer,
                                   const char *name, struct gi_err *err)
{
    struct gi_tar_sending *sending = *out = gi_small_calloc(1, sizeof *sending);
    char *file = gi_small_format("%s: a temporary file (TMPDIR says where it goes)", name);
    char *path = end_of(name);
    sending->name = name;
    enum gi_status status = gi_scratch_file_open(&sending->fd, 0, err);
    int fd = status ? -1 : fcntl(sending->fd, F_DUPFD_CLOEXEC, 0);
    if (!status && fd < 0)
        status = gi_scratch_file_fail(err);
    if (!status)
        status = gi_tar_writer_open_fd(writer, file, fd, path, err);
    free(path);
    free(file);
    if (status)
        gi_tar_sending_close(out);
    return status;
}

enum gi_status gi_tar_sending_start(struct gi_tar_sending *sending, uint64_t *nbytes,
                                    struct gi_err *err)
{
    *nbytes = nbytes_of(sending->fd);
    if (lseek(sending->fd, 0, SEEK_SET) < 0)
        return gi_scratch_file_fail(err);
    return gi_shell_start(&sending->shell, sending->name, sending->fd, -1, err);
}

enum gi_status gi_tar_sending_wait(struct gi_tar_sending *sending, struct gi_err *err)
{
    return gi_shell_wait(sending->shell, NULL, err);
}

bool gi_tar_sending_has_space(const struct gi_tar_sending *sending, uint64_t nbytes)
{
    return has_space(sending->fd, nbytes);
}

void gi_tar_sending_close(struct gi_tar_sending **sending)
{
    if (*sending)
        gi_shell_close(&(*sending)->shell);
    if (*sending && (*sending)->fd >= 0)
        close((*sending)->fd);
    free(*sending);
    *sending = NULL;
}
