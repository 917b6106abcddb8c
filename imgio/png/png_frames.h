/* The frames of an animated PNG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/frames.h"

enum {
    GI_PNG_SIGNATURE = 8,
    GI_PNG_AROUND = 12,  /* bytes of a chunk besides its data: length, type and checksum */
    GI_PNG_CONTROL = 26, /* bytes of the data of fcTL */
    GI_PNG_SEQUENCE = 4, /* bytes of the data of fdAT before those of an IDAT */
};

struct gi_png_chunk {
    const unsigned char *type, *data;
    size_t n; /* bytes of data */
};

bool gi_png_chunk_is(const struct gi_png_chunk *chunk, const char *type);
/* Reads the chunk at *at, and moves *at behind it. Returns false if the file has not all of it. */
bool gi_png_next_chunk(struct gi_png_chunk *chunk, const unsigned char *bytes, size_t nbytes,
                       size_t *at);
/* Appends a chunk. Errors: GI_E_MEMORY. */
enum gi_status gi_png_append_chunk(struct gi_buffer *file, const char *type,
                                   const unsigned char *data, size_t n, struct gi_err *err);

extern const struct gi_animation_kind gi_png_animation;

/* The list of a PNG's frames (gi_format.list). */
enum gi_status gi_png_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err);
