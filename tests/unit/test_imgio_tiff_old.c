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

/* ---- YCbCr ---- */

/* Sample c (0: Y, 1: Cb, 2: Cr) of the pixel, or of the pixels that share it. */
static unsigned char ycbcr_sample(unsigned x, unsigned y, unsigned c)
{
    return (unsigned char)(c ? 16 + 37 * x + 23 * y + 90 * c : 7 + 5 * x + 3 * y + x * y);
}

static uint8_t rounded(double v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : nearbyint(v));
}

/* ITU-R BT.601, from samples of full range; the weights are floats, as libtiff has them. */
static void bt601(uint8_t *rgb, double y, double cb, double cr)
{
    const double red = (double)0.299f, green = (double)0.587f, blue = (double)0.114f;
    rgb[0] = rounded(y + 2 * (1 - red) * cr);
    rgb[1] = rounded(y - 2 * (1 - blue) * blue / green * cb - 2 * (1 - red) * red / green * cr);
    rgb[2] = rounded(y + 2 * (1 - blue) * cb);
}

/* The samples of columns x0 to x0 + w and rows y0 to y0 + h in blocks of `across` x `down`. */
static size_t fill_blocks(unsigned char *to, const unsigned place[4], unsigned across,
                          unsigned down)
{
    size_t n = 0;
    for (unsigned y = place[1]; y < place[1] + place[3]; y += down)
        for (unsigned x = place[0]; x < place[0] + place[2]; x += across) {
            for (unsigned i = 0; i < across * down; i++)
                to[n++] = ycbcr_sample(x + i % across, y + i / across, 0);
            for (unsigned c = 1; c < 3; c++)
                to[n++] = ycbcr_sample(x / across, y / down, c);
        }
    return n;
}

struct ycbcr_kind {
    unsigned across, down, compression;
    bool tiles, video; /* video: Y from 16 to 235, Cb and Cr from 16 to 240 */
};

static void write_ycbcr(const struct ycbcr_kind *k)
{
    enum { ROWS = 16, TILE = 32 };
    static unsigned char blocks[3 * (WIDTH + 4) * (HEIGHT + 4)];
    TIFF *tiff = new_tiff(3, PHOTOMETRIC_YCBCR, k->compression);
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, k->across, k->down);
    if (k->video)
        TIFFSetField(tiff, TIFFTAG_REFERENCEBLACKWHITE, (float[]){16, 235, 128, 240, 128, 240});
    unsigned side = k->tiles ? TILE : WIDTH, rows = k->tiles ? TILE : ROWS;
    if (k->tiles) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, ROWS);
    }
    uint32_t index = 0;
    for (unsigned y = 0; y < HEIGHT; y += rows)
        for (unsigned x = 0; x < WIDTH; x += side, index++) {
            unsigned h = k->tiles || HEIGHT - y > rows ? rows : HEIGHT - y;
            size_t n = fill_blocks(blocks, (unsigned[]){x, y, side, h}, k->across, k->down);
            tmsize_t wrote = k->tiles ? TIFFWriteEncodedTile(tiff, index, blocks, (tmsize_t)n)
                                      : TIFFWriteEncodedStrip(tiff, index, blocks, (tmsize_t)n);
            assert_true(wrote > 0);
        }
    TIFFClose(tiff);
}

static void ycbcr(void **state)
{
    (void)state;
    static const struct ycbcr_kind kinds[] = {
        {1, 1, COMPRESSION_NONE, false, false}, {2, 1, COMPRESSION_LZW, false, false},
        {2, 2, COMPRESSION_NONE, false, true},  {2, 2, COMPRESSION_PACKBITS, true, false},
        {4, 2, COMPRESSION_NONE, true, false},  {4, 4, COMPRESSION_LZW, false, true},
        {1, 2, COMPRESSION_NONE, false, false},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct ycbcr_kind *k = &kinds[i];
        struct gi_image image;
        struct gi_err err = {0}, warning;
        write_ycbcr(k);
        if (gi_load(&image, NULL, NULL, path, &strictly, &warning, &err))
            fail_msg("kind %zu: %s", i, err.text);
        assert_int_equal(warning.status, GI_OK);
        assert_true(image.channels == 3 && image.type == GI_U8);
        for (unsigned y = 0; y < HEIGHT; y++)
            for (unsigned x = 0; x < WIDTH; x++) {
                uint8_t want[3], *got = (uint8_t *)gi_row(&image, (int)y) + 3 * (size_t)x;
                double luma = ycbcr_sample(x, y, 0);
                double cb = ycbcr_sample(x / k->across, y / k->down, 1) - 128.0;
                double cr = ycbcr_sample(x / k->across, y / k->down, 2) - 128.0;
                if (k->video)
                    bt601(want, (luma - 16) * 255 / 219, cb * 127 / 112, cr * 127 / 112);
                else
                    bt601(want, luma, cb, cr);
                if (memcmp(got, want, 3) != 0)
                    fail_msg("kind %zu at (%u, %u): %d %d %d, want %d %d %d", i, x, y, got[0],
                             got[1], got[2], want[0], want[1], want[2]);
            }
        gi_image_free(&image);
    }
}

/* Files that end early, and tags that mean nothing. */
static void damaged_ycbcr(void **state)
{
    (void)state;
    static const struct ycbcr_kind kinds[] = {{2, 2, COMPRESSION_LZW, false, false},
                                              {4, 1, COMPRESSION_NONE, true, false}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        write_ycbcr(&kinds[i]);
        struct bytes file = read_file(path);
        check_flips(file, 2000, i);
        for (size_t n = 0; n < file.n - 8; n += 1 + n / 40) {
            struct gi_image image;
            struct gi_err err;
            assert_int_not_equal(load_bytes(&image, file.at, n, &strictly, NULL, &err), GI_OK);
        }
        free(file.at);
    }
    static const float ranges[][6] = {{0, 0, 128, 255, 128, 255}, {0, 255, 128, 255, 255, 255}};
    for (int i = 0; i < 3; i++) {
        static unsigned char blocks[6 * WIDTH * HEIGHT];
        struct gi_image image;
        struct gi_err err;
        TIFF *tiff = new_tiff(3, PHOTOMETRIC_YCBCR, COMPRESSION_NONE);
        TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
        if (i < 2)
            TIFFSetField(tiff, TIFFTAG_REFERENCEBLACKWHITE, ranges[i]);
        else
            TIFFSetField(tiff, TIFFTAG_YCBCRCOEFFICIENTS, (float[]){0.5f, 0, 0.5f});
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
        assert_true(TIFFWriteEncodedStrip(tiff, 0, blocks, 3 * WIDTH * HEIGHT) > 0);
        TIFFClose(tiff);
        assert_int_equal(gi_load(&image, NULL, NULL, path, &strictly, NULL, &err), GI_E_FORMAT);
        assert_non_null(strstr(err.text, "its tags of YCbCr"));
    }
}

/* ---- samples by value ---- */

/* Integers of 8, 16 and 32 bits with a sign, and of 32 without: floats of the same value. */
static void integers_by_value(void **state)
{
    (void)state;
    static const int32_t values[4] = {INT32_MIN, -1000, 3071, 0x7fffff80};
    static const int16_t halves[4] = {INT16_MIN, -1000, 3071, INT16_MAX};
    static const int8_t bytes[4] = {INT8_MIN, -1, 0, INT8_MAX};
    static const struct {
        unsigned bits, format;
        const void *samples;
        float want[4];
    } cases[] = {
        {8, SAMPLEFORMAT_INT, bytes, {-128, -1, 0, 127}},
        {16, SAMPLEFORMAT_INT, halves, {-32768, -1000, 3071, 32767}},
        {32, SAMPLEFORMAT_INT, values, {-2147483648.0f, -1000, 3071, 2147483520.0f}},
        {32, SAMPLEFORMAT_UINT, values, {2147483648.0f, 4294966296.0f, 3071, 2147483520.0f}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int big = 0; big < 2; big++) {
            struct gi_image image;
            struct gi_err err = {0};
            unsigned char row[16];
            TIFF *tiff = TIFFOpen(path, big ? "wb" : "wl");
            assert_non_null(tiff);
            TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
            TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
            TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, cases[i].bits);
            TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
            TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, cases[i].format);
            TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
            TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
            TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
            TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
            memcpy(row, cases[i].samples, cases[i].bits / 2);
            assert_int_equal(TIFFWriteScanline(tiff, row, 0, 0), 1);
            TIFFClose(tiff);
            if (gi_load(&image, NULL, NULL, path, &strictly, NULL, &err))
                fail_msg("case %zu: %s", i, err.text);
            assert_true(image.type == GI_F32 && image.channels == 1);
            assert_memory_equal(image.data, cases[i].want, sizeof cases[i].want);
            gi_image_free(&image);
        }
}

#define TESTS                                                                                      \
    cmocka_unit_test(old_lzw), cmocka_unit_test(ycbcr), cmocka_unit_test(damaged_ycbcr),           \
        cmocka_unit_test(integers_by_value)

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
