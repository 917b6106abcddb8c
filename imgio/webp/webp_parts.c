/* Walks the chunks of a WebP (RFC 9649, 2.3 and 2.7) and accounts for each of them. Unknown chunks
 * are carried to another WebP, in their order (2.7.1.6).
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/webp/webp_parts.h"

#include <string.h>

enum { FRAME_HEAD = 16 }; /* bytes of an ANMF chunk before its image */

bool gi_webp_probe(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= GI_WEBP_RIFF_HEAD && memcmp(bytes, "RIFF", 4) == 0 &&
           memcmp(bytes + 8, "WEBP", 4) == 0;
}

size_t gi_webp_chunk_nbytes(size_t n)
{
    return GI_WEBP_CHUNK_HEAD + n + n % 2;
}

/* Returns the index of the name in `names`, which are four letters each, or -1. */
static int find(const char *names, const unsigned char *name)
{
    for (int i = 0; names[4 * i]; i++)
        if (memcmp(names + (size_t)4 * (size_t)i, name, 4) == 0)
            return i;
    return -1;
}

static void add(struct gi_decode *decode, const unsigned char *name, enum gi_part_fate fate,
                const char *why, const void *bytes, size_t n)
{
    const struct gi_part part = {.kind = GI_PART_WEBP_CHUNK,
                                 .fate = fate,
                                 .code = gi_big32(name),
                                 .why = why,
                                 .nbytes = n,
                                 .bytes = (void *)bytes};
    gi_decode_add_part(decode, &part, "chunk %.4s", (const char *)name);
}

/* Lists the chunks behind the image in the first frame of an animation. */
static void walk_frame(struct gi_decode *decode, const unsigned char *bytes, size_t nbytes)
{
    for (size_t at = FRAME_HEAD; at <= nbytes && nbytes - at >= GI_WEBP_CHUNK_HEAD;) {
        size_t n = gi_little32(bytes + at + 4);
        if (n > nbytes - at - GI_WEBP_CHUNK_HEAD)
            return;
        if (find("ALPHVP8 VP8L", bytes + at) < 0)
            add(decode, bytes + at, GI_PART_LOST, "in a frame", NULL, n);
        at += gi_webp_chunk_nbytes(n);
    }
}

/* Adds the `n` bytes at the end of the file that are no whole chunk. */
static void add_rest(struct gi_decode *decode, const unsigned char *bytes, size_t n)
{
    if (n >= GI_WEBP_CHUNK_HEAD)
        add(decode, bytes, GI_PART_LOST, "ends early", NULL, n - GI_WEBP_CHUNK_HEAD);
    else
        gi_decode_add_part(
            decode, &(struct gi_part){.kind = GI_PART_TRAILING, .fate = GI_PART_LOST, .nbytes = n},
            "%zu byte%s in no chunk", n, n == 1 ? "" : "s");
}

void gi_webp_parts(struct gi_decode *decode)
{
    const unsigned char *bytes = decode->bytes;
    uint64_t length = gi_little32(bytes + 4), end = GI_WEBP_CHUNK_HEAD + length + length % 2;
    size_t limit = end < decode->nbytes ? (size_t)end : decode->nbytes;
    bool seen[9] = {false};
    unsigned frames = 0;
    size_t at = GI_WEBP_RIFF_HEAD;
    while (at <= limit && limit - at >= GI_WEBP_CHUNK_HEAD) {
        static const char used[] = "VP8XVP8 VP8LALPHICCPEXIFXMP ANIM";
        const unsigned char *data = bytes + at + GI_WEBP_CHUNK_HEAD;
        size_t n = gi_little32(bytes + at + 4);
        if (n > limit - at - GI_WEBP_CHUNK_HEAD)
            break;
        int known = find(used, bytes + at);
        bool frame = memcmp(bytes + at, "ANMF", 4) == 0;
        if (frame && ++frames == 1)
            walk_frame(decode, data, n);
        else if (known >= 0 && seen[known])
            add(decode, bytes + at, GI_PART_LOST, "repeated", NULL, n);
        else if (memcmp(bytes + at, "C2PA", 4) == 0)
            add(decode, bytes + at, GI_PART_DROPPED, "signs the old file", NULL, n);
        else if (known < 0 && !frame)
            add(decode, bytes + at, GI_PART_CARRIED, NULL, data, n);
        if (known >= 0)
            seen[known] = true;
        at += gi_webp_chunk_nbytes(n);
    }
    if (!decode->options->image)
        gi_decode_add_frames(decode, frames ? frames - 1 : 0, GI_MORE_FRAMES);
    limit -= limit == end ? length % 2 : 0; /* the padding */
    if (at < limit)
        add_rest(decode, bytes + at, limit - at);
    gi_decode_add_rest(decode, end);
}

enum gi_holding gi_webp_holds(const struct gi_part *part, const struct gi_image *written)
{
    return part->kind == GI_PART_WEBP_CHUNK ? GI_HOLDS : GI_CANNOT_HOLD;
}

enum gi_status gi_webp_put_chunk(struct gi_sink *sink, const char *name, const void *bytes,
                                 size_t n, struct gi_err *err)
{
    unsigned char head[GI_WEBP_CHUNK_HEAD];
    memcpy(head, name, 4);
    gi_put_little32(head + 4, (uint32_t)n);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status)
        status = gi_sink_write(sink, bytes, n, err);
    return !status && n % 2 ? gi_sink_write(sink, "", 1, err) : status;
}

static bool is_carried(const struct gi_part *part)
{
    return part->kind == GI_PART_WEBP_CHUNK && part->fate == GI_PART_CARRIED;
}

size_t gi_webp_parts_nbytes(const struct gi_metadata *metadata)
{
    size_t nbytes = 0;
    for (int i = 0; i < metadata->parts.n; i++)
        if (is_carried(&metadata->parts.list[i]))
            nbytes += gi_webp_chunk_nbytes(metadata->parts.list[i].nbytes);
    return nbytes;
}

enum gi_status gi_webp_put_parts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < metadata->parts.n && !status; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        unsigned char name[5] = {0};
        gi_put_big32(name, part->code);
        if (is_carried(part))
            status = gi_webp_put_chunk(sink, (char *)name, part->bytes, part->nbytes, err);
    }
    return status;
}
