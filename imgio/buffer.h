/* A growable byte buffer that is reused for many inputs.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "imgio/status.h"

/* All zero: empty. The owner frees `at`, or calls gi_buffer_free() if the buffer may spill. */
struct gi_buffer {
    unsigned char *at;
    size_t nbytes, capacity;
    /* Not NULL in a buffer that may spill. Once it has more than a few bytes, all are in an
     * unnamed file (imgio/scratch_file.h), which is mapped at `at` and can only be read there. If
     * no such file can be made, or the disk is full, the bytes are in memory. */
    struct gi_spill *spill;
};

/* Makes room for `nbytes` more bytes and keeps the content, of a buffer that has not spilled.
 * Errors: GI_E_MEMORY. */
enum gi_status gi_buffer_reserve(struct gi_buffer *buffer, size_t nbytes, struct gi_err *err);

/* Appends. Errors: GI_E_MEMORY. */
enum gi_status gi_buffer_append(struct gi_buffer *buffer, const void *bytes, size_t nbytes,
                                struct gi_err *err);

enum { GI_BUFFER_SPILLS_FROM_NBYTES = 32 << 20 }; /* smaller ones are as fast in memory */

/* Makes an empty buffer that spills once it has more than `from` bytes. */
struct gi_buffer gi_buffer_spilling(size_t from);
/* Returns the file of a buffer that has spilled, otherwise -1. */
int gi_buffer_file(const struct gi_buffer *buffer);
/* Moves the bytes of a buffer that may spill to memory that the owner frees. Errors: GI_E_MEMORY.
 */
enum gi_status gi_buffer_take_back(struct gi_buffer *buffer, struct gi_err *err);
/* Releases the memory of the pages of the file that were read. They can still be read. */
void gi_buffer_forget(const struct gi_buffer *buffer);
/* Makes the buffer empty, and one that never spills. */
void gi_buffer_free(struct gi_buffer *buffer);
