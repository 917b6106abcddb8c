/* stb_image, whose reader shares no code with libpng, reads the PNG files that we write.
 * Sources: imgio/png
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

static void check(const char *path, int width, int height, int channels, enum gi_type type,
                  int level)
{
    struct gi_image image = random_image(width, height, channels, type, 29);
    save_or_fail(&image, path, (struct gi_save_options){.compression = level});
    int w, h, n;
    void *got = type == GI_U16 ? (void *)stbi_load_16(path, &w, &h, &n, 0)
                               : (void *)stbi_load(path, &w, &h, &n, 0);
    assert_non_null(got);
    assert_int_equal(w, width);
    assert_int_equal(h, height);
    assert_int_equal(n, channels);
    struct gi_image view = image;
    view.data = got;
    view.stride = gi_row_nbytes(&image);
    assert_same_image(&view, &image);
    stbi_image_free(got);
    gi_image_free(&image);
}

TEST(every_kind)
{
    static const int sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {67, 5}, {640, 1100}};
    static const int levels[] = {0, 2, 6, GI_COMPRESSION_AUTO};
    const char *path = in_folder("a.png");
    for (int channels = 1; channels <= 4; channels++)
        for (int type = GI_U8; type <= GI_U16; type++)
            for (int i = 0; i < 5; i++)
                for (int k = 0; k < 4; k++)
                    check(path, sizes[i][0], sizes[i][1], channels, (enum gi_type)type, levels[k]);
}

TEST_FRAME(.first = setup, .last = teardown)
