/* Reads TGA files, for all of which stb_image is the oracle. Files of the corpus that show the same
 * picture are also oracles of each other. Files with unusual origins, run lengths and palettes are
 * made here.
 * Sources: imgio/tga/tga.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "imgio_stb.h"

static char path[128];

/* stb_image reads every file of the corpus, because no file of it runs from right to left. */
TEST(corpus)
{
    const char *folder = corpora("tga");
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir)
        skip();
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcasecmp(dot, ".tga") != 0 || strcmp(entry->d_name, "32bit_pal.tga") == 0)
            continue;
        const char *name = in_corpus("tga", entry->d_name);
        struct gi_image image = load_or_fail(name);
        int w = 0, h = 0, channels = 0;
        unsigned char *want = stbi_load(name, &w, &h, &channels, image.channels);
        assert_non_null(want);
        assert_true(w == image.width && h == image.height);
        for (int y = 0; y < h; y++)
            for (size_t x = 0; x < gi_row_samples(&image); x++) /* 5 bits: stb_image truncates */
                assert_in_range(((uint8_t *)gi_row(&image, y))[x] -
                                    want[(size_t)y * gi_row_samples(&image) + x] + 1,
                                image.channels == 3 ? 0 : 1, image.channels == 3 ? 2 : 1);
        stbi_image_free(want);
        gi_image_free(&image);
        n++;
    }
    closedir(dir);
    assert_int_equal(n, 22);
}

/* Reads a palette of 32-bit entries whose alpha is used. */
TEST(palette_with_alpha)
{
    static const unsigned char file[] = {0, 1, 1, 10, 0, 2, 0, 32, 0, 0, 0, 0, 2,  0,
                                         1, 0, 8, 0,  1, 2, 3, 4,  5, 6, 7, 8, 11, 10};
    static const uint8_t want[] = {7, 6, 5, 8, 3, 2, 1, 4};
    struct gi_image image = decode_or_fail(file, sizeof file);
    assert_int_equal(image.channels, 4);
    assert_memory_equal(image.data, want, sizeof want);
    gi_image_free(&image);
    unsigned char beyond[sizeof file];
    memcpy(beyond, file, sizeof file);
    beyond[sizeof file - 1] = 12;
    assert_refused(beyond, sizeof file, GI_E_FORMAT, "");
    beyond[sizeof file - 1] = 9;
    assert_refused(beyond, sizeof file, GI_E_FORMAT, "");
}

/* TGA has no magic number, so bytes with an invalid header are of no known format. */
TEST(headers)
{
    static const struct {
        unsigned char at, value, at2, value2;
        bool good;
    } cases[] = {
        {0, 0, 0, 0, true},     {1, 2, 0, 0, false}, /* kinds of palette: 0 or 1 */
        {2, 0, 0, 0, false},                         /* no image */
        {2, 4, 0, 0, false},                         /* 1 to 3 and 9 to 11 are valid */
        {2, 1, 0, 0, false},                         /* a palette without colours */
        {16, 24, 0, 0, false},                       /* gray of 24 bits */
        {2, 2, 16, 8, false},                        /* colour of 8 bits */
        {2, 2, 16, 15, true},   {2, 2, 16, 16, true}, {2, 2, 16, 24, true},
        {2, 2, 16, 32, true},   {16, 16, 0, 0, true}, {12, 0, 0, 0, false}, /* width */
        {14, 0, 0, 0, false},                                               /* height */
        {17, 64, 0, 0, false},                                              /* interleaved */
        {17, 128, 0, 0, false}, {17, 9, 0, 0, false},                       /* bits of alpha */
        {1, 1, 7, 8, false},                                                /* colours of 8 bits */
        {1, 1, 7, 24, true},                                                /* an unused palette */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[40] = {0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 8, 0};
        struct gi_image image;
        struct gi_err err;
        file[cases[i].at] = cases[i].value;
        if (cases[i].at2)
            file[cases[i].at2] = cases[i].value2;
        enum gi_status status = load_bytes(&image, file, sizeof file, &strictly, NULL, &err);
        if ((status == GI_OK) != cases[i].good)
            fail_msg("case %zu: %s", i, status ? err.text : "is read");
        if (!status)
            gi_image_free(&image);
    }
}

/* The pixels are 16-bit palette indices. They count from the number of the palette's first entry. A
 * palette that holds only grays makes a gray image. */
TEST(wide_indices)
{
    unsigned char file[] = {0, 1, 1,  10, 1, 2, 0, 24, 0, 0, 0,  0, 2,  0,
                            1, 0, 16, 0,  9, 9, 9, 7,  7, 7, 11, 1, 10, 1};
    static const uint8_t gray[] = {7, 9}, color[] = {7, 7, 7, 8, 9, 9};
    struct gi_image image = decode_or_fail(file, sizeof file);
    assert_int_equal(image.channels, 1);
    assert_memory_equal(image.data, gray, sizeof gray);
    gi_image_free(&image);
    file[20] = 8; /* red of the first colour */
    image = decode_or_fail(file, sizeof file);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.data, color, sizeof color);
    gi_image_free(&image);
}

/* Reads the same picture of 3 x 2 pixels with all origins. The pixels are uncompressed, or in run
 * lengths that cross the end of a row. */
TEST(origins)
{
    static const uint8_t want[2][3] = {{10, 20, 20}, {20, 30, 40}};
    for (int origin = 0; origin < 4; origin++)
        for (int runs = 0; runs < 2; runs++) {
            bool right = origin & 1, top = origin & 2;
            unsigned char file[64] = {0, 0, runs ? 11 : 3,
                                      0, 0, 0,
                                      0, 0, 0,
                                      0, 0, 0,
                                      3, 0, 2,
                                      0, 8, (unsigned char)(right << 4 | top << 5)};
            uint8_t order[6];
            for (int y = 0; y < 2; y++)
                for (int x = 0; x < 3; x++)
                    order[3 * (top ? y : 1 - y) + (right ? 2 - x : x)] = want[y][x];
            size_t n = 18;
            for (int i = 0; i < 6; i++) {
                int same = 1;
                while (runs && i + same < 6 && order[i + same] == order[i])
                    same++;
                if (runs)
                    file[n++] = (unsigned char)(same > 1 ? 0x80 | (same - 1) : 0);
                file[n++] = order[i];
                i += same - 1;
            }
            struct gi_image image = decode_or_fail(file, n);
            for (int y = 0; y < 2; y++)
                assert_memory_equal(gi_row(&image, y), want[y], 3);
            gi_image_free(&image);
            check_truncations((struct bytes){file, n}, n);
            check_flips((struct bytes){file, n}, 300, (uint64_t)origin);
        }
}

TEST(there_and_back)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int width = 1; width < 300; width += 37) {
            struct gi_image image = random_image(width, 7, channels, GI_U8, 5);
            memset(gi_row(&image, 3), 9, gi_row_nbytes(&image)); /* a run */
            check_round_trip(image, path, (struct gi_save_options){0});
        }
}

/* Byte 494, in the extension area, says whether alpha is used. Alpha is used if this byte is 3 or
 * more (version 2.0, C.3, field 24). A footer with an invalid offset is ignored. */
TEST(attributes)
{
    enum { HEAD = 18, EXTENSION = 495, FOOTER = 26, N = HEAD + 4 + EXTENSION + FOOTER };
    static const struct {
        int kind;
        unsigned at;
        bool alpha;
    } cases[] = {{0, HEAD + 4, false}, {2, HEAD + 4, false}, {3, HEAD + 4, true},
                 {4, HEAD + 4, true},  {0, 0, true},         {0, HEAD + 31, true},
                 {0, HEAD + 30, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[N] = "\0\0\2\0\0\0\0\0\0\0\0\0\1\0\1\0\40\10\1\2\3\4";
        file[HEAD + 4 + EXTENSION - 1] = (unsigned char)cases[i].kind;
        file[N - FOOTER] = (unsigned char)cases[i].at;
        memcpy(file + N - FOOTER + 8, "TRUEVISION-XFILE.", 18);
        struct gi_image image = decode_or_fail(file, N);
        if (image.channels != 3 + cases[i].alpha)
            fail_msg("case %zu: %d channels", i, image.channels);
        gi_image_free(&image);
    }
}

TEST_PATH(path, "a.tga")
