/* Ranges of a tar's file. The thread that reads a tar reads only the headers of long members; the
 * threads that work on the members read their bytes, so that the copies from the system's cache are
 * made by many threads. The ranges are not mapped: for a mapping of a file that gets shorter the
 * system would send SIGBUS.
 * SPDX-License-Identifier: MIT */
#include "imgio/tar/tar_range.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imgio/small.h"
#include "imgio/tar/tar_stream.h"

struct gi_tar_file {
    int fd;
    atomic_int references;
    uint64_t nbytes; /* length of the file when it was looked up last, by the reading thread */
};

struct gi_tar_range {
    struct gi_tar_file *file;                        /* NULL: it is in the pieces of a stream */
    struct gi_tar_piece *pieces[GI_TAR_HELD_PIECES]; /* the last ones may be NULL */
    uint64_t at, nbytes;
};

struct gi_tar_file *gi_tar_file_new(int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return NULL;
    struct gi_tar_file *file = gi_small_calloc(1, sizeof *file);
    file->fd = own;
    file->references = 1;
    return file;
}

void gi_tar_file_release(struct gi_tar_file *file)
{
    if (!file || atomic_fetch_sub(&file->references, 1) > 1)
        return;
    close(file->fd);
    free(file);
}

/* Returns the length of a member with its padding. */
static uint64_t padded(uint64_t nbytes)
{
    return nbytes + (GI_TAR_BLOCK - nbytes % GI_TAR_BLOCK) % GI_TAR_BLOCK;
}

struct gi_tar_range *gi_tar_range_new(struct gi_tar_file *file, uint64_t at, uint64_t nbytes)
{
    struct stat st;
    uint64_t end;
    if (__builtin_add_overflow(at, padded(nbytes), &end))
        return NULL;
    if (end > file->nbytes && !fstat(file->fd, &st)) /* it may have grown */
        file->nbytes = (uint64_t)st.st_size;
    if (end > file->nbytes)
        return NULL;
    struct gi_tar_range *range = gi_small_alloc(sizeof *range);
    atomic_fetch_add(&file->references, 1);
    *range = (struct gi_tar_range){.file = file, .at = at, .nbytes = nbytes};
    return range;
}

struct gi_tar_range *gi_tar_range_of_stream(struct gi_tar_stream *stream, uint64_t at,
                                            uint64_t nbytes)
{
    struct gi_tar_range of = {.at = at, .nbytes = nbytes};
    if (nbytes > GI_TAR_HELD_NBYTES || !gi_tar_stream_hold(stream, at, padded(nbytes), of.pieces))
        return NULL;
    struct gi_tar_range *range = gi_small_alloc(sizeof *range);
    *range = of;
    return range;
}

enum gi_status gi_tar_range_read(const struct gi_tar_range *range, void **bytes, const char *name,
                                 struct gi_err *err)
{
    unsigned char *to = range ? malloc((size_t)range->nbytes) : NULL;
    if (!range)
        return GI_OK;
    if (!to)
        return gi_fail(err, GI_E_MEMORY, "%s: out of memory: %llu bytes", name,
                       (unsigned long long)range->nbytes);
    *bytes = to;
    if (!range->file) {
        gi_tar_pieces_copy(range->pieces, to, range->at, range->nbytes);
        return GI_OK;
    }
    for (uint64_t done = 0; done < range->nbytes;) {
        ssize_t n = pread(range->file->fd, to + done, (size_t)(range->nbytes - done),
                          (off_t)(range->at + done));
        if (n < 0 && errno != EINTR)
            return gi_fail(err, GI_E_AGAIN, "%s: %s", name, strerror(errno));
        if (n == 0)
            return gi_fail(err, GI_E_AGAIN, "%s: the tar got shorter while it was read", name);
        done += n > 0 ? (uint64_t)n : 0;
    }
    return GI_OK;
}

void gi_tar_range_free(struct gi_tar_range **range)
{
    if (*range) {
        gi_tar_file_release((*range)->file);
        for (int i = 0; i < GI_TAR_HELD_PIECES; i++)
            gi_tar_piece_release((*range)->pieces[i]);
    }
    free(*range);
    *range = NULL;
}
