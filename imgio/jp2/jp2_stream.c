/* The markers of a JPEG 2000 codestream (ISO/IEC 15444-1, annex A), which are read before OpenJPEG
 * takes memory for what they say: the size, the components, and whether all tiles are there.
 * SPDX-License-Identifier: MIT */
#include "imgio/integer.h"
#include "imgio/jp2/jp2.h"
#include "imgio/metadata/metadata.h"

#if GI_HAVE_JP2
#include <stdlib.h>
#include <string.h>

enum {
    SIZ = 0xff51,
    COD = 0xff52,
    COM = 0xff64,
    SOT = 0xff90,
    EOC = 0xffd9,
    SIZ_NBYTES = 38,    /* without components */
    COD_TRANSFORM = 11, /* offset in the segment */
    SOT_NBYTES = 12,    /* with its marker */
    TILES_MAX = 65535,
    SMALL_NBYTES = 16 << 20, /* a cut tile-part that is longer needs a sixteenth of its bytes */
    ENOUGH = 16,
    BITS_MAX = 31, /* of OpenJPEG's samples */
};

static enum gi_status damaged(struct gi_err *err, const char *what)
{
    return gi_fail(err, GI_E_FORMAT, "is damaged: %s", what);
}

static uint64_t count_tiles(uint32_t from, uint32_t end, uint32_t step)
{
    return ((uint64_t)end - from + step - 1) / step;
}

/* Reads the segment SIZ, of which `n` bytes are at `at`, behind the marker. */
static enum gi_status read_size(struct gi_jp2_stream *stream, const unsigned char *at, size_t n,
                                struct gi_err *err)
{
    if (n < SIZ_NBYTES)
        return damaged(err, "its size");
    uint32_t tile_x = gi_big32(at + 20), tile_y = gi_big32(at + 24);
    uint32_t from_x = gi_big32(at + 28), from_y = gi_big32(at + 32);
    stream->x1 = gi_big32(at + 4);
    stream->y1 = gi_big32(at + 8);
    stream->x0 = gi_big32(at + 12);
    stream->y0 = gi_big32(at + 16);
    if (stream->x0 >= stream->x1 || stream->y0 >= stream->y1 || stream->x1 > INT32_MAX ||
        stream->y1 > INT32_MAX || !tile_x || !tile_y || from_x > stream->x0 ||
        from_y > stream->y0 || (uint64_t)from_x + tile_x <= stream->x0 ||
        (uint64_t)from_y + tile_y <= stream->y0)
        return damaged(err, "its size");
    uint64_t tiles =
        count_tiles(from_x, stream->x1, tile_x) * count_tiles(from_y, stream->y1, tile_y);
    if (tiles > TILES_MAX)
        return damaged(err, "its size");
    stream->tiles = (uint32_t)tiles;
    stream->components = (int)gi_big16(at + 36);
    if (stream->components < 1 || n < SIZ_NBYTES + 3 * (size_t)stream->components)
        return damaged(err, "its components");
    if (stream->components > GI_JP2_CHANNELS)
        return gi_fail(err, GI_E_UNSUPPORTED, "has %d components: want 1 to %d", stream->components,
                       GI_JP2_CHANNELS);
    for (int i = 0; i < stream->components; i++) {
        const unsigned char *in = at + SIZ_NBYTES + 3 * i;
        stream->component[i] = (struct gi_jp2_component){
            .bits = (in[0] & 127) + 1, .is_signed = in[0] >> 7, .dx = in[1], .dy = in[2]};
        if (!stream->component[i].dx || !stream->component[i].dy)
            return damaged(err, "its components");
        if (stream->component[i].bits > BITS_MAX)
            return gi_fail(err, GI_E_UNSUPPORTED, "has %d bits per sample: want 1 to %d",
                           stream->component[i].bits, BITS_MAX);
    }
    return GI_OK;
}

/* Keeps a comment as a text, unless it only names the encoder. `at` is behind the length. */
static void keep_comment(struct gi_decode *decode, const unsigned char *at, size_t n)
{
    static const char *const encoders[] = {"Created by OpenJPEG", "Creator: JasPer", "Kakadu-"};
    const struct gi_part part = {.kind = GI_PART_FIELD, .fate = GI_PART_LOST, .nbytes = n};
    if (n < 2 || gi_big16(at) != 1) { /* binary */
        gi_decode_add_part(decode, &part, "comment");
        return;
    }
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++) {
        size_t length = strlen(encoders[i]);
        if (n - 2 >= length && memcmp(at + 2, encoders[i], length) == 0)
            return;
    }
    gi_decode_add_text(decode, "Comment", NULL, NULL, at + 2, n - 2);
}

/* Reads the main header. Sets *at to the first tile-part. */
static enum gi_status read_header(struct gi_jp2_stream *stream, struct gi_decode *decode,
                                  size_t *at, struct gi_err *err)
{
    bool sized = false;
    for (*at = 2; *at + 4 <= stream->nbytes;) {
        const unsigned char *segment = stream->bytes + *at + 2;
        unsigned marker = gi_big16(segment - 2);
        size_t n = gi_big16(segment), rest = stream->nbytes - *at - 2;
        if (marker == SOT)
            return sized ? GI_OK : damaged(err, "it has no size");
        if (marker < 0xff00 || n < 2)
            return damaged(err, "its header");
        if (n > rest)
            break;
        if (marker == SIZ && !sized) {
            enum gi_status status = read_size(stream, segment, n, err);
            if (status)
                return status;
            sized = true;
        } else if (marker == COD && n > COD_TRANSFORM) {
            stream->lossy = segment[COD_TRANSFORM] == 0;
        } else if (marker == COM) {
            keep_comment(decode, segment + 2, n - 2);
        }
        *at += 2 + n;
    }
    stream->ends_early = true;
    return sized && decode->options->header_only ? GI_OK : gi_fail(err, GI_E_FORMAT, "ends early");
}

/* Walks the tile-parts from *at on, and counts the tiles. */
static enum gi_status walk_tiles(struct gi_jp2_stream *stream, unsigned char *seen, size_t at,
                                 struct gi_err *err)
{
    size_t n = stream->nbytes;
    while (at + SOT_NBYTES <= n && gi_big16(stream->bytes + at) == SOT) {
        const unsigned char *part = stream->bytes + at;
        unsigned tile = gi_big16(part + 4);
        uint64_t length = gi_big32(part + 6);
        if (gi_big16(part + 2) != SOT_NBYTES - 2 || tile >= stream->tiles ||
            (length && length < SOT_NBYTES + 2))
            return damaged(err, "its tiles");
        stream->found += !(seen[tile / 8] >> tile % 8 & 1);
        seen[tile / 8] |= (unsigned char)(1 << tile % 8);
        if (!length) /* the last one, up to the end */
            length = n - at >= SOT_NBYTES + 4 && gi_big16(stream->bytes + n - 2) == EOC ? n - at - 2
                                                                                        : n - at;
        if (length > n - at) { /* OpenJPEG takes memory for the whole part before it reads it */
            stream->ends_early = true;
            return length <= SMALL_NBYTES || length / ENOUGH <= n - at
                       ? GI_OK
                       : gi_fail(err, GI_E_FORMAT, "ends early");
        }
        at += (size_t)length;
    }
    if (at + 2 <= n && gi_big16(stream->bytes + at) == EOC) {
        stream->end = at + 2;
        return GI_OK;
    }
    stream->ends_early = n - at < SOT_NBYTES;
    return stream->ends_early ? GI_OK : damaged(err, "its tiles");
}

enum gi_status gi_jp2_walk(struct gi_jp2_stream *stream, struct gi_decode *decode,
                           struct gi_err *err)
{
    size_t at;
    stream->end = stream->nbytes;
    if (stream->nbytes < 4 || gi_big32(stream->bytes) != 0xff4fff51)
        return damaged(err, "its codestream");
    enum gi_status status = read_header(stream, decode, &at, err);
    if (status || stream->ends_early)
        return status;
    unsigned char *seen = calloc(1, TILES_MAX / 8 + 1);
    if (!seen)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    status = walk_tiles(stream, seen, at, err);
    free(seen);
    return status;
}
#endif
