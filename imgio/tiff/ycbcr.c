/* 8-bit YCbCr as TIFF stores it. The blocks have h x v samples of Y, row by row, and then one
 * sample of Cb and one of Cr (TIFF 6.0, section 21).
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff_reader.h"

#if GI_HAVE_TIFF

#include <math.h>

static bool subsamples(uint32_t n)
{
    return n == 1 || n == 2 || n == 4;
}

enum gi_status gi_tiff_ycbcr_start(struct gi_tiff_reader *r, struct gi_err *err)
{
    struct gi_tiff_ycbcr *how = &r->ycbcr;
    float *luma, *range; /* reference black and white of Y, Cb and Cr */
    uint16_t h, v;
    if (r->bits != 8 || r->samples != 3 || r->planar != PLANARCONFIG_CONTIG)
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "is a TIFF of YCbCr with %u samples of %u bits%s: want 3 of 8, not in planes",
            r->samples, r->bits, r->planar == PLANARCONFIG_CONTIG ? "" : ", in planes");
    if (!gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_YCBCRCOEFFICIENTS, &luma) ||
        !gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_REFERENCEBLACKWHITE, &range))
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_YCBCRSUBSAMPLING, &h, &v);
    *how = (struct gi_tiff_ycbcr){.across = h, .down = v};
    bool sane = subsamples(h) && subsamples(v);
    for (int c = 0; c < 3; c++) {
        how->luma[c] = (double)luma[c];
        how->black[c] = (double)range[2 * c];
        how->scale[c] = (c ? 127.0 : 255.0) / ((double)range[2 * c + 1] - how->black[c]);
        sane = sane && isfinite(how->scale[c] * how->black[c]) && isfinite(how->luma[c]);
    }
    return sane && how->luma[1] > 0 ? GI_OK
                                    : gi_fail(err, GI_E_FORMAT, "is damaged: its tags of YCbCr");
}

static uint8_t to_byte(double v)
{
    return v > 0 ? v < 255 ? (uint8_t)rint(v) : 255 : 0;
}

static void put_pixel(const struct gi_tiff_ycbcr *how, uint8_t *rgb, const unsigned char *y,
                      const unsigned char *chroma)
{
    double luma = (*y - how->black[0]) * how->scale[0];
    double cb = (chroma[0] - how->black[1]) * how->scale[1];
    double cr = (chroma[1] - how->black[2]) * how->scale[2];
    double red = luma + cr * (2 - 2 * how->luma[0]), blue = luma + cb * (2 - 2 * how->luma[2]);
    rgb[0] = to_byte(red);
    rgb[1] = to_byte((luma - how->luma[2] * blue - how->luma[0] * red) / how->luma[1]);
    rgb[2] = to_byte(blue);
}

uint64_t gi_tiff_ycbcr_nbytes(const struct gi_tiff_ycbcr *how, uint32_t width, uint32_t height)
{
    uint64_t across = ((uint64_t)width + how->across - 1) / how->across;
    uint64_t down = ((uint64_t)height + how->down - 1) / how->down;
    return across * down * (how->across * how->down + 2);
}

void gi_tiff_put_ycbcr(const struct gi_tiff_reader *r, const struct gi_tiff_place *place,
                       uint32_t width, const unsigned char *blocks)
{
    const struct gi_tiff_ycbcr *how = &r->ycbcr;
    size_t nbytes = how->across * how->down, row_nbytes = gi_tiff_ycbcr_nbytes(how, width, 1);
    for (uint32_t y = 0; y < place->rows; y++) {
        const unsigned char *row = blocks + y / how->down * row_nbytes;
        uint8_t *rgb = gi_row(r->decode->image, (int)(place->y + y));
        rgb += 3 * (size_t)place->x;
        for (uint32_t x = 0; x < place->n; x++, rgb += 3) {
            const unsigned char *block = row + x / how->across * (nbytes + 2);
            put_pixel(how, rgb, block + y % how->down * how->across + x % how->across,
                      block + nbytes);
        }
    }
}

#endif
