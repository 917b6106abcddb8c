/* Finds the frames of an animated PNG ("Portable Network Graphics", third edition, 11.3.6).
 * SPDX-License-Identifier: MIT */
#include "imgio/png/png_frames.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"

#include <libdeflate.h>
#include <string.h>

enum {
    SIGNATURE = GI_PNG_SIGNATURE,
    AROUND = GI_PNG_AROUND,
    IHDR_END = SIGNATURE + AROUND + 13,
    CONTROL = GI_PNG_CONTROL,
    SEQUENCE = GI_PNG_SEQUENCE,
};

bool gi_png_chunk_is(const struct gi_png_chunk *chunk, const char *type)
{
    return memcmp(chunk->type, type, 4) == 0;
}

bool gi_png_next_chunk(struct gi_png_chunk *chunk, const unsigned char *bytes, size_t nbytes,
                       size_t *at)
{
    if (*at > nbytes || nbytes - *at < AROUND)
        return false;
    *chunk = (struct gi_png_chunk){bytes + *at + 4, bytes + *at + 8, gi_big32(bytes + *at)};
    if (chunk->n > nbytes - *at - AROUND)
        return false;
    *at += AROUND + chunk->n;
    return true;
}

/* Returns whether acTL is among the chunks before the pixels. The chunk may end beyond the bytes.
 */
static bool starts(const unsigned char *bytes, size_t nbytes)
{
    if (!gi_format_png.probe(bytes, nbytes))
        return false;
    for (size_t at = SIGNATURE; at + 8 <= nbytes && memcmp(bytes + at + 4, "IDAT", 4) != 0;) {
        if (memcmp(bytes + at + 4, "acTL", 4) == 0)
            return true;
        at += AROUND + (size_t)gi_big32(bytes + at);
    }
    return false;
}

/* Makes the frame that fcTL describes, whose pixels begin at `at`. */
static struct gi_frame read_control(const unsigned char *d, size_t at, bool alpha)
{
    enum { CLEARS = 1, PREVIOUS = 2, OVER = 1 };
    unsigned numerator = gi_big16(d + 20), denominator = gi_big16(d + 22);
    denominator = denominator ? denominator : 100;
    return (struct gi_frame){.at = at,
                             .width = (int)gi_big32(d + 4),
                             .height = (int)gi_big32(d + 8),
                             .left = (int)gi_big32(d + 12),
                             .top = (int)gi_big32(d + 16),
                             .delay_ms = (int)((1000 * numerator + denominator / 2) / denominator),
                             .rounded = 1000 * numerator % denominator != 0,
                             .disposal = d[24] == CLEARS     ? GI_DISPOSE_CLEAR
                                         : d[24] == PREVIOUS ? GI_DISPOSE_PREVIOUS
                                                             : GI_DISPOSE_KEEP,
                             .alpha = alpha,
                             .blends = alpha && d[25] == OVER};
}

static bool is_within(const struct gi_frame *frame, const struct gi_animation *a)
{
    return frame->width > 0 && frame->height > 0 && frame->left >= 0 && frame->top >= 0 &&
           (int64_t)frame->left + frame->width <= a->width &&
           (int64_t)frame->top + frame->height <= a->height;
}

static enum gi_status scan(struct gi_animation *a, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err)
{
    struct gi_png_chunk chunk = {0};
    size_t at = SIGNATURE;
    enum gi_status status = GI_OK;
    bool ended = false;
    if (nbytes < IHDR_END)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header");
    uint32_t width = gi_big32(bytes + 16), height = gi_big32(bytes + 20);
    if (width > INT32_MAX || height > INT32_MAX)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header");
    a->width = (int)width;
    a->height = (int)height;
    a->palette = bytes[25] == 3;
    bool alpha = bytes[25] & 4;
    while (!status && !a->damage && !ended && gi_png_next_chunk(&chunk, bytes, nbytes, &at)) {
        ended = gi_png_chunk_is(&chunk, "IEND");
        alpha = alpha || gi_png_chunk_is(&chunk, "tRNS");
        if (gi_png_chunk_is(&chunk, "acTL") && chunk.n >= 8) {
            uint32_t plays = gi_big32(chunk.data + 4);
            a->plays = plays < 65536 ? (int)plays : 65535;
        }
        bool control = gi_png_chunk_is(&chunk, "fcTL");
        if (a->n && (control || ended))
            a->frames[a->n - 1].nbytes = (size_t)(chunk.type - 4 - bytes) - a->frames[a->n - 1].at;
        if (control) {
            struct gi_frame frame = {0};
            if (chunk.n >= CONTROL)
                frame = read_control(chunk.data, at, alpha);
            if (is_within(&frame, a))
                status = gi_animation_add(a, &frame, err);
            else
                a->damage = "a frame is outside the canvas";
        }
    }
    if (!ended && !a->damage)
        a->damage = "it ends early";
    if (!ended && a->n && !a->frames[a->n - 1].nbytes)
        a->frames[a->n - 1].nbytes = (at < nbytes ? at : nbytes) - a->frames[a->n - 1].at;
    return status;
}

enum gi_status gi_png_append_chunk(struct gi_buffer *file, const char *type,
                                   const unsigned char *data, size_t n, struct gi_err *err)
{
    unsigned char head[8], sum[4];
    gi_put_big32(head, (uint32_t)n);
    memcpy(head + 4, type, 4);
    uint32_t crc = libdeflate_crc32(0, type, 4);
    gi_put_big32(sum, n ? libdeflate_crc32(crc, data, n) : crc);
    enum gi_status status = gi_buffer_append(file, head, sizeof head, err);
    if (!status && n)
        status = gi_buffer_append(file, data, n, err);
    return status ? status : gi_buffer_append(file, sum, sizeof sum, err);
}

/* The file has the chunks before the pixels of the whole file, such as its palette. */
static enum gi_status cut(struct gi_buffer *file, const unsigned char *bytes, size_t nbytes,
                          const struct gi_frame *frame, struct gi_err *err)
{
    struct gi_png_chunk chunk;
    unsigned char header[13];
    memcpy(header, bytes + 16, sizeof header);
    gi_put_big32(header, (uint32_t)frame->width);
    gi_put_big32(header + 4, (uint32_t)frame->height);
    enum gi_status status = gi_buffer_append(file, bytes, SIGNATURE, err);
    if (!status)
        status = gi_png_append_chunk(file, "IHDR", header, sizeof header, err);
    size_t at = IHDR_END, end = frame->at + frame->nbytes;
    while (!status && gi_png_next_chunk(&chunk, bytes, nbytes, &at) &&
           !gi_png_chunk_is(&chunk, "IDAT"))
        if (gi_png_chunk_is(&chunk, "PLTE") || gi_png_chunk_is(&chunk, "tRNS"))
            status = gi_buffer_append(file, chunk.type - 4, chunk.n + AROUND, err);
    at = frame->at;
    while (!status && gi_png_next_chunk(&chunk, bytes, end, &at)) {
        if (gi_png_chunk_is(&chunk, "IDAT"))
            status = gi_buffer_append(file, chunk.type - 4, chunk.n + AROUND, err);
        else if (gi_png_chunk_is(&chunk, "fdAT") && chunk.n >= SEQUENCE)
            status =
                gi_png_append_chunk(file, "IDAT", chunk.data + SEQUENCE, chunk.n - SEQUENCE, err);
    }
    return status ? status : gi_png_append_chunk(file, "IEND", NULL, 0, err);
}

const struct gi_animation_kind gi_png_animation = {
    .starts = starts, .scan = scan, .cut = cut, .format = &gi_format_png};

enum gi_status gi_png_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err)
{
    return gi_frames_list(list, &gi_png_animation, bytes, nbytes, err);
}
