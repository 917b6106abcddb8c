/* OpenEXR that is written is read back unchanged; damaged files are errors. Sources: imgio/exr
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

static char path[128];

/* Tests the message of a build without OpenEXR. */
TEST(left_out)
{
    if (!format_is_built_in("exr"))
        assert_refused("\x76\x2f\x31\x01\2\0\0\0", 8, GI_E_UNSUPPORTED, "OpenEXR");
}

TEST(round_trip)
{
    need_format("exr");
    for (int i = 0; i < 6; i++)
        check_round_trip(random_image(i & 1 ? 97 : 1, 41, i & 1 ? 3 : 1, GI_F32, 3), path,
                         (struct gi_save_options){.strict = true, .compression = i & 2 ? 0 : 6});
}

TEST(damage)
{
    need_format("exr");
    for (int i = 0; i < 2; i++) {
        struct gi_image image = random_image(20, 24, 3, GI_F32, 3);
        save_or_fail(&image, path, (struct gi_save_options){.compression = i ? 0 : 6});
        struct bytes file = read_file(path);
        check_truncations(file, file.n < 900 ? file.n : 900);
        check_flips(file, 1000, (uint64_t)i);
        free(file.at);
        gi_image_free(&image);
    }
}

/* The size is checked before memory is taken. */
TEST(limits)
{
    need_format("exr");
    struct gi_image image = random_image(64, 48, 3, GI_F32, 3), back;
    struct gi_load_options limited = strictly;
    struct gi_err err;
    save_or_fail(&image, path, (struct gi_save_options){.compression = 6});
    struct bytes file = read_file(path);
    for (size_t at = 0; at + 40 < file.n; at++) /* name, type and length of the data window */
        if (memcmp(file.at + at, "dataWindow\0box2i", 17) == 0)
            memcpy(file.at + at + 21 + 8, "\xff\x7f\0\0\xff\x7f\0\0", 8);
    limited.limits.max_pixels = 1 << 20;
    assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-pixels"));
    free(file.at);
    gi_image_free(&image);
}

TEST_PATH(path, "a.exr")
