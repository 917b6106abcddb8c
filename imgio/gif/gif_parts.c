/* Walks the blocks of a GIF (GIF 89a, appendix B) and accounts for each of them, and writes those
 * of texts, XMP and the ICC profile.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/gif/gif_parts.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCREEN = 13,     /* bytes of the signature and of the logical screen descriptor */
    DESCRIPTOR = 10, /* bytes of an image descriptor */
    APPLICATION = 12,
    SQUARE = 49, /* aspect ratio of square pixels */
    EXTENSION = '!',
    IMAGE = ',',
    CONTROL = 0xf9,
    CONTROL_NBYTES = 4,
    COMMENT = 0xfe,
    APPLICATION_LABEL = 0xff,
    PLAIN_TEXT = 1,
    TRAILER = 258, /* bytes behind XMP */
};

/* First blocks of application extensions. */
static const char profile_name[] = "\x0bICCRGBG1012", xmp_name[] = "\x0bXMP DataXMP";

/* The rest of the file. */
struct walk {
    struct gi_decode *decode;
    const unsigned char *at, *end;
    unsigned frames;
};

static size_t palette_nbytes(unsigned flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

/* Skips sub-blocks and the empty one at their end, and sets *nbytes to the length of their data.
 * Returns false if the file ends before. */
static bool skip_blocks(struct walk *walk, size_t *nbytes)
{
    *nbytes = 0;
    while (walk->at < walk->end && *walk->at) {
        size_t n = *walk->at;
        if (n + 1 > (size_t)(walk->end - walk->at))
            return false;
        *nbytes += n;
        walk->at += n + 1;
    }
    return walk->at++ < walk->end;
}

/* Returns the `nbytes` bytes of data in the sub-blocks at `at`, which the caller frees. */
static unsigned char *join(struct walk *walk, const unsigned char *at, size_t nbytes)
{
    unsigned char *joined = malloc(nbytes + 1);
    walk->decode->metadata->starved = walk->decode->metadata->starved || !joined;
    for (size_t have = 0; joined && have < nbytes; at += *at + 1) {
        memcpy(joined + have, at + 1, *at);
        have += *at;
    }
    return joined;
}

static void add(struct walk *walk, unsigned label, size_t nbytes, const char *name)
{
    gi_decode_add_part(
        walk->decode,
        &(struct gi_part){
            .kind = GI_PART_GIF_EXTENSION, .fate = GI_PART_LOST, .code = label, .nbytes = nbytes},
        "%s", name);
}

static void read_comment(struct walk *walk, const unsigned char *blocks, size_t nbytes)
{
    unsigned char *text = join(walk, blocks, nbytes);
    if (text && nbytes)
        gi_decode_add_comment(walk->decode, text, nbytes);
    free(text);
}

/* Keeps the ICC profile or XMP of an application extension, whose first block has the name of the
 * application. XMP is not in sub-blocks, and ends with 258 bytes that lead any reader of sub-blocks
 * to the end ("XMP Specification", part 3, 1.1.2). */
static bool read_application(struct walk *walk, const unsigned char *blocks, size_t nbytes)
{
    struct gi_metadata *metadata = walk->decode->metadata;
    const unsigned char *name = blocks + 1, *data = blocks + APPLICATION;
    bool profile = memcmp(name, profile_name + 1, 11) == 0;
    if (memcmp(name, xmp_name + 1, 11) == 0 && !metadata->xmp && walk->at - data > TRAILER) {
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, data,
                         (size_t)(walk->at - data) - TRAILER);
        return true;
    }
    if (!profile || metadata->icc)
        return false;
    unsigned char *icc = join(walk, data, nbytes - 11);
    if (icc)
        gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, icc, nbytes - 11);
    free(icc);
    return true;
}

/* Accounts for the extension whose label is at walk->at. Returns false at the end of the file. */
static bool walk_extension(struct walk *walk)
{
    char name[64];
    if (walk->end - walk->at < 2)
        return false;
    unsigned label = *walk->at++;
    const unsigned char *blocks = walk->at;
    size_t nbytes;
    if (!skip_blocks(walk, &nbytes))
        return false;
    bool application = label == APPLICATION_LABEL && blocks[0] == 11;
    bool loops =
        application && nbytes == APPLICATION + 2 && (blocks[13] & 7) == 1 &&
        (memcmp(blocks + 1, "NETSCAPE2.0", 11) == 0 || memcmp(blocks + 1, "ANIMEXTS1.0", 11) == 0);
    if (loops) { /* how often the animation is played (imgio/gif/gif_frames.c) */
        return true;
    } else if (label == COMMENT) {
        read_comment(walk, blocks, nbytes);
    } else if (application && read_application(walk, blocks, nbytes)) {
        return true;
    } else if (label != CONTROL || nbytes != CONTROL_NBYTES) { /* that is part of its frame */
        if (application)
            snprintf(name, sizeof name, "application extension %.11s", (const char *)blocks + 1);
        else if (label == PLAIN_TEXT)
            snprintf(name, sizeof name, "plain text extension");
        else
            snprintf(name, sizeof name, "extension 0x%02x", label);
        add(walk, label, nbytes, name);
    }
    return true;
}

/* Codes of LZW as a GIF has them (appendix F), without the pixels that they stand for. */
struct codes {
    const unsigned char *bytes;
    size_t nbytes, at; /* `at` in bits */
    unsigned width;    /* bits of the next code */
};

/* Returns the next code, or -1 at the end of the bytes. */
static int next_code(struct codes *codes)
{
    unsigned bits = 0;
    size_t first = codes->at / 8, shift = codes->at % 8;
    codes->at += codes->width;
    if (codes->at > 8 * codes->nbytes)
        return -1;
    for (size_t i = 0; i < 3 && first + i < codes->nbytes; i++)
        bits |= (unsigned)codes->bytes[first + i] << 8 * i;
    return (int)(bits >> shift & ((1u << codes->width) - 1));
}

/* Returns whether the codes stand for more than `pixels` pixels, or bytes other than 0 follow their
 * end. `bits` is the number of bits of a pixel. */
static bool has_surplus(struct codes codes, unsigned bits, uint64_t pixels)
{
    enum { CODES = 4096, WIDTH_MAX = 12 };
    uint16_t length[CODES]; /* of the string of a code, in pixels */
    const unsigned clear = 1u << bits, stop = clear + 1;
    unsigned next = stop + 1;
    int previous = -1, code;
    uint64_t made = 0;
    codes.width = bits + 1;
    for (unsigned i = 0; i < clear; i++)
        length[i] = 1;
    while (made <= pixels && (code = next_code(&codes)) >= 0 && (unsigned)code != stop) {
        unsigned n = (unsigned)code < clear || ((unsigned)code > stop && (unsigned)code < next)
                         ? length[code]
                     : (unsigned)code == next && previous >= 0 ? length[previous] + 1u
                                                               : 0;
        if ((unsigned)code == clear) {
            next = stop + 1;
            codes.width = bits + 1;
            previous = -1;
            continue;
        }
        if (!n)
            return false; /* damaged, which the decoder reports */
        if (previous >= 0 && next < CODES)
            length[next++] = (uint16_t)(length[previous] + 1u);
        codes.width += next == 1u << codes.width && codes.width < WIDTH_MAX;
        previous = code;
        made += n;
    }
    size_t rest = (codes.at + 7) / 8;
    while (made <= pixels && rest < codes.nbytes && !codes.bytes[rest])
        rest++;
    return made > pixels || rest < codes.nbytes;
}

/* Names codes and bytes of the first frame that its pixels do not need. */
static void check_codes(struct walk *walk, const unsigned char *blocks, size_t nbytes,
                        unsigned bits, uint64_t pixels)
{
    unsigned char *joined = join(walk, blocks, nbytes);
    if (joined && has_surplus((struct codes){.bytes = joined, .nbytes = nbytes}, bits, pixels))
        gi_decode_add_loss(walk->decode, "surplus image data",
                           "has more image data than its pixels need, which is left out");
    free(joined);
}

static bool walk_image(struct walk *walk)
{
    size_t left = (size_t)(walk->end - walk->at), nbytes;
    const unsigned char *frame = walk->at;
    if (left < DESCRIPTOR - 1)
        return false;
    size_t head = DESCRIPTOR - 1 + palette_nbytes(walk->at[8]) + 1; /* and the code size */
    if (left < head)
        return false;
    walk->at += head;
    walk->frames++;
    const unsigned char *blocks = walk->at;
    unsigned bits = blocks[-1];
    if (!skip_blocks(walk, &nbytes))
        return false;
    if (walk->frames == 1 && walk->decode->options->image <= 1 &&
        !walk->decode->options->header_only && bits >= 1 && bits <= 8)
        check_codes(walk, blocks, nbytes, bits,
                    (uint64_t)gi_little16(frame + 4) * gi_little16(frame + 6));
    return true;
}

void gi_gif_parts(struct gi_decode *decode)
{
    const unsigned char *bytes = decode->bytes;
    struct walk walk = {.decode = decode, .end = bytes + decode->nbytes};
    if (decode->nbytes < SCREEN)
        return;
    size_t head = SCREEN + palette_nbytes(bytes[10]);
    if (head > decode->nbytes)
        return;
    if (bytes[12] && bytes[12] != SQUARE) { /* (n + 15) / 64 is a pixel's width to its height */
        decode->metadata->dpi_x = 64;
        decode->metadata->dpi_y = bytes[12] + 15;
        decode->metadata->no_unit = true;
    }
    walk.at = bytes + head;
    bool more = true;
    while (more && walk.at < walk.end) {
        unsigned kind = *walk.at++;
        if (kind == EXTENSION)
            more = walk_extension(&walk);
        else if (kind == IMAGE)
            more = walk_image(&walk);
        else if (kind) /* a surplus end of blocks, which some writers add, says nothing */
            break;
    }
    if (!decode->options->image)
        gi_decode_add_frames(decode, walk.frames ? walk.frames - 1 : 0, GI_MORE_FRAMES);
    if (more)
        gi_decode_add_trailing(decode, (uint64_t)(walk.at - bytes));
}

/* ---- writing ---- */

/* Writes the bytes as sub-blocks. */
static enum gi_status write_blocks(struct gi_sink *sink, const void *bytes, size_t n,
                                   struct gi_err *err)
{
    enum { BLOCK = 255 };
    const unsigned char *at = bytes;
    enum gi_status status = GI_OK;
    for (size_t each; n && !status; at += each, n -= each) {
        each = n < BLOCK ? n : BLOCK;
        const unsigned char length = (unsigned char)each;
        status = gi_sink_write(sink, &length, 1, err);
        if (!status)
            status = gi_sink_write(sink, at, each, err);
    }
    return status;
}

/* Writes an extension, whose first block may be the name of an application. */
static enum gi_status write_extension(struct gi_sink *sink, unsigned label, const char *name,
                                      const void *bytes, size_t n, struct gi_err *err)
{
    const unsigned char head[] = {EXTENSION, (unsigned char)label};
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status && name)
        status = gi_sink_write(sink, name, APPLICATION, err);
    if (!status)
        status = write_blocks(sink, bytes, n, err);
    return status ? status : gi_sink_write(sink, "", 1, err);
}

static enum gi_status write_text(struct gi_sink *sink, const struct gi_text *text,
                                 struct gi_err *err)
{
    bool plain = strcmp(text->keyword, "Comment") == 0;
    size_t head = plain ? 0 : strlen(text->keyword) + 2, n = strlen(text->text);
    char *whole = malloc(head + n + 1);
    if (!whole)
        return gi_fail(err, GI_E_MEMORY, "out of memory for a text");
    if (head)
        snprintf(whole, head + 1, "%s: ", text->keyword);
    memcpy(whole + head, text->text, n);
    enum gi_status status =
        head + n ? write_extension(sink, COMMENT, NULL, whole, head + n, err) : GI_OK;
    free(whole);
    return status;
}

static enum gi_status write_xmp(struct gi_sink *sink, const void *xmp, size_t n, struct gi_err *err)
{
    unsigned char head[2 + APPLICATION] = {EXTENSION, APPLICATION_LABEL}, trailer[TRAILER] = {1};
    memcpy(head + 2, xmp_name, APPLICATION);
    for (int i = 0; i < 256; i++)
        trailer[1 + i] = (unsigned char)(255 - i);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status)
        status = gi_sink_write(sink, xmp, n, err);
    return status ? status : gi_sink_write(sink, trailer, sizeof trailer, err);
}

bool gi_gif_holds_xmp(const struct gi_metadata *metadata)
{
    return !memchr(metadata->xmp, 0, metadata->xmp_nbytes);
}

enum gi_status gi_gif_write_metadata(struct gi_sink *sink, const struct gi_metadata *metadata,
                                     struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (metadata->icc)
        status = write_extension(sink, APPLICATION_LABEL, profile_name, metadata->icc,
                                 metadata->icc_nbytes, err);
    if (!status && metadata->xmp && gi_gif_holds_xmp(metadata))
        status = write_xmp(sink, metadata->xmp, metadata->xmp_nbytes, err);
    for (int i = 0; i < metadata->ntexts && !status; i++)
        status = write_text(sink, &metadata->texts[i], err);
    return status;
}
