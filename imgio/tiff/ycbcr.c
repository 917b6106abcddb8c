/* 8-bit YCbCr as TIFF stores it. The blocks have h x v samples of Y, row by row, and then one
 * sample of Cb and one of Cr (TIFF 6.0, section 21). RGB is computed in integers as libtiff's RGBA
 * interface does, so that the samples are those of tiff2rgba.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff_reader.h"

#if GI_HAVE_TIFF

#include <math.h>

enum { SHIFT = 16, HALF = 1 << (SHIFT - 1), LIMIT = 128 * 32 };

static bool subsamples(uint32_t n)
{
    return n == 1 || n == 2 || n == 4;
}

/* Returns a weight with SHIFT bits behind the point. */
static int32_t fix(float weight)
{
    float v = weight > 0 ? weight < 2 ? weight : 2 : 0;
    return (int32_t)(v * (float)(1 << SHIFT) + 0.5);
}

/* Returns the value of a code by the codes of black and white, truncated, where white is `full`. */
static int32_t value_of(int code, float black, float white, float full)
{
    float v = (float)(code - (int32_t)black) * full / (white - black);
    return (int32_t)(v > -LIMIT ? v < LIMIT ? v : LIMIT : -LIMIT);
}

static void make_tables(struct gi_tiff_ycbcr *how, const float luma[3], const float range[6])
{
    float red = 2 - 2 * luma[0], blue = 2 - 2 * luma[2];
    int32_t green_cr = fix(luma[0] * red / luma[1]), green_cb = fix(luma[2] * blue / luma[1]);
    for (int i = 0; i < 256; i++) {
        int32_t cb = value_of(i - 128, range[2] - 128, range[3] - 128, 127);
        int32_t cr = value_of(i - 128, range[4] - 128, range[5] - 128, 127);
        how->luma[i] = value_of(i, range[0], range[1], 255);
        how->red_cr[i] = (fix(red) * cr + HALF) >> SHIFT;
        how->blue_cb[i] = (fix(blue) * cb + HALF) >> SHIFT;
        how->green_cr[i] = -green_cr * cr;
        how->green_cb[i] = -green_cb * cb + HALF;
    }
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
    bool sane = subsamples(h) && subsamples(v) && luma[1] > 0;
    for (int c = 0; c < 3; c++)
        sane = sane && isfinite(luma[c]) && fabsf(range[2 * c]) < LIMIT &&
               fabsf(range[2 * c + 1]) < LIMIT && range[2 * c] != range[2 * c + 1];
    if (!sane)
        return gi_fail(err, GI_E_FORMAT, "is damaged: its tags of YCbCr");
    make_tables(how, luma, range);
    return GI_OK;
}

static uint8_t to_byte(int32_t v)
{
    return (uint8_t)(v > 0 ? v < 255 ? v : 255 : 0);
}

static void put_pixel(const struct gi_tiff_ycbcr *how, uint8_t *rgb, const unsigned char *y,
                      const unsigned char *chroma)
{
    int32_t luma = how->luma[*y], cb = chroma[0], cr = chroma[1];
    rgb[0] = to_byte(luma + how->red_cr[cr]);
    rgb[1] = to_byte(luma + ((how->green_cb[cb] + how->green_cr[cr]) >> SHIFT));
    rgb[2] = to_byte(luma + how->blue_cb[cb]);
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
