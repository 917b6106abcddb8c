/* Bytes in memory that grow, and are used again and again.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_BUFFER_H
#define GI_IMGIO_BUFFER_H

#include <stddef.h>

#include "imgio/status.h"

/* Zeros: empty. The owner frees `at`. */
struct gi_buffer {
    unsigned char *at;
    size_t nbytes, capacity;
};

/* Makes room for `nbytes` more; the content is kept. Errors: GI_E_MEMORY. */
enum gi_status gi_buffer_reserve(struct gi_buffer *buffer, size_t nbytes, struct gi_err *err);

/* Appends. Errors: GI_E_MEMORY. */
enum gi_status gi_buffer_append(struct gi_buffer *buffer, const void *bytes, size_t nbytes,
                                struct gi_err *err);

#endif
