/* A growable byte buffer that is reused for many inputs.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "imgio/status.h"

/* All zero: empty. The owner frees `at`. */
struct gi_buffer {
    unsigned char *at;
    size_t nbytes, capacity;
};

/* Makes room for `nbytes` more bytes and keeps the content. Errors: GI_E_MEMORY. */
enum gi_status gi_buffer_reserve(struct gi_buffer *buffer, size_t nbytes, struct gi_err *err);

/* Appends. Errors: GI_E_MEMORY. */
enum gi_status gi_buffer_append(struct gi_buffer *buffer, const void *bytes, size_t nbytes,
                                struct gi_err *err);
