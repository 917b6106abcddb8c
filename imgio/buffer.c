/* A growable byte buffer.
 * SPDX-License-Identifier: MIT */
#include "imgio/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_NBYTES = 4096 };

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

enum gi_status gi_buffer_append(struct gi_buffer *buffer, const void *bytes, size_t nbytes,
                                struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (nbytes > buffer->capacity - buffer->nbytes)
        status = gi_buffer_reserve(buffer, nbytes + buffer->nbytes + LEAST_NBYTES, err);
    if (status)
        return status;
    if (nbytes)
        memcpy(buffer->at + buffer->nbytes, bytes, nbytes);
    buffer->nbytes += nbytes;
    return GI_OK;
}
