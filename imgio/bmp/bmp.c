/* Reads bitmaps of Windows and OS/2 ("Bitmap Storage", Windows SDK), with palettes, run lengths,
 * bit fields, and rows in either order. If all colours of the palette are gray, the image is gray.
 * JPEG, PNG and Huffman inside a bitmap are not read.
 * SPDX-License-Identifier: MIT */
#include "imgio/bmp/bmp_parts.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/parts.h"

#include <string.h>

enum {
    FILE_HEAD = 14,
    OS2_HEAD = 12,
    OS2_HEAD_2 = 64, /* this or any greater length */
    INFO_HEAD = 40,
    V5_HEAD = 124,
    COLORS_MAX = 256,
};

enum compression { RGB, RLE8, RLE4, BITFIELDS, EMBEDDED_JPEG, EMBEDDED_PNG, ALPHABITFIELDS };

/* A sample in a pixel of 16 or 32 bits. */
struct field {
    uint32_t mask; /* contiguous bits; 0 if the file lacks this sample, which then reads as 0 */
    int shift, bits;
};

struct bitmap {
    struct gi_decode *decode;
    struct gi_bmp_layout layout;
    const unsigned char *head; /* follows FILE_HEAD */
    size_t head_nbytes, pixels_at;
    int64_t width, height;
    bool top_down;
    unsigned bits; /* bits per pixel */
    unsigned compression;
    struct field fields[4]; /* red, green, blue, alpha */
    uint32_t spare_mask;    /* bits of a pixel that are in no field */
    struct gi_spare_bits spare;
    uint8_t palette[COLORS_MAX][3];
    unsigned colors;
    int channels;
    enum gi_type type;
};

static enum gi_status fail_header(struct gi_err *err, const char *what, uint64_t value)
{
    return gi_fail(err, GI_E_FORMAT, "has a damaged header: %s is %llu", what,
                   (unsigned long long)value);
}

static bool is_head(size_t n)
{
    return n == OS2_HEAD || (n >= 16 && n <= OS2_HEAD_2) || n == 108 || n == V5_HEAD;
}

static enum gi_status read_sizes(struct bitmap *b, struct gi_err *err)
{
    const unsigned char *bytes = b->decode->bytes, *h = bytes + FILE_HEAD;
    if (b->decode->nbytes < FILE_HEAD + OS2_HEAD)
        return gi_fail(err, GI_E_FORMAT, "ends early, in its header");
    b->head = h;
    b->head_nbytes = gi_little32(h);
    b->pixels_at = gi_little32(bytes + 10);
    if (!is_head(b->head_nbytes))
        return fail_header(err, "its length", b->head_nbytes);
    if (b->decode->nbytes < FILE_HEAD + b->head_nbytes)
        return gi_fail(err, GI_E_FORMAT, "ends early, in its header");
    bool old = b->head_nbytes == OS2_HEAD;
    unsigned planes = gi_little16(h + (old ? 8 : 12));
    b->width = old ? (int64_t)gi_little16(h + 4) : (int32_t)gi_little32(h + 4);
    b->height = old ? (int64_t)gi_little16(h + 6) : (int32_t)gi_little32(h + 8);
    b->bits = gi_little16(h + (old ? 10 : 14));
    b->compression = b->head_nbytes >= 20 ? gi_little32(h + 16) : RGB;
    b->top_down = b->height < 0;
    if (b->top_down)
        b->height = -b->height;
    if (b->width <= 0 || !b->height)
        return gi_fail(err, GI_E_FORMAT, "is %lld x %lld pixels, which is no image",
                       (long long)b->width, (long long)b->height);
    return planes == 1 ? GI_OK : fail_header(err, "the number of planes", planes);
}

/* Checks that depth and compression are a valid combination. */
static enum gi_status check_kind(const struct bitmap *b, struct gi_err *err)
{
    unsigned bits = b->bits, kind = b->compression;
    bool os2 = b->head_nbytes != INFO_HEAD && b->head_nbytes <= OS2_HEAD_2 &&
               b->head_nbytes != 52 && b->head_nbytes != 56;
    if (kind == EMBEDDED_JPEG || kind == EMBEDDED_PNG || (os2 && kind == BITFIELDS))
        return gi_fail(err, GI_E_UNSUPPORTED, "is a bitmap with %s inside, which can't be read",
                       os2                     ? "a code of OS/2"
                       : kind == EMBEDDED_JPEG ? "a JPEG"
                                               : "a PNG");
    bool known =
        bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
    if (!known)
        return fail_header(err, "the number of bits a pixel", bits);
    bool fits = kind == RGB || (kind == RLE8 && bits == 8) || (kind == RLE4 && bits == 4) ||
                ((kind == BITFIELDS || kind == ALPHABITFIELDS) && (bits == 16 || bits == 32));
    if (!fits || (b->top_down && (kind == RLE8 || kind == RLE4)))
        return fail_header(err, "the compression", kind);
    return GI_OK;
}

static bool set_field(struct field *field, uint32_t mask)
{
    *field = (struct field){.mask = mask};
    if (!mask)
        return true;
    field->shift = __builtin_ctz(mask);
    uint32_t ones = mask >> field->shift;
    field->bits = 32 - __builtin_clz(ones);
    return (ones & (ones + 1)) == 0;
}

/* Reads the bit masks of the samples. Sets *after to the offset of the palette. */
static enum gi_status read_fields(struct bitmap *b, size_t *after, struct gi_err *err)
{
    static const uint32_t usual[2][4] = {{0x7c00, 0x3e0, 0x1f, 0}, {0xff0000, 0xff00, 0xff, 0}};
    bool given = b->compression == BITFIELDS || b->compression == ALPHABITFIELDS;
    size_t masks = b->head_nbytes >= 56 || b->compression == ALPHABITFIELDS ? 4 : 3;
    *after = FILE_HEAD + b->head_nbytes;
    if (given && b->head_nbytes == INFO_HEAD)
        *after += 4 * masks; /* masks follow a header of this length; longer headers contain them */
    if (*after > b->decode->nbytes)
        return gi_fail(err, GI_E_FORMAT, "ends early, in its header");
    uint32_t all = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t mask = !given      ? usual[b->bits == 32][i]
                        : i < masks ? gi_little32(b->head + INFO_HEAD + 4 * i)
                                    : 0;
        bool over = b->bits == 16 && mask > 0xffff;
        if (!set_field(&b->fields[i], mask) || over || (mask & all))
            return fail_header(err, "a mask of samples", mask);
        all |= mask;
    }
    b->spare_mask = ~all & (b->bits == 16 ? 0xffff : 0xffffffff);
    bool color = b->fields[0].mask && b->fields[1].mask && b->fields[2].mask;
    return color ? GI_OK : fail_header(err, "a mask of samples", 0);
}

static enum gi_status read_palette(struct bitmap *b, size_t at, struct gi_err *err)
{
    const struct gi_decode *d = b->decode;
    size_t entry = b->head_nbytes == OS2_HEAD ? 3 : 4;
    uint32_t used = b->head_nbytes >= 36 ? gi_little32(b->head + 32) : 0;
    b->colors = 1u << b->bits;
    if (used && used < b->colors)
        b->colors = used;
    size_t end = b->pixels_at < d->nbytes ? b->pixels_at : d->nbytes;
    if (used > 65536 || at > end)
        return fail_header(err, "the number of colours", used);
    if (b->colors > (end - at) / entry) /* some writers store a shorter palette */
        b->colors = (unsigned)((end - at) / entry);
    bool gray = b->colors > 0;
    b->spare_mask = entry == 4 ? 0xff : 0; /* the fourth byte of a colour is reserved */
    for (unsigned i = 0; i < b->colors; i++) {
        const unsigned char *bgr = d->bytes + at + i * entry;
        for (int c = 0; c < 3; c++)
            b->palette[i][c] = bgr[2 - c];
        gray = gray && bgr[0] == bgr[1] && bgr[1] == bgr[2];
        gi_spare_bits_add(&b->spare, entry == 4 ? bgr[3] : 0);
    }
    b->channels = gray ? 1 : 3;
    return GI_OK;
}

static void keep_palette(const struct bitmap *b)
{
    struct gi_metadata *metadata = b->decode->metadata;
    uint8_t entries[COLORS_MAX][4];
    for (unsigned i = 0; i < b->colors; i++) {
        memcpy(entries[i], b->palette[i], 3);
        entries[i][3] = 255;
    }
    gi_metadata_keep(metadata, &metadata->palette, &metadata->palette_nbytes, entries,
                     4 * (size_t)b->colors);
}

static enum gi_status read_metadata(struct bitmap *b, struct gi_err *err)
{
    struct gi_metadata *metadata = b->decode->metadata;
    if (b->head_nbytes >= 32) {
        double x = (int32_t)gi_little32(b->head + 24), y = (int32_t)gi_little32(b->head + 28);
        bool sane = x > 0 && y > 0 && x < 1e7 && y < 1e7; /* pixels per metre */
        metadata->dpi_x = sane ? x * 0.0254 : 0;
        metadata->dpi_y = sane ? y * 0.0254 : 0;
    }
    if (b->head_nbytes == V5_HEAD && gi_little32(b->head + 56) == 0x4d424544) { /* "MBED" */
        uint64_t at = (uint64_t)FILE_HEAD + gi_little32(b->head + 112),
                 nbytes = gi_little32(b->head + 116);
        if (at + nbytes > b->decode->nbytes)
            return gi_decode_damaged_beside(b->decode, err, "ends early, in its ICC profile");
        b->layout.profile_at = at;
        b->layout.profile_end = at + nbytes;
        if (nbytes)
            gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, b->decode->bytes + at,
                             nbytes);
    }
    return GI_OK;
}

static void describe(const struct bitmap *b)
{
    struct gi_file_info *info = b->decode->info;
    int bits = b->bits <= 8 ? (int)b->bits : 8;
    if (b->bits == 16 || b->bits == 32)
        for (int i = bits = 0; i < 4; i++)
            bits = b->fields[i].bits > bits ? b->fields[i].bits : bits;
    info->bits = bits;
    info->detail = b->compression == RLE8 || b->compression == RLE4 ? "palette, run lengths"
                   : b->bits <= 8                                   ? "palette"
                   : b->compression == RGB                          ? ""
                                                                    : "bit fields";
}

static void *row_of(const struct bitmap *b, int64_t y)
{
    return gi_row(b->decode->image, (int)(b->top_down ? y : b->height - 1 - y));
}

/* Sets pixel x of the row to palette entry `index`. Returns false if there is no such entry. */
static bool put_index(const struct bitmap *b, uint8_t *row, size_t x, unsigned index)
{
    if (index >= b->colors)
        return false;
    memcpy(row + x * (size_t)b->channels, b->palette[index], (size_t)b->channels);
    return true;
}

static bool unpack_indexed(const struct bitmap *b, uint8_t *row, const unsigned char *in)
{
    unsigned each = 8 / b->bits;
    for (size_t x = 0; x < (size_t)b->width; x++) {
        unsigned shift = 8 - b->bits * (unsigned)(x % each + 1);
        if (!put_index(b, row, x, in[x / each] >> shift & ((1u << b->bits) - 1)))
            return false;
    }
    return true;
}

static uint32_t scale(uint32_t v, int bits, uint32_t full)
{
    uint64_t most = (UINT64_C(1) << bits) - 1;
    return (uint32_t)((v * (uint64_t)full + most / 2) / most);
}

static void unpack_fields(struct bitmap *b, void *row, const unsigned char *in)
{
    for (size_t x = 0; x < (size_t)b->width; x++) {
        uint32_t pixel = b->bits == 16 ? gi_little16(in + 2 * x) : gi_little32(in + 4 * x);
        gi_spare_bits_add(&b->spare, pixel & b->spare_mask);
        for (int c = 0; c < b->channels; c++) {
            const struct field *f = &b->fields[c];
            uint32_t v = (pixel & f->mask) >> f->shift;
            size_t at = x * (size_t)b->channels + (size_t)c;
            if (b->type == GI_U8)
                ((uint8_t *)row)[at] = (uint8_t)scale(v, f->bits, 255);
            else
                ((uint16_t *)row)[at] = (uint16_t)scale(v, f->bits, 65535);
        }
    }
}

static void unpack_bgr(const struct bitmap *b, uint8_t *row, const unsigned char *in)
{
    for (size_t x = 0; x < (size_t)b->width; x++)
        for (size_t c = 0; c < 3; c++)
            row[3 * x + c] = in[3 * x + 2 - c];
}

static enum gi_status bad_index(const struct bitmap *b, int64_t y, struct gi_err *err)
{
    return gi_decode_damaged_at(b->decode, err, (int)y, "has a colour past its %u", b->colors);
}

/* Handles a file without the padding of its last row, or without the end code of its run lengths.
 * Some writers leave these out; otherwise the head of the file counts them. */
static enum gi_status check_end(const struct bitmap *b, struct gi_err *err)
{
    uint32_t want = gi_little32(b->decode->bytes + 2);
    if (want <= b->decode->nbytes)
        return GI_OK;
    return gi_decode_damaged(b->decode, err, "ends early: %zu of %u bytes", b->decode->nbytes,
                             (unsigned)want);
}

/* Reads uncompressed rows, each padded to a multiple of 4 bytes. */
static enum gi_status read_rows(struct bitmap *b, struct gi_err *err)
{
    size_t row_nbytes = ((size_t)b->width * b->bits + 31) / 32 * 4;
    const unsigned char *in = b->decode->bytes + b->pixels_at;
    size_t have = b->decode->nbytes - b->pixels_at;
    for (int64_t y = 0; y < b->height; y++, in += row_nbytes, have -= row_nbytes) {
        /* Some writers leave out the padding of the last row. */
        if (have < ((size_t)b->width * b->bits + 7) / 8)
            return gi_decode_damaged_at(b->decode, err, (int)y, "ends early");
        if (b->bits == 24)
            unpack_bgr(b, row_of(b, y), in);
        else if (b->bits > 8)
            unpack_fields(b, row_of(b, y), in);
        else if (!unpack_indexed(b, row_of(b, y), in))
            return bad_index(b, y, err);
        if (have < row_nbytes)
            return check_end(b, err);
    }
    return GI_OK;
}

/* Position at which a run-length coded raster is being written. */
struct pen {
    const unsigned char *at, *end;
    int64_t x, y;
    bool wide; /* a run went beyond the end of its row */
};

/* Writes `n` pixels from the packed palette indices at `literal`. If that is NULL, the byte `code`
 * is repeated, which contains one index or, at 4 bits per pixel, two. Pixels beyond the end of the
 * row are left out, as by other readers. */
static bool put_run(const struct bitmap *b, struct pen *pen, const unsigned char *literal,
                    unsigned code, unsigned n)
{
    uint64_t room = (uint64_t)(b->width - pen->x);
    pen->wide = pen->wide || n > room;
    n = n > room ? (unsigned)room : n;
    uint8_t *row = row_of(b, pen->y);
    for (unsigned i = 0; i < n; i++, pen->x++) {
        unsigned byte = literal ? literal[b->bits == 8 ? i : i / 2] : code;
        unsigned index = b->bits == 8 ? byte : i % 2 ? byte & 15 : byte >> 4;
        if (!put_index(b, row, (size_t)pen->x, index))
            return false;
    }
    return true;
}

/* Reports that no code sets some pixels. They have no colour, so the file counts as damaged. */
static enum gi_status left_out(const struct bitmap *b, const struct pen *pen, struct gi_err *err)
{
    return gi_decode_damaged_at(b->decode, err, (int)pen->y, "leaves pixels out");
}

/* Reads one code of two bytes with its data. Sets *done to true at the end of the bitmap. */
static enum gi_status read_code(const struct bitmap *b, struct pen *pen, bool *done,
                                struct gi_err *err)
{
    unsigned n = pen->at[0], code = pen->at[1];
    pen->at += 2;
    bool whole = pen->x == b->width;
    if (n == 0 && code == 0) { /* end of the row */
        pen->x = 0;
        pen->y++;
        return whole ? GI_OK : left_out(b, &(struct pen){.y = pen->y - 1}, err);
    }
    if (n == 0 && code == 1) {
        *done = true;
        bool all = pen->y == b->height || (pen->y == b->height - 1 && whole);
        return all ? GI_OK : left_out(b, pen, err);
    }
    if (n == 0 && code == 2) { /* delta: moves right and up */
        bool cut = pen->end - pen->at < 2;
        const uint8_t step[2] = {cut ? 0 : pen->at[0], cut ? 0 : pen->at[1]};
        if (cut || step[0] > b->width - pen->x || step[1] > b->height - pen->y) {
            *done = true;
            return gi_decode_damaged_at(b->decode, err, (int)pen->y, "steps out of the image");
        }
        pen->at += 2;
        pen->x += step[0];
        pen->y += step[1];
        return left_out(b, pen, err);
    }
    const unsigned char *literal = n ? NULL : pen->at;
    size_t nbytes = n ? 0 : b->bits == 8 ? code : (code + 1) / 2;
    bool fits = pen->y < b->height && nbytes <= (size_t)(pen->end - pen->at) &&
                put_run(b, pen, literal, code, n ? n : code);
    *done = !fits;
    nbytes += nbytes % 2; /* literals are padded to an even number of bytes */
    pen->at += nbytes < (size_t)(pen->end - pen->at) ? nbytes : (size_t)(pen->end - pen->at);
    return fits ? GI_OK
                : gi_decode_damaged_at(b->decode, err, (int)pen->y,
                                       "has a run that ends early or is below the image");
}

static enum gi_status read_runs(struct bitmap *b, struct gi_err *err)
{
    struct pen pen = {.at = b->decode->bytes + b->pixels_at,
                      .end = b->decode->bytes + b->decode->nbytes};
    enum gi_status status = GI_OK;
    bool done = false;
    while (!status && !done && pen.end - pen.at >= 2)
        status = read_code(b, &pen, &done, err);
    if (pen.wide)
        gi_decode_add_loss(b->decode, "runs beyond the ends of rows",
                           "has runs beyond the ends of its rows, which are left out");
    bool all = pen.y == b->height || (pen.y == b->height - 1 && pen.x == b->width);
    b->layout.pixels_end = (uint64_t)(pen.at - b->decode->bytes);
    if (status || done)
        return status;
    if (all)
        return check_end(b, err);
    return gi_decode_damaged_at(b->decode, err, (int)pen.y, "ends early");
}

/* Returns the offset behind the pixels by the header, or 0 if that is unknown. */
static uint64_t expected_end(const struct bitmap *b)
{
    uint64_t rows = (uint64_t)b->height * (((uint64_t)b->width * b->bits + 31) / 32 * 4);
    uint64_t coded = b->head_nbytes >= 24 ? gi_little32(b->head + 20) : 0;
    bool runs = b->compression == RLE8 || b->compression == RLE4;
    return !runs ? b->pixels_at + rows : coded ? b->pixels_at + coded : 0;
}

static enum gi_status read_pixels(struct bitmap *b, struct gi_err *err)
{
    if (b->pixels_at > b->decode->nbytes)
        return gi_decode_damaged_at(b->decode, err, 0, "ends early");
    if (b->compression == RLE8 || b->compression == RLE4)
        return read_runs(b, err);
    b->layout.pixels_end = expected_end(b);
    return read_rows(b, err);
}

static enum gi_status decode_bmp(struct gi_decode *decode, struct gi_err *err)
{
    struct bitmap b = {.decode = decode, .channels = 3, .type = GI_U8};
    size_t palette_at;
    enum gi_status status = read_sizes(&b, err);
    if (!status)
        status = check_kind(&b, err);
    if (!status)
        status = read_fields(&b, &palette_at, err);
    if (!status && b.bits <= 8)
        status = read_palette(&b, palette_at, err);
    if (status)
        return status;
    if (b.pixels_at < palette_at)
        return fail_header(err, "the place of the pixels", b.pixels_at);
    b.layout.head_nbytes = b.head_nbytes;
    b.layout.pixels_at = b.pixels_at;
    b.layout.palette_end =
        palette_at + (b.bits <= 8 ? b.colors * (b.head_nbytes == OS2_HEAD ? 3u : 4u) : 0);
    describe(&b);
    if (b.bits <= 8)
        keep_palette(&b);
    status = read_metadata(&b, err);
    if (status)
        return status;
    if (b.bits == 16 || b.bits == 32) {
        b.channels = b.fields[3].mask ? 4 : 3;
        b.type = decode->info->bits > 8 ? GI_U16 : GI_U8;
    }
    status =
        gi_decode_alloc(decode, (uint64_t)b.width, (uint64_t)b.height, b.channels, b.type, err);
    if (!status && !decode->options->header_only)
        status = read_pixels(&b, err);
    else if (!status)
        b.layout.pixels_end = expected_end(&b);
    gi_decode_add_spare_bits(decode, &b.spare, b.spare_mask);
    if (!status)
        gi_bmp_add_parts(decode, &b.layout);
    return status;
}

static bool probe_bmp(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= FILE_HEAD + 4 && bytes[0] == 'B' && bytes[1] == 'M' &&
           gi_little32(bytes + FILE_HEAD) <= V5_HEAD;
}

const struct gi_format gi_format_bmp = {
    .info = {.name = "bmp",
             .suffixes = "bmp dib",
             .summary = "Windows bitmap",
             GI_READS_AND_WRITES,
             .u8 = true,
             .alpha = true},
    .probe = probe_bmp,
    .decode = decode_bmp,
    .encode = gi_bmp_encode,
    .resolution_loss = gi_bmp_resolution_loss,
    .icc = true,
    .resolution = true,
    .raw = true,
    .rgb = true,
};
