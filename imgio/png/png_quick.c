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

/* Returns whether the chunk at `at` is complete and has the right checksum. Sets *length to the
 * length of the chunk's data. */
static bool check_chunk(const unsigned char *bytes, size_t nbytes, size_t at, size_t *length)
{
    if (nbytes - at < CHUNK_FRAME)
        return false;
    *length = gi_big32(bytes + at);
    if (*length > nbytes - at - CHUNK_FRAME)
        return false;
    uint32_t crc = libdeflate_crc32(0, bytes + at + 4, *length + 4);
    return crc == gi_big32(bytes + at + 8 + *length);
}

/* Returns true for text and time chunks, which often follow the pixels and are not needed. */
static bool is_note(const unsigned char *type)
{
    return !memcmp(type, "tEXt", 4) || !memcmp(type, "zTXt", 4) || !memcmp(type, "iTXt", 4) ||
           !memcmp(type, "tIME", 4);
}

/* Collects the data of the IDAT chunks. `at` is the offset of the header of the first chunk. Checks
 * that only text, time and IEND chunks follow. Returns the stream, which is in the file itself if
 * there is one chunk, or otherwise in *made, which the caller frees. Returns NULL if the chunks are
 * not like that, or if memory ran out. */
static const unsigned char *gather(void **made, size_t *stream_nbytes, const unsigned char *bytes,
                                   size_t nbytes, size_t at)
{
    size_t first = at, total = 0, chunks = 0, length;
    bool pixels = true, end = false;
    for (; !end; at += CHUNK_FRAME + length) {
        if (!check_chunk(bytes, nbytes, at, &length))
            return NULL;
        const unsigned char *type = bytes + at + 4;
        pixels = pixels && memcmp(type, "IDAT", 4) == 0;
        end = memcmp(type, "IEND", 4) == 0;
        if ((!pixels && !end && !is_note(type)) || (end && length))
            return NULL;
        total += pixels ? length : 0;
        chunks += pixels;
    }
    *stream_nbytes = total;
    if (chunks == 1)
        return bytes + first + 8;
    unsigned char *stream = *made = malloc(total + 1);
    for (at = first; stream && total; at += CHUNK_FRAME + length) {
        length = gi_big32(bytes + at);
        memcpy(stream, bytes + at + 8, length);
        stream += length;
        total -= length;
    }
    return *made;
}

/* Converts PNG's big-endian samples to host order. */
static void order_samples(struct gi_image *image)
{
    for (int y = 0; y < image->height; y++) {
        uint16_t *samples = gi_row(image, y);
        for (size_t i = 0; i < gi_row_samples(image); i++)
            samples[i] = be16toh(samples[i]);
    }
}

static bool inflate_into(struct gi_image *image, const unsigned char *stream, size_t stream_nbytes)
{
    size_t n = gi_row_nbytes(image), raw_nbytes = (n + 1) * (size_t)image->height, used;
    struct gi_image raw;
    /* If a file is too short for its pixels, it is refused before memory is allocated. */
    if (raw_nbytes / DEFLATE_RATIO_MAX > stream_nbytes ||
        gi_image_alloc_from(&raw, image->allocator, (int)raw_nbytes, 1, 1, GI_U8, NULL))
        return false;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    uint8_t *zeros = calloc(1, n);
    bool ok = d && zeros &&
              libdeflate_zlib_decompress_ex(d, stream, stream_nbytes, raw.data, raw_nbytes, &used,
                                            NULL) == LIBDEFLATE_SUCCESS &&
              used == stream_nbytes &&
              gi_png_unfilter(image->data, image->stride, raw.data, image->height, n,
                              n / (size_t)image->width, zeros);
    if (ok && image->type == GI_U16)
        order_samples(image);
    libdeflate_free_decompressor(d);
    free(zeros);
    gi_image_free(&raw);
    return ok;
}

bool gi_png_quick(struct gi_image *image, const unsigned char *bytes, size_t nbytes, size_t at)
{
    if (gi_row_nbytes(image) + 1 > RAW_NBYTES_MAX / (size_t)image->height)
        return false;
    void *made = NULL;
    size_t stream_nbytes = 0;
    const unsigned char *stream = gather(&made, &stream_nbytes, bytes, nbytes, at - 8);
    bool ok = stream && inflate_into(image, stream, stream_nbytes);
    free(made);
    return ok;
}
