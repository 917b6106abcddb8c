/* What travels beside the samples: colour chunks, orientation and thumbnails in XMP, text chunks of
 * PNG as they should not be. SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <zlib.h>

#include "imgio/metadata.h"

/* PNG specification, third edition, 11.3.2: an image with sRGB's gamma and primaries is sRGB, also
 * where it only says so by them. */
static void colours(void **state)
{
    (void)state;
    static const struct {
        const char *chunks;
        size_t n;
        bool srgb;
    } cases[] = {
        {"", 0, true},
        {"sRGB\1\0", 6, true},
        {"gAMA\4\0\0\xb1\x8f", 9, true},
        {"gAMA\4\0\0\xb1\x90", 9, false},
        {"gAMA\3\0\0\xb1", 8, false},
        {"gAMA\4\0\0\xb1\x90sRGB\1\0", 15, true},
        {"cICP\4\1\15\0\1", 9, true},
        {"cICP\4\11\20\0\1", 9, false},
        {"cICP\2\1\15", 7, false},
        {"cICP\4\11\20\0\1gAMA\4\0\0\xb1\x8f", 18, false},
        {"cHRM\40\0\0\x7a\x26\0\0\x80\x84\0\0\xfa\0\0\0\x80\xe8\0\0\x75\x30\0\0\xea\x60\0\0\x3a\x98"
         "\0\0"
         "\x17\x70",
         37, true},
        {"cHRM\40\0\0\x7a\x26\0\0\x80\x84\0\0\xfa\0\0\0\x80\xe8\0\0\x75\x30\0\0\xea\x60\0\0\x3a\x98"
         "\0\0"
         "\x17\x71",
         37, false},
        {"cHRM\1x", 6, false},
        {"cLLI\1x", 6, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_metadata metadata = {.colour = (void *)cases[i].chunks,
                                       .colour_nbytes = cases[i].n};
        if (gi_metadata_is_srgb(&metadata) != cases[i].srgb)
            fail_msg("case %zu: want %d", i, cases[i].srgb);
    }
}

/* The picture stands upright now, and thumbnails show it as it was. */
static void settled(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"<a tiff:Orientation='6'/>", "<a tiff:Orientation='1'/>"},
        {"<tiff:Orientation>8</tiff:Orientation>", "<tiff:Orientation>1</tiff:Orientation>"},
        {"tiff:Orientation = \"3\" tiff:Orientation=\n4",
         "tiff:Orientation = \"1\" tiff:Orientation=\n1"},
        {"tiff:Orientation='9'", "tiff:Orientation='9'"},
        {"tiff:Orientation", "tiff:Orientation"},
        {"tiff:Orientation=\"", "tiff:Orientation=\""},
        {"a<xmp:Thumbnails>b</xmp:Thumbnails>c<xmp:Thumbnails></xmp:Thumbnails>d", "acd"},
        {"a<xap:Thumbnails>b</xap:Thumbnails>", "a"},
        {"a<xmp:Thumbnails>b", "a<xmp:Thumbnails>b"},
        {"a", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strlen(cases[i][0]);
        struct gi_metadata metadata = {.xmp = malloc(n), .xmp_nbytes = n};
        assert_non_null(metadata.xmp);
        memcpy(metadata.xmp, cases[i][0], n); /* no zero behind it */
        gi_metadata_settle(&metadata);
        assert_int_equal(metadata.xmp_nbytes, strlen(cases[i][1]));
        assert_memory_equal(metadata.xmp, cases[i][1], metadata.xmp_nbytes);
        gi_metadata_free(&metadata);
    }
}

static void put32(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* Texts that are whole are kept under their keywords, others are let by; the image is there. */
static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *type, *bytes;
        size_t n;
        const char *keyword, *text; /* NULL: none is kept */
    } cases[] = {
        {"tEXt", "Title\0abc", 9, "Title", "abc"},
        {"tEXt", "Title\0", 6, "Title", ""},
        {"tEXt", "Title", 5, NULL, NULL},
        {"tEXt", "\0abc", 4, NULL, NULL},
        {"tEXt", "Title\0caf\xe9", 10, "Title", "caf\xc3\xa9"},
        {"tEXt",
         "0123456789012345678901234567890123456789012345678901234567890123456789012345678\0a", 81,
         "0123456789012345678901234567890123456789012345678901234567890123456789012345678", "a"},
        {"tEXt",
         "01234567890123456789012345678901234567890123456789012345678901234567890123456789\0a", 82,
         NULL, NULL},
        {"tEXt", "", 0, NULL, NULL},
        {"iTXt", "Title\0\0\0en\0Titel\0abc", 20, "Title", "abc"},
        {"iTXt", "Title\0\0\0\0\0abc", 13, "Title", "abc"},
        {"iTXt", "Title\0", 6, NULL, NULL},
        {"iTXt", "Title\0\0", 7, NULL, NULL},
        {"iTXt", "Title\0\0\0en", 10, NULL, NULL},
        {"iTXt", "Title\0\0\0en\0Titel", 16, NULL, NULL},
        {"iTXt", "Title\0\1\0en\0Titel\0abc", 20, NULL, NULL},
        {"zTXt", "Title\0\0abc", 10, NULL, NULL},
        {"zTXt", "Title\0", 6, NULL, NULL},
        {"zTXt", "Title\0\0\x78\x9c\x4b\x4c\x4a\x06\0\2\x4d\1\x27", 18, "Title",
         "abc"}, /* RFC 1950 */
    };
    struct gi_image image = random_image(3, 2, 1, GI_U8, 1), back;
    struct gi_save_options options = {.format = "png"};
    void *png;
    size_t n;
    assert_int_equal(gi_save_memory(&png, &n, &image, NULL, "x", &options, NULL, NULL), GI_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[1024];
        enum { AT = 8 + 25 }; /* signature and IHDR */
        size_t more = 12 + cases[i].n;
        assert_true(n + more <= sizeof file);
        memcpy(file, png, AT);
        put32(file + AT, (uint32_t)cases[i].n);
        memcpy(file + AT + 4, cases[i].type, 4);
        memcpy(file + AT + 8, cases[i].bytes, cases[i].n);
        put32(file + AT + 8 + cases[i].n,
              (uint32_t)crc32(0, file + AT + 4, (unsigned)cases[i].n + 4));
        memcpy(file + AT + more, (char *)png + AT, n - AT);
        struct gi_metadata metadata;
        struct gi_err err;
        if (gi_load_memory(&back, &metadata, NULL, file, n + more, "test", &strictly, NULL, &err))
            fail_msg("case %zu: %s", i, err.text);
        assert_same_image(&image, &back);
        if (metadata.ntexts != (cases[i].keyword != NULL))
            fail_msg("case %zu: %d texts", i, metadata.ntexts);
        if (metadata.ntexts) {
            assert_string_equal(metadata.texts[0].keyword, cases[i].keyword);
            assert_string_equal(metadata.texts[0].text, cases[i].text);
        }
        gi_metadata_free(&metadata);
        gi_image_free(&back);
    }
    free(png);
    gi_image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours),
        cmocka_unit_test(settled),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
