/* Reads and writes Radiance HDR; stb_image is the oracle.
 * Sources: imgio/hdr.c imgio/stb_write.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <math.h>

#include "imgio_stb.h"

static char path[128];

/* stb_image and our reader read the same pixels from our files, within 1 % of a pixel's largest
 * original sample. The files have rows with run-length codes, rows too short for codes, and runs
 * longer than one code. */
TEST(as_stb)
{
    static const int widths[] = {1, 7, 8, 37, 128, 1000};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        struct gi_image image = random_image(widths[i], 11, 3, GI_F32, 4);
        for (int y = 0; y < 11; y++) /* runs of 0 to all pixels */
            for (size_t x = 0; x < gi_row_samples(&image) * (size_t)y / 10; x++)
                ((float *)gi_row(&image, y))[x] = 0.25f;
        save_or_fail(&image, path, (struct gi_save_options){0});
        int w = 0, h = 0, n = 0;
        float *got = stbi_loadf(path, &w, &h, &n, 3);
        assert_non_null(got);
        assert_true(w == widths[i] && h == 11);
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const float *want = (float *)gi_row(&image, y) + 3 * x,
                            *have = got + 3 * (y * w + x);
                float largest = fmaxf(fmaxf(want[0], 0), fmaxf(want[1], want[2]));
                for (int c = 0; c < 3; c++)
                    assert_true(fabsf(fmaxf(want[c], 0) - have[c]) <= largest / 100);
            }
        struct gi_image back = load_or_fail(path);
        for (int y = 0; y < h; y++)
            assert_memory_equal(gi_row(&back, y), got + (size_t)y * gi_row_samples(&back),
                                gi_row_nbytes(&back));
        stbi_image_free(got);
        gi_image_free(&back);
        gi_image_free(&image);
    }
}

/* Tests old-style runs of whole pixels, which stb_image does not read. */
TEST(old_runs)
{
    static const unsigned char file[] = "#?RGBE\n# made by hand\n\n-Y 2 +X 300\n"
                                        "\x80\x40\x20\x81\x01\x01\x01\x2b\x01\x01\x01\x01"
                                        "\x10\x10\x10\x80\x01\x01\x01\x2b\x01\x01\x01\x01";
    struct gi_image image = decode_or_fail(file, sizeof file - 1);
    assert_true(image.width == 300 && image.height == 2 && image.channels == 3);
    for (int x = 0; x < 300; x++) { /* 128 * 2^(129 - 136), 16 * 2^(128 - 136) */
        assert_true(((float *)gi_row(&image, 0))[3 * x] == 1);
        assert_true(((float *)gi_row(&image, 0))[3 * x + 1] == 0.5f);
        assert_true(((float *)gi_row(&image, 1))[3 * x + 2] == 0.0625f);
    }
    gi_image_free(&image);
    check_truncations((struct bytes){(unsigned char *)file, sizeof file - 1}, sizeof file - 1);
}

/* Some headers are accepted and some are refused. Their rows are too short for run-length codes. */
TEST(headers)
{
    static const struct {
        const char *head;
        enum gi_status want;
    } cases[] = {
        {"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n", GI_OK},
        {"#?RGBE\n\n-Y 1 +X 2\n", GI_OK},
        {"#?RADIANCE\nEXPOSURE=2\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n", GI_OK},
        {"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 2\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\nFORMAT=32-bit_rle_rgbe2\n\n-Y 1 +X 2\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n+Y 1 +X 2\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n-Y 1 -X 2\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n-Y 0 +X 2\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n-Y 1 +X 0\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n-Y 1 +X 2 3\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n-Y 1 +X 99999999999999999999999\n", GI_E_UNSUPPORTED},
        {"#?RADIANCE\n\n-Y 1                                                                +X 2\n",
         GI_E_FORMAT},
        {"#?RADIANCE\n\n", GI_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[256];
        int n = snprintf(file, sizeof file, "%s\x80\x40\x20\x81\x02\x02\x01\x80", cases[i].head);
        if (cases[i].want) {
            assert_refused(file, (size_t)n, cases[i].want, "");
            continue;
        }
        struct gi_image image = decode_or_fail(file, (size_t)n);
        static const float want[] = {1, 0.5f, 0.25f, 2 / 256.0f, 2 / 256.0f, 1 / 256.0f};
        assert_int_equal(image.width, 2);
        assert_memory_equal(image.data, want, sizeof want);
        gi_image_free(&image);
    }
}

/* A repeat before any pixel, a repeat longer than its row, and a repeat longer than any row are
 * damage. */
TEST(wrong_runs)
{
    static const char *const rows[] = {"\x01\x01\x01\x02", "\x80\x40\x20\x81\x01\x01\x01\x02",
                                       ("\x80\x40\x20\x81\x01\x01\x01\x00\x01\x01\x01\x00\x01\x01"
                                        "\x01\x00\x01\x01\x01\x00\x01\x01\x01\x01")};
    static const size_t sizes[] = {4, 8, 24};
    for (size_t i = 0; i < 3; i++) {
        char file[64] = "#?RADIANCE\n\n-Y 1 +X 2\n";
        size_t n = strlen(file);
        memcpy(file + n, rows[i], sizes[i]);
        assert_refused(file, n + sizes[i], GI_E_FORMAT, "");
    }
}

TEST(damage)
{
    struct gi_image image = random_image(40, 20, 3, GI_F32, 4);
    save_or_fail(&image, path, (struct gi_save_options){0});
    struct bytes file = read_file(path);
    check_truncations(file, file.n);
    check_flips(file, 3000, 1);
    free(file.at);
    gi_image_free(&image);
}

TEST_PATH(path, "a.hdr")
