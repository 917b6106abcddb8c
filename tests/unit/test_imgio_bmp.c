/* Reads BMP files, for which bmptopnm is the oracle where it reads them correctly. Files of the BMP
 * Suite that show the same picture are oracles of each other.
 * Sources: imgio/bmp/bmp.c imgio/integer.h
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

static char path[128];

static const char *suite(const char *name)
{
    char file[72];
    snprintf(file, sizeof file, "%s.bmp", name);
    return in_corpus("bmpsuite", file);
}

/* Returns the largest difference between samples of two images of the same shape. */
static int distance(const struct gi_image *a, const struct gi_image *b)
{
    int most = 0;
    assert_true(a->width == b->width && a->height == b->height && a->channels == b->channels);
    assert_true(a->type == GI_U8 && b->type == GI_U8);
    for (int y = 0; y < a->height; y++)
        for (size_t i = 0; i < gi_row_samples(a); i++) {
            int d = abs(((uint8_t *)gi_row(a, y))[i] - ((uint8_t *)gi_row(b, y))[i]);
            most = d > most ? d : most;
        }
    return most;
}

TEST(good)
{
    static const char *const files[] = {
        "pal1",   "pal1bg",      "pal1wb",        "pal4",       "pal4gs",   "pal4rle",
        "pal8-0", "pal8",        "pal8gs",        "pal8os2",    "pal8rle",  "pal8v4",
        "pal8v5", "pal8topdown", "pal8nonsquare", "pal8w124",   "pal8w125", "pal8w126",
        "rgb24",  "rgb24pal",    "rgb32",         "rgb32bfdef", "rgb16",    "rgb16bfdef"};
    need_programs("bmptopnm");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "g/%s", files[i]);
        struct gi_image image = load_or_fail(suite(name));
        struct bytes pnm = run_command("bmptopnm -quiet '%s'", suite(name));
        struct gi_image oracle = decode_or_fail(pnm.at, pnm.n);
        /* Samples of five bits are rounded by our reader and truncated by bmptopnm. */
        assert_in_range(distance(&image, &oracle), 0, strncmp(files[i], "rgb16", 5) == 0);
        free(pnm.at);
        gi_image_free(&oracle);
        gi_image_free(&image);
    }
}

/* A file that bmptopnm misreads is compared with another file of the same picture. Samples differ
 * by at most `steps`, because those of some files have fewer bits. */
TEST(good_by_others)
{
    static const struct {
        const char *name, *oracle;
        int steps;
    } cases[] = {{"g/rgb32bf", "g/rgb24", 0},        {"g/rgb16-565", "g/rgb24", 8},
                 {"g/rgb16-565pal", "g/rgb24", 8},   {"q/rgb32h52", "g/rgb24", 0},
                 {"q/pal8os2v2-16", "g/pal8", 0},    {"q/pal8offs", "g/pal8", 0},
                 {"q/pal8oversizepal", "g/pal8", 0}, {"q/rgb24prof", "g/rgb24", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gi_image image = load_or_fail(suite(cases[i].name));
        struct gi_image oracle = load_or_fail(suite(cases[i].oracle));
        assert_in_range(distance(&image, &oracle), 0, cases[i].steps);
        gi_image_free(&oracle);
        gi_image_free(&image);
    }
}

/* Some of the Suite's bad files are read, because their errors are in fields on which no pixel
 * depends. */
TEST(bad)
{
    static const struct {
        const char *name;
        enum gi_status want;
    } cases[] = {
        {"badbitcount", GI_E_FORMAT}, {"badbitssize", GI_OK},
        {"baddens1", GI_OK},          {"baddens2", GI_OK},
        {"badfilesize", GI_OK},       {"badheadersize", GI_E_FORMAT},
        {"badplanes", GI_E_FORMAT},   {"badpalettesize", GI_E_FORMAT},
        {"badrle", GI_E_FORMAT},      {"badrle4", GI_E_FORMAT},
        {"badrle4bis", GI_E_FORMAT},  {"badrle4ter", GI_E_FORMAT},
        {"badrlebis", GI_E_FORMAT},   {"badrleter", GI_E_FORMAT},
        {"badwidth", GI_E_FORMAT},    {"pal8badindex", GI_E_FORMAT},
        {"reallybig", GI_E_LIMIT},    {"rgb16-880", GI_E_FORMAT},
        {"rletopdown", GI_E_FORMAT},  {"shortfile", GI_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        struct gi_image image;
        struct gi_err err;
        snprintf(name, sizeof name, "b/%s", cases[i].name);
        struct bytes file = read_file(suite(name));
        assert_int_equal(load_bytes(&image, file.at, file.n, &strictly, NULL, &err), cases[i].want);
        gi_image_free(&image);
        if (load_bytes(&image, file.at, file.n, &partially, NULL, &err) == GI_OK)
            gi_image_free(&image);
        free(file.at);
    }
}

/* A colour profile and a resolution. */
TEST(metadata)
{
    struct gi_image image;
    struct gi_metadata got;
    struct gi_file_info info;
    assert_int_equal(gi_load(&image, &got, &info, suite("q/rgb24prof"), &strictly, NULL, NULL),
                     GI_OK);
    assert_true(got.icc_nbytes > 128);
    assert_memory_equal((char *)got.icc + 36, "acsp", 4); /* ICC.1:2022, 7.2.11 */
    assert_in_range((int)(got.dpi_x + 0.5), 71, 73);
    assert_int_equal(info.bits, 8);
    gi_metadata_free(&got);
    gi_image_free(&image);
}

static void put(unsigned char *file, size_t at, size_t n, uint32_t v)
{
    for (size_t i = 0; i < n; i++)
        file[at + i] = (unsigned char)(v >> 8 * i);
}

/* Makes a bitmap of 2 x 1 pixels whose raster is at byte 160, and returns the bitmap's length. The
 * offsets of the fields are from Windows' documentation of BITMAPINFOHEADER and its successors. */
static size_t small_file(unsigned char file[176], unsigned head, unsigned bits, unsigned kind,
                         uint32_t first, uint32_t second)
{
    memset(file, 0, 176);
    memcpy(file, "BM", 2);
    put(file, 10, 4, 160);
    put(file, 14, 4, head);
    put(file, 18, 4, 2);
    put(file, 22, 4, 1);
    put(file, 26, 2, 1);
    put(file, 28, 2, bits);
    put(file, 30, 4, kind);
    put(file, 160, 4, first);
    put(file, 160 + bits / 8, 4, second);
    return 176;
}

/* Some headers are refused, each with its message. */
TEST(headers)
{
    static const struct {
        unsigned head, bits, kind, at, nbytes;
        uint32_t value;
        const char *says; /* NULL: it is read */
    } cases[] = {
        {40, 24, 0, 0, 0, 0, NULL},
        {52, 24, 0, 0, 0, 0, NULL},
        {56, 24, 0, 0, 0, 0, NULL},
        {108, 24, 0, 0, 0, 0, NULL},
        {65, 24, 0, 0, 0, 0, "its length is 65"},
        {15, 24, 0, 0, 0, 0, "its length is 15"},
        {40, 24, 4, 0, 0, 0, "a JPEG inside"},
        {40, 24, 5, 0, 0, 0, "a PNG inside"},
        {64, 16, 3, 0, 0, 0, "a code of OS/2"},
        {48, 16, 3, 0, 0, 0, "a code of OS/2"},
        {40, 24, 1, 0, 0, 0, "the compression is 1"},
        {40, 8, 2, 0, 0, 0, "the compression is 2"},
        {40, 24, 3, 0, 0, 0, "the compression is 3"},
        {40, 24, 6, 0, 0, 0, "the compression is 6"},
        {40, 24, 7, 0, 0, 0, "the compression is 7"},
        {40, 4, 2, 22, 4, (uint32_t)-1, "the compression is 2"},
        {40, 7, 0, 0, 0, 0, "bits a pixel is 7"},
        {40, 24, 0, 18, 4, 0, "is 0 x 1 pixels"},
        {40, 24, 0, 18, 4, (uint32_t)-2, "is -2 x 1 pixels"},
        {40, 24, 0, 22, 4, 0, "is 2 x 0 pixels"},
        {40, 24, 0, 10, 4, 53, "the place of the pixels is 53"},
        {40, 8, 0, 46, 4, 65537, "the number of colours is 65537"},
        {40, 24, 0, 10, 4, 174, "ends early"},
        {56, 16, 3, 54, 4, 0x17c00, "a mask of samples is 97280"},  /* more than a pixel */
        {56, 32, 3, 54, 4, 0x50000, "a mask of samples is 327680"}, /* with a hole */
        {56, 32, 3, 58, 4, 0xff0000, "a mask of samples is 65280"}, /* overlapping */
        {56, 16, 3, 54, 4, 0x1f800, "a mask of samples is 129024"}, /* beyond the pixel */
        {56, 32, 3, 54, 4, 0, "a mask of samples is 0"},
        {56, 32, 3, 58, 4, 0, "a mask of samples is 0"},
        {56, 32, 3, 62, 4, 0, "a mask of samples is 0"},
        {56, 32, 3, 0, 0, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[176];
        size_t n = small_file(file, cases[i].head, cases[i].bits, cases[i].kind, 0, 0);
        if (cases[i].kind == 3 && cases[i].head == 56) {
            put(file, 54, 4, cases[i].bits == 32 ? 0xff0000 : 0x7c00);
            put(file, 58, 4, cases[i].bits == 32 ? 0xff00 : 0x3e0);
            put(file, 62, 4, cases[i].bits == 32 ? 0xff : 0x1f);
        }
        put(file, cases[i].at, cases[i].nbytes, cases[i].value);
        /* The new green mask takes bits of red's mask, so red's mask changes first. */
        if (cases[i].value == 0xff0000)
            put(file, 54, 4, 0xff00), put(file, 58, 4, 0xff00);
        if (cases[i].says) {
            assert_refused(file, n, GI_OK, cases[i].says);
            continue;
        }
        struct gi_image image = decode_or_fail(file, n);
        gi_image_free(&image);
    }
}

/* Some colour fields have neither 5 nor 8 bits. A field of n bits with the value v means v / (2^n -
 * 1) of full scale. */
TEST(fields)
{
    static const struct {
        unsigned bits, kind;
        uint32_t masks[4], pixels[2];
        int channels;
        enum gi_type type;
        unsigned want[2][4];
    } cases[] = {
        /* In fields of 10 bits, 341 of 1023 is a third, and 1 of 1023 is 64.06 of 65535. */
        {32,
         3,
         {0x3ff00000, 0xffc00, 0x3ff, 0},
         {341u << 20 | 1023u << 10, 1},
         3,
         GI_U16,
         {{21845, 65535, 0}, {0, 0, 64}}},
        {32,
         6,
         {0xff, 0xff00, 0xff0000, 0xff000000},
         {0x80030201, 0x00fffefd},
         4,
         GI_U8,
         {{1, 2, 3, 128}, {253, 254, 255, 0}}},
        {16,
         6,
         {0xf00, 0xf0, 0xf, 0xf000},
         {0xf123, 0x0fed},
         4,
         GI_U8,
         {{17, 34, 51, 255}, {255, 238, 221, 0}}},
        {16,
         3,
         {0xf800, 0x7e0, 0x1f, 0},
         {0xf800 | 21 << 5, 31},
         3,
         GI_U8,
         {{255, 85, 0}, {0, 0, 255}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[176];
        size_t n = small_file(file, 40, cases[i].bits, cases[i].kind, cases[i].pixels[0],
                              cases[i].pixels[1]);
        for (size_t c = 0; c < 4; c++)
            put(file, 54 + 4 * c, 4, cases[i].masks[c]);
        struct gi_image image = decode_or_fail(file, n);
        assert_int_equal(image.channels, cases[i].channels);
        assert_int_equal(image.type, cases[i].type);
        for (size_t s = 0; s < gi_row_samples(&image); s++) {
            unsigned want = cases[i].want[s / (size_t)image.channels][s % (size_t)image.channels];
            assert_int_equal(image.type == GI_U8 ? ((uint8_t *)image.data)[s]
                                                 : ((uint16_t *)image.data)[s],
                             want);
        }
        gi_image_free(&image);
    }
}

/* A bitmap of 8 bits has a palette of 256 entries, which directly follows the header. */
TEST(palette)
{
    unsigned char file[54 + 4 * 256 + 4] = {0};
    small_file(file, 40, 8, 0, 0, 0);
    put(file, 10, 4, 54 + 4 * 256);
    for (unsigned i = 0; i < 256; i++)
        put(file, 54 + 4 * i, 4, i << 16 | (255 - i) << 8 | 7);
    put(file, 54 + 4 * 256, 4, 0xff05);
    struct gi_image image = decode_or_fail(file, sizeof file);
    static const uint8_t want[] = {5, 250, 7, 255, 0, 7};
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.data, want, sizeof want);
    gi_image_free(&image);
}

/* Tests the run-length codes one by one ("Bitmap Compression", Windows SDK), in pictures of 2 x 2
 * gray pixels. In the file the lower row comes first. */
TEST(run_lengths)
{
    static const struct {
        const char *codes;
        size_t n;
        const char *says; /* NULL: it is read */
        uint8_t want[4];  /* by rows from the top */
    } cases[] = {
        {"\2\1\0\0\2\2\0\1", 8, NULL, {20, 20, 10, 10}},
        {"\2\1\0\0\2\2\0\0\0\1", 10, NULL, {20, 20, 10, 10}},
        {"\2\1\0\0\2\2", 6, NULL, {20, 20, 10, 10}}, /* without an end code */
        {"\2\1\0\0\2\2\0", 7, NULL, {20, 20, 10, 10}},
        {"\2\1\0\0\2\2\0\0", 8, NULL, {20, 20, 10, 10}},
        {"\1\1\1\2\0\0\1\3\1\4\0\1", 12, NULL, {30, 40, 10, 20}},
        /* what goes beyond a row is cut off, of runs and of literals, whose bytes are passed */
        {"\3\1\0\0\2\2\0\1", 8, NULL, {20, 20, 10, 10}},
        {"\2\1\5\3\0\0\1\2\377\4\0\1", 12, NULL, {20, 40, 10, 10}},
        {"\0\3\1\2\3\0\0\0\2\2\0\1", 12, NULL, {20, 20, 10, 20}},
        {"\2\1\0\0\1\2", 6, "ends early, in row 1 of 2", {0}},
        {"\2\1\0", 3, "ends early, in row 0 of 2", {0}},
        {"\2\1\0\0\1\2\0\1", 8, "leaves pixels out, in row 1 of 2", {0}},
        {"\2\1\0\1", 4, "leaves pixels out, in row 0 of 2", {0}},
        {"\0\2\1\1", 4, "leaves pixels out", {0}},
        {"\2\1\0\2", 4, "steps out of the image", {0}},
        {"\2\1\0\2\1\0", 6, "steps out of the image", {0}},
        {"\0\2\0\3", 4, "steps out of the image", {0}},
        {"\3\1", 2, "ends early, in row 0 of 2", {0}},
        {"\0\3\1\2", 4, "a run that ends early or is below", {0}},
        {"\2\1\0\0\2\2\0\0\1\1", 10, "a run that ends early or is below", {0}},
        {"\2\32", 2, "a run that ends early or is below", {0}}, /* a colour past the last */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[176 + 16];
        small_file(file, 40, 8, 1, 0, 0);
        put(file, 22, 4, 2);
        for (unsigned c = 0; c < 26; c++)
            put(file, 54 + 4 * c, 4, c * 10 * 0x10101);
        memcpy(file + 160, cases[i].codes, cases[i].n);
        if (cases[i].says) {
            assert_refused(file, 160 + cases[i].n, GI_OK, cases[i].says);
            continue;
        }
        struct gi_image image;
        struct gi_err warning, err = {0};
        if (load_bytes(&image, file, 160 + cases[i].n, &strictly, &warning, &err))
            fail_msg("case %zu: %s", i, err.text);
        bool beyond = i >= 6 && i <= 8;
        assert_int_equal(strstr(warning.text, "beyond the ends of its rows") != NULL, beyond);
        assert_memory_equal(gi_row(&image, 0), cases[i].want, 2);
        assert_memory_equal(gi_row(&image, 1), cases[i].want + 2, 2);
        gi_image_free(&image);
    }
}

/* A profile is read if it is inside the file. Otherwise the file ends early. */
TEST(profiles)
{
    static const struct {
        uint32_t kind, at, nbytes;
        size_t want;
        bool cut;
    } cases[] = {
        {0x4d424544, 130, 16, 16, false}, {0x4d424544, 130, 32, 32, false},
        {0x4d424544, 130, 33, 0, true},   {0x4d424544, 130, 0, 0, false},
        {0x4d424544, 177, 1, 0, true},    {0x4d424544, 0xffffffff, 16, 0, true},
        {0x73524742, 130, 16, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[176];
        struct gi_image image;
        struct gi_metadata metadata;
        size_t n = small_file(file, 124, 24, 0, 0x030201, 0x060504);
        put(file, 14 + 56, 4, cases[i].kind);
        put(file, 14 + 112, 4, cases[i].at);
        put(file, 14 + 116, 4, cases[i].nbytes);
        if (cases[i].cut) {
            assert_refused(file, n, GI_E_FORMAT, "ends early, in its ICC profile");
            continue;
        }
        assert_int_equal(
            gi_load_memory(&image, &metadata, NULL, file, n, "x", &strictly, NULL, NULL), GI_OK);
        assert_int_equal(metadata.icc_nbytes, cases[i].want);
        if (cases[i].want)
            assert_memory_equal(metadata.icc, file + 14 + cases[i].at, cases[i].want);
        gi_metadata_free(&metadata);
        gi_image_free(&image);
    }
}

TEST(damage)
{
    static const struct {
        const char *name;
        size_t spare; /* bytes at the end without pixels */
        size_t step;  /* between cuts after the first 400 bytes */
    } cases[] = {{"g/pal4rle", 4, 1},    {"g/pal8rle", 4, 1}, {"g/pal1", 1, 1},
                 {"g/rgb16-565", 2, 13}, {"q/rgba32", 0, 17}, {"g/rgb24", 3, 17}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes file = read_file(suite(cases[i].name));
        check_cuts(file, file.n - cases[i].spare, cases[i].step);
        check_flips(file, 2000, i);
        free(file.at);
    }
}

TEST(there_and_back)
{
    for (int channels = 3; channels <= 4; channels++)
        for (int width = 1; width < 9; width++)
            check_round_trip(random_image(width, 7, channels, GI_U8, 5), path,
                             (struct gi_save_options){0});
}

TEST_PATH(path, "a.bmp")
