/* Converts the samples of a TIFF, in strips, tiles or planes, of any depth, to those of the image.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff_reader.h"

#if GI_HAVE_TIFF

#include <stdlib.h>
#include <string.h>

#include "imgio/nodata.h"

enum {
    PIECE_MIN = 16 << 20, /* smallest limit of piece_nbytes() */
    PIECE_A_BYTE = 32,
    LEND_NBYTES = 1 << 20,
};

/* Returns sample i of a line of integers, unscaled. */
static uint32_t raw_sample(const unsigned char *line, size_t i, unsigned bits)
{
    if (bits == 8)
        return line[i];
    if (bits == 16) {
        uint16_t v;
        memcpy(&v, line + 2 * i, sizeof v);
        return v;
    }
    size_t at = i * bits;
    const unsigned char *p = line + at / 8; /* the buffer is two bytes longer */
    uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    return v >> (24 - at % 8 - bits) & ((1u << bits) - 1);
}

static float float_sample(struct gi_rounding *rounding, const unsigned char *line, size_t i,
                          unsigned bits)
{
    float narrow;
    double wide;
    if (bits == 32) {
        memcpy(&narrow, line + 4 * i, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, line + 8 * i, sizeof wide);
    return gi_rounding_note(rounding, wide);
}

/* Returns the value of a sample, and notes its rounding. */
static float value_sample(const struct gi_tiff_reader *r, const unsigned char *line, size_t i)
{
    int16_t narrow;
    int32_t wide;
    uint32_t whole;
    struct gi_rounding *rounding = &r->decode->rounding;
    if (r->format == SAMPLEFORMAT_IEEEFP)
        return float_sample(rounding, line, i, r->bits);
    if (r->bits == 8)
        return (float)(int8_t)line[i];
    if (r->bits == 16) {
        memcpy(&narrow, line + 2 * i, sizeof narrow);
        return (float)narrow;
    }
    memcpy(&wide, line + 4 * i, sizeof wide);
    memcpy(&whole, line + 4 * i, sizeof whole);
    bool negative = r->format == SAMPLEFORMAT_INT && wide < 0;
    gi_rounding_note_integer(rounding, negative ? -(uint32_t)whole : whole);
    return r->format == SAMPLEFORMAT_INT ? (float)wide : (float)whole;
}

/* Scales an integer sample to the image's range, so that full scale stays full scale. */
static uint32_t scaled_sample(const struct gi_tiff_reader *r, const unsigned char *line, size_t i,
                              bool color)
{
    uint32_t full = r->type == GI_U8 ? 255 : 65535, most = (1u << r->bits) - 1;
    uint32_t v = raw_sample(line, i, r->bits);
    if (most != full)
        v = (v * full + most / 2) / most;
    return color && r->photometric == PHOTOMETRIC_MINISWHITE ? full - v : v;
}

void gi_tiff_convert_nodata(const struct gi_tiff_reader *r)
{
    uint32_t full = r->type == GI_U8 ? 255 : 65535, most = (1u << r->bits % 32) - 1;
    bool inverted = r->photometric == PHOTOMETRIC_MINISWHITE;
    if (r->indexed || r->cmyk || r->ycbcr.across)
        gi_nodata_drop(r->decode->metadata, "samples become other colours");
    else if (r->type != GI_F32 && (most != full || inverted))
        gi_nodata_scale(r->decode->metadata, most, full, inverted);
}

static void put(void *row, enum gi_type type, size_t at, uint32_t v)
{
    if (type == GI_U8)
        ((uint8_t *)row)[at] = (uint8_t)v;
    else
        ((uint16_t *)row)[at] = (uint16_t)v;
}

/* Converts a CMYK pixel at the image's depth, and stores red at sample `at`. Each of red, green and
 * blue is the light that its ink and black leave. */
static void put_inks(const struct gi_tiff_reader *r, void *row, size_t at, const uint32_t inks[4])
{
    uint64_t full = r->type == GI_U8 ? 255 : 65535, black = full - inks[3];
    for (size_t c = 0; c < 3; c++)
        put(row, r->type, at + c, (uint32_t)(((full - inks[c]) * black + full / 2) / full));
}

static void put_sample(const struct gi_tiff_reader *r, void *row, size_t at,
                       const unsigned char *line, size_t i, bool color)
{
    if (r->type == GI_F32)
        ((float *)row)[at] = value_sample(r, line, i);
    else
        put(row, r->type, at, scaled_sample(r, line, i, color));
}

/* Stores those of `n` pixels of row y, from column x on, that are in the part that is read. `line`
 * contains `each` samples per pixel. The first of these is sample number `first` of the file's
 * pixel. */
static void put_line(const struct gi_tiff_reader *r, uint32_t y, uint32_t x, uint32_t n, int first,
                     int each, const unsigned char *line)
{
    bool ink = r->stored.data && first < 4;
    const struct gi_image *to = ink ? &r->stored : r->decode->image;
    uint32_t left = (uint32_t)r->part.x, right = left + (uint32_t)r->part.width;
    uint32_t top = (uint32_t)r->part.y, from = x < left ? left : x, end = x + n;
    end = end > right ? right : end;
    if (y < top || y - top >= (uint32_t)r->part.height || from >= end)
        return;
    void *row = gi_row(to, (int)(y - top));
    size_t channels = (size_t)to->channels, pixel = channels * gi_type_nbytes(r->type);
    if (r->direct)
        memcpy((char *)row + (from - left) * pixel, line + (from - x) * pixel,
               (end - from) * pixel);
    for (size_t p = from - x; p < end - x && !r->direct; p++) {
        size_t in = p * (size_t)each, out = (x + p - left) * channels;
        if (r->indexed) {
            uint32_t index = raw_sample(line, in, r->bits);
            for (size_t c = 0; c < channels; c++)
                put(row, r->type, out + c, r->palette[c][index] >> 8);
            continue;
        }
        if (r->inks && to != &r->stored) {
            gi_inks_convert(r->inks, (char *)row + out * gi_type_nbytes(r->type),
                            line + in * gi_type_nbytes(r->type), (int)(end - from));
            break;
        }
        if (r->cmyk && !r->stored.data) {
            uint32_t inks[4];
            for (size_t c = 0; c < 4; c++)
                inks[c] = scaled_sample(r, line, in + c, true);
            put_inks(r, row, out, inks);
            for (size_t s = 4; s < (size_t)each; s++)
                put_sample(r, row, out + s - 1, line, in + s, false);
            continue;
        }
        size_t channel = (size_t)(r->stored.data && !ink ? first - 1 : first);
        for (size_t s = 0; s < (size_t)each; s++)
            put_sample(r, row, out + channel + s, line, in + s, channel + s < (size_t)r->colors);
    }
}

/* Stores the pixels of a strip or tile, whose rows have `width` pixels. Rows are `row_nbytes`
 * apart, except for YCbCr, which is stored in blocks. `first` is as in put_line(). */
static void put_piece(const struct gi_tiff_reader *r, const struct gi_tiff_place *place,
                      uint32_t width, size_t row_nbytes, int first, const unsigned char *piece)
{
    int each = r->planar == PLANARCONFIG_SEPARATE ? 1 : r->samples;
    if (r->ycbcr.across)
        gi_tiff_put_ycbcr(r, place, width, piece);
    for (uint32_t i = 0; i < place->rows && !r->ycbcr.across; i++)
        put_line(r, place->y + i, place->x, place->n, first, each, piece + i * row_nbytes);
}

/* Allocates r->stored with zeros, which take no memory until samples are stored. The caller frees
 * its data. */
static enum gi_status store_inks(struct gi_tiff_reader *r, struct gi_err *err)
{
    r->stored = (struct gi_image){
        .width = (int)r->width, .height = (int)r->height, .channels = 4, .type = r->type};
    r->stored.stride = gi_row_nbytes(&r->stored);
    r->stored.data = calloc(r->height, r->stored.stride);
    return r->stored.data ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory");
}

/* Converts CMYK inks that were stored in planes. */
static void put_stored(const struct gi_tiff_reader *r)
{
    for (int y = 0; y < r->stored.height; y++) {
        void *row = gi_row(r->decode->image, y);
        size_t channels = (size_t)r->decode->image->channels;
        const void *stored = gi_row(&r->stored, y);
        if (r->inks)
            gi_inks_convert(r->inks, row, stored, r->stored.width);
        for (size_t x = 0; x < (size_t)r->stored.width && !r->inks; x++) {
            uint32_t inks[4];
            for (size_t c = 0; c < 4; c++)
                inks[c] = r->type == GI_U8 ? ((const uint8_t *)stored)[4 * x + c]
                                           : ((const uint16_t *)stored)[4 * x + c];
            put_inks(r, row, channels * x, inks);
        }
    }
}

/* Returns the number of rows per strip, at least 1. The last strip may have fewer rows. */
static uint32_t strip_rows(const struct gi_tiff_reader *r)
{
    uint32_t rows = 0;
    gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_ROWSPERSTRIP, &rows);
    return rows && rows < r->height ? rows : r->height;
}

/* Reports that a read failed, or that it caused an error or a warning of libtiff. */
static enum gi_status damaged(struct gi_tiff_reader *r, uint32_t y, struct gi_err *err)
{
    if (r->fault.status == GI_E_UNSUPPORTED && y == 0)
        return gi_fail(err, GI_E_UNSUPPORTED, "is a TIFF whose pixels are not supported: %s",
                       r->fault.text);
    return gi_decode_damaged_at(r->decode, err, (int)y, "is damaged: %s",
                                *r->fault.text ? r->fault.text : "its pixels end early");
}

/* Reads the strips that have lines of the part, whose lines have `nbytes` bytes. */
static enum gi_status read_strips(struct gi_tiff_reader *r, unsigned char *line, uint64_t nbytes,
                                  struct gi_err *err)
{
    bool planar = r->planar == PLANARCONFIG_SEPARATE;
    bool copies = r->decode->window.width && gi_tiff_copies_lines(r);
    uint32_t rows = strip_rows(r), first = (uint32_t)r->part.y;
    uint32_t end = first + (uint32_t)r->part.height;
    if (!copies &&
        !r->decode->options->taker) { /* whole strips, because a checksum may be at the end */
        first -= first % rows;
        end = end - 1 < r->height - rows ? (end - 1) / rows * rows + rows : r->height;
    }
    for (int s = 0; s < (planar ? r->samples : 1); s++) {
        for (uint32_t y = first; y < end; y++) {
            int read = copies ? gi_tiff_copy_line(r, line, (size_t)nbytes, y, rows, s) - 1
                              : gi_tiff.TIFFReadScanline(r->file, line, y, (uint16_t)s);
            if (read < 0 || r->fault.status)
                return damaged(r, planar && s ? r->height : y, err);
            put_line(r, y, 0, r->width, s, planar ? 1 : r->samples, line);
        }
    }
    return GI_OK;
}

static enum gi_status read_whole_strips(struct gi_tiff_reader *r, unsigned char *strip,
                                        uint64_t nbytes, struct gi_err *err)
{
    uint32_t rows = strip_rows(r), index = 0;
    for (uint32_t y = 0; y < r->height; index++) {
        uint32_t n = rows < r->height - y ? rows : r->height - y;
        tmsize_t read = gi_tiff.TIFFReadEncodedStrip(r->file, index, strip, (tmsize_t)nbytes);
        if (read < 0 || r->fault.status)
            return damaged(r, y, err);
        put_piece(r, &(struct gi_tiff_place){0, y, r->width, n}, r->width,
                  (size_t)gi_tiff.TIFFScanlineSize64(r->file), 0, strip);
        y += n;
    }
    return GI_OK;
}

static enum gi_status read_tiles(struct gi_tiff_reader *r, unsigned char *tile, struct gi_err *err)
{
    bool planar = r->planar == PLANARCONFIG_SEPARATE;
    uint32_t w = 0, h = 0;
    gi_tiff.TIFFGetField(r->file, TIFFTAG_TILEWIDTH, &w);
    gi_tiff.TIFFGetField(r->file, TIFFTAG_TILELENGTH, &h);
    size_t row_nbytes = (size_t)gi_tiff.TIFFTileRowSize(r->file);
    uint32_t left = (uint32_t)r->part.x, right = left + (uint32_t)r->part.width;
    uint32_t top = (uint32_t)r->part.y, bottom = top + (uint32_t)r->part.height;
    for (int s = 0; s < (planar ? r->samples : 1); s++) {
        for (uint32_t y = top - top % h; y < bottom; y += h < r->height - y ? h : r->height - y)
            for (uint32_t x = left - left % w; x < right;
                 x += w < r->width - x ? w : r->width - x) {
                tmsize_t read = gi_tiff.TIFFReadTile(r->file, tile, x, y, 0, (uint16_t)s);
                if (read < 0 || r->fault.status)
                    return damaged(r, planar && s ? r->height : y, err);
                uint32_t n = w < r->width - x ? w : r->width - x;
                uint32_t rows = h < r->height - y ? h : r->height - y;
                put_piece(r, &(struct gi_tiff_place){x, y, n, rows}, w, row_nbytes, s, tile);
            }
    }
    return GI_OK;
}

/* Returns the length in bytes of the piece that is read at once (a line, a strip or a tile).
 * libtiff clears the piece if it is damaged. Returns 0 if the piece is too large for the file, or
 * too small for its pixels. */
static uint64_t piece_nbytes(const struct gi_tiff_reader *r)
{
    bool tiled = gi_tiff.TIFFIsTiled(r->file);
    uint32_t width = r->width, height = strip_rows(r);
    if (tiled) {
        gi_tiff.TIFFGetField(r->file, TIFFTAG_TILEWIDTH, &width);
        gi_tiff.TIFFGetField(r->file, TIFFTAG_TILELENGTH, &height);
    }
    uint64_t bits = (uint64_t)width * r->bits;
    bits *= r->planar == PLANARCONFIG_SEPARATE ? 1 : r->samples;
    uint64_t line =
        tiled ? gi_tiff.TIFFTileRowSize64(r->file) : gi_tiff.TIFFScanlineSize64(r->file);
    uint64_t nbytes = tiled          ? gi_tiff.TIFFTileSize64(r->file)
                      : r->by_strips ? gi_tiff.TIFFStripSize64(r->file)
                                     : line;
    bool whole = r->ycbcr.across ? nbytes >= gi_tiff_ycbcr_nbytes(&r->ycbcr, width, height)
                                 : line >= (bits + 7) / 8 &&
                                       (tiled || !r->by_strips || nbytes / height >= line);
    return whole && nbytes <= PIECE_MIN + (uint64_t)r->decode->nbytes * PIECE_A_BYTE ? nbytes : 0;
}

static enum gi_status read_pieces(struct gi_tiff_reader *r, unsigned char *piece, uint64_t nbytes,
                                  struct gi_err *err)
{
    if (gi_tiff.TIFFIsTiled(r->file))
        return read_tiles(r, piece, err);
    return r->by_strips ? read_whole_strips(r, piece, nbytes, err)
                        : read_strips(r, piece, nbytes, err);
}

/* Reads the part r->part into the image. */
static enum gi_status read_part(struct gi_tiff_reader *r, unsigned char *piece, uint64_t nbytes,
                                struct gi_err *err)
{
    enum gi_status status = read_pieces(r, piece, nbytes, err);
    if (!status && r->stored.data)
        put_stored(r);
    if (!status && r->decode->info->premultiplied &&
        gi_tiff_unmultiply(r->decode->image, r->colors, r->alpha))
        gi_decode_add_cut_colors(r->decode);
    return status;
}

/* Returns the number of rows that are taken at a time: whole tiles or strips, or lines, of which
 * libtiff reads one after the other. */
static int rows_to_lend(const struct gi_tiff_reader *r)
{
    uint32_t unit = 1, most = (uint32_t)(LEND_NBYTES / gi_row_nbytes(r->decode->image));
    if (gi_tiff.TIFFIsTiled(r->file))
        gi_tiff.TIFFGetField(r->file, TIFFTAG_TILELENGTH, &unit);
    else if (r->planar == PLANARCONFIG_SEPARATE)
        unit = strip_rows(r);
    uint32_t rows = most > unit ? most / unit * unit : unit;
    return (int)(rows < r->height ? rows : r->height);
}

/* Reads rows into memory of the taker. */
static enum gi_status lend_pieces(struct gi_tiff_reader *r, unsigned char *piece, uint64_t nbytes,
                                  struct gi_err *err)
{
    struct gi_decode *decode = r->decode;
    const struct gi_image shape = *decode->image;
    enum gi_status status = r->cmyk || !gi_tiff_has_parts(r)
                                ? gi_fail(err, GI_E_UNSUPPORTED, "rows are not stored one by one")
                                : GI_OK;
    int rows = rows_to_lend(r);
    for (int top = 0, bottom; top < shape.height && !status; top = bottom) {
        bottom = shape.height - top < rows ? shape.height : top + rows;
        r->part = (struct gi_window){0, top, shape.width, bottom - top};
        if (!gi_decode_lend(decode, top, bottom))
            status = gi_fail(err, GI_E_FORMAT, "its rows are not wanted");
        *decode->image = decode->lent;
        if (!status)
            status = read_part(r, piece, nbytes, err);
        gi_source_forget(decode->bytes, decode->nbytes);
    }
    *decode->image = shape;
    return status;
}

enum gi_status gi_tiff_read_pixels(struct gi_tiff_reader *r, struct gi_err *err)
{
    uint64_t nbytes = piece_nbytes(r);
    if (!nbytes)
        return gi_fail(err, GI_E_FORMAT, "is damaged: the size of its tiles or rows");
    unsigned char *piece = calloc(1, (size_t)nbytes + 4); /* raw_sample() reads 2 bytes more */
    if (!piece)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    r->pixels = true;
    r->part = gi_decode_part(r->decode, r->width, r->height);
    bool planes = r->cmyk && r->planar == PLANARCONFIG_SEPARATE;
    enum gi_status status = planes ? store_inks(r, err) : GI_OK;
    if (r->cmyk && r->samples == 4 && (planes || r->bits == 8 * gi_type_nbytes(r->type)))
        r->inks = gi_inks_new(r->decode, r->type, false);
    if (!status)
        status = r->decode->options->taker ? lend_pieces(r, piece, nbytes, err)
                                           : read_part(r, piece, nbytes, err);
    free(piece);
    gi_inks_free(&r->inks);
    free(r->stored.data);
    return status;
}

#endif
