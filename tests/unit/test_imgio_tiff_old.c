/* TIFF files of kinds that old programs and instruments write, made through libtiff or by hand.
 * Sources: imgio/tiff
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"
#include "jpeg_cases.h"

#include <math.h>

#include "imgio/tiff/tiff.h"

static char path[128];

#if GI_HAVE_TIFF

enum { WIDTH = 67, HEIGHT = 45 };

/* Opens a file to write, with 8 bits per sample in chunky order unless the caller changes that. */
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

/* Writes `n` bytes in the LZW code used before TIFF 5.0, whose codes begin at the lowest bit. All
 * codes have 9 bits, because the table is cleared before it needs 10 bits. Returns the number of
 * bytes written. */
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

TEST(old_lzw)
{
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

/* Returns sample c (0: Y, 1: Cb, 2: Cr) of a pixel. For chroma, x and y count the blocks of pixels
 * that share a sample. */
static unsigned char ycbcr_sample(unsigned x, unsigned y, unsigned c)
{
    return (unsigned char)(c ? 16 + 37 * x + 23 * y + 90 * c : 7 + 5 * x + 3 * y + x * y);
}

/* Tests that the image has the samples of libtiff's RGBA interface for the file at `path`, which
 * tiff2rgba writes, in the first `columns` columns. */
static void assert_as_rgba(const struct gi_image *image, int columns, const char *what, size_t kind)
{
    static uint32_t want[WIDTH * HEIGHT];
    TIFF *tiff = TIFFOpen(path, "r");
    assert_non_null(tiff);
    assert_int_equal(TIFFReadRGBAImageOriented(tiff, WIDTH, HEIGHT, want, ORIENTATION_TOPLEFT, 1),
                     1);
    TIFFClose(tiff);
    assert_true(image->width == WIDTH && image->height == HEIGHT && image->type == GI_U8);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < columns; x++) {
            uint32_t v = want[y * WIDTH + x];
            const unsigned rgb[] = {TIFFGetR(v), TIFFGetG(v), TIFFGetB(v)};
            const uint8_t *got = (uint8_t *)gi_row(image, y) + x * image->channels;
            for (int c = 0; c < image->channels; c++)
                if (got[c] != rgb[c])
                    fail_msg("%s %zu at (%d, %d, %d): %d, want %u", what, kind, x, y, c, got[c],
                             rgb[c]);
        }
}

/* Stores a rectangle of pixels, `place` being {x0, y0, w, h}, in blocks of `across` x `down`
 * pixels. */
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
    /* With `video`, Y is from 16 to 235, and Cb and Cr are from 16 to 240. */
    bool tiles, video;
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

TEST(ycbcr)
{
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
        assert_int_equal(image.channels, 3);
        /* Of 4 x 4 pixels, libtiff 4.5 reads the last block of a strip short. */
        assert_as_rgba(&image, k->down < 4 ? WIDTH : WIDTH - 3, "kind", i);
        gi_image_free(&image);
    }
}

/* YCbCr files that end early, and files whose tags have invalid values. */
TEST(damaged_ycbcr)
{
    static const struct ycbcr_kind kinds[] = {{2, 2, COMPRESSION_LZW, false, false},
                                              {4, 1, COMPRESSION_NONE, true, false}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        write_ycbcr(&kinds[i]);
        struct bytes file = read_file(path);
        check_flips(file, 2000, i);
        for (size_t n = 0; n < file.n - 8; n += 1 + n / 40)
            assert_refused(file.at, n, GI_OK, "");
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

/* ---- JPEG as in TIFF 6.0, section 22 ---- */

/* Returns a TIFF of one strip, whose JPEG directly follows the directory. The caller frees the
 * bytes. */
static struct bytes wrap_old_jpeg(struct bytes jpeg, uint32_t samples, uint32_t sampling,
                                  bool video)
{
    enum { SHORT = 3, LONG = 4, RATIONAL = 5, NTAGS = 13 };
    static const uint32_t ranges[2][12] = {{0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1},
                                           {16, 1, 235, 1, 128, 1, 240, 1, 128, 1, 240, 1}};
    const uint32_t bits_at = 8 + 2 + NTAGS * 12 + 4, range_at = bits_at + 8, at = range_at + 48;
    const uint32_t tags[NTAGS][4] = {
        {TIFFTAG_IMAGEWIDTH, LONG, 1, WIDTH},
        {TIFFTAG_IMAGELENGTH, LONG, 1, HEIGHT},
        {TIFFTAG_BITSPERSAMPLE, SHORT, samples, samples == 3 ? bits_at : 8},
        {TIFFTAG_COMPRESSION, SHORT, 1, COMPRESSION_OJPEG},
        {TIFFTAG_PHOTOMETRIC, SHORT, 1, samples == 3 ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_MINISBLACK},
        {TIFFTAG_STRIPOFFSETS, LONG, 1, at},
        {TIFFTAG_SAMPLESPERPIXEL, SHORT, 1, samples},
        {TIFFTAG_STRIPBYTECOUNTS, LONG, 1, (uint32_t)jpeg.n},
        {TIFFTAG_JPEGPROC, SHORT, 1, JPEGPROC_BASELINE},
        {TIFFTAG_JPEGIFOFFSET, LONG, 1, at},
        {TIFFTAG_JPEGIFBYTECOUNT, LONG, 1, (uint32_t)jpeg.n},
        {TIFFTAG_YCBCRSUBSAMPLING, SHORT, 2, sampling << 16 | sampling},
        {TIFFTAG_REFERENCEBLACKWHITE, RATIONAL, 6, range_at},
    };
    struct bytes file = {calloc(1, at + jpeg.n), at + jpeg.n};
    assert_non_null(file.at);
    memcpy(file.at, "II*\0\10\0\0", 8);
    file.at[8] = NTAGS;
    for (size_t t = 0; t < NTAGS; t++) {
        unsigned char *entry = file.at + 10 + 12 * t;
        const uint16_t ids[] = {(uint16_t)tags[t][0], (uint16_t)tags[t][1]};
        memcpy(entry, ids, 4);
        memcpy(entry + 4, &tags[t][2], 8);
    }
    memcpy(file.at + bits_at, (const uint16_t[]){8, 8, 8}, 6);
    memcpy(file.at + range_at, ranges[video], sizeof ranges[video]);
    memcpy(file.at + at, jpeg.at, jpeg.n);
    return file;
}

TEST(old_jpeg)
{
    static const struct jpeg_recipe kinds[] = {
        {WIDTH, HEIGHT, 1, false, false, JCS_GRAYSCALE, 1, false},
        {WIDTH, HEIGHT, 3, false, false, JCS_YCbCr, 1, false},
        {WIDTH, HEIGHT, 3, false, false, JCS_YCbCr, 2, false},
        {WIDTH, HEIGHT, 3, false, false, JCS_YCbCr, 2, false},
    };
    if (!TIFFIsCODECConfigured(COMPRESSION_OJPEG))
        skip();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct gi_image image, source = random_image(WIDTH, HEIGHT, kinds[i].channels, GI_U8, 3);
        struct gi_err err = {0}, warning;
        struct bytes jpeg = jpeg_make(&source, &kinds[i], 90);
        int channels = kinds[i].channels, sampling = kinds[i].sampling;
        struct bytes file = wrap_old_jpeg(jpeg, (uint32_t)channels, (uint32_t)sampling, i % 2);
        if (load_bytes(&image, file.at, file.n, &strictly, &warning, &err))
            fail_msg("kind %zu: %s", i, err.text);
        assert_int_equal(warning.status, GI_OK);
        write_file(path, file.at, file.n);
        assert_int_equal(image.channels, channels);
        assert_as_rgba(&image, WIDTH, "JPEG", i);
        gi_image_free(&image);
        check_flips(file, 1000, i);
        for (size_t n = 0; n < file.n - 8; n += 1 + n / 40)
            assert_refused(file.at, n, GI_OK, "");
        free(file.at);
        free(jpeg.at);
        gi_image_free(&source);
    }
}

/* A last strip of JPEG may have all rows of a strip, of which the ones below the image are cut off.
 * libtiff warns of it. */
TEST(long_strip)
{
    enum { ROWS = 16 };
    if (!TIFFIsCODECConfigured(COMPRESSION_JPEG))
        skip();
    struct gi_image source = random_image(WIDTH, ROWS, 1, GI_U8, 3), image;
    const struct jpeg_recipe recipe = {WIDTH, ROWS, 1, false, false, JCS_GRAYSCALE, 1, false};
    struct bytes jpeg = jpeg_make(&source, &recipe, 90);
    struct gi_image strip = decode_or_fail(jpeg.at, jpeg.n);
    struct gi_err err = {0};
    TIFF *tiff = new_tiff(1, PHOTOMETRIC_MINISBLACK, COMPRESSION_JPEG);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, ROWS);
    TIFFSetField(tiff, TIFFTAG_JPEGTABLESMODE, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(TIFFWriteRawStrip(tiff, i, jpeg.at, (tmsize_t)jpeg.n) > 0);
    TIFFClose(tiff);
    if (gi_load(&image, NULL, NULL, path, &strictly, NULL, &err))
        fail_msg("%s", err.text);
    for (int y = 0; y < HEIGHT; y++)
        assert_memory_equal(gi_row(&image, y), gi_row(&strip, y % ROWS), WIDTH);
    gi_image_free(&image);
    gi_image_free(&strip);
    gi_image_free(&source);
    free(jpeg.at);
}

/* ---- samples by value ---- */

/* Signed integers of 8, 16 or 32 bits, and unsigned integers of 32 bits, become floats of the same
 * value. */
TEST(integers_by_value)
{
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
            struct gi_file_info info;
            if (gi_load(&image, NULL, &info, path, &strictly, NULL, &err))
                fail_msg("case %zu: %s", i, err.text);
            assert_true(image.type == GI_F32 && image.channels == 1);
            assert_true(info.integers && info.maxval == 0 && info.bits == (int)cases[i].bits);
            assert_memory_equal(image.data, cases[i].want, sizeof cases[i].want);
            gi_image_free(&image);
        }
}

#else

TEST(no_libtiff)
{
    without_libtiff();
}

#endif

TEST_PATH(path, "a.tif")
