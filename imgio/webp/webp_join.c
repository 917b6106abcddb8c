/* Writes animated WebPs of whole frames (RFC 9649, 2.7.1). Profile, EXIF and XMP are those of the
 * first frame.
 * SPDX-License-Identifier: MIT */
#include "imgio/integer.h"
#include "imgio/joined_kinds.h"
#include "imgio/webp/webp_parts.h"

#include <string.h>

enum {
    EXTENDED = 10,   /* bytes of a VP8X chunk */
    FRAME_HEAD = 16, /* bytes of an ANMF chunk before its image */
    FLAGS_AT = GI_WEBP_RIFF_HEAD + GI_WEBP_CHUNK_HEAD,
    FLAG_ANIMATION = 0x02,
    FLAG_ALPHA = 0x10,
    REPLACES = 0x02, /* the frame is not drawn over the one before */
    DELAY_MAX = (1 << 24) - 1,
};

static bool is(const unsigned char *chunk, const char *name)
{
    return memcmp(chunk, name, 4) == 0;
}

static void put24(unsigned char *to, int v)
{
    for (int i = 0; i < 3; i++)
        to[i] = (unsigned char)(v >> 8 * i);
}

static void measure(int *width, int *height, const unsigned char *bytes, size_t nbytes)
{
    const unsigned char *chunk = bytes + GI_WEBP_RIFF_HEAD, *data = chunk + GI_WEBP_CHUNK_HEAD;
    if (is(chunk, "VP8X")) {
        *width = 1 + (data[4] | data[5] << 8 | data[6] << 16);
        *height = 1 + (data[7] | data[8] << 8 | data[9] << 16);
    } else if (is(chunk, "VP8L")) { /* RFC 9649, 3.4 */
        uint32_t bits = gi_little32(data + 1);
        *width = 1 + (int)(bits & 0x3fff);
        *height = 1 + (int)(bits >> 14 & 0x3fff);
    } else { /* RFC 6386, 9.1 */
        *width = (int)(gi_little16(data + 6) & 0x3fff);
        *height = (int)(gi_little16(data + 8) & 0x3fff);
    }
}

/* Writes what precedes the first frame, without the length and the flag of alpha. */
static enum gi_status begin(struct gi_joined *joined, struct gi_err *err)
{
    unsigned char head[FLAGS_AT + EXTENDED] = "RIFF....WEBPVP8X\x0a\0\0";
    head[FLAGS_AT] = FLAG_ANIMATION;
    put24(head + FLAGS_AT + 4, joined->width - 1);
    put24(head + FLAGS_AT + 7, joined->height - 1);
    return gi_buffer_append(&joined->file, head, sizeof head, err);
}

static enum gi_status put_loop(struct gi_joined *joined, struct gi_err *err)
{
    unsigned char chunk[GI_WEBP_CHUNK_HEAD + 6] =
        "ANIM\x06\0\0"; /* then a transparent background */
    int plays = joined->plays < 65535 ? joined->plays : 65535;
    chunk[12] = (unsigned char)plays;
    chunk[13] = (unsigned char)(plays >> 8);
    return gi_buffer_append(&joined->file, chunk, sizeof chunk, err);
}

/* Takes a chunk of the frame's file: `pixels` chooses those of the image, otherwise those that the
 * animation has once. */
static enum gi_status take_chunk(struct gi_joined *joined, const unsigned char *chunk, size_t n,
                                 bool pixels, struct gi_err *err)
{
    static const char *const images[] = {"ALPH", "VP8 ", "VP8L"};
    bool of_image = false;
    for (int i = 0; i < 3; i++)
        of_image = of_image || is(chunk, images[i]);
    joined->alpha = joined->alpha || is(chunk, "ALPH") ||
                    (is(chunk, "VP8L") && (gi_little32(chunk + GI_WEBP_CHUNK_HEAD + 1) >> 28 & 1));
    if (is(chunk, "VP8X")) {
        unsigned flags = chunk[GI_WEBP_CHUNK_HEAD];
        joined->file.at[FLAGS_AT] |= (unsigned char)(pixels ? 0 : flags & ~(unsigned)FLAG_ALPHA);
        return GI_OK;
    }
    if (of_image != pixels)
        return GI_OK;
    return gi_buffer_append(pixels || is(chunk, "ICCP") ? &joined->file : &joined->after, chunk, n,
                            err);
}

static enum gi_status take_chunks(struct gi_joined *joined, const unsigned char *bytes,
                                  size_t nbytes, bool pixels, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (size_t at = GI_WEBP_RIFF_HEAD, n; !status && at < nbytes; at += n) {
        n = gi_webp_chunk_nbytes(gi_little32(bytes + at + 4));
        status = take_chunk(joined, bytes + at, n, pixels, err);
    }
    return status;
}

static enum gi_status add(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                          int delay_ms, struct gi_err *err)
{
    unsigned char head[GI_WEBP_CHUNK_HEAD + FRAME_HEAD] = "ANMF";
    enum gi_status status = joined->n ? GI_OK : begin(joined, err);
    if (!status && !joined->n)
        status = take_chunks(joined, bytes, nbytes, false, err);
    if (!status && !joined->n)
        status = put_loop(joined, err);
    put24(head + 14, joined->width - 1);
    put24(head + 17, joined->height - 1);
    put24(head + 20, delay_ms < DELAY_MAX ? delay_ms : DELAY_MAX);
    head[23] = REPLACES;
    size_t at = joined->file.nbytes;
    if (!status)
        status = gi_buffer_append(&joined->file, head, sizeof head, err);
    if (!status)
        status = take_chunks(joined, bytes, nbytes, true, err);
    if (!status)
        gi_put_little32(joined->file.at + at + 4,
                        (uint32_t)(joined->file.nbytes - at - GI_WEBP_CHUNK_HEAD));
    return status;
}

static enum gi_status end(struct gi_joined *joined, struct gi_err *err)
{
    struct gi_buffer *file = &joined->file;
    enum gi_status status =
        joined->after.nbytes ? gi_buffer_append(file, joined->after.at, joined->after.nbytes, err)
                             : GI_OK;
    if (!status && file->nbytes - GI_WEBP_CHUNK_HEAD > UINT32_MAX - 1)
        return gi_fail(err, GI_E_UNSUPPORTED, "is longer than a WebP may be, 4 GB");
    if (!status)
        gi_put_little32(file->at + 4, (uint32_t)(file->nbytes - GI_WEBP_CHUNK_HEAD));
    if (!status && joined->alpha)
        file->at[FLAGS_AT] |= FLAG_ALPHA;
    return status;
}

const struct gi_joined_kind gi_joined_webp = {.format = "webp",
                                              .reasons = 1 << GI_JOIN_PAGES | 1 << GI_JOIN_FRAMES |
                                                         1 << GI_JOIN_ASKED,
                                              .measure = measure,
                                              .add = add,
                                              .end = end};
