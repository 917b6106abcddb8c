/* Files of every format that are cut by one byte or more are refused, or read with a warning if
 * partial images are allowed. So are a JPEG whose ICC profile lacks a part, and short profiles.
 * Sources: imgio/gif/gif.c imgio/webp/webp.c imgio/bmp/bmp.c imgio/tga/tga.c imgio/jpeg/jpeg.c
 * imgio/formats.c imgio/tiff/pages.c SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

enum { PROFILE = 200000 }; /* bytes, of which a JPEG's marker can hold 65,519 */

static char path[128];

static void put_big(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* Makes a profile whose header alone is valid (ICC.1:2022, 7.2). The caller frees it. */
static unsigned char *make_profile(const char *colors)
{
    unsigned char *icc = calloc(1, PROFILE);
    assert_non_null(icc);
    put_big(icc, PROFILE);
    memcpy(icc + 16, colors, 4);
    memcpy(icc + 36, "acsp", 4);
    return icc;
}

static bool is_tga(const char *name)
{
    return strstr(name, "tga") != NULL;
}

/* Appends a footer without areas (TGA 2.0). */
static void append_footer(struct bytes *file)
{
    file->at = realloc(file->at, file->n + 26);
    assert_non_null(file->at);
    memset(file->at + file->n, 0, 8);
    memcpy(file->at + file->n + 8, "TRUEVISION-XFILE.", 18);
    file->n += 26;
}

/* Every proper prefix. The footer of a TGA is missed only if a letter of it is left. */
TEST(cut)
{
    static const struct {
        const char *name;
        int channels;
        enum gi_type type;
        int quality;
        bool profile;
    } cases[] = {
        {"a.png", 3, GI_U8, 0, false},   {"a.png", 4, GI_U16, 0, true},
        {"a.jpg", 3, GI_U8, 90, false},  {"a.jpg", 1, GI_U8, 90, true},
        {"a.pgm", 1, GI_U8, 0, false},   {"a.ppm", 3, GI_U16, 0, false},
        {"a.pam", 4, GI_U8, 0, false},   {"a.pfm", 3, GI_F32, 0, false},
        {"a.tif", 3, GI_U8, 0, false},   {"a.tif", 1, GI_F32, 0, true},
        {"a.webp", 3, GI_U8, 80, false}, {"a.webp", 4, GI_U8, 80, false},
        {"a.webp", 3, GI_U8, 100, true}, {"a.webp", 4, GI_U8, 100, false},
        {"a.bmp", 3, GI_U8, 0, false},   {"a.tga", 3, GI_U8, 0, false},
        {"a.tga", 1, GI_U8, 0, false},   {"a.hdr", 3, GI_F32, 0, false},
        {"a.npy", 3, GI_U8, 0, false},   {"a.npy", 1, GI_F32, 0, false},
    };
    unsigned char *rgb = make_profile("RGB "), *gray = make_profile("GRAY");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool built = (!strstr(cases[i].name, "webp") || format_is_built_in("webp")) &&
                     (!strstr(cases[i].name, "tif") || format_is_built_in("tiff"));
        struct gi_metadata metadata = {.icc = cases[i].channels < 3 ? gray : rgb,
                                       .icc_nbytes = cases[i].profile ? PROFILE : 0};
        struct gi_save_options options = {.quality = cases[i].quality};
        struct gi_err err = {0};
        for (int width = 9; width <= 11 && built; width++) {
            struct gi_image image =
                random_image(width, 5, cases[i].channels, cases[i].type, (uint64_t)width);
            const char *to = in_folder(cases[i].name);
            if (gi_save(&image, cases[i].profile ? &metadata : NULL, to, &options, NULL, &err))
                fail_msg("%s: %s", to, err.text);
            struct bytes file = read_file(to);
            if (is_tga(to))
                append_footer(&file);
            check_cuts(file, is_tga(to) ? file.n - 26 : file.n, file.n > 100000 ? 4999 : 1);
            if (is_tga(to))
                for (size_t n = file.n - 17; n < file.n; n++)
                    assert_refused(file.at, n, GI_E_FORMAT, "in its footer");
            for (size_t n = file.n - 40; n < file.n && !is_tga(to); n++)
                assert_refused(file.at, n, GI_OK, "");
            free(file.at);
            gi_image_free(&image);
        }
    }
    free(gray);
    free(rgb);
}

/* A JPEG of whose profile one of the parts is missing, and of other formats a profile that is
 * shorter than its header says. */
TEST(profiles)
{
    static const char *const names[] = {"p.jpg", "p.tif", "p.webp"};
    struct gi_image image = random_image(9, 5, 3, GI_U8, 1), got;
    unsigned char *icc = make_profile("RGB ");
    struct gi_err err = {0}, warning;
    struct gi_metadata metadata = {.icc = icc, .icc_nbytes = PROFILE}, back;
    if (gi_save(&image, &metadata, path, &(struct gi_save_options){0}, NULL, &err))
        fail_msg("%s", err.text);
    struct bytes file = read_file(path);
    for (int part = 0; part < 4; part++) { /* of 65,519 bytes, and a shorter last one */
        unsigned char *cut = malloc(file.n), *at = file.at - 1;
        assert_non_null(cut);
        for (int i = -1; i < part; i++) {
            at = memmem(at + 1, (size_t)(file.at + file.n - at - 1), "ICC_PROFILE", 12);
            assert_non_null(at);
        }
        at -= 4; /* marker and length */
        size_t before = (size_t)(at - file.at), n = 2 + ((size_t)at[2] << 8 | at[3]);
        memcpy(cut, file.at, before);
        memcpy(cut + before, at + n, file.n - before - n);
        assert_refused(cut, file.n - n, GI_E_FORMAT, "its ICC profile lacks a part");
        assert_int_equal(
            gi_load_memory(&got, &back, NULL, cut, file.n - n, "x", &partially, &warning, &err),
            GI_OK);
        assert_non_null(strstr(warning.text, "lacks a part"));
        assert_null(back.icc);
        gi_metadata_free(&back);
        gi_image_free(&got);
        struct gi_load_options header = {.limits = strictly.limits, .header_only = true};
        assert_int_equal(load_bytes(&got, cut, file.n - n, &header, &warning, &err), GI_OK);
        assert_non_null(strstr(warning.text, "lacks a part"));
        free(cut);
    }
    free(file.at);
    metadata.icc_nbytes = PROFILE - 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((strstr(names[i], "webp") && !format_is_built_in("webp")) ||
            (strstr(names[i], "tif") && !format_is_built_in("tiff")))
            continue;
        const char *to = in_folder(names[i]);
        if (gi_save(&image, &metadata, to, &(struct gi_save_options){0}, NULL, &err))
            fail_msg("%s", err.text);
        file = read_file(to);
        assert_refused(file.at, file.n, GI_E_FORMAT, "199999 of 200000 bytes of its ICC profile");
        free(file.at);
    }
    free(icc);
    gi_image_free(&image);
}

TEST_PATH(path, "x.jpg")
