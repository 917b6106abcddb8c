/* The part of a frame that differs from the frame before it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/buffer.h"
#include "imgio/image.h"

/* A rectangle of pixels. */
struct gi_gif_rect {
    int left, top, width, height; /* width and height are 0 if there are no pixels */
};

/* Reads a GIF of one frame as an RGBA image, whose transparent pixels are 0 in all channels. The
 * caller frees the image. Errors: GI_E_MEMORY. */
enum gi_status gi_gif_read_frame(struct gi_image *frame, const unsigned char *bytes, size_t nbytes,
                                 struct gi_err *err);

/* Returns the smallest rectangle with all pixels that differ between two RGBA images of one size.
 * With `cleared`, only pixels count that are opaque in `from` and transparent in `to`. */
struct gi_gif_rect gi_gif_changes(const struct gi_image *from, const struct gi_image *to,
                                  bool cleared);

/* Returns the smallest rectangle that contains both. */
struct gi_gif_rect gi_gif_union(struct gi_gif_rect a, struct gi_gif_rect b);

/* Writes the rectangle of the frame as a GIF of one frame into *file, which is empty. With
 * `reveals`, pixels that equal those of `canvas` become transparent. *file stays empty if no pixel
 * becomes transparent by this, or if there is no room for a transparent colour. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_gif_write_part(struct gi_buffer *file, const struct gi_image *canvas,
                                 const struct gi_image *frame, struct gi_gif_rect rect,
                                 bool reveals, struct gi_err *err);
