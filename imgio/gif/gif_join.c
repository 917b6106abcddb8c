/* Writes animated GIFs of whole frames, each with its own palette ("Graphics Interchange Format",
 * version 89a). Pixel codes are those of the frames' files.
 * SPDX-License-Identifier: MIT */
#include "imgio/gif/gif_frames.h"
#include "imgio/integer.h"
#include "imgio/joined_kinds.h"

#include <string.h>

enum { SCREEN = 13, DESCRIPTOR = 10, EXTENSION = 0x21, KEEP = 1 << 2, CLEAR = 2 << 2 };

static void measure(int *width, int *height, const unsigned char *bytes, size_t nbytes)
{
    *width = (int)gi_little16(bytes + 6);
    *height = (int)gi_little16(bytes + 8);
}

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
    return status || joined->plays == 1
               ? status
               : gi_buffer_append(&joined->file, loop, sizeof loop, err); /* with its last 0 */
}

/* Returns the delay in 1/100 s. Delays are rounded so that no frame begins more than 5 ms early or
 * late. */
static int delay_of(const struct gi_joined *joined, int delay_ms)
{
    int64_t delay = (joined->end_ms + delay_ms + 5) / 10 - (joined->end_ms + 5) / 10;
    return delay < 65535 ? (int)delay : 65535;
}

static enum gi_status add(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                          int delay_ms, struct gi_err *err)
{
    size_t palette = (size_t)3 << ((bytes[10] & 7) + 1), at = SCREEN + palette;
    unsigned char control[] = {EXTENSION, 0xf9, 4, KEEP, 0, 0, 0, 0};
    unsigned char descriptor[DESCRIPTOR] = {0x2c};
    int delay = delay_of(joined, delay_ms);
    for (; bytes[at] == EXTENSION; at += 8) { /* the transparent colour is all that there is */
        control[3] |= bytes[at + 3] & 1;
        control[6] = bytes[at + 6];
    }
    control[4] = (unsigned char)delay;
    control[5] = (unsigned char)(delay >> 8);
    memcpy(descriptor + 5, bytes + 6, 4);
    descriptor[9] = 0x80 | (bytes[10] & 7); /* its own palette */
    /* Where this frame is transparent, nothing of the frame before may show. */
    if (joined->n && control[3] & 1)
        joined->file.at[joined->mark] = (joined->file.at[joined->mark] & 1) | CLEAR;
    enum gi_status status = joined->n ? GI_OK : begin(joined, bytes, err);
    joined->mark = joined->file.nbytes + 3;
    if (!status)
        status = gi_buffer_append(&joined->file, control, sizeof control, err);
    if (!status)
        status = gi_buffer_append(&joined->file, descriptor, sizeof descriptor, err);
    if (!status)
        status = gi_buffer_append(&joined->file, bytes + SCREEN, palette, err);
    at += DESCRIPTOR;
    return status ? status : gi_buffer_append(&joined->file, bytes + at, nbytes - 1 - at, err);
}

static enum gi_status end(struct gi_joined *joined, struct gi_err *err)
{
    return gi_buffer_append(&joined->file, ";", 1, err);
}

const struct gi_joined_kind gi_joined_gif = {
    .format = "gif", .measure = measure, .add = add, .end = end};
