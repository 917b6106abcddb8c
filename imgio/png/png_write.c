/* Writes PNG. This file writes the chunks around the pixels, and png_strips.c writes the pixels.
 * SPDX-License-Identifier: MIT */
#include "imgio/bits.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/png/png_palette.h"
#include "imgio/png/png_parts.h"
#include "imgio/png/png_strips.h"
#include "imgio/png/png_text.h"

#include <libdeflate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum gi_status gi_png_write_chunk_of(struct gi_sink *sink, const char *type,
                                     const struct iovec *parts, int n, struct gi_err *err)
{
    uint8_t head[8], tail[4];
    size_t nbytes = 0;
    memcpy(head + 4, type, 4);
    uint32_t crc = libdeflate_crc32(0, head + 4, 4);
    for (int i = 0; i < n; i++) {
        nbytes += parts[i].iov_len;
        if (parts[i].iov_len)
            crc = libdeflate_crc32(crc, parts[i].iov_base, parts[i].iov_len);
    }
    gi_put_big32(head, (uint32_t)nbytes);
    gi_put_big32(tail, crc);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    for (int i = 0; i < n && !status; i++)
        if (parts[i].iov_len)
            status = gi_sink_write(sink, parts[i].iov_base, parts[i].iov_len, err);
    return status ? status : gi_sink_write(sink, tail, sizeof tail, err);
}

enum gi_status gi_png_write_chunk(struct gi_sink *sink, const char *type, const void *bytes,
                                  size_t nbytes, struct gi_err *err)
{
    const struct iovec data = {(void *)(uintptr_t)bytes, nbytes};
    return gi_png_write_chunk_of(sink, type, &data, 1, err);
}

static enum gi_status write_head(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_png_coding *coding, struct gi_err *err)
{
    uint8_t ihdr[13] = {0};
    gi_put_big32(ihdr, (uint32_t)image->width);
    gi_put_big32(ihdr + 4, (uint32_t)image->height);
    ihdr[8] = (uint8_t)coding->depth;
    ihdr[9] = (uint8_t)coding->color_type;
    enum gi_status status = gi_sink_write(sink, "\x89PNG\r\n\x1a\n", 8, err);
    return status ? status : gi_png_write_chunk(sink, "IHDR", ihdr, sizeof ihdr, err);
}

/* Writes palette and transparency (PNG, third edition, 11.2.2 and 11.3.1.1). */
static enum gi_status write_palette(struct gi_sink *sink, const struct gi_png_coding *coding,
                                    struct gi_err *err)
{
    uint8_t rgb[3 * GI_PNG_COLORS_MAX], alpha[GI_PNG_COLORS_MAX] = {0};
    size_t nalpha = (size_t)coding->ntransparent;
    enum gi_status status = GI_OK;
    for (int i = 0; i < coding->ncolors; i++) {
        memcpy(rgb + (ptrdiff_t)3 * i, coding->colors[i], 3);
        alpha[i] = coding->colors[i][3];
    }
    if (coding->color_type == 3)
        status = gi_png_write_chunk(sink, "PLTE", rgb, 3 * (size_t)coding->ncolors, err);
    if (coding->transparent_gray >= 0) { /* a sample of 16 bits */
        alpha[1] = (uint8_t)coding->transparent_gray;
        nalpha = 2;
    }
    return status || !nalpha ? status : gi_png_write_chunk(sink, "tRNS", alpha, nalpha, err);
}

#define METRES_PER_INCH 0.0254

static enum gi_status write_icc(struct gi_sink *sink, const struct gi_metadata *metadata,
                                struct gi_err *err)
{
    /* the name with its zero, then the compression method 0 */
    static const uint8_t head[] = "ICC profile\0";
    return gi_png_write_packed(sink, "iCCP", head, sizeof head, metadata->icc, metadata->icc_nbytes,
                               true, err);
}

/* Returns the number of pixels per metre, or per no unit, that pHYs holds, or 0. */
static uint32_t density(const struct gi_metadata *metadata, double dpi)
{
    double v = dpi / (metadata->no_unit ? 1 : METRES_PER_INCH);
    return v >= 0.5 && v < 1e9 ? (uint32_t)lrint(v) : 0;
}

const char *gi_png_resolution_loss(const struct gi_metadata *metadata)
{
    double unit = metadata->no_unit ? 1 : METRES_PER_INCH;
    return gi_resolution_loss(metadata, density(metadata, metadata->dpi_x) * unit,
                              density(metadata, metadata->dpi_y) * unit);
}

static enum gi_status write_metadata(struct gi_sink *sink, const struct gi_metadata *metadata,
                                     struct gi_err *err)
{
    enum gi_status status = GI_OK;
    uint32_t x = density(metadata, metadata->dpi_x), y = density(metadata, metadata->dpi_y);
    status = gi_png_write_color(sink, metadata, err);
    if (!status && metadata->icc)
        status = write_icc(sink, metadata, err);
    if (!status && x && y) {
        uint8_t phys[9];
        gi_put_big32(phys, x);
        gi_put_big32(phys + 4, y);
        phys[8] = !metadata->no_unit; /* unit: metre */
        status = gi_png_write_chunk(sink, "pHYs", phys, sizeof phys, err);
    }
    if (!status && metadata->exif)
        status = gi_png_write_chunk(sink, "eXIf", metadata->exif, metadata->exif_nbytes, err);
    return status ? status : gi_png_write_texts(sink, metadata, err);
}

/* Writes everything that is before the pixels. */
static enum gi_status write_before(struct gi_sink *sink, const struct gi_image *image,
                                   const struct gi_metadata *metadata,
                                   const struct gi_png_coding *coding, struct gi_err *err)
{
    enum gi_status status = write_head(sink, image, coding, err);
    if (!status && metadata)
        status = write_metadata(sink, metadata, err);
    if (!status && metadata)
        status = gi_png_write_parts(sink, metadata, image, coding, GI_PNG_BEFORE_PALETTE, err);
    if (!status)
        status = write_palette(sink, coding, err);
    if (!status && metadata)
        status = gi_png_write_parts(sink, metadata, image, coding, GI_PNG_BEFORE_PIXELS, err);
    return status;
}

enum gi_status gi_png_encode_as(struct gi_sink *sink, const struct gi_image *image,
                                const struct gi_metadata *metadata,
                                const struct gi_png_coding *coding,
                                const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_image packed = {0};
    enum gi_status status = GI_OK;
    bool one_bit = options->bits == 1;
    bool packs = coding->depth < 8 || coding->color_type == 3 || coding->transparent_gray >= 0;
    if (packs)
        status =
            one_bit ? gi_bits_pack(&packed, image, err) : gi_png_pack(&packed, image, coding, err);
    if (!status)
        status = write_before(sink, image, metadata, coding, err);
    if (!status)
        status = gi_png_write_pixels(sink, packs ? &packed : image, packs, options, err);
    gi_image_free(&packed);
    if (!status && metadata)
        status = gi_png_write_parts(sink, metadata, image, coding, GI_PNG_AFTER_PIXELS, err);
    return status ? status : gi_png_write_chunk(sink, "IEND", NULL, 0, err);
}

enum gi_status gi_png_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_png_coding coding;
    enum gi_status status = gi_png_choose_coding(&coding, image, metadata, options, err);
    return status ? status : gi_png_encode_as(sink, image, metadata, &coding, options, err);
}
