/* Files of several bands: TIFFs of 2 to 13 samples per pixel that libtiff writes, arrays and PAM. A
 * caller that does not take bands gets an error that says how to choose some; others get every
 * sample.
 * Sources: imgio/bands imgio/tiff imgio/npy imgio/pnm/pnm_header imgio/pages
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "imgio/npy.h"
#include "imgio/tiff/tiff.h"

static char path[128];

TEST(choices)
{
    static const struct {
        const char *text;
        int n, first, last; /* n 0: refused */
        bool alpha;
    } cases[] = {
        {"1", 1, 1, 1, false},      {"3,2,1", 3, 3, 1, false},    {"1-6", 6, 1, 6, false},
        {"2-2", 1, 2, 2, false},    {"7,1-3", 4, 7, 3, false},    {"1,2,3,a4", 4, 1, 4, true},
        {"5,a9", 2, 5, 9, true},    {"1024", 1, 1024, 1024, 0},   {"1-8,a9", 9, 1, 9, true},
        {"", 0, 0, 0, false},       {"0", 0, 0, 0, false},        {"1,", 0, 0, 0, false},
        {",1", 0, 0, 0, false},     {"3-1", 0, 0, 0, false},      {"a1", 0, 0, 0, false},
        {"1,2,a3", 0, 0, 0, false}, {"1,a2,3,4", 0, 0, 0, false}, {"1025", 0, 0, 0, false},
        {"1-300", 0, 0, 0, false},  {"x", 0, 0, 0, false},        {"1 ", 0, 0, 0, false},
        {"1-", 0, 0, 0, false},     {"a1-2", 0, 0, 0, false},     {"999999", 0, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_band_choice choice;
        const char *text = cases[i].text;
        bool read = gi_band_choice_read(&choice, text, text + strlen(text));
        if (read != (cases[i].n > 0))
            fail_msg("\"%s\" is %s", text, read ? "read" : "refused");
        if (!read)
            continue;
        assert_int_equal(choice.n, cases[i].n);
        assert_int_equal(choice.band[0], cases[i].first);
        assert_int_equal(choice.band[choice.n - 1], cases[i].last);
        assert_int_equal(choice.alpha, cases[i].alpha);
    }
}

/* Brackets in a path choose pages, bands or both. */
TEST(paths)
{
    static const struct {
        const char *path;
        size_t n;
        int bands, first;
        bool given;
    } cases[] = {
        {"x.tif[bands=3,2,1]", 5, 3, 0, false}, {"x.tif[2][bands=1]", 5, 1, 2, true},
        {"x.tif[*][bands=1-5]", 5, 5, 0, true}, {"x.tif[bands=]", 13, 0, 0, false},
        {"x.tif[bands=1][2]", 14, 0, 2, true},  {"x.tif[x][bands=1]", 8, 1, 0, false},
        {"[bands=1]", 9, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_selection s;
        assert_int_equal(gi_path_file(cases[i].path, &s), cases[i].n);
        assert_int_equal(s.bands.n, cases[i].bands);
        assert_int_equal(s.first, cases[i].first);
        assert_int_equal(s.given, cases[i].given);
    }
}

/* Sample s of pixel (x, y), less than 256. */
static unsigned sample(int x, int y, int s)
{
    return (unsigned)(x * 3 + y * 7 + s * 31) % 256;
}

static double expected(enum gi_type type, unsigned v)
{
    return type == GI_F32 ? v * 0.25 - 8 : type == GI_U16 ? v * 257 : v;
}

/* Checks all samples of the image; its band i is band order[i] of the file, or i. */
static void check_samples(const struct gi_image *image, const int *order)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int i = 0; i < image->channels; i++) {
                size_t at = (size_t)x * (size_t)image->channels + (size_t)i;
                double got = gi_sample(gi_row(image, y), at, image->type);
                double want = expected(image->type, sample(x, y, order ? order[i] : i));
                if (got != want)
                    fail_msg("(%d, %d, %d) of %d: %g, want %g", x, y, i, image->channels, got,
                             want);
            }
}

#if GI_HAVE_TIFF

enum { WIDTH = 21, HEIGHT = 34, TILE = 16, SAMPLES_MAX = 13 };

struct kind {
    int samples, colors; /* colours: 1 or 3 */
    enum gi_type type;
    unsigned compression;
    bool planar, tiles, big_endian;
    int nkinds;
    uint16_t kinds[SAMPLES_MAX]; /* ExtraSamples */
};

/* Fills a piece of `n` x `rows` pixels with the samples from `first` on. */
static void fill(const struct kind *k, void *to, int x0, int y0, int n, int rows, int first)
{
    int each = k->planar ? 1 : k->samples;
    size_t i = 0;
    for (int y = y0; y < y0 + rows; y++)
        for (int x = x0; x < x0 + n; x++)
            for (int s = first; s < first + each; s++, i++) {
                double v = expected(k->type, sample(x, y, s));
                if (k->type == GI_U8)
                    ((uint8_t *)to)[i] = (uint8_t)v;
                else if (k->type == GI_U16)
                    ((uint16_t *)to)[i] = (uint16_t)v;
                else
                    ((float *)to)[i] = (float)v;
            }
}

static void write_tiff(const struct kind *k)
{
    TIFF *tiff = TIFFOpen(path, k->big_endian ? "wb" : "wl");
    assert_non_null(tiff);
    static float piece[TILE * TILE * SAMPLES_MAX * 2];
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8 * gi_type_nbytes(k->type));
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, k->samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                 k->colors == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, k->compression);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
                 k->type == GI_F32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
                 k->planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (k->nkinds)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, k->nkinds, k->kinds);
    if (k->tiles) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 5);
    }
    for (int p = 0; p < (k->planar ? k->samples : 1); p++) {
        for (int y = 0; !k->tiles && y < HEIGHT; y++) {
            fill(k, piece, 0, y, WIDTH, 1, p);
            assert_int_equal(TIFFWriteScanline(tiff, piece, (uint32_t)y, (uint16_t)p), 1);
        }
        for (int y = 0; k->tiles && y < HEIGHT; y += TILE)
            for (int x = 0; x < WIDTH; x += TILE) {
                fill(k, piece, x, y, TILE, TILE, p);
                assert_true(TIFFWriteTile(tiff, piece, (uint32_t)x, (uint32_t)y, 0, (uint16_t)p) >
                            0);
            }
    }
    TIFFClose(tiff);
}

static struct gi_load_options banded(void)
{
    struct gi_load_options options = strictly;
    options.bands = true;
    return options;
}

static void check_kind(const struct kind *k, struct gi_bands want)
{
    struct gi_image image;
    struct gi_file_info info;
    struct gi_err err = {0}, warning;
    struct gi_load_options options = banded();
    write_tiff(k);
    if (gi_load(&image, NULL, &info, path, &options, &warning, &err))
        fail_msg("%d samples, compression %u: %s", k->samples, k->compression, err.text);
    assert_int_equal(warning.status, GI_OK);
    assert_int_equal(image.channels, k->samples);
    assert_int_equal(image.type, k->type);
    assert_int_equal(info.bands.n, want.n);
    if (want.n) {
        assert_int_equal(info.bands.colors, want.colors);
        assert_int_equal(info.bands.alpha, want.alpha);
    }
    check_samples(&image, NULL);
    gi_image_free(&image);
    if (!want.n)
        return;
    assert_int_equal(gi_load(&image, NULL, NULL, path, &strictly, NULL, &err), GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "[bands=3,2,1]"));
}

/* Tests all types, layouts, byte orders and compressions of 5 to 13 bands. */
TEST(tiff_kinds)
{
    static const int samples[] = {5, 6, 8, 13};
    static const unsigned compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,
                                            COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS};
    for (int i = 0; i < 4; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int form = 0; form < 16; form++) {
                struct kind k = {.samples = samples[i],
                                 .colors = form & 8 ? 3 : 1,
                                 .type = (enum gi_type)type,
                                 .compression = compressions[(form + type + i) % 4],
                                 .planar = form & 1,
                                 .tiles = form & 2,
                                 .big_endian = form & 4,
                                 .nkinds = samples[i] - (form & 8 ? 3 : 1)};
                if (TIFFIsCODECConfigured((uint16_t)k.compression))
                    check_kind(&k, (struct gi_bands){k.samples, k.colors, -1});
            }
}

/* A sample is alpha only if the file says so. */
TEST(tiff_alpha)
{
    static const struct {
        struct kind kind;
        struct gi_bands want; /* n 0: gray or RGB, with alpha */
    } cases[] = {
        {{4, 3, GI_U8, .nkinds = 1, .kinds = {2}}, {0}},
        {{2, 1, GI_U8, .nkinds = 1, .kinds = {2}}, {0}},
        {{4, 3, GI_U8, .nkinds = 1, .kinds = {0}}, {4, 3, -1}},
        {{4, 3, GI_U16, .nkinds = 0}, {4, 3, -1}},
        {{2, 1, GI_U8, .nkinds = 1, .kinds = {0}}, {2, 1, -1}},
        {{2, 1, GI_F32, .nkinds = 0}, {2, 1, -1}},
        {{3, 1, GI_U8, .nkinds = 2, .kinds = {0, 0}}, {3, 1, -1}},
        {{4, 1, GI_U8, .nkinds = 3, .kinds = {0, 0, 0}}, {4, 1, -1}},
        {{5, 3, GI_U8, .nkinds = 2, .kinds = {2, 0}}, {5, 3, 3}},
        {{5, 3, GI_U16, .nkinds = 2, .kinds = {0, 2}}, {5, 3, 4}},
        {{6, 1, GI_U16, .nkinds = 5, .kinds = {0, 0, 0, 0, 2}}, {6, 1, 5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kind k = cases[i].kind;
        k.compression = COMPRESSION_NONE;
        check_kind(&k, cases[i].want);
    }
}

/* Associated alpha divides the colours, and no other band. */
TEST(tiff_premultiplied)
{
    struct kind k = {5, 3, GI_U8, COMPRESSION_NONE, .nkinds = 2, .kinds = {0, 1}};
    struct gi_load_options options = banded();
    struct gi_image image;
    write_tiff(&k);
    assert_int_equal(gi_load(&image, NULL, NULL, path, &options, NULL, NULL), GI_OK);
    for (int x = 0; x < WIDTH; x++)
        for (int s = 0; s < 5; s++) {
            unsigned v = sample(x, 3, s), alpha = sample(x, 3, 4);
            unsigned want = s >= 3       ? v
                            : v >= alpha ? (alpha ? 255 : v)
                                         : (v * 255 + alpha / 2) / alpha;
            assert_int_equal(((uint8_t *)gi_row(&image, 3))[5 * x + s], want);
        }
    gi_image_free(&image);
}

/* The bands of a file that a path names become an ordinary image, or fewer bands. */
TEST(chosen)
{
    static const struct {
        const char *bands;
        int n, order[6];
        int left; /* of gi_bands */
    } cases[] = {
        {"1", 1, {0}, 0},
        {"5", 1, {4}, 0},
        {"3,2,1", 3, {2, 1, 0}, 0},
        {"4,4,2", 3, {3, 3, 1}, 0},
        {"1,2,3,a6", 4, {0, 1, 2, 5}, 0},
        {"2,a1", 2, {1, 0}, 0},
        {"5-6", 2, {4, 5}, 2},
        {"6,1-4", 5, {5, 0, 1, 2, 3}, 5},
    };
    struct kind k = {6, 1, GI_U16, COMPRESSION_LZW, .nkinds = 5};
    struct gi_load_options options = banded();
    write_tiff(&k);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[200];
        struct gi_image image;
        struct gi_file_info info;
        struct gi_err err = {0};
        snprintf(name, sizeof name, "%s[0][bands=%s]", path, cases[i].bands);
        if (gi_load(&image, NULL, &info, name, &options, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(image.channels, cases[i].n);
        assert_int_equal(info.bands.n, cases[i].left);
        check_samples(&image, cases[i].order);
        gi_image_free(&image);
        enum gi_status status = gi_load(&image, NULL, NULL, name, &strictly, NULL, &err);
        assert_int_equal(status, cases[i].left ? GI_E_UNSUPPORTED : GI_OK);
        gi_image_free(&image);
        snprintf(name, sizeof name, "%s[bands=7]", path);
        assert_int_equal(gi_load(&image, NULL, NULL, name, &options, NULL, &err), GI_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "bands 1 to 6"));
    }
}

/* Inks become RGB, and what the file has beside them is kept. */
TEST(inks)
{
    for (int planar = 0; planar < 2; planar++) {
        struct kind k = {5, 3, GI_U8, COMPRESSION_NONE, .planar = planar};
        struct gi_load_options options = banded();
        struct gi_image image;
        struct gi_file_info info;
        TIFF *tiff;
        write_tiff(&k);
        tiff = TIFFOpen(path, "r+");
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_SEPARATED);
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, (uint16_t[]){0});
        assert_int_equal(TIFFRewriteDirectory(tiff), 1);
        TIFFClose(tiff);
        assert_int_equal(gi_load(&image, NULL, &info, path, &options, NULL, NULL), GI_OK);
        assert_int_equal(image.channels, 4);
        assert_int_equal(info.bands.n, 4);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < 4; c++) {
                    double light = (255.0 - sample(x, y, c)) * (255.0 - sample(x, y, 3)) / 255;
                    unsigned want = c == 3 ? sample(x, y, 4) : (unsigned)(light + 0.5);
                    assert_int_equal(((uint8_t *)gi_row(&image, y))[4 * x + c], want);
                }
        gi_image_free(&image);
    }
}

#endif

/* The axis of the channels is that of 1 to 4, or the shorter one of the first and the last. */
TEST(arrays)
{
    static const struct {
        const char *shape;
        bool channels_first;
        int width, height, channels;
        size_t first, second; /* elements that are the first two bands of pixel (0, 0) */
    } cases[] = {
        {"(7, 6, 5)", false, 6, 7, 5, 0, 1},    {"(5, 6, 7)", false, 7, 6, 5, 0, 42},
        {"(6, 5, 6)", false, 5, 6, 6, 0, 1},    {"(6, 5, 6)", true, 6, 5, 6, 0, 30},
        {"(9, 2, 13)", false, 13, 2, 9, 0, 26}, {"(30, 1, 8)", false, 1, 30, 8, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[128 + 2000] = "\x93NUMPY\x01";
        int n = snprintf((char *)file + 10, 118,
                         "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", cases[i].shape);
        memset(file + 10 + n, ' ', (size_t)(118 - n));
        file[8] = 118;
        for (size_t at = 0; at < 2000; at++)
            file[128 + at] = (unsigned char)(at % 251);
        struct gi_load_options options = strictly;
        struct gi_image image;
        struct gi_file_info info;
        struct gi_err err = {0};
        size_t samples = (size_t)(cases[i].width * cases[i].height) * (size_t)cases[i].channels;
        options.channels_first = cases[i].channels_first;
        assert_int_equal(
            gi_load_memory(&image, NULL, NULL, file, 128 + samples, "x", &options, NULL, &err),
            GI_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "bands"));
        options.bands = true;
        if (gi_load_memory(&image, NULL, &info, file, 128 + samples, "x", &options, NULL, &err))
            fail_msg("%s: %s", cases[i].shape, err.text);
        assert_int_equal(image.width, cases[i].width);
        assert_int_equal(image.height, cases[i].height);
        assert_int_equal(image.channels, cases[i].channels);
        assert_int_equal(info.bands.n, cases[i].channels);
        const uint8_t *row = gi_row(&image, 0);
        assert_int_equal(row[0], cases[i].first % 251);
        assert_int_equal(row[1], cases[i].second % 251);
        gi_image_free(&image);
    }
}

/* Of PAM, TUPLTYPE says whether the last channel is alpha. */
TEST(tuples)
{
    static const struct {
        int depth;
        const char *tuple;
        int bands;
    } cases[] = {
        {4, "TUPLTYPE RGB_ALPHA\n", 0},
        {4, "TUPLTYPE  rgb_alpha \n", 0},
        {4, "", 0},
        {4, "TUPLTYPE CMYK\n", 4},
        {2, "TUPLTYPE GRAYSCALE\n", 2},
        {2, "TUPLTYPE BLACKANDWHITE_ALPHA\n", 0},
        {3, "TUPLTYPE RGB\n", 0},
        {3, "TUPLTYPE LAB\n", 3},
        {5, "", 5},
        {5, "TUPLTYPE RGB_ALPHA\n", 5},
        {1, "TUPLTYPE DEPTH_MAP\n", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160];
        struct gi_load_options options = strictly;
        struct gi_image image;
        struct gi_file_info info;
        options.bands = true;
        int n = snprintf(text, sizeof text,
                         "P7\nWIDTH 2\nHEIGHT 1\nDEPTH %d\n%sMAXVAL 255\nENDHDR\nabcdefghij",
                         cases[i].depth, cases[i].tuple);
        assert_int_equal(
            gi_load_memory(&image, NULL, &info, text, (size_t)n, "x", &options, NULL, NULL), GI_OK);
        assert_int_equal(info.bands.n, cases[i].bands);
        assert_int_equal(image.channels, cases[i].depth);
        assert_memory_equal(image.data, "abcdefghij", 2 * (size_t)cases[i].depth);
        gi_image_free(&image);
    }
}

TEST_PATH(path, "a.tif")
