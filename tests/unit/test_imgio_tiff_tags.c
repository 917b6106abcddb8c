/* The tags of small TIFF files, made with libtiff, lead to the right pixels or messages.
 * Sources: imgio/tiff
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <math.h>

#include "imgio/tiff/tiff.h"

static char path[128];

#if GI_HAVE_TIFF

/* Writes a picture of 4 x 1 pixels, with `bits` bits per pixel, whose data are `bytes`. The list
 * `tags` ends with {0, 0}. */
static void write_row(const unsigned tags[][2], const unsigned char bytes[16])
{
    TIFF *tiff = TIFFOpen(path, "wl");
    assert_non_null(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    for (; (*tags)[0]; tags++) {
        const uint16_t kind = (uint16_t)(*tags)[1];
        uint16_t map[3][256];
        for (unsigned i = 0; i < 3 * 256; i++) /* COLORMAP: the factor of i, blue i + 1 */
            map[i / 256][i % 256] = (uint16_t)((i % 256 + (i >= 512)) * (*tags)[1]);
        if ((*tags)[0] == TIFFTAG_COLORMAP)
            TIFFSetField(tiff, (*tags)[0], map[0], map[1], map[2]);
        else if ((*tags)[0] == TIFFTAG_EXTRASAMPLES)
            TIFFSetField(tiff, (*tags)[0], 1, &kind);
        else if ((*tags)[0] == TIFFTAG_XRESOLUTION || (*tags)[0] == TIFFTAG_YRESOLUTION)
            TIFFSetField(tiff, (*tags)[0], (double)(*tags)[1]);
        else
            TIFFSetField(tiff, (*tags)[0], (*tags)[1]);
    }
    assert_true(TIFFWriteRawStrip(tiff, 0, (void *)bytes, 16) == 16);
    TIFFClose(tiff);
}

/* A feature of TIFF 6.0 that we do not support is refused with a message that names it. */
TEST(refused)
{
    static const struct {
        unsigned tags[5][2];
        const char *says;
    } cases[] = {
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR},
          {TIFFTAG_SAMPLESPERPIXEL, 3},
          {TIFFTAG_PLANARCONFIG, PLANARCONFIG_SEPARATE}},
         "YCbCr with 3 samples of 8 bits, in planes"},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR},
          {TIFFTAG_SAMPLESPERPIXEL, 3},
          {TIFFTAG_BITSPERSAMPLE, 16}},
         "YCbCr with 3 samples of 16 bits"},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_CIELAB}, {TIFFTAG_SAMPLESPERPIXEL, 3}},
         "colours of kind 8"},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_SEPARATED}, {TIFFTAG_SAMPLESPERPIXEL, 3}},
         "inks in samples of 3"},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB}, {TIFFTAG_SAMPLESPERPIXEL, 2}},
         "2 samples per pixel of 3 colours"},
        {{{TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_COMPLEXINT}}, "samples of kind 5"},
        {{{TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_INT}, {TIFFTAG_BITSPERSAMPLE, 12}},
         "signed samples of bits 12"},
        {{{TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_INT},
          {TIFFTAG_BITSPERSAMPLE, 16},
          {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE}},
         "float or signed samples and colours of kind 0"},
        {{{TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_INT},
          {TIFFTAG_BITSPERSAMPLE, 16},
          {TIFFTAG_SAMPLESPERPIXEL, 2},
          {TIFFTAG_EXTRASAMPLES, EXTRASAMPLE_UNASSALPHA}},
         "alpha and integer samples of bits 16"},
        {{{TIFFTAG_BITSPERSAMPLE, 64}}, "samples of bits 64"},
        {{{TIFFTAG_BITSPERSAMPLE, 16}, {TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP}},
         "float samples of bits 16"},
        {{{TIFFTAG_BITSPERSAMPLE, 32},
          {TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP},
          {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE}},
         "float or signed samples and colours of kind 0"},
        {{{TIFFTAG_BITSPERSAMPLE, 32},
          {TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP},
          {TIFFTAG_SAMPLESPERPIXEL, 4},
          {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_SEPARATED}},
         "float or signed samples and colours of kind 5"},
        {{{TIFFTAG_SAMPLESPERPIXEL, 1025}}, "samples per pixel: 1025"},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE},
          {TIFFTAG_SAMPLESPERPIXEL, 2},
          {TIFFTAG_COLORMAP, 1}},
         "a palette and other samples beside it (2 samples per pixel)"},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE},
          {TIFFTAG_SAMPLESPERPIXEL, 2},
          {TIFFTAG_EXTRASAMPLES, 1},
          {TIFFTAG_COLORMAP, 1}},
         "a palette and alpha beside it"},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE}, {TIFFTAG_BITSPERSAMPLE, 4}}, "Colormap"},
    };
    static const unsigned char zeros[16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_image image;
        struct gi_err err = {0};
        write_row(cases[i].tags, zeros);
        if (!gi_load(&image, NULL, NULL, path, &strictly, NULL, &err) ||
            !strstr(err.text, cases[i].says))
            fail_msg("case %zu: %s; want %s", i, err.text, cases[i].says);
    }
}

/* Returns the entry of a tag in the only directory of the file, which is little-endian. */
static unsigned char *find_entry(struct bytes file, unsigned tag)
{
    size_t at = file.at[4] | (size_t)file.at[5] << 8 | (size_t)file.at[6] << 16;
    unsigned n = file.at[at] | (unsigned)file.at[at + 1] << 8;
    for (unsigned i = 0; i < n; i++)
        if ((file.at[at + 2 + 12 * i] | file.at[at + 3 + 12 * i] << 8) == (int)tag)
            return file.at + at + 2 + 12 * i;
    fail_msg("no tag %u", tag);
    return NULL;
}

/* Every compression that libtiff can't read is refused as not supported, also if partial images are
 * allowed, which would be black. The numbers are those that libtiff's header names, those of other
 * programs, and made-up ones. */
TEST(compressions)
{
    static const unsigned named[] = {0,     2,     3,     4,     6,     7,     9,     10,    22610,
                                     32766, 32769, 32770, 32771, 32809, 32895, 32896, 32897, 32898,
                                     32908, 32909, 32947, 33003, 33005, 34661, 34676, 34677, 34712,
                                     34715, 34887, 34892, 34925, 34926, 34927, 34933, 34934, 50000,
                                     50001, 50002, 52546, 65000, 65535};
    static const unsigned char zeros[16];
    size_t n = sizeof named / sizeof *named, refused = 0;
    write_row((const unsigned[][2]){{TIFFTAG_COMPRESSION, COMPRESSION_NONE}, {0, 0}}, zeros);
    struct bytes file = read_file(path);
    unsigned char *value = find_entry(file, TIFFTAG_COMPRESSION) + 8;
    for (size_t i = 0; i < n + 65536 / 91; i++) {
        unsigned number = i < n ? named[i] : (unsigned)(i - n) * 91 + 11;
        struct gi_image image;
        struct gi_err err = {0};
        if (TIFFIsCODECConfigured((uint16_t)number))
            continue;
        value[0] = (unsigned char)number;
        value[1] = (unsigned char)(number >> 8);
        for (int partial = 0; partial < 2; partial++) {
            enum gi_status status =
                load_bytes(&image, file.at, file.n, partial ? &partially : &strictly, NULL, &err);
            if (status != GI_E_UNSUPPORTED || !strstr(err.text, "not supported") ||
                strstr(err.text, "damaged"))
                fail_msg("compression %u: %s", number, err.text);
        }
        refused++;
    }
    assert_true(refused > 500);
    free(file.at);
}

/* JPEG within TIFF of a process that libjpeg does not have, such as DNG's lossless one, and other
 * settings of codecs that libtiff has not. */
TEST(codecs)
{
    static const struct {
        unsigned tags[5][2];
        const char *bytes;
    } cases[] = {
        {{{TIFFTAG_COMPRESSION, COMPRESSION_JPEG}}, "\xff\xd8\xff\xc3\0\13\10\0\1\0\4\1\1\x11\0"},
        {{{TIFFTAG_COMPRESSION, COMPRESSION_PIXARLOG}, {TIFFTAG_BITSPERSAMPLE, 2}},
         "0123456789abcde"},
        {{{TIFFTAG_COMPRESSION, COMPRESSION_THUNDERSCAN}}, "0123456789abcde"},
        {{{TIFFTAG_COMPRESSION, COMPRESSION_NEXT}}, "0123456789abcde"},
        {{{TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4}}, "0123456789abcde"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned tags[5][2];
        unsigned number = cases[i].tags[0][1];
        memcpy(tags, cases[i].tags, sizeof tags);
        tags[0][1] = COMPRESSION_NONE; /* so that libtiff writes the bytes */
        write_row((const unsigned(*)[2])tags, (const unsigned char *)cases[i].bytes);
        struct bytes file = read_file(path);
        unsigned char *value = find_entry(file, TIFFTAG_COMPRESSION) + 8;
        value[0] = (unsigned char)number;
        value[1] = (unsigned char)(number >> 8);
        for (int partial = 0; partial < 2; partial++) {
            struct gi_image image;
            struct gi_err err = {0};
            if (load_bytes(&image, file.at, file.n, partial ? &partially : &strictly, NULL, &err) !=
                    GI_E_UNSUPPORTED ||
                strstr(err.text, "damaged"))
                fail_msg("case %zu: %s", i, err.text);
        }
        free(file.at);
    }
}

/* A value that libtiff complains of and ignores is a warning that names the tag, and the pixels are
 * read. */
TEST(complaints)
{
    static const struct {
        unsigned tag, value;
        const char *says;
    } cases[] = {
        {TIFFTAG_ORIENTATION, 9, "Orientation"},
        {TIFFTAG_ORIENTATION, 0, "Orientation"},
        {TIFFTAG_FILLORDER, 7, "FillOrder"},
    };
    static const unsigned char bytes[16] = {1, 20, 300 % 256, 255};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_row((const unsigned[][2]){{TIFFTAG_ORIENTATION, 1},
                                        {TIFFTAG_FILLORDER, 1},
                                        {TIFFTAG_SAMPLEFORMAT, 1},
                                        {0, 0}},
                  bytes);
        struct bytes file = read_file(path);
        find_entry(file, cases[i].tag)[8] = (unsigned char)cases[i].value;
        struct gi_image image;
        struct gi_err warning, err = {0};
        if (load_bytes(&image, file.at, file.n, &strictly, &warning, &err))
            fail_msg("case %zu: %s", i, err.text);
        if (!strstr(warning.text, cases[i].says))
            fail_msg("case %zu: %s", i, warning.text);
        assert_memory_equal(image.data, bytes, 4);
        gi_image_free(&image);
        free(file.at);
    }
}

/* Tests pixels whose meaning TIFF 6.0 defines by tags, and palettes of bytes, which some writers
 * make. */
TEST(tags)
{
    static const struct {
        unsigned tags[6][2];
        int channels;
        uint8_t want[12];
        double dpi;
    } cases[] = {
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE}, {TIFFTAG_COLORMAP, 257}},
         3,
         {10, 10, 11, 20, 20, 21, 30, 30, 31, 40, 40, 41},
         0},
        {{{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE}, {TIFFTAG_COLORMAP, 0}}, 1, {0, 0, 0, 0}, 0},
        {{{TIFFTAG_SAMPLESPERPIXEL, 2}, {TIFFTAG_EXTRASAMPLES, EXTRASAMPLE_UNASSALPHA}},
         2,
         {10, 20, 30, 40, 50, 60, 70, 80},
         0},
        {{{TIFFTAG_XRESOLUTION, 100},
          {TIFFTAG_YRESOLUTION, 100},
          {TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER}},
         1,
         {10, 20, 30, 40},
         254},
        {{{TIFFTAG_XRESOLUTION, 100},
          {TIFFTAG_YRESOLUTION, 100},
          {TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE}},
         1,
         {10, 20, 30, 40},
         100},
        {{{TIFFTAG_XRESOLUTION, 72}, {TIFFTAG_YRESOLUTION, 72}}, 1, {10, 20, 30, 40}, 72},
        {{{TIFFTAG_XRESOLUTION, 72}, {TIFFTAG_YRESOLUTION, 0}}, 1, {10, 20, 30, 40}, 0},
        {{{TIFFTAG_XRESOLUTION, 72}}, 1, {10, 20, 30, 40}, 0},
        {{{TIFFTAG_XRESOLUTION, 0}, {TIFFTAG_YRESOLUTION, 72}}, 1, {10, 20, 30, 40}, 0},
        {{{TIFFTAG_XRESOLUTION, 2000000}, {TIFFTAG_YRESOLUTION, 72}}, 1, {10, 20, 30, 40}, 0},
        {{{TIFFTAG_XRESOLUTION, 72}, {TIFFTAG_YRESOLUTION, 2000000}}, 1, {10, 20, 30, 40}, 0},
        {{{TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_VOID}}, 1, {10, 20, 30, 40}, 0},
    };
    static const unsigned char bytes[16] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_image image;
        struct gi_metadata metadata;
        struct gi_err err = {0};
        write_row(cases[i].tags, bytes);
        if (gi_load(&image, &metadata, NULL, path, &strictly, NULL, &err))
            fail_msg("case %zu: %s", i, err.text);
        assert_int_equal(image.channels, cases[i].channels);
        assert_memory_equal(image.data, cases[i].want, gi_row_nbytes(&image));
        assert_true(fabs(metadata.dpi_x - cases[i].dpi) < 1e-9);
        assert_true(fabs(metadata.dpi_y - cases[i].dpi) < 1e-9);
        gi_metadata_free(&metadata);
        gi_image_free(&image);
    }
}

/* A time in TIFF's form is written to the tag DateTime (TIFF 6.0, section 8). Any other time is
 * written to the description, with its keyword. Descriptions of several pages by ImageJ, OME and
 * tifffile are dropped, but not ImageJ's of one image, which holds the unit of the resolution. */
TEST(texts)
{
    static const struct {
        const char *keyword, *text, *as; /* keyword read back; NULL: dropped */
    } cases[] = {
        {"Creation Time", "2026:11:23 12:00:00", "Creation Time"},
        {"Creation Time", "2026-11-23 12:00:00", "Description"},
        {"Creation Time", "2026:11:23T12:00:00", "Description"},
        {"Creation Time", "2026:11:23", "Description"},
        {"Author", "somebody", "Author"},
        {"Odd", "thing", "Description"},
        {"Description", "ImageJ=1.53", "Description"},
        {"Description", "ImageJ=1.53\nimages=2", NULL},
        {"Description", "<?xml?><OME xmlns='x'/>", NULL},
        {"Description", "{\"shape\": [6, 3, 4]}", NULL},
        {"Description", "shape=(6, 3, 4)", NULL},
        {"Description", "{\"shapes\": 6}", "Description"},
        {"Description", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keyword[32];
        struct gi_text text = {strcpy(keyword, cases[i].keyword), "", "", cases[i].text};
        struct gi_metadata in = {
            .texts = &text, .ntexts = 1, .texts_nbytes = 2 * (32 + strlen(text.text)) + 4};
        struct gi_metadata out;
        struct gi_image image = random_image(4, 3, 1, GI_U8, 1), back;
        const struct gi_save_options options = {.format = "tiff", .compression = 1};
        assert_int_equal(gi_save(&image, &in, path, &options, NULL, NULL), GI_OK);
        assert_int_equal(gi_load(&back, &out, NULL, path, &strictly, NULL, NULL), GI_OK);
        if (out.ntexts != (cases[i].as != NULL))
            fail_msg("case %zu: %d texts", i, out.ntexts);
        if (cases[i].as) {
            assert_string_equal(out.texts[0].keyword, cases[i].as);
            assert_non_null(strstr(out.texts[0].text, cases[i].text));
        }
        gi_metadata_free(&out);
        gi_image_free(&back);
        gi_image_free(&image);
    }
}

/* A palette whose entries are all below 256 is a palette of bytes. */
TEST(narrow_palette)
{
    static const unsigned tags[][2] = {{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE},
                                       {TIFFTAG_BITSPERSAMPLE, 4},
                                       {TIFFTAG_COLORMAP, 15},
                                       {0, 0}};
    static const uint8_t want[] = {15, 15, 30, 30, 30, 45, 210, 210, 225, 0, 0, 15};
    struct gi_image image;
    write_row(tags, (const unsigned char[16]){0x12, 0xe0});
    image = load_or_fail(path);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.data, want, sizeof want);
    gi_image_free(&image);
}

/* Floats with premultiplied colour are divided by alpha. Where alpha is 0, the colour is
 * unchanged. */
TEST(associated_floats)
{
    static const float samples[] = {0.25f, 0.5f, 0.25f, 0, 0.75f, 1, -1, 0.25f},
                       want[] = {0.5f, 0.5f, 0.25f, 0, 0.75f, 1, -4, 0.25f};
    static const uint16_t associated = EXTRASAMPLE_ASSOCALPHA;
    TIFF *tiff = TIFFOpen(path, "wl");
    assert_non_null(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 2);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
    assert_true(TIFFWriteEncodedStrip(tiff, 0, (void *)samples, sizeof samples) > 0);
    TIFFClose(tiff);
    struct gi_image image = load_or_fail(path);
    assert_true(image.channels == 2 && image.type == GI_F32);
    assert_memory_equal(image.data, want, sizeof want);
    gi_image_free(&image);
}

/* A chain of empty directories is counted only up to libtiff's maximum. */
TEST(many_pages)
{
    enum { MOST = 1 << 20, EACH = 6 };
    static const int counts[] = {MOST - 1, MOST, MOST + 1};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        size_t n = 8 + (size_t)counts[k] * EACH;
        unsigned char *bytes = calloc(1, n);
        struct gi_tiff_pages found;
        assert_non_null(bytes);
        memcpy(bytes, "II*\0\10\0\0", 8);
        for (int i = 0; i + 1 < counts[k]; i++) {
            uint32_t next = (uint32_t)(8 + (i + 1) * EACH);
            for (int b = 0; b < 4; b++)
                bytes[8 + i * EACH + 2 + b] = (unsigned char)(next >> 8 * b);
        }
        gi_tiff_find_page(&found, bytes, n, 3);
        assert_int_equal(found.n, counts[k] < MOST ? counts[k] : MOST);
        assert_int_equal(found.offset, 8 + 3 * EACH);
        free(bytes);
    }
}

/* JPEG inside TIFF, in YCbCr as usual, is read as the same RGB that libtiff returns. */
TEST(jpeg_inside)
{
    enum { WIDTH = 67, HEIGHT = 45 };
    unsigned char rgb[WIDTH * 3];
    if (!TIFFIsCODECConfigured(COMPRESSION_JPEG))
        skip();
    TIFF *tiff = TIFFOpen(path, "wl");
    assert_non_null(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_JPEG);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
    for (int y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < WIDTH * 3; i++)
            rgb[i] = (unsigned char)(i + 3 * y + 40 * (i % 3));
        assert_int_equal(TIFFWriteScanline(tiff, rgb, (uint32_t)y, 0), 1);
    }
    TIFFClose(tiff);
    struct gi_image image = load_or_fail(path);
    tiff = TIFFOpen(path, "r");
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    assert_int_equal(image.channels, 3);
    for (int y = 0; y < HEIGHT; y++) {
        assert_int_equal(TIFFReadScanline(tiff, rgb, (uint32_t)y, 0), 1);
        assert_memory_equal(gi_row(&image, y), rgb, sizeof rgb);
    }
    TIFFClose(tiff);
    gi_image_free(&image);
}

#else

TEST(no_libtiff)
{
    without_libtiff();
}

#endif

TEST_PATH(path, "a.tif")
