/* Walks the chunks of a PNG (PNG, third edition, 5 and 11) and accounts for each of them. Chunks
 * that are safe to copy (clause 14.2) are carried to the output. Of the others, which depend on the
 * pixels, only sBIT and bKGD are carried.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/png/png_parts.h"
#include "imgio/png/png_strips.h"
#include "imgio/png/png_text.h"

#include <libdeflate.h>
#include <stdio.h>
#include <string.h>

enum { FRAME = 12, HEAD = 8, SAFE_TO_COPY = 0x20, ANCILLARY = 0x20, PALETTE = 3 };

#define NAMED(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

enum {
    SBIT = NAMED('s', 'B', 'I', 'T'),
    BKGD = NAMED('b', 'K', 'G', 'D'),
};

struct walk {
    struct gi_decode *decode;
    const unsigned char *palette;
    size_t colors;
    enum gi_png_place place;
    unsigned color_type, bits;
    uint32_t frames, controls; /* frames that acTL names; fcTL chunks */
    bool still;                /* the pixels of IDAT are no frame of the animation */
    bool icc, exif, density;   /* such a chunk was seen */
};

static bool is_one_of(const char *names, const unsigned char *type)
{
    for (; *names; names += 5)
        if (memcmp(names, type, 4) == 0)
            return true;
    return false;
}

/* Chunks that do not apply to changed pixels, and other reasons for a fate. */
static const char *reason(const unsigned char *type)
{
    if (memcmp(type, "caBX", 4) == 0)
        return "signs the old file";
    if (memcmp(type, "tIME", 4) == 0)
        return "time of the old file";
    return "not safe to copy";
}

/* Returns whether the decoder's warning has named the chunk. */
static bool is_warned(const struct walk *walk, const unsigned char *type)
{
    char word[16];
    snprintf(word, sizeof word, "chunk %.4s,", (const char *)type);
    return strstr(walk->decode->warning->text, word) ||
           (memcmp(type, "iCCP", 4) == 0 && strstr(walk->decode->warning->text, "ICC profile"));
}

static void add(const struct walk *walk, const unsigned char *type, enum gi_part_fate fate,
                const char *why, const void *bytes, size_t n)
{
    const struct gi_part part = {.kind = GI_PART_PNG_CHUNK,
                                 .fate = fate,
                                 .code = gi_big32(type),
                                 .place = (int)walk->place,
                                 .why = why,
                                 .warned = fate == GI_PART_LOST && is_warned(walk, type),
                                 .nbytes = n,
                                 .bytes = (void *)bytes};
    gi_decode_add_part(walk->decode, &part, "chunk %.4s", (const char *)type);
}

/* Keeps the significant bits (clause 11.3.2.7) with a value for each channel of the image that is
 * read, which has alpha if the file has tRNS. */
static bool add_significant(const struct walk *walk, const unsigned char *type,
                            const unsigned char *bytes, size_t n)
{
    const struct gi_image *image = walk->decode->image;
    unsigned char bits[GI_MAX_CHANNELS];
    size_t channels = (size_t)image->channels;
    if (n > channels || n + 1 < channels)
        return false;
    memset(bits, 8 * (int)gi_type_nbytes(image->type), sizeof bits);
    memcpy(bits, bytes, n);
    add(walk, type, GI_PART_CARRIED, NULL, bits, channels);
    return true;
}

/* Keeps the background (clause 11.3.4.1) as one or three samples of 16 bits at full scale. */
static bool add_background(const struct walk *walk, const unsigned char *type,
                           const unsigned char *bytes, size_t n)
{
    unsigned char samples[6];
    size_t wanted = walk->color_type == PALETTE ? 1 : walk->color_type & 2 ? 6 : 2;
    unsigned full = (1u << walk->bits) - 1;
    if (n != wanted || (n == 1 && bytes[0] >= walk->colors))
        return false;
    size_t made = n == 1 ? 6 : n;
    for (size_t i = 0; i < made; i += 2) {
        unsigned v = n == 1 ? 257u * walk->palette[3 * bytes[0] + i / 2] : gi_big16(bytes + i);
        if (n > 1)
            v = (v & full) * 65535u / full;
        samples[i] = (unsigned char)(v >> 8);
        samples[i + 1] = (unsigned char)v;
    }
    add(walk, type, GI_PART_CARRIED, NULL, samples, made);
    return true;
}

/* Chunks of an animation (clause 11.3.6). */
static void count_frames(struct walk *walk, const unsigned char *type, const unsigned char *bytes,
                         size_t n)
{
    bool before = walk->place != GI_PNG_AFTER_PIXELS;
    if (memcmp(type, "acTL", 4) == 0 && n >= 4 && !walk->frames)
        walk->frames = gi_big32(bytes);
    if (memcmp(type, "fcTL", 4) == 0) {
        walk->controls++;
        walk->still = walk->still && !before;
    }
}

/* Metadata that is kept elsewhere, unless libpng refused the chunk or another came before it. */
static void check_kept(struct walk *walk, const unsigned char *type, size_t n, bool sound)
{
    const struct gi_metadata *metadata = walk->decode->metadata;
    bool icc = memcmp(type, "iCCP", 4) == 0, exif = memcmp(type, "eXIf", 4) == 0;
    bool density = memcmp(type, "pHYs", 4) == 0;
    bool lost = (icc && (walk->icc || !metadata->icc)) ||
                (exif && (walk->exif || !metadata->exif)) ||
                (density && (walk->density || !(metadata->dpi_x > 0)));
    walk->icc = walk->icc || icc;
    walk->exif = walk->exif || exif;
    walk->density = walk->density || density;
    if (lost)
        add(walk, type, GI_PART_LOST, sound ? "damaged or repeated" : "wrong checksum", NULL, n);
}

static void account(struct walk *walk, const unsigned char *type, const unsigned char *bytes,
                    size_t n, bool sound)
{
    static const char used[] = "IHDR\0IDAT\0IEND\0tRNS\0", kept[] = "iCCP\0eXIf\0pHYs\0";
    static const char frames[] = "acTL\0fcTL\0fdAT\0";
    if (memcmp(type, "PLTE", 4) == 0) {
        walk->palette = bytes;
        walk->colors = n / 3;
        walk->place = GI_PNG_BEFORE_PIXELS;
        if (walk->color_type != PALETTE)
            add(walk, type, GI_PART_DROPPED, "suggests colours for the old pixels", NULL, n);
    } else if (is_one_of(used, type)) {
        bool late = memcmp(type, "tRNS", 4) == 0 && walk->place == GI_PNG_AFTER_PIXELS;
        if (late || (memcmp(type, "IEND", 4) == 0 && n))
            add(walk, type, GI_PART_LOST, late ? "out of place" : "has data", NULL, n);
        if (type[1] == 'D')
            walk->place = GI_PNG_AFTER_PIXELS;
    } else if (is_one_of(frames, type)) {
        count_frames(walk, type, bytes, n);
    } else if (is_one_of(kept, type)) {
        check_kept(walk, type, n, sound);
    } else if (!sound) {
        add(walk, type, GI_PART_LOST, "wrong checksum", NULL, n);
    } else if (gi_png_is_text(type)) {
        if (!gi_png_read_text(walk->decode, type, bytes, n))
            add(walk, type, GI_PART_LOST, "damaged or repeated", NULL, n);
    } else if ((gi_big32(type) == SBIT && add_significant(walk, type, bytes, n)) ||
               (gi_big32(type) == BKGD && add_background(walk, type, bytes, n))) {
        return;
    } else {
        bool safe = type[3] & SAFE_TO_COPY, critical = !(type[0] & ANCILLARY);
        enum gi_part_fate fate = critical ? GI_PART_LOST : safe ? GI_PART_CARRIED : GI_PART_DROPPED;
        const char *why = critical ? "an unknown critical chunk" : safe ? NULL : reason(type);
        add(walk, type, fate, why, bytes, n);
    }
}

static void add_frames(const struct walk *walk)
{
    char warning[64];
    uint32_t all = walk->frames > walk->controls ? walk->frames : walk->controls;
    uint32_t others = all - (all && !(walk->still && walk->controls));
    snprintf(warning, sizeof warning, "is an animation of %u frames; only the first is read",
             (unsigned)all);
    gi_decode_add_frames(walk->decode, others, warning);
}

void gi_png_parts(struct gi_decode *decode)
{
    const unsigned char *bytes = decode->bytes;
    struct walk walk = {.decode = decode, .still = true};
    size_t at = HEAD;
    bool ended = false;
    walk.bits = decode->nbytes >= 26 ? bytes[24] : 8;
    walk.color_type = decode->nbytes >= 26 ? bytes[25] : 0;
    while (!ended && decode->nbytes - at >= FRAME) {
        size_t n = gi_big32(bytes + at);
        if (n > decode->nbytes - at - FRAME)
            break;
        const unsigned char *type = bytes + at + 4, *data = bytes + at + HEAD;
        /* checked by the decoder */
        bool pixels = memcmp(type, "IDAT", 4) == 0 || memcmp(type, "fdAT", 4) == 0;
        bool sound = pixels || libdeflate_crc32(0, type, n + 4) == gi_big32(data + n);
        ended = memcmp(type, "IEND", 4) == 0;
        account(&walk, type, data, n, sound);
        at += n + FRAME;
        gi_decode_forget(decode, at);
    }
    if (!decode->options->image)
        add_frames(&walk);
    else if (decode->options->frames && decode->options->image == 1 && walk.still && walk.controls)
        gi_decode_add_part(decode, &(struct gi_part){.kind = GI_PART_IMAGES, .fate = GI_PART_LOST},
                           "picture for viewers without animation");
    gi_decode_add_rest(decode, at);
}

enum gi_holding gi_png_holds(const struct gi_part *part, const struct gi_image *written)
{
    if (part->kind == GI_PART_PHOTOSHOP || part->kind == GI_PART_IPTC)
        return GI_HOLDS; /* as a text (png_text.c) */
    if (part->kind != GI_PART_PNG_CHUNK)
        return GI_CANNOT_HOLD;
    if (part->code == SBIT)
        return part->nbytes == (size_t)written->channels ? GI_HOLDS : GI_CANNOT_HOLD;
    if (part->code == BKGD)
        return part->nbytes == 2 * (size_t)gi_color_channels(written) ? GI_HOLDS : GI_CANNOT_HOLD;
    return GI_HOLDS;
}

/* Writes significant bits, at most those of the file. */
static enum gi_status write_significant(struct gi_sink *sink, const struct gi_part *part,
                                        const struct gi_png_coding *coding, struct gi_err *err)
{
    static const size_t channels[] = {1, 0, 3, 3, 2, 0, 4}; /* by colour type */
    unsigned char bytes[GI_MAX_CHANNELS];
    const unsigned char *from = part->bytes;
    int depth = coding->color_type == PALETTE ? 8 : coding->depth;
    size_t n = channels[coding->color_type];
    for (size_t i = 0; i < n; i++)
        bytes[i] = from[i] < depth ? from[i] : (unsigned char)depth;
    return gi_png_write_chunk(sink, "sBIT", bytes, n, err);
}

/* Writes the background, as an index or in the file's depth. */
static enum gi_status write_background(struct gi_sink *sink, const struct gi_part *part,
                                       const struct gi_png_coding *coding, struct gi_err *err)
{
    unsigned char bytes[6];
    const unsigned char *from = part->bytes;
    if (coding->color_type == PALETTE) {
        const uint8_t color[] = {from[0], from[2], from[4]};
        bytes[0] = (unsigned char)gi_png_index(coding, color);
        return gi_png_write_chunk(sink, "bKGD", bytes, 1, err);
    }
    for (size_t i = 0; i < part->nbytes; i += 2) {
        unsigned v = (unsigned)gi_big16(from + i) >> (16 - coding->depth);
        bytes[i] = (unsigned char)(v >> 8);
        bytes[i + 1] = (unsigned char)v;
    }
    return gi_png_write_chunk(sink, "bKGD", bytes, part->nbytes, err);
}

/* sBIT is before a palette, and bKGD is after it (clause 5.6). */
static enum gi_png_place place_of(const struct gi_part *part)
{
    return part->code == SBIT   ? GI_PNG_BEFORE_PALETTE
           : part->code == BKGD ? GI_PNG_BEFORE_PIXELS
                                : (enum gi_png_place)part->place;
}

enum gi_status gi_png_write_parts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  const struct gi_image *image, const struct gi_png_coding *coding,
                                  enum gi_png_place place, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < metadata->parts.n && !status; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        unsigned char type[5] = {0};
        if (part->kind != GI_PART_PNG_CHUNK || part->fate != GI_PART_CARRIED ||
            gi_png_holds(part, image) != GI_HOLDS || place != place_of(part))
            continue;
        gi_put_big32(type, part->code);
        status = part->code == SBIT ? write_significant(sink, part, coding, err)
                 : part->code == BKGD
                     ? write_background(sink, part, coding, err)
                     : gi_png_write_chunk(sink, (char *)type, part->bytes, part->nbytes, err);
    }
    return status;
}
