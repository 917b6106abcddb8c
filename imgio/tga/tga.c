/* Reads Truevision TGA with colours, grays or a palette, plain or run-length coded, with all four
 * origins ("Truevision TGA File Format Specification", version 2.0). The format has no magic
 * number. A header counts as TGA if all its fields are plausible. If all colours of the palette are
 * gray, the image is gray.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/tga/tga_parts.h"

#include <string.h>

/* ends the file, behind the offsets of two areas (TGA 2.0, "footer") */
static const char signature[] = "TRUEVISION-XFILE.";

enum {
    HEAD = 18,
    COLORS_MAX = 65536,
    KIND_PALETTE = 1,
    KIND_COLOR = 2,
    KIND_GRAY = 3,
    RUN_LENGTHS = 8, /* added to the kinds above */
    RIGHT_TO_LEFT = 1 << 4,
    TOP_DOWN = 1 << 5,
    INTERLEAVED = 3 << 6,
};

struct targa {
    int kind;
    bool runs, right_to_left, top_down;
    unsigned width, height;
    unsigned bits, alpha_bits;          /* per pixel */
    unsigned first, colors, color_bits; /* of the palette */
    size_t palette_at, color_nbytes, pixels_at;
    size_t pixel_nbytes; /* as stored in the file */
    int channels;
    uint32_t spare_mask; /* bits of a pixel or colour that are neither colour nor alpha */
    struct gi_spare_bits spare;
};

/* Reads and checks the header. Returns false if the bytes are not a header. */
static bool read_head(struct targa *t, const unsigned char *bytes, size_t nbytes)
{
    if (nbytes < HEAD)
        return false;
    bool palette = bytes[1] == 1;
    *t = (struct targa){
        .kind = bytes[2] & ~RUN_LENGTHS,
        .runs = bytes[2] & RUN_LENGTHS,
        .right_to_left = bytes[17] & RIGHT_TO_LEFT,
        .top_down = bytes[17] & TOP_DOWN,
        .width = gi_little16(bytes + 12),
        .height = gi_little16(bytes + 14),
        .bits = bytes[16],
        .alpha_bits = bytes[17] & 15,
        .first = gi_little16(bytes + 3),
        .colors = palette ? gi_little16(bytes + 5) : 0,
        .color_bits = bytes[7],
        .palette_at = HEAD + (size_t)bytes[0],
    };
    t->color_nbytes = (t->color_bits + 7) / 8;
    t->pixel_nbytes = (t->bits + 7) / 8;
    t->pixels_at = t->palette_at + t->colors * t->color_nbytes;
    unsigned c = t->color_bits, b = t->bits;
    bool colors_fit = !palette || c == 15 || c == 16 || c == 24 || c == 32;
    bool bits_fit = t->kind == KIND_PALETTE ? t->colors && (b == 8 || b == 16)
                    : t->kind == KIND_COLOR ? b == 15 || b == 16 || b == 24 || b == 32
                                            : t->kind == KIND_GRAY && (b == 8 || b == 16);
    return bytes[1] <= 1 && colors_fit && bits_fit && !(bytes[17] & INTERLEAVED) && t->width &&
           t->height && t->alpha_bits <= 8;
}

/* Converts a colour of `bits` bits to `channels` samples. A colour is stored with blue first. It
 * consists of bytes, or of 5 bits each of blue, green and red and perhaps one bit of alpha. */
static void put_color(uint8_t *to, int channels, const unsigned char *in, unsigned bits)
{
    uint8_t rgba[4];
    if (bits <= 16) {
        unsigned v = gi_little16(in);
        for (int c = 0; c < 3; c++)
            rgba[c] = (uint8_t)(((v >> (10 - 5 * c) & 31) * 255 + 15) / 31);
        rgba[3] = v >> 15 ? 255 : 0;
    } else {
        rgba[0] = in[2];
        rgba[1] = in[1];
        rgba[2] = in[0];
        rgba[3] = bits == 32 ? in[3] : 255;
    }
    if (channels >= 3)
        memcpy(to, rgba, (size_t)channels);
    else
        to[0] = rgba[0];
}

/* Returns whether all colours are gray and opaque. */
static bool is_gray_palette(const struct targa *t, const unsigned char *bytes)
{
    for (unsigned i = 0; i < t->colors; i++) {
        uint8_t rgb[3];
        put_color(rgb, 3, bytes + t->palette_at + i * t->color_nbytes, t->color_bits);
        if (rgb[0] != rgb[1] || rgb[1] != rgb[2])
            return false;
    }
    return t->color_bits != 32;
}

/* Notes the bits that put_color() leaves out. */
static void note_spare(struct targa *t, const unsigned char *in, size_t nbytes)
{
    if (t->spare_mask)
        gi_spare_bits_add(&t->spare, (t->spare_mask == 1 ? in[1] >> 7 : in[nbytes - 1]));
}

/* Stores one pixel of the file. Returns false if its palette index is invalid. */
static bool put_pixel(struct targa *t, const struct gi_decode *decode, uint8_t *to,
                      const unsigned char *in)
{
    if (t->kind != KIND_PALETTE)
        note_spare(t, in, t->pixel_nbytes);
    if (t->kind == KIND_COLOR) {
        put_color(to, t->channels, in, t->bits);
    } else if (t->kind == KIND_GRAY) {
        memcpy(to, in, (size_t)t->channels);
    } else {
        unsigned index = (t->bits == 8 ? in[0] : gi_little16(in)) - t->first;
        if (index >= t->colors)
            return false;
        const unsigned char *color = decode->bytes + t->palette_at + index * t->color_nbytes;
        put_color(to, t->channels, color, t->color_bits);
        note_spare(t, color, t->color_nbytes);
    }
    return true;
}

/* Reading position within the pixels. */
struct tape {
    const unsigned char *at, *end;
    unsigned left; /* pixels left in the packet */
    bool repeats;
};

/* Returns the address of the next pixel, or NULL at the end of the file. */
static const unsigned char *next_pixel(const struct targa *t, struct tape *tape)
{
    size_t have = (size_t)(tape->end - tape->at);
    if (t->runs && !tape->left) {
        if (have < 1 + t->pixel_nbytes)
            return NULL;
        tape->repeats = *tape->at & 0x80;
        tape->left = (*tape->at++ & 0x7f) + 1u;
    } else if (have < t->pixel_nbytes) {
        return NULL;
    }
    const unsigned char *pixel = tape->at;
    tape->left -= t->runs;
    if (!t->runs || !tape->repeats || !tape->left)
        tape->at += t->pixel_nbytes;
    return pixel;
}

/* Checks that the bytes behind the pixels don't end within the signature of a footer. A file whose
 * footer is missing altogether looks like one of version 1, which has none. */
static enum gi_status check_footer(struct gi_decode *decode, const unsigned char *at,
                                   struct gi_err *err)
{
    enum { OFFSETS = 8, SURE = 4 }; /* bytes of the offsets; letters that don't occur by chance */
    size_t have = (size_t)(decode->bytes + decode->nbytes - at);
    for (size_t n = sizeof signature - 1; n > 0; n--)
        if ((have == OFFSETS + n || (n >= SURE && have > OFFSETS + n)) &&
            memcmp(at + have - n, signature, n) == 0)
            return gi_decode_damaged(decode, err, "ends early, in its footer");
    return GI_OK;
}

/* Sets *end to the offset behind the pixels. */
static enum gi_status read_pixels(struct targa *t, struct gi_decode *decode, uint64_t *end,
                                  struct gi_err *err)
{
    struct tape tape = {.at = decode->bytes + t->pixels_at, .end = decode->bytes + decode->nbytes};
    for (unsigned y = 0; y < t->height; y++) {
        uint8_t *row = gi_row(decode->image, (int)(t->top_down ? y : t->height - 1 - y));
        for (unsigned x = 0; x < t->width; x++) {
            const unsigned char *pixel = next_pixel(t, &tape);
            if (!pixel)
                return gi_decode_damaged_at(decode, err, (int)y, "ends early");
            size_t to = t->right_to_left ? t->width - 1 - x : x;
            if (!put_pixel(t, decode, row + to * (size_t)t->channels, pixel))
                return gi_decode_damaged_at(decode, err, (int)y, "has a colour past its %u",
                                            t->colors);
        }
    }
    *end = (uint64_t)(tape.at - decode->bytes);
    return check_footer(decode, tape.at, err);
}

/* Returns false if the extension area says that alpha is meaningless. The offset of that area is at
 * the end of the file. */
static bool alpha_counts(const struct gi_decode *decode)
{
    enum { FOOTER = 26, SIGNATURE = 8, ATTRIBUTES = 494, USEFUL_ALPHA = 3 };
    if (decode->nbytes < HEAD + FOOTER)
        return true;
    const unsigned char *footer = decode->bytes + decode->nbytes - FOOTER;
    size_t at = gi_little32(footer);
    if (memcmp(footer + SIGNATURE, signature, sizeof signature) != 0 || !at ||
        at + ATTRIBUTES >= decode->nbytes)
        return true;
    return decode->bytes[at + ATTRIBUTES] >= USEFUL_ALPHA;
}

static enum gi_status decode_tga(struct gi_decode *decode, struct gi_err *err)
{
    struct targa t;
    if (!read_head(&t, decode->bytes, decode->nbytes))
        return gi_fail(err, GI_E_FORMAT, "has a damaged header");
    if (t.pixels_at > decode->nbytes)
        return gi_fail(err, GI_E_FORMAT, "ends early, in its palette");
    /* The header counts alpha bits per pixel, or per colour if there is a palette. 32 bits without
     * alpha bits mean that a byte is unused, which gi_decode_add_spare_bits() reports. */
    unsigned bits = t.kind == KIND_PALETTE ? t.color_bits : t.bits;
    bool alpha = t.kind == KIND_GRAY ? bits == 16
                                     : (bits == 32 && (t.alpha_bits || t.kind == KIND_PALETTE)) ||
                                           (bits == 16 && t.alpha_bits == 1);
    alpha = alpha && alpha_counts(decode);
    bool gray = t.kind == KIND_GRAY ||
                (t.kind == KIND_PALETTE && !alpha && is_gray_palette(&t, decode->bytes));
    t.channels = (gray ? 1 : 3) + alpha;
    if (!alpha && (bits == 32 || bits == 15 || bits == 16))
        t.spare_mask = bits == 32 || t.kind == KIND_GRAY ? 0xff : 1;
    decode->info->bits = bits <= 16 && t.kind != KIND_GRAY ? 5 : 8;
    decode->info->detail = t.kind == KIND_PALETTE ? (t.runs ? "palette, run lengths" : "palette")
                           : t.runs               ? "run lengths"
                                                  : "";
    enum gi_status status = gi_decode_alloc(decode, t.width, t.height, t.channels, GI_U8, err);
    uint64_t end =
        t.runs ? 0 : t.pixels_at + (uint64_t)t.width * t.height * (uint64_t)t.pixel_nbytes;
    if (!status && !decode->options->header_only)
        status = read_pixels(&t, decode, &end, err);
    gi_decode_add_spare_bits(decode, &t.spare, t.spare_mask);
    if (!status)
        gi_tga_add_parts(decode, end);
    return status;
}

static bool probe_tga(const unsigned char *bytes, size_t nbytes)
{
    struct targa t;
    return read_head(&t, bytes, nbytes);
}

const struct gi_format gi_format_tga = {
    .info = {.name = "tga",
             .suffixes = "tga",
             .summary = "Truevision Targa",
             GI_READS_AND_WRITES,
             .u8 = true,
             .alpha = true},
    .probe = probe_tga,
    .decode = decode_tga,
    .encode = gi_tga_encode,
    .holds = gi_tga_holds,
    .raw = true,
    GI_HOLDS_GRAY_AND_RGB,
};
