/* Writes raw PBM, PGM, PPM and PAM. 8-bit rows are written as they are. 16-bit samples are
 * converted to big-endian piece by piece.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/codecs.h"
#include "imgio/pnm/pnm_parts.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 4096 /* samples per piece */ };

static enum gi_status write_row16(struct gi_sink *sink, const uint16_t *row, size_t samples,
                                  struct gi_err *err)
{
    unsigned char piece[2 * PIECE];
    enum gi_status status = GI_OK;
    for (size_t done = 0; done < samples && !status;) {
        size_t n = samples - done < PIECE ? samples - done : PIECE;
        for (size_t i = 0; i < n; i++) {
            piece[2 * i] = (unsigned char)(row[done + i] >> 8);
            piece[2 * i + 1] = (unsigned char)row[done + i];
        }
        status = gi_sink_write(sink, piece, 2 * n, err);
        done += n;
    }
    return status;
}

static enum gi_status write_rows(struct gi_sink *sink, const struct gi_image *image,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    /* If rows have no padding, they are written by one call, and the sink need not copy them. */
    if (image->type == GI_U8 && image->stride == gi_row_nbytes(image))
        return gi_sink_write(sink, image->data, image->stride * (size_t)image->height, err);
    for (int y = 0; y < image->height && !status; y++)
        status = image->type == GI_U8
                     ? gi_sink_write(sink, gi_row(image, y), gi_row_nbytes(image), err)
                     : write_row16(sink, gi_row(image, y), gi_row_samples(image), err);
    return status;
}

static enum gi_status write_raster(struct gi_sink *sink, const struct gi_image *image,
                                   const struct gi_save_options *options, struct gi_err *err)
{
    int most = gi_encode_most(image, options);
    enum gi_status status = GI_OK;
    for (int y = 0, end; y < image->height && !status; y = end) {
        struct gi_image rows;
        end = image->height - y < most ? image->height : y + most;
        status = gi_encode_rows(&rows, image, options, y, end, err);
        if (!status)
            status = write_rows(sink, &rows, err);
    }
    return status;
}

enum gi_status gi_pnm_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    enum gi_status status = gi_sink_printf(sink, err, "P%c\n", image->channels == 1 ? '5' : '6');
    if (!status)
        status = gi_pnm_write_comments(sink, metadata, err);
    if (!status)
        status = gi_sink_printf(sink, err, "%d %d\n%d\n", image->width, image->height,
                                image->type == GI_U8 ? 255 : 65535);
    return status ? status : write_raster(sink, image, options, err);
}

/* Packs eight samples per byte, the leftmost sample in the highest bit. A bit of 1 is black.
 * Returns false if a sample is neither black nor white. */
static bool pack_row(unsigned char *bits, const unsigned char *row, int width)
{
    memset(bits, 0, ((size_t)width + 7) / 8);
    for (int x = 0; x < width; x++) {
        if (row[x] != 0 && row[x] != 255)
            return false;
        bits[x / 8] |= (unsigned char)((row[x] == 0) << (7 - x % 8));
    }
    return true;
}

enum gi_status gi_pbm_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    size_t nbytes = ((size_t)image->width + 7) / 8;
    unsigned char *bits = malloc(nbytes);
    if (!bits)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a row");
    enum gi_status status = gi_sink_printf(sink, err, "P4\n");
    if (!status)
        status = gi_pnm_write_comments(sink, metadata, err);
    if (!status)
        status = gi_sink_printf(sink, err, "%d %d\n", image->width, image->height);
    for (int y = 0; y < image->height && !status; y++)
        status = pack_row(bits, gi_row(image, y), image->width)
                     ? gi_sink_write(sink, bits, nbytes, err)
                     : gi_fail(err, GI_E_UNSUPPORTED,
                               "pbm holds black and white only, and row %d has other samples: "
                               "want another format, or gpuimg threshold first",
                               y);
    free(bits);
    return status;
}

/* Returns the unusual tuple type of another PAM, or NULL. */
static const struct gi_part *find_tuple(const struct gi_metadata *metadata,
                                        const struct gi_image *image)
{
    for (int i = 0; metadata && i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        if (part->fate == GI_PART_CARRIED && gi_pam_holds(part, image) == GI_HOLDS)
            return part;
    }
    return NULL;
}

enum gi_status gi_pam_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    static const char *const tuples[] = {NULL, "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
    const struct gi_part *tuple = find_tuple(metadata, image);
    bool bands = metadata && metadata->bands.n;
    const char *type = tuple ? tuple->bytes : bands ? GI_PAM_BANDS : tuples[image->channels];
    enum gi_status status = gi_sink_printf(sink, err, "P7\n");
    if (!status)
        status = gi_pnm_write_comments(sink, metadata, err);
    if (!status)
        status = gi_sink_printf(
            sink, err, "WIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %.*s\nENDHDR\n",
            image->width, image->height, image->channels, image->type == GI_U8 ? 255 : 65535,
            tuple ? (int)tuple->nbytes : (int)strlen(type), type);
    return status ? status : write_raster(sink, image, options, err);
}
