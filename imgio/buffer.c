/* A growable byte buffer, which may become a file.
 * SPDX-License-Identifier: MIT */
#include "imgio/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "imgio/scratch_file.h"
#include "imgio/small.h"

enum { LEAST_NBYTES = 4096, FORGET_NBYTES = 4 << 20 };

struct gi_spill {
    size_t from; /* bytes from which on the buffer spills; SIZE_MAX: never */
    int fd;      /* -1: not yet */
};

enum gi_status gi_buffer_reserve(struct gi_buffer *buffer, size_t nbytes, struct gi_err *err)
{
    size_t want;
    if (nbytes <= buffer->capacity - buffer->nbytes)
        return GI_OK;
    unsigned char *grown =
        __builtin_add_overflow(buffer->nbytes, nbytes, &want) ? NULL : realloc(buffer->at, want);
    if (!grown)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes more", nbytes);
    buffer->at = grown;
    buffer->capacity = want;
    return GI_OK;
}

int gi_buffer_file(const struct gi_buffer *buffer)
{
    return buffer->spill ? buffer->spill->fd : -1;
}

void gi_buffer_forget(const struct gi_buffer *buffer)
{
    if (gi_buffer_file(buffer) >= 0)
        madvise(buffer->at, buffer->capacity, MADV_DONTNEED);
}

/* Appends to the file, whose mapping may be longer than the file. Returns false if that fails. */
static bool append_to_file(struct gi_buffer *buffer, const void *bytes, size_t nbytes)
{
    size_t want = buffer->nbytes + nbytes;
    if (want > buffer->capacity) {
        size_t capacity = want + want / 2;
        void *grown = buffer->capacity
                          ? mremap(buffer->at, buffer->capacity, capacity, MREMAP_MAYMOVE)
                          : mmap(NULL, capacity, PROT_READ, MAP_SHARED, buffer->spill->fd, 0);
        if (grown == MAP_FAILED)
            return false;
        buffer->at = grown;
        buffer->capacity = capacity;
    }
    if (!gi_scratch_file_write(buffer->spill->fd, bytes, nbytes, buffer->nbytes))
        return false;
    /* Pages that were read through the mapping count as memory of the process. */
    if (want / FORGET_NBYTES != buffer->nbytes / FORGET_NBYTES)
        gi_buffer_forget(buffer);
    buffer->nbytes = want;
    return true;
}

/* Moves the bytes to a file, or does nothing if that fails. */
static void spill(struct gi_buffer *buffer)
{
    struct gi_buffer file = {.spill = buffer->spill};
    if (gi_scratch_file_open(&file.spill->fd, 0, NULL) == GI_OK &&
        append_to_file(&file, buffer->at, buffer->nbytes)) {
        free(buffer->at);
        *buffer = file;
        return;
    }
    if (file.capacity)
        munmap(file.at, file.capacity);
    if (file.spill->fd >= 0)
        close(file.spill->fd);
    *file.spill = (struct gi_spill){SIZE_MAX, -1};
}

enum gi_status gi_buffer_append(struct gi_buffer *buffer, const void *bytes, size_t nbytes,
                                struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (buffer->spill && buffer->spill->fd < 0 && buffer->nbytes &&
        nbytes + buffer->nbytes > buffer->spill->from)
        spill(buffer);
    if (gi_buffer_file(buffer) >= 0) {
        if (append_to_file(buffer, bytes, nbytes))
            return GI_OK;
        status = gi_buffer_take_back(buffer, err);
    }
    if (!status && nbytes > buffer->capacity - buffer->nbytes)
        status = gi_buffer_reserve(buffer, nbytes + buffer->nbytes + LEAST_NBYTES, err);
    if (status)
        return status;
    if (nbytes)
        memcpy(buffer->at + buffer->nbytes, bytes, nbytes);
    buffer->nbytes += nbytes;
    return GI_OK;
}

struct gi_buffer gi_buffer_spilling(size_t from)
{
    struct gi_spill *spill = gi_small_alloc(sizeof *spill);
    *spill = (struct gi_spill){from, -1};
    return (struct gi_buffer){.spill = spill};
}

enum gi_status gi_buffer_take_back(struct gi_buffer *buffer, struct gi_err *err)
{
    struct gi_buffer memory = {0};
    enum gi_status status = GI_OK;
    if (gi_buffer_file(buffer) < 0) {
        memory = *buffer;
        free(memory.spill);
        memory.spill = NULL;
    } else {
        status = gi_buffer_append(&memory, buffer->at, buffer->nbytes, err);
        gi_buffer_free(buffer);
    }
    *buffer = memory;
    return status;
}

void gi_buffer_free(struct gi_buffer *buffer)
{
    if (gi_buffer_file(buffer) >= 0) {
        munmap(buffer->at, buffer->capacity);
        close(buffer->spill->fd);
    } else {
        free(buffer->at);
    }
    free(buffer->spill);
    *buffer = (struct gi_buffer){0};
}
