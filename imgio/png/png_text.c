/* Reads and writes PNG's text chunks, including XMP, and its colour chunks (PNG, third edition,
 * 11.3.2 and 11.3.3). The chunks are read here because they may follow the pixels, and libpng does
 * not always read such chunks.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/metadata/photoshop.h"
#include "imgio/png/png_text.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/png/png_strips.h"
#include "imgio/small.h"

enum {
    HEAD = 8, /* length and type of a chunk; the chunk ends with 4 bytes of checksum */
    KEYWORD_MAX = 79,
    LONG_TEXT = 1024, /* texts of this length or longer are compressed */
    COLOR_MAX = 32,   /* maximum bytes of a colour chunk */
};
static const char color_chunks[][5] = {"cICP", "mDCV", "cLLI", "sRGB", "gAMA", "cHRM"};
static const char xmp_keyword[] = "XML:com.adobe.xmp";

/* Returns `packed` inflated, which the caller frees. Returns NULL if the data are damaged or over
 * the limit, or if memory ran out. */
static unsigned char *inflate(struct gi_metadata *metadata, const unsigned char *packed, size_t n,
                              size_t *nbytes)
{
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    enum libdeflate_result result = LIBDEFLATE_INSUFFICIENT_SPACE;
    unsigned char *bytes = NULL;
    for (size_t room = 4 * n + 1024; inflater && result == LIBDEFLATE_INSUFFICIENT_SPACE;
         room *= 4) {
        free(bytes);
        room = room < GI_TEXTS_NBYTES_MAX ? room : GI_TEXTS_NBYTES_MAX;
        bytes = malloc(room);
        if (!bytes)
            break;
        result = libdeflate_zlib_decompress(inflater, packed, n, bytes, room, nbytes);
        if (room == GI_TEXTS_NBYTES_MAX)
            break;
    }
    metadata->starved = metadata->starved || !inflater || !bytes;
    libdeflate_free_decompressor(inflater);
    if (result == LIBDEFLATE_SUCCESS)
        return bytes;
    free(bytes);
    return NULL;
}

/* Returns the position after the string at `at` and the zero at its end, or NULL if there is no
 * zero. */
static const unsigned char *past(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *zero = at ? memchr(at, 0, (size_t)(end - at)) : NULL;
    return zero ? zero + 1 : NULL;
}

/* Reads the text in a chunk of `n` bytes. Returns false if the chunk is damaged, or if no more
 * texts are kept. */
static bool read_text(struct gi_decode *decode, const char *type, const unsigned char *bytes,
                      size_t n)
{
    const unsigned char *end = bytes + n, *at = past(bytes, end);
    const char *keyword = (const char *)bytes, *language = NULL, *translated = NULL;
    bool packed = *type == 'z';
    if (!at || at == bytes + 1 || at - bytes > KEYWORD_MAX + 1 || (*type != 't' && at == end))
        return false;
    if (*type == 'z') {
        at++; /* compression method: deflate */
    } else if (*type == 'i') {
        packed = *at++;
        language = at < end ? (const char *)++at : NULL;
        at = language ? past(at, end) : NULL;
        translated = (const char *)at;
        at = past(at, end);
    }
    if (!at)
        return false;
    size_t length = (size_t)(end - at);
    unsigned char *inflated = packed ? inflate(decode->metadata, at, length, &length) : NULL;
    if (packed && !inflated)
        return false;
    bool kept =
        gi_decode_add_text(decode, keyword, language, translated, packed ? inflated : at, length);
    free(inflated);
    return kept;
}

/* Keeps the first chunk of each type. Returns false for others. */
static bool read_color(struct gi_metadata *metadata, const char *type, const unsigned char *bytes,
                       size_t n)
{
    unsigned char *at = metadata->color, *end = at ? at + metadata->color_nbytes : at;
    for (; at && at < end; at += 5 + at[4])
        if (memcmp(at, type, 4) == 0)
            return false;
    if (n > COLOR_MAX)
        return false;
    metadata->color = gi_small_realloc(metadata->color, 1, metadata->color_nbytes + 5 + n);
    at = (unsigned char *)metadata->color + metadata->color_nbytes;
    memcpy(at, type, 4);
    at[4] = (unsigned char)n;
    memcpy(at + 5, bytes, n);
    metadata->color_nbytes += 5 + n;
    return true;
}

static bool is_color(const char *type)
{
    for (size_t i = 0; i < sizeof color_chunks / sizeof color_chunks[0]; i++)
        if (memcmp(type, color_chunks[i], 4) == 0)
            return true;
    return false;
}

static bool is_text(const void *type)
{
    return memcmp(type, "tEXt", 4) == 0 || memcmp(type, "zTXt", 4) == 0 ||
           memcmp(type, "iTXt", 4) == 0;
}

bool gi_png_is_text(const void *type)
{
    return is_text(type) || is_color(type);
}

bool gi_png_read_text(struct gi_decode *decode, const void *type, const unsigned char *bytes,
                      size_t n)
{
    return is_text(type) ? read_text(decode, type, bytes, n)
                         : read_color(decode->metadata, type, bytes, n);
}

enum gi_status gi_png_write_packed(struct gi_sink *sink, const char *type, const void *head,
                                   size_t n, const void *text, size_t length, bool packed,
                                   struct gi_err *err)
{
    struct libdeflate_compressor *packer = packed ? libdeflate_alloc_compressor(6) : NULL;
    size_t room = packer ? libdeflate_zlib_compress_bound(packer, length) : length;
    unsigned char *bytes = !packed || packer ? malloc(n + room) : NULL;
    enum gi_status status = GI_E_MEMORY;
    if (bytes) {
        memcpy(bytes, head, n);
        if (packed)
            length = libdeflate_zlib_compress(packer, text, length, bytes + n, room);
        else
            memcpy(bytes + n, text, length);
        status = gi_png_write_chunk(sink, type, bytes, n + length, err);
    } else {
        gi_fail(err, status, "out of memory for a chunk %s", type);
    }
    free(bytes);
    libdeflate_free_compressor(packer);
    return status;
}

/* Writes one text, as tEXt or zTXt if it is Latin-1, and otherwise as iTXt. */
static enum gi_status write_one(struct gi_sink *sink, const struct gi_text *text,
                                struct gi_err *err)
{
    unsigned char head[KEYWORD_MAX + 2];
    size_t length = 0, n = 0;
    char *keyword, *latin = NULL;
    enum gi_status status = gi_latin1(&keyword, &n, text->keyword, err);
    if (!status && !*text->language && !*text->translated)
        status = gi_latin1(&latin, &length, text->text, err);
    if (status || !keyword || n == 0 || n > KEYWORD_MAX) {
        free(keyword);
        free(latin);
        return status;
    }
    memcpy(head, keyword, n);
    head[n] = head[n + 1] = 0;
    if (latin) {
        bool packed = length >= LONG_TEXT;
        status = gi_png_write_packed(sink, packed ? "zTXt" : "tEXt", head, n + 1 + packed, latin,
                                     length, packed, err);
    } else {
        size_t language = strlen(text->language) + 1, translated = strlen(text->translated) + 1;
        unsigned char *whole = malloc(n + 3 + language + translated);
        length = strlen(text->text);
        bool packed = length >= LONG_TEXT;
        if (whole) {
            memcpy(whole, head, n + 1);
            whole[n + 1] = packed;
            whole[n + 2] = 0;
            memcpy(whole + n + 3, text->language, language);
            memcpy(whole + n + 3 + language, text->translated, translated);
        }
        status = whole ? gi_png_write_packed(sink, "iTXt", whole, n + 3 + language + translated,
                                             text->text, length, packed, err)
                       : gi_fail(err, GI_E_MEMORY, "out of memory for a text");
        free(whole);
    }
    free(keyword);
    free(latin);
    return status;
}

enum gi_status gi_png_write_color(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  struct gi_err *err)
{
    const unsigned char *at = metadata->color, *end = at ? at + metadata->color_nbytes : at;
    enum gi_status status = GI_OK;
    for (; at && at < end && !status; at += 5 + at[4]) {
        char type[5] = {0};
        memcpy(type, at, 4);
        status = gi_png_write_chunk(sink, type, at + 5, at[4], err);
    }
    return status;
}

/* Writes IPTC and Photoshop's resources as ImageMagick and exiftool do: a text of hexadecimal
 * digits, 36 bytes on a line, behind lines with the kind and the number of bytes. */
static enum gi_status write_resources(struct gi_sink *sink, const struct gi_metadata *metadata,
                                      struct gi_err *err)
{
    enum { LINE = 36 };
    static const char keyword[] = GI_RAW_PROFILE "iptc\0", digits[] = "0123456789abcdef";
    size_t n = gi_photoshop_put(NULL, metadata), room = 2 * n + n / LINE + 64;
    unsigned char *bytes = malloc(n);
    char *text = malloc(room), *to = text;
    enum gi_status status =
        bytes && text ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory for IPTC");
    if (!status) {
        gi_photoshop_put(bytes, metadata);
        to += snprintf(text, room, "\niptc\n%8zu", n);
        for (size_t i = 0; i < n; i++) {
            if (i % LINE == 0)
                *to++ = '\n';
            *to++ = digits[bytes[i] >> 4];
            *to++ = digits[bytes[i] & 15];
        }
        *to++ = '\n';
        status = gi_png_write_packed(sink, "zTXt", keyword, sizeof keyword, text,
                                     (size_t)(to - text), true, err);
    }
    free(bytes);
    free(text);
    return status;
}

enum gi_status gi_png_write_texts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  struct gi_err *err)
{
    /* uncompressed, by the method deflate, with no language and no translation */
    static const char empty[5];
    char head[sizeof xmp_keyword - 1 + sizeof empty];
    enum gi_status status = GI_OK;
    memcpy(head, xmp_keyword, sizeof xmp_keyword - 1);
    memcpy(head + sizeof xmp_keyword - 1, empty, sizeof empty);
    if (metadata->xmp)
        status = gi_png_write_packed(sink, "iTXt", head, sizeof head, metadata->xmp,
                                     metadata->xmp_nbytes, false, err);
    if (!status && gi_photoshop_put(NULL, metadata))
        status = write_resources(sink, metadata, err);
    for (int i = 0; i < metadata->ntexts && !status; i++)
        status = write_one(sink, &metadata->texts[i], err);
    return status;
}
