/* Frames of a GIF that is written.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/buffer.h"
#include "imgio/changes.h"

/* Reads a GIF of one frame as an RGBA image, whose transparent pixels are 0 in all channels. The
 * caller frees the image. Errors: GI_E_MEMORY. */
enum gi_status gi_gif_read_frame(struct gi_image *frame, const unsigned char *bytes, size_t nbytes,
                                 struct gi_err *err);

/* Writes the rectangle of the frame as a GIF of one frame into *file, which is empty. With
 * `reveals`, pixels that equal those of `canvas` become transparent. *file stays empty if no pixel
 * becomes transparent by this, or if there is no room for a transparent colour. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_gif_write_part(struct gi_buffer *file, const struct gi_image *canvas,
                                 const struct gi_image *frame, struct gi_rect rect, bool reveals,
                                 struct gi_err *err);
