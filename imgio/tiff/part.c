/* Reads parts of a TIFF: lines of strips that are not compressed are copied without those above
 * them. SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff_reader.h"

#if GI_HAVE_TIFF

#include <string.h>

bool gi_tiff_has_parts(const struct gi_tiff_reader *r)
{
    /* Chroma is stored in blocks, and inks in planes are converted together. */
    return !r->ycbcr.across && !r->by_strips &&
           !(r->cmyk && (r->planar == PLANARCONFIG_SEPARATE || r->inks));
}

bool gi_tiff_copies_lines(const struct gi_tiff_reader *r)
{
    uint16_t compression, order;
    gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_COMPRESSION, &compression);
    gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_FILLORDER, &order);
    bool whole = r->bits == 8 || r->bits == 16 || r->bits == 32 || r->bits == 64;
    return compression == COMPRESSION_NONE && order == FILLORDER_MSB2LSB &&
           (whole || !gi_tiff.TIFFIsByteSwapped(r->file));
}

/* Reverses the bytes of samples that have `size` bytes. */
static void swap(unsigned char *line, size_t nbytes, size_t size)
{
    for (size_t at = 0; at + size <= nbytes; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char byte = line[at + i];
            line[at + i] = line[at + size - 1 - i];
            line[at + size - 1 - i] = byte;
        }
}

bool gi_tiff_copy_line(const struct gi_tiff_reader *r, unsigned char *line, size_t nbytes,
                       uint32_t y, uint32_t rows, int s)
{
    uint32_t strips = (r->height - 1) / rows + 1, strip = (uint32_t)s * strips + y / rows;
    uint64_t at = gi_tiff.TIFFGetStrileOffset(r->file, strip), all = r->decode->nbytes;
    uint64_t in_strip = (uint64_t)(y % rows) * nbytes;
    if (in_strip + nbytes > gi_tiff.TIFFGetStrileByteCount(r->file, strip) || at > all ||
        r->skip > all - at || in_strip > all - at - r->skip ||
        nbytes > all - at - r->skip - in_strip)
        return false;
    memcpy(line, r->decode->bytes + at + r->skip + in_strip, nbytes);
    if (gi_tiff.TIFFIsByteSwapped(r->file))
        swap(line, nbytes, r->bits / 8u);
    return true;
}

#endif
