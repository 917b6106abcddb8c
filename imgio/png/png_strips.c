/* Writes the pixels of PNG. Several threads filter and deflate rows in strips. Each strip becomes
 * one or more IDAT chunks, which together contain one stream.
 * SPDX-License-Identifier: MIT */
#include "imgio/png/png_strips.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "imgio/format.h"
#include "imgio/integer.h"
#include "imgio/pieces.h"
#include "imgio/png/deflate_join.h"
#include "imgio/png/png_filter.h"
#include "imgio/png/png_runs.h"

enum {
    CHUNK_NBYTES = 1 << 30, /* a chunk's length has 31 bits */
    PACKED_LEVEL = 6,       /* of packed pixels, whose bytes are few */
    PARTS = 3, /* of the stream that a strip makes: head of zlib, deflated bytes, checksum */
};

/* State shared by the strips of one image. */
struct writer {
    struct gi_sink *sink;
    const struct gi_image *image;     /* its shape */
    struct gi_image rows;             /* those that are being written, from row `top` on */
    int top, first;                   /* `first`: number of the first strip of `rows` */
    uint8_t *above;                   /* samples of row top - 1 */
    const struct gi_png_strips *made; /* NULL, or the strips that a device has filtered and coded */
    int level;                        /* of libdeflate */
    bool filters;                     /* rows are filtered */
    bool choose;                      /* strips that runs suit are coded by runs */
    bool avx2;                        /* gi_png_has_avx2() */
    int strip_rows, nstrips;
    size_t row_nbytes, pixel_nbytes;
    size_t raw_room; /* maximum filtered bytes of a strip */
    uint32_t adler;  /* of the filtered rows written so far */
};

/* Scratch memory of a thread. */
struct buffers {
    struct gi_runs *runs; /* NULL unless writer.choose */
    uint8_t *raw;         /* the filtered rows of a strip, each after its filter byte */
    uint8_t *rows[2];     /* for 16-bit images: a row and the row above it in big-endian order */
    uint8_t *zeros;       /* in place of the row above the first row */
};

static size_t scratch_nbytes(const struct writer *w)
{
    return (w->choose ? sizeof(struct gi_runs) : 0) + w->raw_room + 3 * w->row_nbytes;
}

static struct buffers divide_scratch(const struct writer *w, void *scratch)
{
    struct buffers b = {.runs = w->choose ? scratch : NULL};
    b.raw = (uint8_t *)scratch + (w->choose ? sizeof *b.runs : 0);
    b.rows[0] = b.raw + w->raw_room;
    b.rows[1] = b.rows[0] + w->row_nbytes;
    b.zeros = b.rows[1] + w->row_nbytes;
    memset(b.zeros, 0, w->row_nbytes);
    return b;
}

/* Returns the bytes of row y in PNG's byte order. At 8 bits this is the row of the image. At 16
 * bits it is a converted copy in b->rows. */
static const uint8_t *png_row(const struct writer *w, const struct buffers *b, int y)
{
    const void *row = y < w->top ? w->above : gi_row(&w->rows, y - w->top);
    if (w->image->type == GI_U8)
        return row;
    const uint16_t *samples = row;
    uint8_t *out = b->rows[y & 1];
    for (size_t i = 0; i < w->row_nbytes / 2; i++) {
        out[2 * i] = (uint8_t)(samples[i] >> 8);
        out[2 * i + 1] = (uint8_t)samples[i];
    }
    return out;
}

/* Fills b->raw with rows y0 to y1 - 1. With each strip only the compressor starts anew. The filter
 * of the strip's first row uses the row above. */
static void filter_strip(const struct writer *w, const struct buffers *b, int y0, int y1)
{
    const uint8_t *above = y0 ? png_row(w, b, y0 - 1) : b->zeros;
    uint8_t *out = b->raw;
    for (int y = y0; y < y1; y++, out += 1 + w->row_nbytes) {
        const uint8_t *row = png_row(w, b, y);
        if (w->filters) {
            gi_png_filter_row(out, row, above, w->row_nbytes, w->pixel_nbytes, w->avx2);
        } else {
            out[0] = 0;
            memcpy(out + 1, row, w->row_nbytes);
        }
        above = row;
    }
}

static int strip_end(const struct writer *w, int number)
{
    return number == w->nstrips - 1 ? w->image->height : (number + 1) * w->strip_rows;
}

static size_t raw_nbytes(const struct writer *w, int number)
{
    return (size_t)(strip_end(w, number) - number * w->strip_rows) * (1 + w->row_nbytes);
}

/* Deflates `raw` into memory that it allocates. Sets *nbytes to the number of deflated bytes.
 * Returns NULL if memory ran out. */
static uint8_t *deflate_by_search(const struct writer *w, size_t *nbytes, const uint8_t *raw,
                                  size_t nraw, bool last)
{
    size_t n = 0;
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(w->level);
    size_t room = c ? libdeflate_deflate_compress_bound(c, nraw) : 0;
    uint8_t *bytes = c ? malloc(room + GI_DEFLATE_JOIN_NBYTES) : NULL;
    if (bytes) {
        n = libdeflate_deflate_compress(c, raw, nraw, bytes, room);
        if (n && !last)
            n = gi_deflate_open(bytes, n);
    }
    libdeflate_free_compressor(c);
    if (!n) {
        free(bytes);
        return NULL;
    }
    *nbytes = n;
    return bytes;
}

/* The same by runs. */
static uint8_t *deflate_by_runs(struct gi_runs *runs, size_t *nbytes, const uint8_t *raw,
                                size_t nraw, bool last)
{
    uint8_t *bytes = malloc(gi_runs_bound(nraw));
    if (bytes)
        *nbytes = gi_runs_code(runs, bytes, raw, nraw, last);
    return bytes;
}

/* Sets strip->bytes to NULL if memory ran out, as take_strip() does. */
static void encode_strip(const struct writer *w, struct gi_piece *strip, int number, void *scratch)
{
    struct buffers b = divide_scratch(w, scratch);
    bool last = number == w->nstrips - 1;
    size_t nraw = raw_nbytes(w, number);
    filter_strip(w, &b, number * w->strip_rows, strip_end(w, number));
    strip->checksum = libdeflate_adler32(1, b.raw, nraw);
    if (b.runs)
        b.runs->avx2 = w->avx2;
    strip->bytes = b.runs && gi_runs_suit(b.runs, b.raw, nraw)
                       ? deflate_by_runs(b.runs, &strip->nbytes, b.raw, nraw, last)
                       : deflate_by_search(w, &strip->nbytes, b.raw, nraw, last);
}

/* Takes a strip that a device has made, and deflates it if the device has only filtered it. */
static void take_strip(const struct writer *w, struct gi_piece *strip, int number)
{
    const struct gi_png_strip *made = &w->made->strips[number];
    uint8_t *bytes = w->made->bytes + made->at;
    *strip = (struct gi_piece){bytes, made->nbytes, made->deflated, made->adler};
    if (!made->deflated)
        strip->bytes =
            deflate_by_search(w, &strip->nbytes, bytes, made->nbytes, number == w->nstrips - 1);
}

static enum gi_status make_strip(void *self, struct gi_piece *strip, int in_rows, void *scratch,
                                 struct gi_err *err)
{
    const struct writer *w = self;
    int number = w->first + in_rows;
    if (w->made)
        take_strip(w, strip, number);
    else
        encode_strip(w, strip, number, scratch);
    return strip->bytes ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory for the PNG compressor");
}

/* Writes the parts, one behind the other, as chunks. */
static enum gi_status write_chunks(struct gi_sink *sink, const struct iovec parts[PARTS],
                                   struct gi_err *err)
{
    size_t nbytes = parts[0].iov_len + parts[1].iov_len + parts[2].iov_len;
    enum gi_status status = GI_OK;
    for (size_t at = 0, end; at < nbytes && !status; at = end) {
        struct iovec data[PARTS];
        size_t here = 0, next; /* offsets of a part and of the next one */
        end = nbytes - at < CHUNK_NBYTES ? nbytes : at + CHUNK_NBYTES;
        for (int i = 0; i < PARTS; i++, here = next) {
            next = here + parts[i].iov_len;
            size_t from = at < here ? here : at < next ? at : next;
            size_t to = end < here ? here : end < next ? end : next;
            data[i].iov_base = (uint8_t *)parts[i].iov_base + (from - here);
            data[i].iov_len = to - from;
        }
        status = gi_png_write_chunk_of(sink, "IDAT", data, PARTS, err);
    }
    return status;
}

static enum gi_status write_strip(void *self, const struct gi_piece *strip, int in_rows,
                                  struct gi_err *err)
{
    struct writer *w = self;
    int number = w->first + in_rows;
    /* RFC 1950: a window of 32 KiB, and a level that is only a hint; Adler-32 at the end */
    uint8_t head[] = {0x78, 0x01}, tail[4];
    w->adler = (uint32_t)adler32_combine(w->adler, strip->checksum, (z_off_t)raw_nbytes(w, number));
    gi_put_big32(tail, w->adler);
    const struct iovec parts[PARTS] = {{head, number ? 0 : sizeof head},
                                       {strip->bytes, strip->nbytes},
                                       {tail, number == w->nstrips - 1 ? sizeof tail : 0}};
    return write_chunks(w->sink, parts, err);
}

int gi_png_strip_rows(const struct gi_image *image)
{
    return gi_piece_rows(1 + gi_row_nbytes(image), image->height);
}

/* Makes and writes all strips, from as many rows at a time as the source of rows recommends. */
static enum gi_status write_strips(struct writer *w, const struct gi_save_options *options,
                                   bool packed, struct gi_err *err)
{
    const struct gi_image *image = w->image;
    int most = image->height; /* of packed rows, and of rows that a device has made */
    if (!w->made && !packed) {
        most = gi_encode_most(image, options) / w->strip_rows * w->strip_rows;
        most = most < w->strip_rows ? w->strip_rows : most;
    }
    enum gi_status status = GI_OK;
    for (int end; w->top < image->height && !status; w->top = end) {
        end = image->height - w->top < most ? image->height : w->top + most;
        struct gi_pieces pieces = {.self = w,
                                   .n = (end - w->top - 1) / w->strip_rows + 1,
                                   .scratch_nbytes = w->made ? 0 : scratch_nbytes(w),
                                   .make = make_strip,
                                   .write = write_strip};
        if (w->made || packed)
            w->rows = *image;
        else
            status = gi_encode_rows(&w->rows, image, options, w->top, end, err);
        if (!status)
            status = gi_pieces_run(&pieces, options->parallel, err);
        if (!status && end < image->height)
            memcpy(w->above, gi_row(&w->rows, end - w->top - 1), w->row_nbytes);
        w->first += pieces.n;
    }
    return status;
}

enum gi_status gi_png_write_pixels(struct gi_sink *sink, const struct gi_image *image, bool packed,
                                   const struct gi_save_options *options, struct gi_err *err)
{
    bool automatic = options->compression == GI_COMPRESSION_AUTO, choose = automatic && !packed;
    struct writer w = {.sink = sink,
                       .image = image,
                       .made = options->encoded ? &options->encoded->strips : NULL,
                       .level = !automatic ? options->compression
                                : packed   ? PACKED_LEVEL
                                           : GI_AUTO_LEVEL,
                       .filters = !packed && (automatic || options->compression > 0),
                       .choose = choose,
                       .avx2 = gi_png_has_avx2(),
                       .row_nbytes = gi_row_nbytes(image),
                       .adler = 1};
    w.pixel_nbytes = w.row_nbytes / (size_t)image->width;
    w.strip_rows = gi_png_strip_rows(image);
    w.nstrips = 1 + (image->height - 1) / w.strip_rows;
    w.raw_room = (size_t)w.strip_rows * (1 + w.row_nbytes);
    w.above = malloc(w.row_nbytes);
    if (!w.above)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a row");
    enum gi_status status = write_strips(&w, options, packed, err);
    free(w.above);
    return status;
}
