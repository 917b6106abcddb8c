/* PNG out: rows filtered and deflated by strips, each strip one or more IDAT chunks of one stream.
 * A strip stands alone, so that its bytes don't depend on who compresses it, or when.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/deflate_join.h"
#include "imgio/png_filter.h"

#include <libdeflate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRIP_NBYTES = 1 << 22, /* filtered bytes of a strip; more where one row has more */
    CHUNK_NBYTES = 1 << 30, /* a chunk's length has 31 bits */
    ZLIB_HEAD = 2,
    ZLIB_TAIL = 4, /* Adler-32 */
};

/* Everything that the writing of one image's rows needs; owned by it. */
struct writer {
    struct gi_sink *sink;
    const struct gi_image *image;
    struct libdeflate_compressor *compressor;
    bool filtered; /* false: stored as they are */
    int strip_rows;
    size_t row_nbytes, pixel_nbytes;
    uint8_t *raw;       /* a strip's filtered rows, each behind its filter byte */
    uint8_t *packed;    /* the strip deflated, with room for head and tail */
    size_t packed_room; /* for the deflated bytes alone */
    uint8_t *rows[2];   /* big-endian row, and the one above it */
    uint8_t *scratch;
    uint32_t adler;
};

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static enum gi_status write_chunk(struct gi_sink *sink, const char *type, const void *bytes,
                                  size_t nbytes, struct gi_err *err)
{
    uint8_t head[8], tail[4];
    put32(head, (uint32_t)nbytes);
    memcpy(head + 4, type, 4);
    uint32_t crc = libdeflate_crc32(0, head + 4, 4);
    if (nbytes)
        crc = libdeflate_crc32(crc, bytes, nbytes);
    put32(tail, crc);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status && nbytes)
        status = gi_sink_write(sink, bytes, nbytes, err);
    return status ? status : gi_sink_write(sink, tail, sizeof tail, err);
}

static enum gi_status write_head(struct gi_sink *sink, const struct gi_image *image,
                                 struct gi_err *err)
{
    static const uint8_t colour_types[] = {0, 0, 4, 2, 6}; /* by channels; PNG 1.2, 4.1.1 */
    uint8_t ihdr[13] = {0};
    put32(ihdr, (uint32_t)image->width);
    put32(ihdr + 4, (uint32_t)image->height);
    ihdr[8] = image->type == GI_U16 ? 16 : 8;
    ihdr[9] = colour_types[image->channels];
    enum gi_status status = gi_sink_write(sink, "\x89PNG\r\n\x1a\n", 8, err);
    return status ? status : write_chunk(sink, "IHDR", ihdr, sizeof ihdr, err);
}

static enum gi_status write_icc(struct gi_sink *sink, const struct gi_metadata *metadata,
                                struct gi_err *err)
{
    static const uint8_t head[] = "ICC profile\0"; /* name, its end, method 0 */
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    size_t room = sizeof head + libdeflate_zlib_compress_bound(compressor, metadata->icc_nbytes);
    uint8_t *bytes = compressor ? malloc(room) : NULL;
    enum gi_status status;
    if (!bytes) {
        status = gi_fail(err, GI_E_MEMORY, "out of memory for the ICC profile");
    } else {
        memcpy(bytes, head, sizeof head);
        size_t n = libdeflate_zlib_compress(compressor, metadata->icc, metadata->icc_nbytes,
                                            bytes + sizeof head, room - sizeof head);
        status = write_chunk(sink, "iCCP", bytes, sizeof head + n, err);
    }
    free(bytes);
    libdeflate_free_compressor(compressor);
    return status;
}

static enum gi_status write_metadata(struct gi_sink *sink, const struct gi_metadata *metadata,
                                     struct gi_err *err)
{
    enum gi_status status = GI_OK;
    double per_metre_x = metadata->dpi_x / 0.0254, per_metre_y = metadata->dpi_y / 0.0254;
    if (metadata->icc)
        status = write_icc(sink, metadata, err);
    if (!status && per_metre_x >= 1 && per_metre_x < 1e9 && per_metre_y >= 1 && per_metre_y < 1e9) {
        uint8_t phys[9];
        put32(phys, (uint32_t)lrint(per_metre_x));
        put32(phys + 4, (uint32_t)lrint(per_metre_y));
        phys[8] = 1; /* metres */
        status = write_chunk(sink, "pHYs", phys, sizeof phys, err);
    }
    if (!status && metadata->exif)
        status = write_chunk(sink, "eXIf", metadata->exif, metadata->exif_nbytes, err);
    return status;
}

/* The bytes of row y as PNG wants them: 8 bits in place, 16 bits turned in one of w->rows. */
static const uint8_t *png_row(struct writer *w, int y)
{
    const void *row = gi_row(w->image, y);
    if (w->image->type == GI_U8)
        return row;
    const uint16_t *samples = row;
    uint8_t *out = w->rows[y & 1];
    for (size_t i = 0; i < w->row_nbytes / 2; i++) {
        out[2 * i] = (uint8_t)(samples[i] >> 8);
        out[2 * i + 1] = (uint8_t)samples[i];
    }
    return out;
}

/* Fills w->raw with rows y0..y1-1. The row above the first comes along even at a strip's start:
 * filters look across strips, only the compressor doesn't. */
static void filter_strip(struct writer *w, int y0, int y1)
{
    const uint8_t *above = y0 ? png_row(w, y0 - 1) : w->scratch + w->row_nbytes;
    uint8_t *out = w->raw;
    for (int y = y0; y < y1; y++, out += 1 + w->row_nbytes) {
        const uint8_t *row = png_row(w, y);
        if (w->filtered) {
            gi_png_filter_row(out, row, above, w->row_nbytes, w->pixel_nbytes, w->scratch);
        } else {
            out[0] = 0;
            memcpy(out + 1, row, w->row_nbytes);
        }
        above = row;
    }
}

static enum gi_status write_idat(struct writer *w, const uint8_t *bytes, size_t nbytes,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    while (nbytes && !status) {
        size_t n = nbytes < CHUNK_NBYTES ? nbytes : CHUNK_NBYTES;
        status = write_chunk(w->sink, "IDAT", bytes, n, err);
        bytes += n;
        nbytes -= n;
    }
    return status;
}

static enum gi_status write_strip(struct writer *w, int y0, int y1, struct gi_err *err)
{
    size_t raw_nbytes = (size_t)(y1 - y0) * (1 + w->row_nbytes);
    filter_strip(w, y0, y1);
    w->adler = libdeflate_adler32(w->adler, w->raw, raw_nbytes);
    uint8_t *body = w->packed + ZLIB_HEAD, *start = body;
    size_t n = libdeflate_deflate_compress(w->compressor, w->raw, raw_nbytes, body, w->packed_room);
    if (n && y1 < w->image->height)
        n = gi_deflate_open(body, n);
    if (!n)
        return gi_fail(err, GI_E_UNSUPPORTED, "the PNG compressor failed");
    if (y0 == 0) {
        /* RFC 1950: deflate with a window of 32 KiB; the level is a hint that nobody reads. */
        start = w->packed;
        start[0] = 0x78;
        start[1] = 0x01;
    }
    uint8_t *end = body + n;
    if (y1 == w->image->height) {
        put32(end, w->adler);
        end += ZLIB_TAIL;
    }
    return write_idat(w, start, (size_t)(end - start), err);
}

static bool writer_init(struct writer *w, int compression)
{
    const struct gi_image *image = w->image;
    w->row_nbytes = gi_row_nbytes(image);
    w->pixel_nbytes = w->row_nbytes / (size_t)image->width;
    size_t rows = STRIP_NBYTES / (1 + w->row_nbytes);
    w->strip_rows = rows < 1 ? 1 : rows > (size_t)image->height ? image->height : (int)rows;
    w->filtered = compression > 0;
    w->adler = 1;
    w->compressor = libdeflate_alloc_compressor(compression);
    if (!w->compressor)
        return false;
    size_t raw_nbytes = (size_t)w->strip_rows * (1 + w->row_nbytes);
    w->packed_room = libdeflate_deflate_compress_bound(w->compressor, raw_nbytes);
    w->raw = malloc(raw_nbytes);
    w->packed = malloc(ZLIB_HEAD + w->packed_room + GI_DEFLATE_JOIN_NBYTES + ZLIB_TAIL);
    /* Behind the filter's scratch stands a row of zeros, which is above the first row. */
    w->scratch = calloc(2, w->row_nbytes);
    bool ok = w->raw && w->packed && w->scratch;
    for (int i = 0; i < 2 && image->type == GI_U16; i++)
        ok = (w->rows[i] = malloc(w->row_nbytes)) && ok;
    return ok;
}

static void writer_free(struct writer *w)
{
    libdeflate_free_compressor(w->compressor);
    free(w->raw);
    free(w->packed);
    free(w->scratch);
    free(w->rows[0]);
    free(w->rows[1]);
}

static enum gi_status write_rows(struct gi_sink *sink, const struct gi_image *image,
                                 int compression, struct gi_err *err)
{
    struct writer w = {.sink = sink, .image = image};
    enum gi_status status = GI_OK;
    if (!writer_init(&w, compression))
        status = gi_fail(err, GI_E_MEMORY, "out of memory for the PNG compressor");
    for (int y = 0, y1; y < image->height && !status; y = y1) {
        y1 = image->height - y > w.strip_rows ? y + w.strip_rows : image->height;
        status = write_strip(&w, y, y1, err);
    }
    writer_free(&w);
    return status;
}

enum gi_status gi_png_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    enum gi_status status = write_head(sink, image, err);
    if (!status && metadata)
        status = write_metadata(sink, metadata, err);
    if (!status)
        status = write_rows(sink, image, options->compression, err);
    return status ? status : write_chunk(sink, "IEND", NULL, 0, err);
}
