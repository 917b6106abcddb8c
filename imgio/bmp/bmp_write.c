/* Writes BMP: 24 bits per pixel, or 32 with alpha, with the resolution and, in a header of version
 * 5, with the ICC profile behind the pixels ("Bitmap Storage", Windows SDK).
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_HEAD = 14,
    INFO_HEAD = 40,
    V4_HEAD = 108,
    V5_HEAD = 124,
    BITFIELDS = 3,
    FOR_IMAGES = 4,                /* rendering intent: perceptual */
    PROFILE_EMBEDDED = 0x4d424544, /* "MBED" */
    SAMPLES_MAX = INT_MAX / 4,
};

static void put16(unsigned char *p, unsigned v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

/* Returns a resolution in pixels per metre, or 0 if the field can't hold it. */
static uint32_t per_metre(const struct gi_metadata *metadata, double dpi)
{
    double v = dpi / 0.0254;
    return metadata->no_unit || !(v >= 0.5 && v < INT_MAX) ? 0 : (uint32_t)lrint(v);
}

const char *gi_bmp_resolution_loss(const struct gi_metadata *metadata)
{
    return metadata->no_unit
               ? NULL /* named before */
               : gi_resolution_loss(metadata, per_metre(metadata, metadata->dpi_x) * 0.0254,
                                    per_metre(metadata, metadata->dpi_y) * 0.0254);
}

/* Fills in both headers. Returns their length. */
static size_t make_heads(unsigned char *bytes, const struct gi_image *image,
                         const struct gi_metadata *metadata, size_t row_nbytes)
{
    bool alpha = image->channels == 4;
    size_t icc = metadata ? metadata->icc_nbytes : 0;
    size_t head_nbytes = icc ? V5_HEAD : alpha ? V4_HEAD : INFO_HEAD;
    size_t pixels_nbytes = row_nbytes * (size_t)image->height;
    unsigned char *head = bytes + FILE_HEAD;
    memset(bytes, 0, FILE_HEAD + V5_HEAD);
    memcpy(bytes, "BM", 2);
    gi_put_little32(bytes + 2, (uint32_t)(FILE_HEAD + head_nbytes + pixels_nbytes + icc));
    gi_put_little32(bytes + 10, (uint32_t)(FILE_HEAD + head_nbytes));
    gi_put_little32(head, (uint32_t)head_nbytes);
    gi_put_little32(head + 4, (uint32_t)image->width);
    gi_put_little32(head + 8, (uint32_t)image->height);
    put16(head + 12, 1); /* planes */
    put16(head + 14, 8 * (unsigned)image->channels);
    if (metadata) {
        gi_put_little32(head + 24, per_metre(metadata, metadata->dpi_x));
        gi_put_little32(head + 28, per_metre(metadata, metadata->dpi_y));
    }
    if (alpha) {
        gi_put_little32(head + 16, BITFIELDS);
        gi_put_little32(head + 40, 0xff0000);
        gi_put_little32(head + 44, 0xff00);
        gi_put_little32(head + 48, 0xff);
        gi_put_little32(head + 52, 0xff000000);
    }
    if (icc) {
        gi_put_little32(head + 56, PROFILE_EMBEDDED);
        gi_put_little32(head + 108, FOR_IMAGES);
        gi_put_little32(head + 112, (uint32_t)(head_nbytes + pixels_nbytes));
        gi_put_little32(head + 116, (uint32_t)icc);
    }
    return FILE_HEAD + head_nbytes;
}

/* Writes the rows from bottom to top, with blue first. */
static enum gi_status write_rows(struct gi_sink *sink, const struct gi_image *image,
                                 size_t row_nbytes, struct gi_err *err)
{
    size_t channels = (size_t)image->channels;
    unsigned char *row = calloc(1, row_nbytes);
    if (!row)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a row");
    enum gi_status status = GI_OK;
    for (int y = image->height - 1; y >= 0 && !status; y--) {
        const unsigned char *in = gi_row(image, y);
        for (size_t at = 0; at < (size_t)image->width * channels; at += channels) {
            for (size_t c = 0; c < 3; c++)
                row[at + c] = in[at + 2 - c];
            if (channels == 4)
                row[at + 3] = in[at + 3];
        }
        status = gi_sink_write(sink, row, row_nbytes, err);
    }
    free(row);
    return status;
}

enum gi_status gi_bmp_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    unsigned char heads[FILE_HEAD + V5_HEAD];
    size_t row_nbytes = (gi_row_nbytes(image) + 3) / 4 * 4;
    if (gi_row_samples(image) > SAMPLES_MAX / (size_t)image->height)
        return gi_fail(err, GI_E_UNSUPPORTED, "is %d x %d pixels, too large for this format",
                       image->width, image->height);
    size_t n = make_heads(heads, image, metadata, row_nbytes);
    enum gi_status status = gi_sink_write(sink, heads, n, err);
    if (!status)
        status = write_rows(sink, image, row_nbytes, err);
    return !status && metadata && metadata->icc
               ? gi_sink_write(sink, metadata->icc, metadata->icc_nbytes, err)
               : status;
}
