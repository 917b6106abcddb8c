/* TIFF: kinds that old programs and instruments write, made through libtiff or by hand.
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <math.h>

#include "imgio/tiff/tiff.h"

static char folder[64], path[128];

#if GI_HAVE_TIFF

enum { WIDTH = 67, HEIGHT = 45 };

/* A file to be written, of 8 bits in chunky order unless the caller says otherwise. */
static TIFF *new_tiff(unsigned samples, unsigned photometric, unsigned compression)
{
    TIFF *tiff = TIFFOpen(path, "wl");
    assert_non_null(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    return tiff;
}

/* Writes `n` bytes as LZW of before TIFF 5.0: codes of 9 bits from the lowest bit on. The table is
 * cleared before it has codes of 10 bits. Returns the bytes written. */
static size_t pack_old_lzw(unsigned char *to, const unsigned char *bytes, size_t n)
{
    enum { BITS = 9, CLEAR = 256, END = 257, RUN = 200 };
    size_t at = 0;
    for (size_t i = 0; i <= n; i++) {
        unsigned codes[2], ncodes = 0;
        if (i % RUN == 0)
            codes[ncodes++] = CLEAR;
        codes[ncodes++] = i < n ? bytes[i] : END;
        for (unsigned c = 0; c < ncodes; c++)
            for (unsigned b = 0; b < BITS; b++, at++)
                to[at / 8] |= (unsigned char)((codes[c] >> b & 1) << at % 8);
    }
    return (at + 7) / 8;
}

static void old_lzw(void **state)
{
    (void)state;
    static unsigned char pixels[HEIGHT * WIDTH], packed[2 * HEIGHT * WIDTH];
    struct gi_image image;
    struct gi_err err = {0}, warning;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * 7 + i / WIDTH);
    size_t n = pack_old_lzw(packed, pixels, sizeof pixels);
    TIFF *tiff = new_tiff(1, PHOTOMETRIC_MINISBLACK, COMPRESSION_LZW);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
    assert_true(TIFFWriteRawStrip(tiff, 0, packed, (tmsize_t)n) == (tmsize_t)n);
    TIFFClose(tiff);
    if (gi_load(&image, NULL, NULL, path, &strictly, &warning, &err))
        fail_msg("%s", err.text);
    assert_int_equal(warning.status, GI_OK);
    for (int y = 0; y < HEIGHT; y++)
        assert_memory_equal(gi_row(&image, y), pixels + (size_t)y * WIDTH, WIDTH);
    gi_image_free(&image);
    tiff = new_tiff(1, PHOTOMETRIC_MINISBLACK, COMPRESSION_LZW);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
    assert_true(TIFFWriteRawStrip(tiff, 0, packed, (tmsize_t)n / 2) > 0);
    TIFFClose(tiff);
    assert_int_equal(gi_load(&image, NULL, NULL, path, &strictly, NULL, &err), GI_E_FORMAT);
}

#define TESTS cmocka_unit_test(old_lzw)

#else

static void left_out(void **state)
{
    (void)state;
    print_message("skipped: this build has no libtiff\n");
    skip();
}

#define TESTS cmocka_unit_test(left_out)

#endif

int main(void)
{
    strcpy(folder, make_folder());
    snprintf(path, sizeof path, "%s/a.tif", folder);
    const struct CMUnitTest tests[] = {TESTS};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder(folder);
    return failed;
}
