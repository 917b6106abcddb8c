/* JPEG files with stray bytes between markers, with data after the image, and with all segments
 * that are read.
 * Sources: imgio/jpeg/jpeg*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "jpeg_cases.h"

/* Returns a copy of `file` into which `n` bytes are inserted at `at`. */
static struct bytes with_bytes(struct bytes file, size_t at, const void *bytes, size_t n)
{
    struct bytes longer = {malloc(file.n + n), file.n + n};
    memcpy(longer.at, file.at, at);
    memcpy(longer.at + at, bytes, n);
    memcpy(longer.at + at + n, file.at + at, file.n - at);
    return longer;
}

/* Inserts 20 bytes that are no marker, which is more than libjpeg reads ahead. */
static struct bytes with_stray(struct bytes file, size_t at)
{
    return with_bytes(file, at, "twenty stray bytes, ", 20);
}

/* Returns the offset, at least `at`, of the next marker whose code is from `low` to `high`. */
static size_t find_marker(struct bytes file, size_t at, int low, int high)
{
    while (file.at[at] != 0xff || file.at[at + 1] < low || file.at[at + 1] > high)
        assert_true(++at + 1 < file.n);
    return at;
}

/* Stray bytes before the first scan only cause a warning, but stray bytes after it are damage. */
TEST(stray_bytes)
{
    struct gi_image source = random_image(67, 45, 3, GI_U8, 2), got;
    struct gi_err err, warning;
    for (int r = 2; r < 4; r++) {
        struct bytes file = jpeg_make(&source, &jpeg_recipes[r], 95);
        struct gi_image want = decode_or_fail(file.at, file.n);
        size_t at = 2, places = 0, sos = find_marker(file, 2, 0xda, 0xda);
        while (at < sos) {
            at += 2 + (size_t)(file.at[at + 2] << 8 | file.at[at + 3]);
            struct bytes stray = with_stray(file, at);
            assert_int_equal(load_bytes(&got, stray.at, stray.n, &strictly, &warning, &err), GI_OK);
            assert_non_null(strstr(warning.text, "20 stray bytes"));
            assert_same_image(&want, &got);
            gi_image_free(&got);
            free(stray.at);
            places++;
        }
        assert_true(at == sos && places > 3);
        struct bytes stray = with_stray(file, find_marker(file, sos, 0xd9, 0xd9));
        assert_refused(stray.at, stray.n, GI_E_FORMAT, "");
        free(stray.at);
        free(file.at);
        gi_image_free(&want);
    }
    gi_image_free(&source);
}

/* In a file with restart markers, stray bytes between the strips are damage too. */
TEST(stray_before_restart)
{
    struct gi_image source = random_image(1000, 1203, 1, GI_U8, 2);
    save_or_fail(&source, in_folder("a.jpg"), (struct gi_save_options){.quality = 95});
    struct bytes file = read_file(in_folder("a.jpg"));
    struct bytes stray = with_stray(file, find_marker(file, 2, 0xd0, 0xd7));
    assert_refused(stray.at, stray.n, GI_E_FORMAT, "");
    free(stray.at);
    free(file.at);
    gi_image_free(&source);
}

/* Returns whether `at` is inside a segment, where bytes may look like a marker. */
static bool is_inside(struct bytes file, size_t at)
{
    for (size_t segment = 2; segment < at;) {
        if (file.at[segment] != 0xff || file.at[segment + 1] < 0xc0) {
            segment++; /* inside a scan */
            continue;
        }
        segment += 2 + (size_t)(file.at[segment + 2] << 8 | file.at[segment + 3]);
        if (segment > at)
            return true;
    }
    return false;
}

/* Any number of bytes 0xff may precede a marker (ITU-T T.81, B.1.1.2). These bytes change
 * nothing. */
TEST(fill_bytes)
{
    struct gi_image source = random_image(67, 45, 3, GI_U8, 2), got;
    struct gi_err err, warning;
    for (int r = 2; r < 4; r++) { /* one scan, or several */
        struct bytes file = jpeg_make(&source, &jpeg_recipes[r], 95);
        struct gi_image want = decode_or_fail(file.at, file.n);
        int places = 0;
        /* Every 0xff before a nonzero byte begins a marker, because in a scan a zero follows
         * 0xff. */
        for (size_t at = 2; at + 1 < file.n; at++) {
            if (file.at[at] != 0xff || file.at[at + 1] < 0xc0 || is_inside(file, at))
                continue;
            struct bytes filled = with_bytes(file, at, "\xff\xff\xff", 3);
            assert_int_equal(load_bytes(&got, filled.at, filled.n, &strictly, &warning, &err),
                             GI_OK);
            assert_int_equal(warning.status, GI_OK);
            assert_same_image(&want, &got);
            gi_image_free(&got);
            free(filled.at);
            places++;
        }
        assert_true(places > (r == 2 ? 8 : 16));
        free(file.at);
        gi_image_free(&want);
    }
    gi_image_free(&source);
}

/* Data may follow the image. Zeros are ignored. A further image directly behind it is an error, and
 * one behind zeros causes a warning unless the file has caused one before. */
TEST(behind)
{
    static const struct {
        const char *bytes;
        size_t n;
        bool stray; /* stray bytes before the scan too */
        const char *says;
    } cases[] = {
        {"", 0, false, ""},
        {"\xff\xd8\xff", 3, false, "holds 2 images, and one is wanted: [0] to [1]"},
        {"\0\0\xff\xd8\xff", 5, false, "more images"},
        {"\xff\xd8", 2, false, ""},
        {"\0", 1, false, ""},
        {"\xff\xd8\xfe", 3, false, ""},
        {"\0\xff\xd8\xff", 4, true, "20 stray bytes"},
    };
    struct gi_image source = random_image(67, 45, 3, GI_U8, 2), image;
    struct bytes good = jpeg_make(&source, &jpeg_recipes[2], 95);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_err err, warning;
        struct bytes longer = with_bytes(good, good.n, cases[i].bytes, cases[i].n);
        struct bytes file = cases[i].stray ? with_stray(longer, find_marker(longer, 2, 0xdb, 0xdb))
                                           : with_bytes(longer, longer.n, "", 0);
        if (load_bytes(&image, file.at, file.n, &strictly, &warning, &err))
            warning = err;
        bool refused = strncmp(cases[i].says, "holds 2", 7) == 0;
        if (warning.status != (refused ? GI_E_UNSUPPORTED : warning.status) ||
            !warning.status != !*cases[i].says || !strstr(warning.text, cases[i].says) ||
            refused != !image.data)
            fail_msg("case %zu: %s", i, warning.text);
        gi_image_free(&image);
        free(file.at);
        free(longer.at);
    }
    free(good.at);
    gi_image_free(&source);
}

/* Segments precede the tables: comments with and without a keyword, and further parts of XMP, which
 * are carried. */
TEST(segments)
{
    static const struct {
        int marker;
        const char *bytes;
        size_t n;
        const char *keyword, *text; /* NULL: a part */
    } cases[] = {
        {0xfe, "Title: a", 8, "Title", "a"},
        {0xfe, "Title:ab", 8, "Comment", "Title:ab"},
        {0xfe, "Title of", 8, "Comment", "Title of"},
        {0xfe, "Title: ", 7, "Comment", "Title: "},
        {0xfe, "Titles", 6, "Comment", "Titles"},
        {0xfe, "", 0, "Comment", ""},
        {0xe1, "http://ns.adobe.com/xmp/extension/\0abc", 38, NULL, NULL},
        {0xe1, "http://ns.adobe.com/xmp/extension/\0", 35, NULL, NULL},
    };
    struct gi_image source = random_image(67, 45, 3, GI_U8, 2), image;
    struct bytes good = jpeg_make(&source, &jpeg_recipes[2], 95);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int stray = 0; stray < 2; stray++) {
            unsigned char segment[64] = {0xff, (unsigned char)cases[i].marker, 0,
                                         (unsigned char)(2 + cases[i].n)};
            memcpy(segment + 4, cases[i].bytes, cases[i].n);
            struct bytes longer = with_bytes(good, 2, segment, 4 + cases[i].n);
            struct bytes file = stray ? with_stray(longer, find_marker(longer, 2, 0xdb, 0xdb))
                                      : with_bytes(longer, 2, "", 0);
            struct gi_metadata metadata;
            struct gi_err warning;
            assert_int_equal(gi_load_memory(&image, &metadata, NULL, file.at, file.n, "x",
                                            &strictly, &warning, NULL),
                             GI_OK);
            const char *says = stray ? "stray bytes" : "";
            if (!warning.status != !*says || !strstr(warning.text, says))
                fail_msg("case %zu: %s", i, warning.text);
            assert_int_equal(metadata.ntexts, cases[i].keyword != NULL);
            assert_int_equal(metadata.parts.n, (cases[i].keyword == NULL) + stray);
            if (!cases[i].keyword) {
                const struct gi_part *part = metadata.parts.list;
                assert_int_equal(part->fate, GI_PART_CARRIED);
                assert_int_equal(part->nbytes, cases[i].n);
                assert_memory_equal(part->bytes, cases[i].bytes, cases[i].n);
            }
            if (cases[i].keyword) {
                assert_string_equal(metadata.texts[0].keyword, cases[i].keyword);
                assert_string_equal(metadata.texts[0].text, cases[i].text);
            }
            gi_metadata_free(&metadata);
            gi_image_free(&image);
            free(file.at);
            free(longer.at);
        }
    free(good.at);
    gi_image_free(&source);
}

/* An unreadable CMYK profile causes a warning, also if the file has other parts. */
TEST(told_once)
{
    static const char more[] = "http://ns.adobe.com/xmp/extension/\0abc";
    struct gi_image source = random_image(67, 45, 4, GI_U8, 2), image;
    struct bytes inks = jpeg_make(&source, &jpeg_recipes[6], 95);
    unsigned char segment[4 + 14 + 128] = {0xff, 0xe2, 0, 2 + 14 + 128};
    memcpy(segment + 4, "ICC_PROFILE\0\1\1", 14);
    memcpy(segment + 4 + 14 + 16, "CMYK", 4);
    for (int before = 0; before < 3; before++) {
        unsigned char xmp[4 + sizeof more - 1] = {0xff, 0xe1, 0, 2 + sizeof more - 1};
        struct gi_err err, warning;
        memcpy(xmp + 4, more, sizeof more - 1);
        struct bytes profile = with_bytes(inks, 2, segment, sizeof segment);
        struct bytes one = with_bytes(profile, 2, xmp, before ? sizeof xmp : 0);
        struct bytes file = with_bytes(one, 2, xmp, before == 2 ? sizeof xmp : 0);
        assert_int_equal(load_bytes(&image, file.at, file.n, &strictly, &warning, &err), GI_OK);
        assert_non_null(strstr(warning.text, "profile"));
        gi_image_free(&image);
        free(profile.at);
        free(one.at);
        free(file.at);
    }
    free(inks.at);
    gi_image_free(&source);
}

TEST_FRAME(.first = setup, .last = teardown)
