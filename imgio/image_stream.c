/* Streams of PNG, JPEG, WebP, PNM and PAM.
 * SPDX-License-Identifier: MIT */
#include "imgio/image_stream.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"

#include <string.h>

#include "imgio/pnm/pnm_header.h"
#include "imgio/pnm/pnm_stream.h"

enum { STEP_NBYTES = 1 << 20, PNG_SIGNATURE = 8, MARKER_EOI = 0xd9, MARKER_SOS };

bool gi_image_stream_starts(const unsigned char *bytes, size_t nbytes)
{
    return gi_format_png.probe(bytes, nbytes) || gi_format_jpeg.probe(bytes, nbytes) ||
           gi_format_webp.probe(bytes, nbytes);
}

enum gi_status gi_image_stream_peek(struct gi_reader *reader, const unsigned char **bytes,
                                    size_t *nbytes, struct gi_err *err)
{
    enum gi_status status = gi_reader_peek(reader, bytes, nbytes, 3, err);
    if (!status && *nbytes >= 3 && *nbytes < PNG_SIGNATURE && (*bytes)[0] == 0x89)
        status = gi_reader_peek(reader, bytes, nbytes, PNG_SIGNATURE, err);
    if (!status && *nbytes >= 3 && *nbytes < 12 && memcmp(*bytes, "RIF", 3) == 0)
        status = gi_reader_peek(reader, bytes, nbytes, 12, err);
    return status;
}

enum gi_status gi_image_stream_goes_on(bool *image, struct gi_reader *reader, struct gi_err *err)
{
    const unsigned char *bytes;
    size_t nbytes;
    enum gi_status status = gi_image_stream_peek(reader, &bytes, &nbytes, err);
    *image = !status && (gi_image_stream_starts(bytes, nbytes) || gi_pnm_starts(bytes, nbytes));
    return status;
}

/* An image as it is taken. */
struct taking {
    struct gi_buffer *buffer;
    struct gi_reader *reader;
    const struct gi_limits *limits;
    bool short_of; /* the input ended within it */
};

/* Appends the next `nbytes` of the input. Memory grows only as bytes arrive. */
static enum gi_status take(struct taking *t, uint64_t nbytes, struct gi_err *err)
{
    struct gi_buffer *buffer = t->buffer;
    enum gi_status status = GI_OK;
    size_t got = 1;
    if (nbytes > t->limits->max_bytes - buffer->nbytes)
        return gi_fail(err, GI_E_LIMIT,
                       "%s: more than %llu bytes of one image; --max-bytes raises the limit",
                       gi_reader_name(t->reader), (unsigned long long)t->limits->max_bytes);
    for (size_t n; nbytes && !status && got; nbytes -= got) {
        n = nbytes < STEP_NBYTES ? (size_t)nbytes : STEP_NBYTES;
        status = gi_reader_append(t->reader, buffer, n, &got, err);
    }
    t->short_of = t->short_of || nbytes;
    return status;
}

/* Takes the chunks of a PNG up to IEND. Each chunk consists of a length, a type, data and a
 * checksum (PNG 1.2, 3.2). */
static enum gi_status take_png(struct taking *t, struct gi_err *err)
{
    enum gi_status status = take(t, PNG_SIGNATURE, err);
    for (bool last = false; !status && !last && !t->short_of;) {
        status = take(t, 8, err);
        if (status || t->short_of)
            break;
        const unsigned char *head = t->buffer->at + t->buffer->nbytes - 8;
        uint64_t nbytes = gi_big32(head);
        last = memcmp(head + 4, "IEND", 4) == 0;
        status = take(t, nbytes + 4, err);
    }
    return status;
}

/* Takes entropy-coded data up to the next marker, except restart markers (ITU-T T.81, B.1.1.5). */
static enum gi_status take_scan(struct taking *t, struct gi_err *err)
{
    for (;;) {
        const unsigned char *bytes;
        size_t nbytes, n = 0;
        enum gi_status status = gi_reader_peek(t->reader, &bytes, &nbytes, 2, err);
        if (status)
            return status;
        while (n + 1 < nbytes && (bytes[n] != 0xff || bytes[n + 1] == 0 ||
                                  (bytes[n + 1] >= 0xd0 && bytes[n + 1] <= 0xd7)))
            n++;
        bool found = n + 1 < nbytes;
        if (nbytes < 2)
            n = nbytes;
        if (n && (status = take(t, n, err)))
            return status;
        t->short_of = t->short_of || nbytes < 2;
        if (found || t->short_of)
            return GI_OK;
    }
}

/* Takes the segments of a JPEG up to the end of the image, or up to bytes that do not begin a
 * segment. */
static enum gi_status take_jpeg(struct taking *t, struct gi_err *err)
{
    enum gi_status status = take(t, 2, err);
    while (!status && !t->short_of) {
        status = take(t, 2, err);
        if (status || t->short_of)
            break;
        const unsigned char *head = t->buffer->at + t->buffer->nbytes - 2;
        int marker = head[1];
        if (head[0] != 0xff || marker == MARKER_EOI)
            break;
        while (!status && marker == 0xff && !t->short_of) { /* fill bytes */
            status = take(t, 1, err);
            marker = t->buffer->at[t->buffer->nbytes - 1];
        }
        if (status || marker == MARKER_EOI)
            break;
        if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7))
            continue;
        status = take(t, 2, err);
        if (status || t->short_of)
            break;
        head = t->buffer->at + t->buffer->nbytes - 2;
        unsigned length = (unsigned)head[0] << 8 | head[1];
        if (length < 2)
            break;
        status = take(t, length - 2, err);
        if (!status && marker == MARKER_SOS)
            status = take_scan(t, err);
    }
    return status;
}

/* Takes a RIFF file. Bytes 4 to 7 are the length of the rest. If that is odd, a padding byte
 * follows. */
static enum gi_status take_webp(struct taking *t, struct gi_err *err)
{
    enum gi_status status = take(t, 12, err);
    if (status || t->short_of)
        return status;
    const unsigned char *head = t->buffer->at + 4;
    uint64_t length = gi_little32(head);
    return length < 4 ? GI_OK : take(t, length - 4 + (length & 1), err);
}

enum gi_status gi_image_stream_next(struct gi_buffer *buffer, bool *end, struct gi_reader *reader,
                                    const struct gi_limits *limits, struct gi_err *err)
{
    struct taking taking = {.buffer = buffer, .reader = reader, .limits = limits};
    const unsigned char *bytes;
    size_t nbytes;
    *end = false;
    enum gi_status status = gi_image_stream_peek(reader, &bytes, &nbytes, err);
    if (status)
        return status;
    if (!gi_image_stream_starts(bytes, nbytes))
        return gi_pnm_next(buffer, end, reader, limits, err);
    buffer->nbytes = 0;
    return gi_format_png.probe(bytes, nbytes)    ? take_png(&taking, err)
           : gi_format_jpeg.probe(bytes, nbytes) ? take_jpeg(&taking, err)
                                                 : take_webp(&taking, err);
}

bool gi_image_stream_is_whole(const unsigned char *bytes, size_t nbytes)
{
    static const unsigned char end_of_png[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D'};
    if (gi_format_png.probe(bytes, nbytes))
        return nbytes >= 20 && memcmp(bytes + nbytes - 12, end_of_png, sizeof end_of_png) == 0;
    if (gi_format_jpeg.probe(bytes, nbytes))
        return bytes[nbytes - 2] == 0xff && bytes[nbytes - 1] == MARKER_EOI;
    return gi_format_webp.probe(bytes, nbytes);
}

bool gi_image_stream_has_index(const unsigned char *bytes, size_t nbytes)
{
    if (!gi_format_jpeg.probe(bytes, nbytes))
        return false;
    for (size_t at = 2; at + 8 <= nbytes && bytes[at] == 0xff && bytes[at + 1] != MARKER_SOS;) {
        if (bytes[at + 1] == 0xe2 && memcmp(bytes + at + 4, "MPF", 4) == 0)
            return true;
        at += 2 + ((size_t)bytes[at + 2] << 8 | bytes[at + 3]);
    }
    return false;
}
