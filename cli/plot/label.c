/* Draws words through cairo, which is loaded at the first label.
 * SPDX-License-Identifier: MIT */
#include "cli/plot/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/plot/cairo.h"
#include "cli/text.h"

enum {
    LETTERS_MIN = 10,
    LETTERS_PER_PICTURE = 14
}; /* height of letters, in pixels and as a part */

/* Returns the size of the font, in pixels. */
static int size_of(int label_height)
{
    return label_height * 2 / 3;
}

int gi_label_height(int picture_height)
{
    int letters = picture_height / LETTERS_PER_PICTURE;
    return (letters < LETTERS_MIN ? LETTERS_MIN : letters) * 3 / 2;
}

static double width_of(const struct gi_cairo *c, struct gi_cairo_context *cr, const char *words)
{
    struct gi_cairo_extents box = {0};
    c->text_extents(cr, words, &box);
    return box.x_advance;
}

/* Cuts the end of the words off, and marks it with an ellipsis, if they are wider than `width`. The
 * buffer has room for the ellipsis. */
static void fit(const struct gi_cairo *c, struct gi_cairo_context *cr, char *words, double width)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    size_t n = strlen(words);
    while (n && width_of(c, cr, words) > width) {
        do
            n--;
        while (n && ((unsigned char)words[n] & 0xc0) == 0x80); /* within a character of UTF-8 */
        strcpy(words + n, ellipsis);
    }
}

static void draw(const struct gi_cairo *c, struct gi_cairo_context *cr, int width, int height,
                 char *words, struct gi_ink paper, struct gi_ink ink)
{
    int size = size_of(height);
    c->set_source_rgba(cr, paper.red, paper.green, paper.blue, 1);
    c->paint(cr);
    c->set_source_rgba(cr, ink.red, ink.green, ink.blue, 1);
    c->select_font_face(cr, "sans-serif", GI_CAIRO_SLANT_NORMAL, GI_CAIRO_WEIGHT_NORMAL);
    c->set_font_size(cr, size);
    fit(c, cr, words, width);
    c->move_to(cr, (width - width_of(c, cr, words)) / 2, size);
    c->show_text(cr, words);
}

/* Copies the pixels of the surface, 32-bit numbers 0x00rrggbb. */
static enum gi_status copy(struct gi_image *made, const struct gi_cairo *c,
                           struct gi_cairo_surface *surface, int width, int height, int channels,
                           struct gi_err *err)
{
    enum gi_status status = gi_image_alloc(made, width, height, channels, GI_U8, err);
    c->surface_flush(surface);
    const unsigned char *rows = c->image_surface_get_data(surface);
    size_t stride = (size_t)c->image_surface_get_stride(surface);
    for (int y = 0; y < height && !status; y++) {
        uint8_t *to = gi_row(made, y);
        for (size_t x = 0; x < (size_t)width; x++) {
            uint32_t pixel;
            memcpy(&pixel, rows + (size_t)y * stride + 4 * x, sizeof pixel);
            if (channels == 3)
                *to++ = (uint8_t)(pixel >> 16);
            *to++ = (uint8_t)(pixel >> 8);
            if (channels == 3)
                *to++ = (uint8_t)pixel;
        }
    }
    return status;
}

enum gi_status gi_label(struct gi_image *made, int width, int height, int channels,
                        const char *words, struct gi_ink paper, struct gi_ink ink,
                        struct gi_err *err)
{
    struct gi_cairo c;
    struct gi_text_memory memory;
    enum gi_status status = gi_cairo_open(&c, err);
    if (status)
        return status;
    FILE *out = gi_text_open(&memory);
    if (out) {
        gi_print_safe(out, words);
        fputs("    ", out); /* room for an ellipsis */
    }
    char *safe = gi_text_close(out, &memory);
    if (!safe)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a label");
    safe[strlen(safe) - 4] = '\0';
    struct gi_cairo_surface *surface = c.image_surface_create(GI_CAIRO_RGB24, width, height);
    struct gi_cairo_context *cr = c.create(surface);
    draw(&c, cr, width, height, safe, paper, ink);
    int failed = c.status(cr);
    status = failed ? gi_fail(err, failed == GI_CAIRO_NO_MEMORY ? GI_E_MEMORY : GI_E_UNSUPPORTED,
                              "--label: %s", c.status_to_string(failed))
                    : copy(made, &c, surface, width, height, channels, err);
    c.destroy(cr);
    c.surface_destroy(surface);
    free(safe);
    return status;
}
