/* Finds the frames of an animated WebP (RFC 9649, 2.7.1).
 * SPDX-License-Identifier: MIT */
#include "imgio/webp/webp_frames.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/webp/webp_parts.h"

#include <string.h>

enum {
    EXTENDED = 10,   /* bytes of a VP8X chunk */
    FRAME_HEAD = 16, /* bytes of an ANMF chunk before its image */
    FLAGS_AT = GI_WEBP_RIFF_HEAD + GI_WEBP_CHUNK_HEAD,
    FLAG_ANIMATION = 0x02,
    FLAG_ALPHA = 0x10,
};

static int get24(const unsigned char *p)
{
    return p[0] | p[1] << 8 | p[2] << 16;
}

static bool starts(const unsigned char *bytes, size_t nbytes)
{
    return nbytes > FLAGS_AT && gi_webp_probe(bytes, nbytes) &&
           memcmp(bytes + GI_WEBP_RIFF_HEAD, "VP8X", 4) == 0 && bytes[FLAGS_AT] & FLAG_ANIMATION;
}

/* Returns whether the chunks of a frame's image may have transparent pixels. */
static bool has_alpha(const unsigned char *chunks, size_t nbytes)
{
    const size_t head = GI_WEBP_CHUNK_HEAD;
    return (nbytes >= 4 && memcmp(chunks, "ALPH", 4) == 0) ||
           (nbytes >= head + 5 && memcmp(chunks, "VP8L", 4) == 0 &&
            (gi_little32(chunks + head + 1) >> 28 & 1));
}

/* Reads the ANMF chunk whose data are the `n` bytes at offset `at`. */
static enum gi_status add_frame(struct gi_animation *a, const unsigned char *bytes, size_t at,
                                size_t n, struct gi_err *err)
{
    enum { CLEARS = 1, REPLACES = 2 };
    const unsigned char *data = bytes + at;
    struct gi_frame frame = {.at = at + FRAME_HEAD,
                             .nbytes = n - FRAME_HEAD,
                             .left = 2 * get24(data),
                             .top = 2 * get24(data + 3),
                             .width = 1 + get24(data + 6),
                             .height = 1 + get24(data + 9),
                             .delay_ms = get24(data + 12),
                             .disposal = data[15] & CLEARS ? GI_DISPOSE_CLEAR : GI_DISPOSE_KEEP};
    frame.alpha = has_alpha(data + FRAME_HEAD, n - FRAME_HEAD);
    frame.blends = frame.alpha && !(data[15] & REPLACES);
    if (frame.width > a->width - frame.left || frame.height > a->height - frame.top) {
        a->damage = "a frame is outside the canvas";
        return GI_OK;
    }
    return gi_animation_add(a, &frame, err);
}

static enum gi_status scan(struct gi_animation *a, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (nbytes < FLAGS_AT + EXTENDED)
        return gi_fail(err, GI_E_FORMAT, "ends early");
    uint64_t end = GI_WEBP_CHUNK_HEAD + (uint64_t)gi_little32(bytes + 4);
    a->width = 1 + get24(bytes + FLAGS_AT + 4);
    a->height = 1 + get24(bytes + FLAGS_AT + 7);
    size_t limit = end < nbytes ? (size_t)end : nbytes, n;
    for (size_t at = GI_WEBP_RIFF_HEAD; !status && !a->damage && at < limit;
         at += gi_webp_chunk_nbytes(n)) {
        if (limit - at < GI_WEBP_CHUNK_HEAD)
            break;
        n = gi_little32(bytes + at + 4);
        const unsigned char *data = bytes + at + GI_WEBP_CHUNK_HEAD;
        bool frame = memcmp(bytes + at, "ANMF", 4) == 0;
        size_t have = limit - at - GI_WEBP_CHUNK_HEAD;
        if (n > have)
            a->damage = "it ends early";
        if (memcmp(bytes + at, "ANIM", 4) == 0 && have >= 6)
            a->plays = (int)gi_little16(data + 4);
        if (frame && (n < have ? n : have) > FRAME_HEAD)
            status = add_frame(a, bytes, at + GI_WEBP_CHUNK_HEAD, n < have ? n : have, err);
    }
    if (end > nbytes)
        a->damage = "it ends early";
    return status;
}

static enum gi_status cut(struct gi_buffer *file, const unsigned char *bytes, size_t nbytes,
                          const struct gi_frame *frame, struct gi_err *err)
{
    unsigned char head[FLAGS_AT + EXTENDED] = "RIFF....WEBPVP8X\x0a\0\0";
    gi_put_little32(head + 4, (uint32_t)(sizeof head - GI_WEBP_CHUNK_HEAD + frame->nbytes));
    head[FLAGS_AT] = frame->alpha ? FLAG_ALPHA : 0;
    for (int i = 0; i < 3; i++) {
        head[FLAGS_AT + 4 + i] = (unsigned char)((frame->width - 1) >> 8 * i);
        head[FLAGS_AT + 7 + i] = (unsigned char)((frame->height - 1) >> 8 * i);
    }
    enum gi_status status = gi_buffer_append(file, head, sizeof head, err);
    return status ? status : gi_buffer_append(file, bytes + frame->at, frame->nbytes, err);
}

const struct gi_animation_kind gi_webp_animation = {
    .starts = starts, .scan = scan, .cut = cut, .format = &gi_format_webp};

enum gi_status gi_webp_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                            struct gi_err *err)
{
    return gi_frames_list(list, &gi_webp_animation, bytes, nbytes, err);
}
