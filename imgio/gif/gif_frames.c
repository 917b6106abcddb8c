/* Finds the frames of an animated GIF ("Graphics Interchange Format", version 89a). How often it is
 * played is in an extension that Netscape defined: its number counts the repetitions, and without
 * it the animation is played once.
 * SPDX-License-Identifier: MIT */
#include "imgio/gif/gif_frames.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"

#include <string.h>

enum {
    SCREEN = 13, /* bytes of the signature and of the logical screen descriptor */
    DESCRIPTOR = 10,
    EXTENSION = 0x21,
    IMAGE = 0x2c,
    TRAILER = 0x3b,
    CONTROL = 0xf9,
    APPLICATION = 0xff,
    HAS_PALETTE = 0x80,
};

/* The graphic control extension of the next frame. */
struct control {
    unsigned flags, delay; /* `delay` in 1/100 s */
};

static size_t palette_nbytes(unsigned flags)
{
    return flags & HAS_PALETTE ? (size_t)3 << ((flags & 7) + 1) : 0;
}

/* Returns the offset behind the sub-blocks at `at`, or more than `nbytes` if the file ends before.
 */
static size_t skip_blocks(const unsigned char *bytes, size_t nbytes, size_t at)
{
    while (at < nbytes && bytes[at])
        at += 1u + bytes[at];
    return at + 1;
}

/* Reads the extension at `at`, of which the file has all bytes. */
static void read_extension(struct gi_animation *a, struct control *control,
                           const unsigned char *bytes, size_t n)
{
    static const char *const loops[] = {"NETSCAPE2.0", "ANIMEXTS1.0"};
    if (bytes[1] == CONTROL && n >= 8 && bytes[2] == 4)
        *control = (struct control){bytes[3], gi_little16(bytes + 4)};
    for (int i = 0; i < 2 && bytes[1] == APPLICATION && n >= 19 && bytes[2] == 11; i++)
        if (memcmp(bytes + 3, loops[i], 11) == 0 && bytes[14] >= 3 && (bytes[15] & 7) == 1)
            a->plays = gi_little16(bytes + 16) ? (int)gi_little16(bytes + 16) + 1 : 0;
}

/* Adds the frame whose descriptor is at *at, and moves *at behind it. `from` is where its control
 * extension begins. */
static enum gi_status add_frame(struct gi_animation *a, const struct control *control,
                                const unsigned char *bytes, size_t nbytes, size_t from, size_t *at,
                                struct gi_err *err)
{
    const unsigned char *d = bytes + *at;
    size_t end = skip_blocks(bytes, nbytes, *at + DESCRIPTOR + palette_nbytes(d[9]) + 1);
    struct gi_frame frame = {.at = from,
                             .nbytes = (end < nbytes ? end : nbytes) - from,
                             .left = (int)gi_little16(d + 1),
                             .top = (int)gi_little16(d + 3),
                             .width = (int)gi_little16(d + 5),
                             .height = (int)gi_little16(d + 7),
                             .delay_ms = 10 * (int)control->delay};
    unsigned disposal = control->flags >> 2 & 7;
    frame.alpha = frame.blends = control->flags & 1;
    frame.disposal = disposal == 2   ? GI_DISPOSE_CLEAR
                     : disposal == 3 ? GI_DISPOSE_PREVIOUS
                                     : GI_DISPOSE_KEEP;
    /* Like browsers, enlarges the screen if a frame extends beyond it. */
    a->width = frame.left + frame.width > a->width ? frame.left + frame.width : a->width;
    a->height = frame.top + frame.height > a->height ? frame.top + frame.height : a->height;
    *at = end;
    return gi_animation_add(a, &frame, err);
}

static enum gi_status scan(struct gi_animation *a, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err)
{
    if (nbytes < SCREEN)
        return gi_fail(err, GI_E_FORMAT, "ends early");
    size_t at = SCREEN + palette_nbytes(bytes[10]), from = 0;
    struct control control = {0};
    a->width = (int)gi_little16(bytes + 6);
    a->height = (int)gi_little16(bytes + 8);
    a->plays = 1;
    a->palette = true;
    while (at < nbytes && bytes[at] != TRAILER) {
        size_t start = at;
        if (bytes[at] == EXTENSION && nbytes - at >= 3) {
            at = skip_blocks(bytes, nbytes, at + 2);
            if (at <= nbytes)
                read_extension(a, &control, bytes + start, at - start);
            from = bytes[start + 1] == CONTROL ? start : from;
        } else if (bytes[at] == IMAGE && nbytes - at > DESCRIPTOR) {
            enum gi_status status =
                add_frame(a, &control, bytes, nbytes, from ? from : at, &at, err);
            if (status)
                return status;
            control = (struct control){0};
            from = 0;
        } else if (bytes[at] == 0) { /* a surplus end of blocks, which some writers add */
            at++;
        } else {
            a->damage = bytes[at] == IMAGE || bytes[at] == EXTENSION ? "it ends early"
                                                                     : "a block of no known kind";
            return GI_OK;
        }
    }
    if (at >= nbytes)
        a->damage = "it ends early";
    return GI_OK;
}

static bool starts(const unsigned char *bytes, size_t nbytes)
{
    return gi_format_gif.probe(bytes, nbytes);
}

/* The file has the screen of the frame, and the palette of the animation. */
static enum gi_status cut(struct gi_buffer *file, const unsigned char *bytes, size_t nbytes,
                          const struct gi_frame *frame, struct gi_err *err)
{
    size_t head = SCREEN + palette_nbytes(bytes[10]), at = frame->at;
    const unsigned char trailer = TRAILER;
    enum gi_status status = gi_buffer_append(file, bytes, head, err);
    if (!status)
        memcpy(file->at + 6,
               (unsigned char[]){(unsigned char)frame->width, (unsigned char)(frame->width >> 8),
                                 (unsigned char)frame->height, (unsigned char)(frame->height >> 8)},
               4);
    size_t first = file->nbytes;
    if (!status)
        status = gi_buffer_append(file, bytes + at, frame->nbytes, err);
    while (!status && file->at[first] != IMAGE) /* other extensions may be before the image */
        first = file->at[first] == EXTENSION ? skip_blocks(file->at, file->nbytes, first + 2)
                                             : first + 1;
    if (!status)
        memset(file->at + first + 1, 0, 4); /* left and top */
    /* A frame that ends early has no trailer, so that the decoder notices it. */
    bool whole =
        at + frame->nbytes < nbytes || (frame->nbytes && bytes[at + frame->nbytes - 1] == 0);
    return status || !whole ? status : gi_buffer_append(file, &trailer, 1, err);
}

const struct gi_animation_kind gi_gif_animation = {
    .starts = starts, .scan = scan, .cut = cut, .format = &gi_format_gif};

enum gi_status gi_gif_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err)
{
    return gi_frames_list(list, &gi_gif_animation, bytes, nbytes, err);
}
