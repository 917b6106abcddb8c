/* Reads the pixels of ordinary PNG files by libdeflate, in one call, which is twice as fast as
 * libpng with zlib. Files with anything unusual are left to libpng, so nothing is accepted here
 * that libpng refuses.
 * SPDX-License-Identifier: MIT */
#include "imgio/integer.h"
#include "imgio/png/png_quick.h"

#include <endian.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_FRAME = 12, /* length, type, checksum */
    /* maximum bytes of the filtered rows; libpng reads larger images row by row */
    RAW_NBYTES_MAX = 1 << 28,
    DEFLATE_RATIO_MAX = 1032, /* maximum ratio of DEFLATE (RFC 1951: 258 bytes from two bits) */
};

/* Returns whether the chunk at `at` is complete. Sets *length to the length of its data. */
static bool is_complete(const unsigned char *bytes, size_t nbytes, size_t at, size_t *length)
{
    if (nbytes - at < CHUNK_FRAME)
        return false;
    *length = gi_big32(bytes + at);
    return *length <= nbytes - at - CHUNK_FRAME;
}

/* Returns whether the checksum of a chunk, of whose data the length is given, is right. */
static bool has_checksum(const unsigned char *chunk, size_t length)
{
    return libdeflate_crc32(0, chunk + 4, length + 4) == gi_big32(chunk + 8 + length);
}

/* Returns true for text and time chunks, which often follow the pixels and are not needed. */
static bool is_note(const unsigned char *type)
{
    return !memcmp(type, "tEXt", 4) || !memcmp(type, "zTXt", 4) || !memcmp(type, "iTXt", 4) ||
           !memcmp(type, "tIME", 4);
}

bool gi_png_find_stream(struct gi_png_stream *stream, const unsigned char *bytes, size_t nbytes,
                        size_t at, bool checks_pixels)
{
    size_t length;
    bool pixels = true, end = false;
    *stream = (struct gi_png_stream){.at = at, .after = at};
    for (; !end; at += CHUNK_FRAME + length) {
        if (!is_complete(bytes, nbytes, at, &length))
            return false;
        const unsigned char *type = bytes + at + 4;
        pixels = pixels && memcmp(type, "IDAT", 4) == 0;
        end = memcmp(type, "IEND", 4) == 0;
        if ((!pixels && !end && !is_note(type)) || (end && length) ||
            ((!pixels || checks_pixels) && !has_checksum(bytes + at, length)))
            return false;
        if (pixels) {
            stream->nbytes += length;
            stream->nchunks++;
            stream->after = at + CHUNK_FRAME + length;
        }
    }
    return true;
}

bool gi_png_is_enough(const struct gi_png_stream *stream, size_t raw_nbytes)
{
    return raw_nbytes / DEFLATE_RATIO_MAX <= stream->nbytes;
}

size_t gi_png_raw_nbytes(const struct gi_png_frame *frame)
{
    size_t pixel = (size_t)frame->channels * gi_type_nbytes(frame->type);
    size_t row = pixel * (size_t)frame->width + 1;
    return row > SIZE_MAX / (size_t)frame->height ? SIZE_MAX : row * (size_t)frame->height;
}

/* Converts PNG's big-endian samples to host order. */
static void order_samples(const struct gi_image *image)
{
    for (int y = 0; y < image->height; y++) {
        uint16_t *samples = gi_row(image, y);
        for (size_t i = 0; i < gi_row_samples(image); i++)
            samples[i] = be16toh(samples[i]);
    }
}

/* Replaces the indices of a row by their colours. `channels` is a constant. */
static inline __attribute__((always_inline)) void
put_row(uint8_t *out, const uint8_t *row, const struct gi_png_frame *frame, size_t channels)
{
    for (size_t x = 0; x < (size_t)frame->width; x++)
        memcpy(out + channels * x, frame->palette[row[x]], channels);
}

/* Undoes the filters of a row of indices after the other, and replaces the indices by their
 * colours. Returns false for an unknown filter or an index without colour. */
static bool put_colors(const struct gi_image *image, const uint8_t *raw,
                       const struct gi_png_frame *frame, uint8_t *rows)
{
    size_t n = (size_t)frame->width;
    for (int y = 0; y < frame->height; y++, raw += n + 1) {
        uint8_t *row = y % 2 ? rows : rows + n, *above = y % 2 ? rows + n : rows;
        if (!gi_png_unfilter(row, n, raw, 1, n, 1, above))
            return false;
        uint8_t largest = 0;
        for (size_t x = 0; x < n; x++)
            largest = row[x] > largest ? row[x] : largest;
        if (largest >= frame->ncolors)
            return false;
        if (image->channels == 3)
            put_row(gi_row(image, y), row, frame, 3);
        else
            put_row(gi_row(image, y), row, frame, 4);
    }
    return true;
}

static bool put_pixels(const struct gi_image *image, const uint8_t *raw,
                       const struct gi_png_frame *frame, uint8_t *zeros)
{
    size_t n = gi_row_nbytes(image);
    if (frame->ncolors)
        return put_colors(image, raw, frame, zeros);
    if (!gi_png_unfilter(image->data, image->stride, raw, image->height, n,
                         n / (size_t)image->width, zeros))
        return false;
    if (image->type == GI_U16)
        order_samples(image);
    return true;
}

static bool inflate_into(struct gi_image *image, const unsigned char *stream, size_t stream_nbytes,
                         const struct gi_png_frame *frame)
{
    size_t raw_nbytes = gi_png_raw_nbytes(frame), used;
    struct gi_image raw;
    if (gi_image_alloc_from(&raw, image->allocator, (int)raw_nbytes, 1, 1, GI_U8, NULL))
        return false;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    uint8_t *zeros = calloc(2, raw_nbytes / (size_t)frame->height);
    bool ok = d && zeros &&
              libdeflate_zlib_decompress_ex(d, stream, stream_nbytes, raw.data, raw_nbytes, &used,
                                            NULL) == LIBDEFLATE_SUCCESS &&
              used == stream_nbytes && put_pixels(image, raw.data, frame, zeros);
    libdeflate_free_decompressor(d);
    free(zeros);
    gi_image_free(&raw);
    return ok;
}

/* Copies the data of the chunks. */
static void copy_stream(unsigned char *to, const struct gi_png_stream *stream,
                        const unsigned char *bytes)
{
    size_t length;
    for (size_t at = stream->at; at < stream->after; at += CHUNK_FRAME + length) {
        length = gi_big32(bytes + at);
        memcpy(to, bytes + at + 8, length);
        to += length;
    }
}

bool gi_png_quick(struct gi_image *image, const unsigned char *bytes, size_t nbytes, size_t at,
                  const struct gi_png_frame *frame)
{
    struct gi_png_stream stream;
    size_t raw_nbytes = gi_png_raw_nbytes(frame);
    /* If a file is too short for its pixels, it is refused before memory is allocated. */
    if (raw_nbytes > RAW_NBYTES_MAX || !gi_png_find_stream(&stream, bytes, nbytes, at - 8, true) ||
        !gi_png_is_enough(&stream, raw_nbytes))
        return false;
    if (stream.nchunks == 1)
        return inflate_into(image, bytes + at, stream.nbytes, frame);
    unsigned char *gathered = malloc(stream.nbytes + 1);
    if (gathered)
        copy_stream(gathered, &stream, bytes);
    bool ok = gathered && inflate_into(image, gathered, stream.nbytes, frame);
    free(gathered);
    return ok;
}
