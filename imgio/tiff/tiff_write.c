/* Writes TIFF of 8 and 16 bits and float. Large images are written in tiles (TIFF 6.0, section 15),
 * other images in strips. Each strip is deflated after a predictor (TIFF 6.0 and its Technical
 * Notes 2 and 3), is stored as it is, or holds bits compressed by CCITT Group 4 (fax.c). The file
 * is a BigTIFF if 32-bit offsets are too small. The directory precedes the strips and contains
 * their lengths. If these are known, or if the directory can be written again, strips are written
 * as they are made; on a pipe all compressed strips are made before the first is written, and kept
 * in an unnamed file if they are large. In this file tiles are called strips, too.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/directory_write.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/bits.h"
#include "imgio/integer.h"
#include "imgio/pieces.h"
#include "imgio/sink.h"

enum { TILE = 512 }; /* default pixels per side of a tile; a multiple of 16 */
static const uint64_t big_from_nbytes = UINT64_C(4000000000);

struct writer {
    struct gi_tiff_form form;
    struct gi_image rows; /* the rows from `top` on that are being written */
    int top, first;       /* `first`: number of the first strip of those rows */
    size_t row_nbytes;    /* of a strip */
    int across, level;
    int tile;                /* pixels per side */
    uint64_t *strip_nbytes;  /* of each strip */
    uint64_t used;           /* bytes of all strips */
    struct gi_sink *sink;    /* to which strips are written as they are made; or NULL */
    struct gi_buffer strips; /* otherwise the compressed strips */
};

/* Applies the horizontal predictor to `n` samples of a row. The predictor subtracts the sample one
 * pixel before from each sample (TIFF 6.0, section 14). */
static void predict_whole(void *to, const void *row, size_t n, const struct gi_image *image)
{
    size_t step = (size_t)image->channels;
    const uint8_t *in8 = row;
    const uint16_t *in16 = row;
    for (size_t i = 0; i < n; i++)
        if (image->type == GI_U8)
            ((uint8_t *)to)[i] = (uint8_t)(in8[i] - (i < step ? 0 : in8[i - step]));
        else
            ((uint16_t *)to)[i] = (uint16_t)(in16[i] - (i < step ? 0 : in16[i - step]));
}

/* Applies the floating-point predictor to `n` samples of a row (Technical Note 3). The predictor
 * separates samples into planes of bytes, the first plane with sign and exponent, and stores the
 * difference between each byte and the byte one pixel before. Samples from number `have` on are
 * 0. */
static void predict_float(uint8_t *to, const void *row, size_t n, size_t have,
                          const struct gi_image *image)
{
    size_t step = (size_t)image->channels;
    const float *in = row;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = 0;
        if (i < have)
            memcpy(&v, in + i, sizeof v);
        for (size_t b = 0; b < 4; b++)
            to[b * n + i] = (uint8_t)(v >> (24 - 8 * b));
    }
    for (size_t i = 4 * n; i-- > step;)
        to[i] = (uint8_t)(to[i] - to[i - step]);
}

/* Applies the predictor, if there is one, to a strip and writes the result to `to`. Parts of a tile
 * outside the image are 0. Returns the number of bytes. */
static size_t fill_strip(const struct writer *w, int number, uint8_t *to)
{
    const struct gi_image *image = w->form.image;
    int x0 = number % w->across * w->form.strip_width, y0 = number / w->across * w->form.strip_rows;
    int rows = image->height - y0 < w->form.strip_rows ? image->height - y0 : w->form.strip_rows;
    int width = image->width - x0 < w->form.strip_width ? image->width - x0 : w->form.strip_width;
    size_t channels = (size_t)image->channels, n = (size_t)w->form.strip_width * channels;
    size_t have = (size_t)width * channels, sample = gi_type_nbytes(image->type);
    if (w->form.tiles)
        memset(to, 0, (size_t)w->form.strip_rows * w->row_nbytes);
    for (int y = 0; y < rows; y++, to += w->row_nbytes) {
        const char *row = gi_row(&w->rows, y0 - w->top + y);
        row += (size_t)x0 * channels * sample;
        if (w->form.fax)
            for (size_t i = 0; i < have; i++)
                to[i] = (uint8_t)~row[i];
        else if (w->form.one_bit || w->form.stored)
            memcpy(to, row, have * sample);
        else if (image->type == GI_F32)
            predict_float(to, row, n, have, image);
        else
            predict_whole(to, row, have, image);
    }
    return (size_t)(w->form.tiles ? w->form.strip_rows : rows) * w->row_nbytes;
}

static enum gi_status make_strip(void *self, struct gi_piece *strip, int number, void *scratch,
                                 struct gi_err *err)
{
    const struct writer *w = self;
    size_t nraw = fill_strip(w, w->first + number, scratch);
    if (w->form.fax)
        return gi_tiff_fax(&strip->bytes, &strip->nbytes, scratch, w->form.width,
                           (int)(nraw / w->row_nbytes), err);
    if (w->form.stored) {
        strip->bytes = malloc(nraw);
        strip->nbytes = nraw;
        if (!strip->bytes)
            return gi_fail(err, GI_E_MEMORY, "out of memory");
        memcpy(strip->bytes, scratch, nraw);
        return GI_OK;
    }
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(w->level);
    size_t room = c ? libdeflate_zlib_compress_bound(c, nraw) : 0;
    strip->bytes = c ? malloc(room) : NULL;
    strip->nbytes =
        strip->bytes ? libdeflate_zlib_compress(c, scratch, nraw, strip->bytes, room) : 0;
    libdeflate_free_compressor(c);
    if (strip->nbytes)
        return GI_OK;
    free(strip->bytes);
    return gi_fail(err, GI_E_MEMORY, "out of memory for the TIFF compressor");
}

static enum gi_status write_strip(void *self, const struct gi_piece *strip, int number,
                                  struct gi_err *err)
{
    struct writer *w = self;
    enum gi_status status = w->sink
                                ? gi_sink_write(w->sink, strip->bytes, strip->nbytes, err)
                                : gi_buffer_append(&w->strips, strip->bytes, strip->nbytes, err);
    w->strip_nbytes[w->first + number] = strip->nbytes;
    w->used += strip->nbytes;
    return status;
}

/* Writes everything before the strips. Its length does not depend on those. With `again`, replaces
 * what was written before the lengths of the strips were known. */
static enum gi_status write_directory(struct gi_sink *sink, const struct writer *w,
                                      const struct gi_metadata *metadata, bool again,
                                      struct gi_err *err)
{
    struct gi_tiff_directory d;
    enum gi_status status =
        gi_tiff_directory_new(&d, &w->form, w->used, w->form.tiles, metadata, err);
    if (status)
        return status;
    gi_tiff_add_image(&d, &w->form, metadata);
    gi_tiff_directory_end(&d);
    status = again ? gi_sink_patch(sink, d.bytes, d.end, 0, err)
                   : gi_sink_write(sink, d.bytes, d.end, err);
    gi_tiff_directory_free(&d);
    return status;
}

/* Sets the lengths of strips that are stored as they are. */
static void set_lengths(struct writer *w)
{
    for (int i = 0; i < w->form.nstrips; i++) {
        int below = w->form.image->height - i / w->across * w->form.strip_rows;
        int rows = w->form.tiles || below > w->form.strip_rows ? w->form.strip_rows : below;
        w->strip_nbytes[i] = (uint64_t)rows * w->row_nbytes;
        w->used += w->strip_nbytes[i];
    }
}

/* Makes and writes all strips, from as many rows at a time as the source of rows recommends. */
static enum gi_status write_strips(struct writer *w, const struct gi_save_options *options,
                                   struct gi_err *err)
{
    const struct gi_image *image = w->form.image;
    int most = w->form.one_bit ? image->height : gi_encode_most(image, options);
    most = most < w->form.strip_rows ? w->form.strip_rows
                                     : most / w->form.strip_rows * w->form.strip_rows;
    enum gi_status status = GI_OK;
    for (int end; w->top < image->height && !status; w->top = end) {
        end = image->height - w->top < most ? image->height : w->top + most;
        struct gi_pieces pieces = {.self = w,
                                   .n = w->across * ((end - w->top - 1) / w->form.strip_rows + 1),
                                   .scratch_nbytes = (size_t)w->form.strip_rows * w->row_nbytes,
                                   .make = make_strip,
                                   .write = write_strip};
        if (w->form.one_bit)
            w->rows = *image;
        else
            status = gi_encode_rows(&w->rows, image, options, w->top, end, err);
        if (!status)
            status = gi_pieces_run(&pieces, options->parallel, err);
        w->first += pieces.n;
    }
    return status;
}

static enum gi_status write_all(struct gi_sink *sink, struct writer *w,
                                const struct gi_metadata *metadata,
                                const struct gi_save_options *options, struct gi_err *err)
{
    bool known = w->form.stored && !w->form.fax, again = !known && gi_sink_can_patch(sink);
    enum gi_status status = GI_OK;
    if (known)
        set_lengths(w);
    if (known || again) {
        w->sink = sink;
        status = write_directory(sink, w, metadata, false, err);
        w->used = 0;
    }
    if (!status)
        status = write_strips(w, options, err);
    if (!status && !known)
        status = write_directory(sink, w, metadata, again, err);
    return status || w->sink ? status : gi_sink_write_buffer(sink, &w->strips, err);
}

/* Divides the image into strips, which are ranges of rows for the threads, or into tiles, of which
 * a program can read only those that it needs. */
static void choose_strips(struct writer *w)
{
    const struct gi_image *image = w->form.image;
    size_t row_nbytes = gi_row_nbytes(image), pixel = row_nbytes / (size_t)image->width;
    w->form.strip_width = w->form.tiles ? w->tile : image->width;
    w->form.strip_rows = w->form.tiles ? w->tile : gi_piece_rows(row_nbytes, image->height);
    w->row_nbytes = (size_t)w->form.strip_width * pixel;
    w->across = 1 + (image->width - 1) / w->form.strip_width;
    w->form.nstrips = w->across * (1 + (image->height - 1) / w->form.strip_rows);
}

enum gi_status gi_tiff_encode_tiles(struct gi_sink *sink, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, bool tiles,
                                    struct gi_err *err)
{
    struct gi_image packed = {0};
    bool fax = options->compression == GI_COMPRESSION_G4, one_bit = fax || options->bits == 1;
    struct writer w = {.form = {.image = one_bit ? &packed : image,
                                .width = image->width,
                                .one_bit = one_bit,
                                .fax = fax,
                                .stored = options->compression == 0,
                                .tiles = tiles && !one_bit}, /* an eighth of the bytes */
                       .tile = options->tile ? options->tile : TILE,
                       .strips = gi_buffer_spilling(GI_BUFFER_SPILLS_FROM_NBYTES),
                       .level = options->compression == GI_COMPRESSION_AUTO ? GI_AUTO_LEVEL
                                                                            : options->compression};
    enum gi_status status = one_bit ? gi_bits_pack(&packed, image, err) : GI_OK;
    if (status && fax)
        gi_err_prefix(err, "--compression g4");
    if (!status) {
        choose_strips(&w);
        w.form.strip_nbytes = w.strip_nbytes =
            calloc((size_t)w.form.nstrips, sizeof *w.strip_nbytes);
        if (!w.strip_nbytes)
            status = gi_fail(err, GI_E_MEMORY, "out of memory");
    }
    if (status) {
        gi_buffer_free(&w.strips);
        gi_image_free(&packed);
        return status;
    }
    status = write_all(sink, &w, metadata, options, err);
    free(w.strip_nbytes);
    gi_buffer_free(&w.strips);
    gi_image_free(&packed);
    return status;
}

enum gi_status gi_tiff_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err)
{
    bool large = gi_image_nbytes(image) > big_from_nbytes;
    return gi_tiff_encode_tiles(sink, image, metadata, options, large || options->tile, err);
}
