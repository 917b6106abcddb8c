/* Writes PNG. This file writes the chunks around the pixels, and png_strips.c writes the pixels.
 * SPDX-License-Identifier: MIT */
#include "imgio/bits.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/png/png_parts.h"
#include "imgio/png/png_strips.h"
#include "imgio/png/png_text.h"

#include <libdeflate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum gi_status gi_png_write_chunk(struct gi_sink *sink, const char *type, const void *bytes,
                                  size_t nbytes, struct gi_err *err)
{
    uint8_t head[8], tail[4];
    gi_put_big32(head, (uint32_t)nbytes);
    memcpy(head + 4, type, 4);
    uint32_t crc = libdeflate_crc32(0, head + 4, 4);
    if (nbytes)
        crc = libdeflate_crc32(crc, bytes, nbytes);
    gi_put_big32(tail, crc);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status && nbytes)
        status = gi_sink_write(sink, bytes, nbytes, err);
    return status ? status : gi_sink_write(sink, tail, sizeof tail, err);
}

static enum gi_status write_head(struct gi_sink *sink, const struct gi_image *image, bool one_bit,
                                 struct gi_err *err)
{
    static const uint8_t color_types[] = {0, 0, 4, 2, 6}; /* by number of channels; PNG 1.2,
                                                              4.1.1 */
    uint8_t ihdr[13] = {0};
    gi_put_big32(ihdr, (uint32_t)image->width);
    gi_put_big32(ihdr + 4, (uint32_t)image->height);
    ihdr[8] = one_bit ? 1 : image->type == GI_U16 ? 16 : 8;
    ihdr[9] = color_types[image->channels];
    enum gi_status status = gi_sink_write(sink, "\x89PNG\r\n\x1a\n", 8, err);
    return status ? status : gi_png_write_chunk(sink, "IHDR", ihdr, sizeof ihdr, err);
}

static enum gi_status write_icc(struct gi_sink *sink, const struct gi_metadata *metadata,
                                struct gi_err *err)
{
    /* the name with its zero, then the compression method 0 */
    static const uint8_t head[] = "ICC profile\0";
    return gi_png_write_packed(sink, "iCCP", head, sizeof head, metadata->icc, metadata->icc_nbytes,
                               true, err);
}

static enum gi_status write_metadata(struct gi_sink *sink, const struct gi_metadata *metadata,
                                     struct gi_err *err)
{
    enum gi_status status = GI_OK;
    double per_inch = metadata->no_unit ? 1 : 0.0254;
    double per_metre_x = metadata->dpi_x / per_inch, per_metre_y = metadata->dpi_y / per_inch;
    status = gi_png_write_color(sink, metadata, err);
    if (!status && metadata->icc)
        status = write_icc(sink, metadata, err);
    if (!status && per_metre_x >= 1 && per_metre_x < 1e9 && per_metre_y >= 1 && per_metre_y < 1e9) {
        uint8_t phys[9];
        gi_put_big32(phys, (uint32_t)lrint(per_metre_x));
        gi_put_big32(phys + 4, (uint32_t)lrint(per_metre_y));
        phys[8] = !metadata->no_unit; /* unit: metre */
        status = gi_png_write_chunk(sink, "pHYs", phys, sizeof phys, err);
    }
    if (!status && metadata->exif)
        status = gi_png_write_chunk(sink, "eXIf", metadata->exif, metadata->exif_nbytes, err);
    return status ? status : gi_png_write_texts(sink, metadata, err);
}

enum gi_status gi_png_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_image packed = {0};
    bool one_bit = options->bits == 1;
    int depth = one_bit ? 1 : 8 * (int)gi_type_nbytes(image->type);
    enum gi_status status = one_bit ? gi_bits_pack(&packed, image, err) : GI_OK;
    if (!status)
        status = write_head(sink, image, one_bit, err);
    if (!status && metadata)
        status = write_metadata(sink, metadata, err);
    if (!status && metadata)
        status = gi_png_write_parts(sink, metadata, image, depth, false, err);
    if (!status) /* filters count bytes, also if pixels are bits (PNG 1.2, 6) */
        status = gi_png_write_pixels(sink, one_bit ? &packed : image, options, err);
    gi_image_free(&packed);
    if (!status && metadata)
        status = gi_png_write_parts(sink, metadata, image, depth, true, err);
    return status ? status : gi_png_write_chunk(sink, "IEND", NULL, 0, err);
}
