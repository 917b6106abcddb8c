/* Writes animated GIFs ("Graphics Interchange Format", version 89a). A frame has its own palette,
 * and only the rectangle that differs from the frame before, if it becomes smaller by this.
 * SPDX-License-Identifier: MIT */
#include "imgio/gif/gif_part.h"
#include "imgio/integer.h"
#include "imgio/joined_kinds.h"
#include "imgio/small.h"

#include <stdlib.h>
#include <string.h>

enum {
    SCREEN = 13,
    DESCRIPTOR = 10,
    EXTENSION = 0x21,
    CONTROL = 0xf9,
    KEEP = 1 << 2,
    CLEAR = 2 << 2
};

static void measure(int *width, int *height, const unsigned char *bytes, size_t nbytes)
{
    *width = (int)gi_little16(bytes + 6);
    *height = (int)gi_little16(bytes + 8);
}

static size_t palette_end(const unsigned char *bytes)
{
    return SCREEN + ((size_t)3 << ((bytes[10] & 7) + 1));
}

/* Returns the end of the extensions with texts, XMP and the profile, which follow the palette. */
static size_t metadata_end(const unsigned char *bytes)
{
    size_t at = palette_end(bytes);
    while (bytes[at] == EXTENSION && bytes[at + 1] != CONTROL)
        for (at += 2; bytes[at++]; at += bytes[at - 1])
            ;
    return at;
}

/* `bytes` are the file of the first frame, whose metadata are those of the animation. */
static enum gi_status begin(struct gi_joined *joined, const unsigned char *bytes,
                            struct gi_err *err)
{
    unsigned char head[SCREEN] = "GIF89a", loop[] = "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0";
    int repeats = joined->plays ? joined->plays - 1 : 0;
    memcpy(head + 6, bytes + 6, 4);
    head[10] = 0x70; /* 8 bits per colour, no palette */
    repeats = repeats < 65535 ? repeats : 65535;
    loop[16] = (unsigned char)repeats;
    loop[17] = (unsigned char)(repeats >> 8);
    enum gi_status status = gi_buffer_append(&joined->file, head, sizeof head, err);
    if (!status && joined->plays != 1)
        status = gi_buffer_append(&joined->file, loop, sizeof loop, err); /* with its last 0 */
    size_t from = palette_end(bytes);
    return status ? status
                  : gi_buffer_append(&joined->file, bytes + from, metadata_end(bytes) - from, err);
}

/* Returns the delay in 1/100 s. Delays are rounded so that no frame begins more than 5 ms early or
 * late. */
static int delay_of(const struct gi_joined *joined, int delay_ms)
{
    int64_t delay = (joined->end_ms + delay_ms + 5) / 10 - (joined->end_ms + 5) / 10;
    return delay < 65535 ? (int)delay : 65535;
}

/* ---- frames ---- */

/* The last frame that was added. It is written when the next one is known, whose transparent pixels
 * decide how this one is disposed of. */
struct state {
    struct gi_image canvas; /* RGBA: what the frame is drawn on */
    struct gi_image frame;  /* RGBA: the picture after it is drawn */
    struct gi_buffer whole; /* the file of the whole frame, without metadata */
    struct gi_rect changed;
    int delay; /* 1/100 s */
};

/* Returns whether the file of a frame has a transparent colour. */
static bool has_transparency(const struct gi_buffer *file)
{
    return file->at[palette_end(file->at)] == EXTENSION;
}

/* Appends the file of a frame, which has its palette in the place of the global one. */
static enum gi_status put(struct gi_joined *joined, const struct gi_buffer *file,
                          struct gi_rect rect, int disposal, int delay, struct gi_err *err)
{
    const unsigned char *bytes = file->at;
    size_t at = palette_end(bytes), palette = at - SCREEN;
    unsigned char control[] = {EXTENSION, 0xf9, 4, (unsigned char)disposal, 0, 0, 0, 0};
    unsigned char descriptor[DESCRIPTOR] = {0x2c};
    const int places[] = {rect.left, rect.top, rect.width, rect.height};
    for (; bytes[at] == EXTENSION; at += 8) { /* the transparent colour is all that there is */
        control[3] |= bytes[at + 3] & 1;
        control[6] = bytes[at + 6];
    }
    control[4] = (unsigned char)delay;
    control[5] = (unsigned char)(delay >> 8);
    for (int i = 0; i < 4; i++) {
        descriptor[1 + 2 * i] = (unsigned char)places[i];
        descriptor[2 + 2 * i] = (unsigned char)(places[i] >> 8);
    }
    descriptor[9] = 0x80 | (bytes[10] & 7); /* its own palette */
    at += DESCRIPTOR;
    enum gi_status status = gi_buffer_append(&joined->file, control, sizeof control, err);
    if (!status)
        status = gi_buffer_append(&joined->file, descriptor, sizeof descriptor, err);
    if (!status)
        status = gi_buffer_append(&joined->file, bytes + SCREEN, palette, err);
    return status ? status
                  : gi_buffer_append(&joined->file, bytes + at, file->nbytes - 1 - at, err);
}

/* Writes the frame as the smallest of: the whole frame; the rectangle that changes, with pixels
 * that it must clear; this rectangle, in which pixels that do not change are transparent. Sets
 * *rect to the rectangle that was written. Some programs clear a rectangle to a colour if its frame
 * has no transparent one, so that such a frame remains whole. */
static enum gi_status put_frame(struct gi_joined *joined, struct gi_rect *rect,
                                struct gi_rect cleared, struct gi_err *err)
{
    struct state *s = joined->state;
    struct gi_rect part = gi_rect_union(s->changed, cleared);
    struct gi_buffer best = {0};
    enum gi_status status = GI_OK;
    *rect = (struct gi_rect){0, 0, joined->width, joined->height};
    part = part.width ? part : (struct gi_rect){0, 0, 1, 1};
    bool is_whole = part.width == joined->width && part.height == joined->height;
    for (int reveals = is_whole; !status && reveals < 2; reveals++) {
        struct gi_buffer made = {0};
        status = gi_gif_write_part(&made, &s->canvas, &s->frame, part, reveals, err);
        bool usable = !status && made.at && (!cleared.width || has_transparency(&made));
        if (usable && made.nbytes < (best.at ? best.nbytes : s->whole.nbytes)) {
            struct gi_buffer worse = best;
            best = made;
            made = worse;
            *rect = part;
        }
        free(made.at);
    }
    if (!status)
        status = put(joined, best.at ? &best : &s->whole, *rect, cleared.width ? CLEAR : KEEP,
                     s->delay, err);
    free(best.at);
    return status;
}

static void clear(const struct gi_image *canvas, struct gi_rect rect)
{
    for (int y = 0; y < rect.height; y++)
        memset((uint8_t *)gi_row(canvas, rect.top + y) + (ptrdiff_t)4 * rect.left, 0,
               (size_t)4 * (size_t)rect.width);
}

/* Begins the file. The first frame is whole. */
static enum gi_status begin_state(struct gi_joined *joined, const unsigned char *bytes,
                                  struct gi_err *err)
{
    struct state *s = joined->state = gi_small_calloc(1, sizeof *s);
    const struct gi_rect all = {0, 0, joined->width, joined->height};
    enum gi_status status = gi_image_alloc(&s->canvas, all.width, all.height, 4, GI_U8, err);
    if (status)
        return status;
    clear(&s->canvas, all);
    s->changed = all;
    return begin(joined, bytes, err);
}

/* Writes the last frame, and makes the canvas on which `next` is drawn. */
static enum gi_status advance(struct gi_joined *joined, const struct gi_image *next,
                              struct gi_err *err)
{
    struct state *s = joined->state;
    struct gi_rect cleared = gi_changes(&s->frame, next, true), rect;
    enum gi_status status = put_frame(joined, &rect, cleared, err);
    if (status)
        return status;
    gi_image_free(&s->canvas);
    s->canvas = s->frame;
    s->frame = (struct gi_image){0};
    if (cleared.width)
        clear(&s->canvas, rect);
    s->changed = gi_changes(&s->canvas, next, false);
    return GI_OK;
}

static enum gi_status add(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                          int delay_ms, struct gi_err *err)
{
    struct gi_image next;
    enum gi_status status = gi_gif_read_frame(&next, bytes, nbytes, err);
    if (!status)
        status = joined->n ? advance(joined, &next, err) : begin_state(joined, bytes, err);
    if (status) {
        gi_image_free(&next);
        return status;
    }
    struct state *s = joined->state;
    s->frame = next;
    s->delay = delay_of(joined, delay_ms);
    s->whole.nbytes = 0;
    status = gi_buffer_append(&s->whole, bytes, palette_end(bytes), err);
    size_t at = metadata_end(bytes);
    return status ? status : gi_buffer_append(&s->whole, bytes + at, nbytes - at, err);
}

static enum gi_status end(struct gi_joined *joined, struct gi_err *err)
{
    struct gi_rect rect;
    enum gi_status status = put_frame(joined, &rect, (struct gi_rect){0}, err);
    return status ? status : gi_buffer_append(&joined->file, ";", 1, err);
}

static void release(void *state)
{
    struct state *s = state;
    gi_image_free(&s->canvas);
    gi_image_free(&s->frame);
    free(s->whole.at);
    free(s);
}

const struct gi_joined_kind gi_joined_gif = {.format = "gif",
                                             .reasons = 1 << GI_JOIN_PAGES | 1 << GI_JOIN_FRAMES |
                                                        1 << GI_JOIN_ASKED,
                                             .measure = measure,
                                             .add = add,
                                             .end = end,
                                             .release = release};
