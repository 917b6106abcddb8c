/* Reads and writes Windows icons (ICO), whose images are PNGs or bitmaps (BMP without its file
 * header, with a mask of the transparent pixels behind the pixels). Without a number the largest
 * image is read, and of equally large ones the one with the most bits per pixel. One PNG is
 * written; ico_join.c joins several. Source: "Icons", Microsoft, 1995,
 * https://learn.microsoft.com/previous-versions/ms997538(v=msdn.10) SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/ico/ico.h"
#include "imgio/integer.h"
#include "imgio/png/png_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = GI_ICO_HEAD,
    ENTRY = GI_ICO_ENTRY,
    INFO_HEAD = 40, /* of a bitmap */
    SIDE_MAX = GI_ICO_SIDE_MAX,
    COLORS_MAX = 256,
};

/* An image in the file, as the directory at its beginning describes it. */
struct icon {
    int width, height, bits;
    size_t at, nbytes;
};

static int count_of(const unsigned char *bytes)
{
    return gi_little16(bytes + 4);
}

static bool probe_ico(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= HEAD + 4 && memcmp(bytes, "\0\0\1\0", 4) == 0 && count_of(bytes) > 0 &&
           bytes[HEAD + 3] == 0 &&
           (nbytes < HEAD + ENTRY ||
            gi_little32(bytes + HEAD + 12) >= HEAD + ENTRY * (uint32_t)count_of(bytes));
}

/* Reads entry i of the directory. Returns false if the file has not all bytes of it. */
static bool read_entry(struct icon *icon, const unsigned char *bytes, size_t nbytes, int i)
{
    size_t at = HEAD + (size_t)ENTRY * (size_t)i;
    if (at + ENTRY > nbytes)
        return false;
    const unsigned char *entry = bytes + at;
    *icon = (struct icon){.width = entry[0] ? entry[0] : SIDE_MAX,
                          .height = entry[1] ? entry[1] : SIDE_MAX,
                          .bits = gi_little16(entry + 6),
                          .at = gi_little32(entry + 12),
                          .nbytes = gi_little32(entry + 8)};
    return icon->at <= nbytes && icon->nbytes <= nbytes - icon->at;
}

/* Returns the number of the image that is read if none is asked for. */
static int find_largest(const unsigned char *bytes, size_t nbytes)
{
    struct icon icon, largest = {0};
    int found = 0;
    for (int i = 0; i < count_of(bytes); i++) {
        if (!read_entry(&icon, bytes, nbytes, i))
            continue;
        int area = icon.width * icon.height, most = largest.width * largest.height;
        if (area > most || (area == most && icon.bits > largest.bits)) {
            largest = icon;
            found = i;
        }
    }
    return found;
}

static enum gi_status list_ico(struct gi_image_list *list, const unsigned char *bytes,
                               size_t nbytes, struct gi_err *err)
{
    int n = count_of(bytes), largest = find_largest(bytes, nbytes);
    uint64_t used = 0;
    list->images = calloc((size_t)n, sizeof *list->images);
    if (!list->images)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %d images", n);
    list->all = n;
    list->others = "smaller images";
    for (int i = 0; i < n; i++) {
        struct icon icon = {0};
        if (!read_entry(&icon, bytes, nbytes, i))
            list->damage = "ends early";
        list->images[i] = (struct gi_image_place){.offset = icon.at, .own = i == largest};
        list->end = icon.at + icon.nbytes > list->end ? icon.at + icon.nbytes : list->end;
        used += icon.nbytes;
    }
    if (used > nbytes)
        list->damage = "its images share bytes";
    return GI_OK;
}

/* ---- bitmaps ---- */

struct bitmap {
    const unsigned char *palette, *rows, *mask;
    size_t row_nbytes, mask_nbytes; /* of a row */
    int bits, colors;
    bool masked; /* alpha is that of the mask */
};

static bool has_alpha(const struct bitmap *b, const struct gi_image *image)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            if (b->rows[(size_t)y * b->row_nbytes + 4 * (size_t)x + 3])
                return true;
    return false;
}

/* Reads pixel x of a row as red, green, blue and alpha. Returns false if its index is outside the
 * palette. */
static bool read_pixel(uint8_t to[4], const struct bitmap *b, const unsigned char *row, int x)
{
    const unsigned char *from = row + (size_t)x * (size_t)b->bits / 8;
    if (b->bits <= 8) {
        int shift = 8 - b->bits - x * b->bits % 8, index = *from >> shift & ((1 << b->bits) - 1);
        if (index >= b->colors)
            return false;
        from = b->palette + 4 * (ptrdiff_t)index;
    }
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
    to[3] = b->bits == 32 ? from[3] : 255;
    return true;
}

static enum gi_status read_rows(struct gi_decode *decode, const struct bitmap *b,
                                struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    for (int y = 0; y < image->height; y++) {
        size_t up = (size_t)(image->height - 1 - y);
        uint8_t *to = gi_row(image, y);
        for (int x = 0; x < image->width; x++, to += 4) {
            if (!read_pixel(to, b, b->rows + up * b->row_nbytes, x))
                return gi_decode_damaged_at(decode, err, y,
                                            "is damaged: a colour beyond its palette");
            if (b->masked && b->mask)
                to[3] = b->mask[up * b->mask_nbytes + (size_t)x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
            else if (b->masked)
                to[3] = 255;
        }
    }
    return GI_OK;
}

/* Reads the bitmap in the `n` bytes at `bytes`. The height in its header includes the mask. */
static enum gi_status read_bitmap(struct gi_decode *decode, const unsigned char *bytes, size_t n,
                                  struct gi_err *err)
{
    struct bitmap b = {0};
    uint32_t head = n < INFO_HEAD ? 0 : gi_little32(bytes);
    if (head < INFO_HEAD || head > n)
        return gi_fail(err, GI_E_FORMAT, n < INFO_HEAD ? "ends early" : "has a damaged header");
    uint32_t width = gi_little32(bytes + 4), height = gi_little32(bytes + 8) / 2;
    uint32_t compression = gi_little32(bytes + 16), used = gi_little32(bytes + 32);
    b.bits = gi_little16(bytes + 14);
    bool known = b.bits == 1 || b.bits == 4 || b.bits == 8 || b.bits == 24 || b.bits == 32;
    if (!known || compression)
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "its bitmap has %d bits per pixel and compression %u: want 1, 4, 8, 24 or 32 "
            "bits without compression",
            b.bits, (unsigned)compression);
    if (!width || !height || width > 32767 || height > 32767)
        return gi_fail(err, GI_E_FORMAT, "is damaged: its bitmap has %u x %u pixels",
                       (unsigned)width, (unsigned)height);
    b.colors = b.bits > 8 ? 0 : used && used < 1u << b.bits ? (int)used : 1 << b.bits;
    b.row_nbytes = ((size_t)width * (size_t)b.bits + 31) / 32 * 4;
    b.mask_nbytes = ((size_t)width + 31) / 32 * 4;
    size_t need = head + 4 * (size_t)b.colors, pixels = b.row_nbytes * height;
    if (need > n || pixels > n - need)
        return gi_fail(err, GI_E_FORMAT, "ends early, in its pixels");
    b.palette = bytes + head;
    b.rows = bytes + need;
    if (b.mask_nbytes * height <= n - need - pixels)
        b.mask = b.rows + pixels;
    decode->info->bits = b.bits < 8 ? b.bits : 8;
    decode->info->maxval = 255;
    decode->info->detail = b.bits <= 8 ? "bitmap, palette" : "bitmap";
    enum gi_status status = gi_decode_alloc(decode, width, height, 4, GI_U8, err);
    if (status || decode->options->header_only)
        return status;
    b.masked = b.bits < 32 || !has_alpha(&b, decode->image);
    return read_rows(decode, &b, err);
}

static enum gi_status decode_ico(struct gi_decode *decode, struct gi_err *err)
{
    const unsigned char *bytes = decode->bytes;
    int n = count_of(bytes), asked = decode->options->image;
    char name[48];
    struct icon icon;
    if (asked > n)
        return gi_fail(err, GI_E_UNSUPPORTED, "holds %d images: want [0] to [%d]", n, n - 1);
    if (!read_entry(&icon, bytes, decode->nbytes,
                    asked ? asked - 1 : find_largest(bytes, decode->nbytes)))
        return gi_fail(err, GI_E_FORMAT, "ends early");
    if (!asked && n > 1) {
        snprintf(name, sizeof name, "%d smaller image%s", n - 1, n == 2 ? "" : "s");
        gi_decode_add_images(decode, name, "holds more images; only the largest is read");
    }
    bytes += icon.at;
    if (!gi_format_png.probe(bytes, icon.nbytes))
        return read_bitmap(decode, bytes, icon.nbytes, err);
    struct gi_decode png = *decode;
    png.bytes = bytes;
    png.nbytes = icon.nbytes;
    enum gi_status status = gi_format_png.decode(&png, err);
    if (!status)
        gi_png_parts(&png);
    return status;
}

/* ---- writing ---- */

/* Makes a copy with alpha, which readers of icons expect. */
static enum gi_status add_alpha(struct gi_image *copy, const struct gi_image *image,
                                struct gi_err *err)
{
    enum gi_status status = gi_image_alloc(copy, image->width, image->height, 4, GI_U8, err);
    for (int y = 0; !status && y < image->height; y++) {
        const uint8_t *from = gi_row(image, y);
        uint8_t *to = gi_row(copy, y);
        for (int x = 0; x < image->width; x++, from += image->channels, to += 4) {
            to[3] = 255;
            memcpy(to, from, (size_t)image->channels);
        }
    }
    return status;
}

static enum gi_status encode_ico(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_save_options own = *options;
    struct gi_image copy = {0};
    struct gi_sink *memory = NULL;
    void *png = NULL;
    size_t nbytes = 0;
    if (image->width > SIDE_MAX || image->height > SIDE_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "is %d x %d pixels; ICO holds at most %d a side: want gpuimg resize --size "
                       "256x256",
                       image->width, image->height, SIDE_MAX);
    own.palette = GI_PALETTE_NEVER; /* Windows wants PNGs of 32 bits */
    enum gi_status status = add_alpha(&copy, image, err);
    if (!status)
        status = gi_sink_open_memory(&memory, "ico", err);
    if (!status)
        status = gi_png_encode(memory, &copy, metadata, &own, err);
    if (!status)
        status = gi_sink_take(&memory, &png, &nbytes, err);
    gi_sink_abandon(&memory);
    gi_image_free(&copy);
    unsigned char head[HEAD + ENTRY] = {0, 0, 1, 0, 1, 0};
    unsigned char *entry = head + HEAD;
    entry[0] = (unsigned char)image->width; /* 0 is 256 */
    entry[1] = (unsigned char)image->height;
    entry[4] = 1;  /* planes */
    entry[6] = 32; /* bits per pixel */
    gi_put_little32(entry + 8, (uint32_t)nbytes);
    gi_put_little32(entry + 12, sizeof head);
    if (!status)
        status = gi_sink_write(sink, head, sizeof head, err);
    if (!status)
        status = gi_sink_write(sink, png, nbytes, err);
    free(png);
    return status;
}

const struct gi_format gi_format_ico = {
    .info = {.name = "ico",
             .suffixes = "ico",
             .summary = "Windows icon (of several images the largest is read)",
             GI_READS_AND_WRITES,
             .u8 = true,
             .alpha = true},
    .probe = probe_ico,
    .decode = decode_ico,
    .encode = encode_ico,
    .list = list_ico,
    .rgb = true,
    .metadata = true,
    .texts = true,
    .color = true,
    .holds = gi_png_holds,
    .ratio = true,
    .resolution_loss = gi_png_resolution_loss,
};
