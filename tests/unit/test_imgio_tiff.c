/* TIFF files of many kinds, which libtiff writes sample by sample, are read with the same samples
 * as were written.
 * Sources: imgio/tiff
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <math.h>

#include "imgio/pages.h"
#include "imgio/tiff/tiff.h"

static char path[128];

#if GI_HAVE_TIFF

/* What a file made by the test is like. */
struct kind {
    unsigned bits, samples, photometric, compression;
    bool planar, tiles, big_endian, bigtiff, is_float;
    int alpha; /* EXTRASAMPLE_..., -1: none */
};

enum { WIDTH = 67, HEIGHT = 45, TILE = 32 };

/* Returns the largest integer that a sample is made from. Floats are made from integers too. */
static unsigned most_of(const struct kind *k)
{
    return k->is_float ? UINT32_MAX : (1u << k->bits) - 1;
}

/* Returns sample s of pixel (x, y) as the file stores it. */
static unsigned sample(const struct kind *k, int x, int y, unsigned s)
{
    unsigned v = (unsigned)(x * 3 + y * 5) + 40 * s + (unsigned)(x * y) % 7;
    return v * (k->bits > 8 ? 257 : 1) & most_of(k);
}

static void put_bits(unsigned char *line, size_t i, unsigned bits, unsigned v)
{
    for (unsigned b = 0; b < bits; b++) {
        size_t at = i * bits + b;
        if (v >> (bits - 1 - b) & 1)
            line[at / 8] |= (unsigned char)(0x80 >> at % 8);
    }
}

/* Fills `line` with the samples `first` to `last` of `n` pixels, in the machine's byte order as
 * libtiff expects. */
static void fill_line(const struct kind *k, unsigned char *line, int x0, int y, int n,
                      unsigned first, unsigned last)
{
    size_t i = 0;
    for (int x = x0; x < x0 + n; x++)
        for (unsigned s = first; s <= last; s++, i++) {
            unsigned v = x < WIDTH && y < HEIGHT ? sample(k, x, y, s) : 0;
            if (k->is_float && k->bits == 32)
                ((float *)line)[i] = (float)v / 1000 - 1;
            else if (k->is_float)
                ((double *)line)[i] = (float)v / 1000 - 1;
            else if (k->bits == 16)
                ((uint16_t *)line)[i] = (uint16_t)v;
            else
                put_bits(line, i, k->bits, v);
        }
}

static void write_pixels(TIFF *tiff, const struct kind *k)
{
    int planes = k->planar ? (int)k->samples : 1;
    static unsigned char piece[TILE * TILE * 64];
    for (int p = 0; p < planes; p++) {
        unsigned first = k->planar ? (unsigned)p : 0, last = k->planar ? first : k->samples - 1;
        for (int y = 0; !k->tiles && y < HEIGHT; y++) {
            memset(piece, 0, sizeof piece);
            fill_line(k, piece, 0, y, WIDTH, first, last);
            assert_int_equal(TIFFWriteScanline(tiff, piece, (uint32_t)y, (uint16_t)p), 1);
        }
        for (int y = 0; k->tiles && y < HEIGHT; y += TILE)
            for (int x = 0; x < WIDTH; x += TILE) {
                size_t row = (size_t)TIFFTileRowSize(tiff);
                memset(piece, 0, sizeof piece);
                for (int i = 0; i < TILE; i++)
                    fill_line(k, piece + (size_t)i * row, x, y + i, TILE, first, last);
                assert_true(TIFFWriteTile(tiff, piece, (uint32_t)x, (uint32_t)y, 0, (uint16_t)p) >
                            0);
            }
    }
}

/* Writes `npages` pages with the orientation `orientation`. If that is 0, the pages have the
 * orientations 1, 2, 3 and so on. */
static void write_tiff(const struct kind *k, int orientation, int npages)
{
    char mode[8];
    snprintf(mode, sizeof mode, "w%s%s", k->big_endian ? "b" : "l", k->bigtiff ? "8" : "");
    TIFF *tiff = TIFFOpen(path, mode);
    assert_non_null(tiff);
    for (int page = 0; page < npages; page++) {
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, k->bits);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, k->samples);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, k->photometric);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, k->compression);
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, orientation ? orientation : page + 1);
        TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
                     k->planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
        if (k->is_float)
            TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
        bool predicts =
            k->compression == COMPRESSION_LZW || k->compression == COMPRESSION_ADOBE_DEFLATE;
        if (predicts && (k->bits == 8 || k->bits == 16))
            TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
        if (predicts && k->is_float)
            TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_FLOATINGPOINT);
        if (k->alpha >= 0) {
            uint16_t kind = (uint16_t)k->alpha;
            TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
        }
        if (k->tiles) {
            TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
            TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
        } else {
            TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 7);
        }
        if (k->photometric == PHOTOMETRIC_PALETTE) {
            uint16_t map[3][256];
            for (unsigned i = 0; i < 256; i++)
                for (unsigned c = 0; c < 3; c++)
                    map[c][i] = (uint16_t)((i * 3 + c * 50) % 256 * (c ? 257 : 256));
            TIFFSetField(tiff, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
        }
        write_pixels(tiff, k);
        assert_int_equal(TIFFWriteDirectory(tiff), 1);
    }
    TIFFClose(tiff);
}

/* What channel c of a pixel must be. */
static double expected(const struct kind *k, int x, int y, unsigned c)
{
    unsigned v = sample(k, x, y, c), most = most_of(k), full = k->bits > 8 ? 65535 : 255;
    if (k->is_float)
        return (double)((float)v / 1000 - 1);
    if (k->photometric == PHOTOMETRIC_PALETTE)
        return (sample(k, x, y, 0) * 3 + c * 50) % 256;
    if (k->photometric == PHOTOMETRIC_SEPARATED)
        return floor((double)(full - v) * (full - sample(k, x, y, 3)) / full + 0.5);
    double scaled = floor((double)v * full / most + 0.5);
    if (k->alpha == EXTRASAMPLE_ASSOCALPHA && c + 1 < k->samples) {
        unsigned alpha = sample(k, x, y, k->samples - 1);
        return v >= alpha ? (alpha ? full : v) : floor((double)v * full / alpha + 0.5);
    }
    return k->photometric == PHOTOMETRIC_MINISWHITE ? full - scaled : scaled;
}

static void check_kind(const struct kind *k)
{
    struct gi_image image;
    struct gi_err err = {0}, warning;
    write_tiff(k, 1, 1);
    if (gi_load(&image, NULL, NULL, path, &strictly, &warning, &err))
        fail_msg("%u bits, %u samples, compression %u: %s", k->bits, k->samples, k->compression,
                 err.text);
    assert_int_equal(warning.status, GI_OK);
    unsigned channels =
        k->photometric == PHOTOMETRIC_PALETTE || k->photometric == PHOTOMETRIC_SEPARATED
            ? 3
            : k->samples;
    assert_true(image.width == WIDTH && image.height == HEIGHT);
    assert_int_equal(image.channels, channels);
    assert_int_equal(image.type, k->is_float ? GI_F32 : k->bits > 8 ? GI_U16 : GI_U8);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (unsigned c = 0; c < channels; c++) {
                const void *row = gi_row(&image, y);
                size_t i = (size_t)x * channels + c;
                double got = image.type == GI_U8    ? ((const uint8_t *)row)[i]
                             : image.type == GI_U16 ? ((const uint16_t *)row)[i]
                                                    : (double)((const float *)row)[i];
                if (got != expected(k, x, y, c))
                    fail_msg("%u bits, %u samples, compression %u, (%d, %d, %u): %g, want %g",
                             k->bits, k->samples, k->compression, x, y, c, got,
                             expected(k, x, y, c));
            }
    gi_image_free(&image);
}

/* Tests all bit depths, numbers of samples, byte orders and compressions, in strips and in
 * tiles. */
TEST(kinds)
{
    static const unsigned bits[] = {1, 2, 4, 8, 10, 12, 14, 16};
    static const unsigned compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,
                                            COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS};
    int n = 0;
    for (size_t b = 0; b < sizeof bits / sizeof bits[0]; b++)
        for (unsigned samples = 1; samples <= 4; samples++)
            for (int form = 0; form < 16; form++) {
                struct kind k = {.bits = bits[b],
                                 .samples = samples,
                                 .photometric =
                                     samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK,
                                 .compression = compressions[(n + form) % 4],
                                 .planar = form & 1,
                                 .tiles = form & 2,
                                 .big_endian = form & 4,
                                 .bigtiff = form & 8,
                                 .alpha = samples % 2 ? -1 : EXTRASAMPLE_UNASSALPHA};
                if (!TIFFIsCODECConfigured((uint16_t)k.compression))
                    continue;
                check_kind(&k);
                n++;
            }
    print_message("%d kinds\n", n);
}

TEST(odd_kinds)
{
    static const struct kind list[] = {
        {1, 1, PHOTOMETRIC_MINISWHITE, COMPRESSION_NONE, .alpha = -1},
        {8, 1, PHOTOMETRIC_MINISWHITE, COMPRESSION_LZW, .alpha = -1},
        {1, 1, PHOTOMETRIC_MINISWHITE, COMPRESSION_CCITTFAX4, .alpha = -1},
        {8, 1, PHOTOMETRIC_PALETTE, COMPRESSION_LZW, .alpha = -1},
        {4, 1, PHOTOMETRIC_PALETTE, COMPRESSION_NONE, .tiles = true, .alpha = -1},
        {8, 4, PHOTOMETRIC_SEPARATED, COMPRESSION_LZW, .alpha = -1},
        {16, 4, PHOTOMETRIC_SEPARATED, COMPRESSION_NONE, .alpha = -1},
        {8, 4, PHOTOMETRIC_SEPARATED, COMPRESSION_LZW, .planar = true, .alpha = -1},
        {16, 4, PHOTOMETRIC_SEPARATED, COMPRESSION_NONE, .planar = true, .tiles = true,
         .alpha = -1},
        {8, 4, PHOTOMETRIC_RGB, COMPRESSION_NONE, .alpha = EXTRASAMPLE_ASSOCALPHA},
        {16, 2, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, .alpha = EXTRASAMPLE_ASSOCALPHA},
        {32, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_ADOBE_DEFLATE, .is_float = true, .alpha = -1},
        {32, 3, PHOTOMETRIC_RGB, COMPRESSION_LZW, .is_float = true, .tiles = true, .alpha = -1},
        {32, 3, PHOTOMETRIC_RGB, COMPRESSION_NONE, .is_float = true, .big_endian = true,
         .alpha = -1},
        {64, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, .is_float = true, .alpha = -1},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check_kind(&list[i]);
}

/* The orientation is applied. If a file has several pages, a page has to be named. */
TEST(orientation_and_pages)
{
    struct kind k = {8, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, .alpha = -1};
    struct gi_image image;
    struct gi_file_info info;
    struct gi_err err, warning;
    write_tiff(&k, 6, 1); /* the first row is the right-hand column */
    assert_int_equal(gi_load(&image, NULL, &info, path, &strictly, &warning, &err), GI_OK);
    assert_true(image.width == HEIGHT && image.height == WIDTH && info.orientation == 6);
    assert_int_equal(((uint8_t *)gi_row(&image, 5))[HEIGHT - 1 - 3], sample(&k, 5, 3, 0));
    assert_int_equal(warning.status, GI_OK);
    gi_image_free(&image);
    write_tiff(&k, 1, 2);
    assert_int_equal(gi_load(&image, NULL, &info, path, &partially, &warning, &err),
                     GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "holds 2 pages, and one is wanted: [0] to [1] after"));
}

/* Each page is read by its number. Page n has the orientation n of EXIF. */
TEST(pages)
{
    struct kind k = {8, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_LZW, .alpha = -1};
    for (int form = 0; form < 4; form++) {
        struct gi_image image;
        struct gi_file_info info;
        struct gi_err err, warning;
        char page[160];
        k.big_endian = form & 1;
        k.bigtiff = form & 2;
        write_tiff(&k, 0, 4);
        for (int i = 0; i < 4; i++) {
            snprintf(page, sizeof page, "%s[%d]", path, i);
            assert_int_equal(gi_load(&image, NULL, &info, page, &strictly, &warning, NULL), GI_OK);
            assert_true(info.images == 4 && info.orientation == i + 1 && !warning.status);
            assert_int_equal(*(uint8_t *)gi_row(&image, i < 2 ? 0 : HEIGHT - 1),
                             sample(&k, i == 1 || i == 2 ? WIDTH - 1 : 0, 0, 0));
            gi_image_free(&image);
        }
        snprintf(page, sizeof page, "%s[4]", path);
        assert_int_equal(gi_load(&image, NULL, NULL, page, &strictly, NULL, &err),
                         GI_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "holds 4 pages: want [0] to [3]"));
    }
}

/* If the page after the third is the first one again, the file is damaged. With --allow-partial
 * each page is read once. */
TEST(circle)
{
    struct kind k = {8, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, .alpha = -1};
    struct gi_image image;
    struct gi_err err, warning;
    struct gi_tiff_pages found;
    struct gi_pages *all;
    uint16_t entries;
    write_tiff(&k, 1, 3);
    struct bytes file = read_file(path);
    gi_tiff_find_page(&found, file.at, file.n, 0);
    assert_true(found.n == 3 && !found.damage);
    uint64_t first = found.offset;
    gi_tiff_find_page(&found, file.at, file.n, 2);
    memcpy(&entries, file.at + found.offset, sizeof entries);
    unsigned char *next = file.at + found.offset + 2 + 12 * (size_t)entries;
    for (int i = 0; i < 4; i++)
        next[i] = (unsigned char)(first >> (8 * i));
    gi_tiff_find_page(&found, file.at, file.n, 0);
    assert_true(found.n == 3 && found.damage);
    assert_int_equal(load_bytes(&image, file.at, file.n, &strictly, NULL, &err), GI_E_FORMAT);
    assert_int_equal(load_bytes(&image, file.at, file.n, &partially, &warning, &err), GI_OK);
    assert_non_null(strstr(warning.text, "circle"));
    gi_image_free(&image);
    struct gi_load_options fifth = strictly;
    fifth.image = 5;
    assert_int_equal(load_bytes(&image, file.at, file.n, &fifth, NULL, &err), GI_E_UNSUPPORTED);
    assert_int_equal(
        gi_pages_open_memory(&all, file.at, file.n, false, "test", &strictly, NULL, &err),
        GI_E_FORMAT);
    assert_non_null(strstr(err.text, "test: is damaged: its pages go in a circle"));
    assert_int_equal(
        gi_pages_open_memory(&all, file.at, file.n, false, "test", &partially, &warning, &err),
        GI_OK);
    assert_int_equal(gi_pages_n(all), 3);
    assert_non_null(strstr(warning.text, "circle"));
    gi_pages_close(&all, NULL);
    free(file.at);
}

/* Tests a small file with the structure of files over 4 GB, which is BigTIFF in tiles. */
TEST(tiles)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int type = GI_U8; type <= GI_F32; type++) {
            struct gi_image image = random_image(700, 1100, channels, (enum gi_type)type, 5);
            struct gi_save_options options = {.compression = channels % 2};
            struct gi_sink *sink;
            assert_int_equal(gi_sink_open(&sink, path, false, NULL), GI_OK);
            assert_int_equal(gi_tiff_encode_tiles(sink, &image, NULL, &options, true, NULL), GI_OK);
            assert_int_equal(gi_sink_commit(&sink, false, NULL), GI_OK);
            TIFF *tiff = TIFFOpen(path, "r");
            assert_non_null(tiff);
            assert_true(TIFFIsTiled(tiff) && TIFFIsBigTIFF(tiff));
            TIFFClose(tiff);
            struct gi_image back = load_or_fail(path);
            assert_same_image(&image, &back);
            gi_image_free(&back);
            gi_image_free(&image);
        }
}

/* Checks the tags of the compression in the file: none for level 0, else Deflate with the predictor
 * of the sample type. */
static void check_compression(int level, enum gi_type type)
{
    uint16_t compression = 0, predictor = PREDICTOR_NONE;
    TIFF *tiff = TIFFOpen(path, "r");
    assert_non_null(tiff);
    TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
    if (level)
        TIFFGetField(tiff, TIFFTAG_PREDICTOR, &predictor);
    TIFFClose(tiff);
    assert_int_equal(compression, level ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
    assert_int_equal(predictor, !level           ? PREDICTOR_NONE
                                : type == GI_F32 ? PREDICTOR_FLOATINGPOINT
                                                 : PREDICTOR_HORIZONTAL);
}

static void check_there_and_back(int channels, enum gi_type type, int level)
{
    unsigned char icc[200] = {0};
    struct gi_image image = random_image(700, 203, channels, type, 4), back;
    struct gi_metadata metadata = {.icc = icc,
                                   .icc_nbytes = sizeof icc,
                                   .dpi_x = 300,
                                   .dpi_y = 150},
                       got;
    struct gi_save_options options = {.format = "tiff", .compression = level};
    struct gi_err warning;
    memcpy(icc + 16, channels < 3 ? "GRAY" : "RGB ", 4);
    assert_int_equal(gi_save(&image, &metadata, path, &options, &warning, NULL), GI_OK);
    assert_int_equal(warning.status, GI_OK);
    check_compression(level, type);
    assert_int_equal(gi_load(&back, &got, NULL, path, &strictly, &warning, NULL), GI_OK);
    assert_same_image(&image, &back);
    assert_int_equal(got.icc_nbytes, sizeof icc);
    assert_memory_equal(got.icc, icc, sizeof icc);
    assert_true(got.dpi_x == 300 && got.dpi_y == 150);
    gi_metadata_free(&got);
    gi_image_free(&back);
    gi_image_free(&image);
}

TEST(there_and_back)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int level = 0; level <= 9; level += 3)
                check_there_and_back(channels, (enum gi_type)type, level);
}

TEST(damage)
{
    static const struct kind list[] = {
        {8, 3, PHOTOMETRIC_RGB, COMPRESSION_LZW, .alpha = -1},
        {12, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_ADOBE_DEFLATE, .tiles = true, .alpha = -1},
        {8, 1, PHOTOMETRIC_PALETTE, COMPRESSION_PACKBITS, .bigtiff = true, .alpha = -1},
        {32, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_ADOBE_DEFLATE, .is_float = true, .alpha = -1},
        {8, 4, PHOTOMETRIC_SEPARATED, COMPRESSION_LZW, .planar = true, .alpha = -1},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        write_tiff(&list[i], 1, 1);
        struct bytes file = read_file(path);
        check_flips(file, 3000, i);
        /* The directory is at the end of the file. Its last 8 bytes say that no other directory
         * follows. */
        for (size_t n = 0; n < file.n - 8; n += 1 + n / 40)
            assert_refused(file.at, n, GI_OK, "");
        free(file.at);
    }
}

#else

/* What a build without libtiff says. */
TEST(left_out)
{
    assert_refused("II*\0\x08\0\0\0", 8, GI_E_UNSUPPORTED, "libtiff");
    without_libtiff();
}

#endif

TEST_PATH(path, "a.tif")
