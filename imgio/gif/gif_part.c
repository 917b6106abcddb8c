/* Reads a whole frame of a GIF, and writes a part of it.
 * SPDX-License-Identifier: MIT */
#include "imgio/gif/gif_part.h"
#include "imgio/codecs.h"
#include "imgio/png/png_palette.h"

#include <stdlib.h>
#include <string.h>

enum { RGBA = 4 };

enum gi_status gi_gif_read_frame(struct gi_image *frame, const unsigned char *bytes, size_t nbytes,
                                 struct gi_err *err)
{
    const struct gi_load_options options = {.limits = {UINT64_MAX, UINT64_MAX}};
    struct gi_image read = {0};
    *frame = (struct gi_image){0};
    enum gi_status status =
        gi_load_memory(&read, NULL, NULL, bytes, nbytes, "a frame", &options, NULL, err);
    if (!status)
        status = gi_image_alloc(frame, read.width, read.height, RGBA, GI_U8, err);
    int channels = read.channels, colors = status ? 0 : gi_color_channels(&read);
    for (int y = 0; !status && y < read.height; y++) {
        const uint8_t *from = gi_row(&read, y);
        uint8_t *to = gi_row(frame, y);
        for (int x = 0; x < read.width; x++, from += channels, to += RGBA) {
            uint8_t shown = channels > colors ? from[colors] : 255; /* 0 or 255 */
            to[0] = from[0] & shown;
            to[1] = from[colors / 2] & shown;
            to[2] = from[colors - 1] & shown;
            to[3] = shown;
        }
    }
    gi_image_free(&read);
    return status;
}

static uint32_t pixel_at(const struct gi_image *image, int x, int y)
{
    uint32_t pixel;
    memcpy(&pixel, (const uint8_t *)gi_row(image, y) + (ptrdiff_t)RGBA * x, sizeof pixel);
    return pixel;
}

/* Copies the rectangle of the frame. With `reveals`, makes pixels that equal the canvas
 * transparent. Returns whether there is such a pixel that was opaque. */
static bool copy_part(const struct gi_image *part, const struct gi_image *canvas,
                      const struct gi_image *frame, struct gi_rect rect, bool reveals)
{
    bool revealed = false;
    for (int y = 0; y < rect.height; y++) {
        uint8_t *to = gi_row(part, y);
        for (int x = 0; x < rect.width; x++, to += RGBA) {
            uint32_t pixel = pixel_at(frame, rect.left + x, rect.top + y);
            if (reveals && pixel && pixel == pixel_at(canvas, rect.left + x, rect.top + y)) {
                pixel = 0;
                revealed = true;
            }
            memcpy(to, &pixel, sizeof pixel);
        }
    }
    return revealed;
}

enum gi_status gi_gif_write_part(struct gi_buffer *file, const struct gi_image *canvas,
                                 const struct gi_image *frame, struct gi_rect rect, bool reveals,
                                 struct gi_err *err)
{
    const struct gi_save_options options = {.format = "gif"};
    struct gi_png_coding coding;
    struct gi_image part;
    void *bytes = NULL;
    enum gi_status status = gi_image_alloc(&part, rect.width, rect.height, RGBA, GI_U8, err);
    if (status)
        return status;
    bool made = copy_part(&part, canvas, frame, rect, reveals) || !reveals;
    if (made && gi_png_find_palette(&coding, &part, false)) {
        status = gi_save_memory(&bytes, &file->nbytes, &part, NULL, "a frame", &options, NULL, err);
        file->at = bytes;
    }
    gi_image_free(&part);
    return status;
}
