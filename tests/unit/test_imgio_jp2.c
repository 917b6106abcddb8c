/* JPEG 2000 that is cut off, damaged or huge is an error, and takes no memory for what its header
 * says. Sources: imgio/jp2 imgio/boxes*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

static char path[128];

static const char *const seeds[] = {"tests/fuzz/seeds/load/alpha.jp2",
                                    "tests/fuzz/seeds/load/palette.jp2",
                                    "tests/fuzz/seeds/load/chroma.j2k"};
enum { SEEDS = 3, WIDTH = 32, HEIGHT = 20 };

/* Tests the message of a build without OpenJPEG. */
TEST(left_out)
{
    if (!format_is_built_in("jp2"))
        assert_refused("\xff\x4f\xff\x51\0\x29\0\0", 8, GI_E_UNSUPPORTED, "OpenJPEG");
}

TEST(damage)
{
    need_format("jp2");
    for (int i = 0; i < SEEDS; i++) {
        struct bytes file = read_file(seeds[i]);
        check_truncations(file, file.n);
        check_flips(file, 500, (uint64_t)i);
        free(file.at);
    }
}

/* A part of the image comes with a warning, if that is allowed; the missing samples are the same in
 * each run. */
TEST(partial)
{
    need_format("jp2");
    struct gi_load_options options = strictly;
    options.allow_partial = true;
    for (int i = 0; i < SEEDS; i++) {
        struct bytes file = read_file(seeds[i]);
        for (int run = 0; run < 8; run++) {
            struct gi_image back, again;
            struct gi_err warning, err;
            size_t n = file.n * (size_t)(run + 8) / 16;
            enum gi_status status = load_bytes(&back, file.at, n, &options, &warning, &err);
            assert_int_equal(load_bytes(&again, file.at, n, &options, NULL, &err), status);
            if (status)
                continue;
            assert_non_null(strstr(warning.text, "ends early"));
            assert_same_image(&back, &again);
            gi_image_free(&back);
            gi_image_free(&again);
        }
        free(file.at);
    }
}

/* A part that is said to have 4 GB is refused, also if a part of an image is allowed. */
TEST(long_part)
{
    need_format("jp2");
    struct gi_load_options options = strictly;
    options.allow_partial = true;
    struct bytes file = read_file(seeds[2]);
    size_t at = 0;
    while (memcmp(file.at + at, "\xff\x90\0\x0a", 4) != 0)
        at++;
    memcpy(file.at + at + 6, "\xff\xff\0\0", 4);
    struct gi_image back;
    struct gi_err warning, err;
    assert_int_equal(load_bytes(&back, file.at, file.n, &options, &warning, &err), GI_E_FORMAT);
    free(file.at);
}

/* Returns the offset of the marker SIZ. */
static size_t size_at(struct bytes file)
{
    for (size_t i = 0; i + 4 < file.n; i++)
        if (memcmp(file.at + i, "\xff\x4f\xff\x51", 4) == 0)
            return i + 2;
    fail_msg("no codestream");
    return 0;
}

/* Limits hold before OpenJPEG sees the file: of pixels, of pixels that the file's length allows, of
 * tiles. */
TEST(limits)
{
    need_format("jp2");
    struct gi_load_options limited = strictly;
    struct gi_image back;
    struct gi_err err;
    for (int i = 0; i < SEEDS; i++) {
        struct bytes file = read_file(seeds[i]);
        unsigned char *size = file.at + size_at(file);
        limited.limits.max_pixels = WIDTH * HEIGHT - 1;
        assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err), GI_E_LIMIT);
        assert_non_null(strstr(err.text, "--max-pixels"));
        limited = strictly;
        limited.limits.max_bytes = 4096; /* less than a tile needs */
        assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err), GI_E_LIMIT);
        assert_non_null(strstr(err.text, "--max-bytes"));
        limited = strictly;
        memcpy(size + 6, "\x7f\xff\xff\xff\x7f\xff\xff\xff", 8); /* 2^31 - 1 pixels per side */
        memcpy(size + 22, "\x7f\xff\xff\xff\x7f\xff\xff\xff", 8);
        assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err),
                         i < 2 ? GI_E_LIMIT : GI_E_FORMAT); /* the last has further tiles */
        free(file.at);
    }
}

/* Components without samples, tiles beyond what the standard allows, and a palette that ends early
 * are damage. */
TEST(headers)
{
    need_format("jp2");
    static const struct {
        int seed;
        size_t at; /* from the marker SIZ on */
        const char *bytes;
        size_t n;
    } changes[] = {{0, 22, "\0\0\0\0", 4},
                   {0, 22, "\0\0\0\1\0\0\0\1", 8},
                   {2, 30, "\0\0\0\x18", 4},
                   {0, 38, "\0\0", 2},
                   {0, 38, "\0\5", 2},
                   {2, 40, "\7\0\1", 3},
                   {0, 40, "\x2a", 1},
                   {0, 14, "\0\0\0\x20", 4},
                   {2, 40, "\7\2\2\7\3\3\7\2\2", 9},
                   {1, 6, "\xff\xff\xff\xff", 4}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct bytes file = read_file(seeds[changes[i].seed]);
        struct gi_image back;
        struct gi_err err;
        memcpy(file.at + size_at(file) + changes[i].at, changes[i].bytes, changes[i].n);
        if (!load_bytes(&back, file.at, file.n, &strictly, NULL, &err))
            fail_msg("change %zu is accepted", i);
        free(file.at);
    }
}

TEST_PATH(path, "a.jp2")
