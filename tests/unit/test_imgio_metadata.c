/* Metadata: PNG's colour chunks, the orientation and the thumbnails in XMP, and malformed text
 * chunks of PNG.
 * Sources: imgio/metadata/metadata* imgio/png/png_text* imgio/metadata/orientation.c
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <time.h>
#include <zlib.h>

#include "imgio/codecs.h"
#include "imgio/metadata/geo.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/xmp.h"

/* An image with sRGB's gamma and primaries counts as sRGB, even if only the chunks for gamma and
 * primaries declare this (PNG specification, third edition, 11.3.2). */
TEST(colors)
{
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
        {"gAMA\4\0\0\xb1\x90"
         "cICP\4\1\15\0\1",
         18, false},
        {"gAMA\4\0\0\xb1\x90"
         "cHRM\1x",
         15, false},
        {"gAM", 3, true}, /* cut */
        {"gAMA\4\0\0\xb1", 8, true},
        {"cLLI\1x", 6, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_metadata metadata = {.color = (void *)cases[i].chunks,
                                       .color_nbytes = cases[i].n};
        if (gi_metadata_is_srgb(&metadata) != cases[i].srgb)
            fail_msg("case %zu: want %d", i, cases[i].srgb);
    }
}

/* Once the image has been made upright, the orientation in its metadata is reset, and thumbnails
 * are removed because they are not upright. */
TEST(settled)
{
    static const char *const cases[][2] = {
        {"<a tiff:Orientation='6'/>", "<a tiff:Orientation='1'/>"},
        {"<tiff:Orientation>8</tiff:Orientation>", "<tiff:Orientation>1</tiff:Orientation>"},
        {"tiff:Orientation = \"3\" tiff:Orientation=\n4",
         "tiff:Orientation = \"1\" tiff:Orientation=\n1"},
        {"tiff:Orientation='9'", "tiff:Orientation='9'"},
        {"tiff:Orientation='0'", "tiff:Orientation='0'"},
        {"tiff:Orientation", "tiff:Orientation"},
        {"tiff:Orientation=\"", "tiff:Orientation=\""},
        {"a<xmp:Thumbnails>b</xmp:Thumbnails>c<xmp:Thumbnails></xmp:Thumbnails>d", "acd"},
        {"a<xap:Thumbnails>b</xap:Thumbnails>", "a"},
        {"a<xmp:Thumbnails>b", "a<xmp:Thumbnails>b"},
        {"a<xmp:Thumbnails/>b<xmp:Thumbnails>c</xmp:Thumbnails>", "ab"},
        {"a", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strlen(cases[i][0]);
        struct gi_metadata metadata = {.xmp = malloc(n), .xmp_nbytes = n};
        assert_non_null(metadata.xmp);
        memcpy(metadata.xmp, cases[i][0], n); /* without a terminating zero */
        gi_metadata_settle(&metadata);
        assert_int_equal(metadata.xmp_nbytes, strlen(cases[i][1]));
        assert_memory_equal(metadata.xmp, cases[i][1], metadata.xmp_nbytes);
        gi_metadata_free(&metadata);
    }
}

/* Removes attributes and elements by the start of their names, and nothing else. */
TEST(cut_properties)
{
    static const char *const cases[][2] = {
        {"<a P:b='1' c='2' P:d = \"3\"/>", "<a c='2'/>"},
        {"<a><P:b>1</P:b>c<P:d/><P:e f='g'>h</P:e></a>", "<a>c</a>"},
        {"<P:b><P:c>1</P:c><P:bb/></P:b>d", "d"},
        {"P:b='1' <a>see P:b</a>", "P:b='1' <a>see P:b</a>"},
        {"<a P:b='1/>", "<a P:b='1/>"},
        {"<P:b>1<P:b <P:c/> P:d='2'", "<P:b>1<P:b <P:c/>"},
        {"<P:b", "<P:b"},
        {" P:", " P:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strlen(cases[i][0]);
        char *xmp = malloc(n);
        assert_non_null(xmp);
        memcpy(xmp, cases[i][0], n); /* without a terminating zero */
        gi_xmp_cut_properties(xmp, &n, "P:");
        assert_int_equal(n, strlen(cases[i][1]));
        assert_memory_equal(xmp, cases[i][1], n);
        free(xmp);
    }
}

enum { MOST_SECONDS = 10 };
#ifdef __SANITIZE_ADDRESS__ /* which looks at all bytes that memmem() may read */
enum { TIMES = 1 << 14 };
#else
enum { TIMES = 1 << 18 };
#endif

static char *repeat(const char *text)
{
    size_t each = strlen(text), n = each * TIMES;
    char *all = malloc(n);
    assert_non_null(all);
    for (size_t k = 0; k < n; k++)
        all[k] = text[k % each];
    return all;
}

/* The time grows with the length of a packet, not with its square, which would take minutes. */
TEST(long_packets)
{
    static const struct {
        const char *part;
        bool stays;
    } cases[] = {{" P:a='1'", false}, {"<P:a>1</P:a>", false}, {"<P:a>", true}, {"<P:a ", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t each = strlen(cases[i].part), n = each * TIMES;
        char *xmp = repeat(cases[i].part);
        size_t length = n;
        void *set = gi_memory_copy(xmp, n);
        clock_t start = clock();
        assert_int_equal(gi_xmp_set_integer(&set, &length, "P:a", 23, NULL), GI_OK);
        assert_int_equal(length, cases[i].stays ? n : n + TIMES);
        free(set);
        assert_null(gi_xmp_text(xmp, cases[i].stays ? n : 0, "P:a"));
        gi_xmp_cut_properties(xmp, &n, "P:");
        assert_true(clock() - start < (clock_t)MOST_SECONDS * CLOCKS_PER_SEC);
        assert_int_equal(n, cases[i].stays ? each * TIMES : 0);
        free(xmp);
    }
}

/* So does the time to remove many thumbnails from XMP, and many statistics from GDAL's metadata. */
TEST(long_removals)
{
    static const char thumbnail[] = "<xmp:Thumbnails></xmp:Thumbnails>";
    static const char mean[] = "<Item name=\"STATISTICS_\"></Item>";
    struct gi_metadata metadata = {.xmp = repeat(thumbnail),
                                   .xmp_nbytes = (sizeof thumbnail - 1) * TIMES};
    struct gi_part gdal = {.kind = GI_PART_GEO, .code = 42112, .bytes = repeat(mean)};
    gdal.nbytes = (sizeof mean - 1) * TIMES;
    gi_metadata_add_part(&metadata, &gdal, "GDAL_METADATA");
    free(gdal.bytes);
    clock_t start = clock();
    gi_metadata_settle(&metadata);
    assert_int_equal(metadata.xmp_nbytes, 0);
    gi_geo_forget_statistics(&metadata);
    assert_int_equal(metadata.parts.list[0].nbytes, 0);
    assert_true(clock() - start < (clock_t)MOST_SECONDS * CLOCKS_PER_SEC);
    gi_metadata_free(&metadata);
}

/* A zero byte within a packet does not end the packet. */
TEST(zero_in_packet)
{
    static const char packet[] = "tiff:Orientation=\0\"6\" tiff:Orientation='6'";
    static const char want[] = "tiff:Orientation=\0\"6\" tiff:Orientation='1'";
    struct gi_metadata metadata = {.xmp = malloc(sizeof packet - 1),
                                   .xmp_nbytes = sizeof packet - 1};
    assert_non_null(metadata.xmp);
    memcpy(metadata.xmp, packet, sizeof packet - 1);
    gi_metadata_settle(&metadata);
    assert_int_equal(metadata.xmp_nbytes, sizeof want - 1);
    assert_memory_equal(metadata.xmp, want, sizeof want - 1);
    gi_metadata_free(&metadata);
}

static void put32(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* Valid texts are kept under their keywords, and all other texts are skipped. The image is read in
 * both cases. */
TEST(texts)
{
    static const struct {
        const char *type, *bytes;
        size_t n;
        const char *keyword, *text; /* NULL: the text is skipped */
    } cases[] = {
        {"tEXt", "Title\0abc", 9, "Title", "abc"},
        {"tEXt", "Title\0", 6, "Title", ""},
        {"tEXt", "Title", 5, NULL, NULL},
        {"tEXt", "\0abc", 4, NULL, NULL},
        {"tEXt", "Title\0caf\xe9", 10, "Title", "caf\xc3\xa9"},
        {"tEXt", "Title\0a\x01z", 9, "Title", "a\x01z"},
        {"tEXt", "Title\0a\0z", 9, "Title", "a"},
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
        enum { AT = 8 + 25 }; /* after signature and IHDR */
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

/* Adds one text as a decoder does. The caller frees the metadata. */
static bool add(struct gi_metadata *metadata, struct gi_err *warning, const char *keyword,
                const char *text, size_t n)
{
    static const struct gi_load_options options;
    struct gi_decode decode = {.metadata = metadata, .options = &options, .warning = warning};
    return gi_decode_add_text(&decode, keyword, NULL, NULL, text, n);
}

/* Text in UTF-8 is unchanged (RFC 3629). All other bytes are read as Latin-1, and `latin` is the
 * result. */
TEST(alphabets)
{
    static const struct {
        const char *bytes, *text, *latin; /* NULL: Latin-1 can't represent it */
    } cases[] = {
        {"plain", "plain", "plain"},
        {"caf\xc3\xa9", "caf\xc3\xa9", "caf\xe9"},
        {"caf\xe9", "caf\xc3\xa9", "caf\xe9"},
        {"\xc4\x80", "\xc4\x80", NULL},                 /* U+0100 */
        {"\xe2\x82\xac", "\xe2\x82\xac", NULL},         /* U+20AC */
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", NULL}, /* U+1F600 */
        {"\xc1\x81", "\xc3\x81\xc2\x81", "\xc1\x81"},   /* an overlong form */
        {"\xe0\x80\x81", "\xc3\xa0\xc2\x80\xc2\x81", "\xe0\x80\x81"},
        {"\xf0\x80\x80\x81", "\xc3\xb0\xc2\x80\xc2\x80\xc2\x81", "\xf0\x80\x80\x81"},
        {"\xf5\x80\x80\x80", "\xc3\xb5\xc2\x80\xc2\x80\xc2\x80", "\xf5\x80\x80\x80"},
        {"\xe2\x82", "\xc3\xa2\xc2\x82", "\xe2\x82"}, /* cut */
        {"\xe2(\xac", "\xc3\xa2(\xc2\xac", "\xe2(\xac"},
        {"\xe0\xa0\x80", "\xe0\xa0\x80", NULL},         /* U+0800 */
        {"\xf0\x90\x80\x80", "\xf0\x90\x80\x80", NULL}, /* U+10000 */
        {"\xa9", "\xc2\xa9", "\xa9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_metadata metadata = {0};
        struct gi_err warning = {0};
        char *latin;
        size_t n;
        assert_true(add(&metadata, &warning, "Title", cases[i].bytes, strlen(cases[i].bytes)));
        assert_string_equal(metadata.texts[0].text, cases[i].text);
        assert_int_equal(gi_latin1(&latin, &n, cases[i].text, NULL), GI_OK);
        if (!latin != !cases[i].latin)
            fail_msg("case %zu", i);
        if (latin) {
            assert_int_equal(n, strlen(cases[i].latin));
            assert_memory_equal(latin, cases[i].latin, n);
        }
        free(latin);
        gi_metadata_free(&metadata);
    }
    char *latin;
    size_t n;
    assert_int_equal(gi_latin1(&latin, &n, "cut \xc3", NULL), GI_OK);
    assert_null(latin);
}

/* Reads metadata in hexadecimal digits, as ImageMagick writes it, complete and damaged. */
TEST(raw_profiles)
{
    static const char xap[] = "\nAPP1\n      33\n687474703a2f2f6e732e61646f62652e636f6d2f7861702f"
                              "312e302f003c782f3e\n";
    static const struct {
        const char *kind, *text, *exif, *xmp;
        int texts;
    } cases[] = {
        {"exif", "\nexif\n      10\n457869660000\n4D4d002A\n", "MM\0*", NULL, 0},
        {"APP1", "\nexif\n       8\n4578696600004949\n", "II", NULL, 0},
        {"APP1", xap, NULL, "<x/>", 0},
        {"xmp", "\nxmp\n       4\n3c782f3e\n", NULL, "<x/>", 0},
        /* What is neither EXIF nor XMP stays a text. */
        {"exif", "\nexif\n       6\n457869660000\n", NULL, NULL, 1},
        {"exif", "\nexif\n       8\n4d4d002a4d4d002a\n", NULL, NULL, 1},
        {"APP1", "\nAPP1\n      40\n687474703a2f2f6e732e61646f62652e636f6d2f7861702f322e302f003c\n",
         NULL, NULL, 1},
        {"exif", "\nexif\n       6\nno digits\n", NULL, NULL, 1},
        {"exif", "\nexif\n       6", NULL, NULL, 1},
        {"exif", "\nexif", NULL, NULL, 1},
        {"exif", "exif", NULL, NULL, 1},
        {"iptc", "\niptc\n       4\n3c782f3e\n", NULL, NULL, 1},
        {"8bim", "\n8bim\n       4\n3c782f3e\n", NULL, NULL, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keyword[40];
        struct gi_metadata metadata = {0};
        struct gi_err warning = {0};
        snprintf(keyword, sizeof keyword, "Raw profile type %s", cases[i].kind);
        assert_true(add(&metadata, &warning, keyword, cases[i].text, strlen(cases[i].text)));
        if (metadata.ntexts != cases[i].texts || !metadata.exif != !cases[i].exif ||
            !metadata.xmp != !cases[i].xmp)
            fail_msg("case %zu: %d texts", i, metadata.ntexts);
        if (metadata.exif)
            assert_memory_equal(metadata.exif, cases[i].exif, metadata.exif_nbytes);
        if (metadata.xmp)
            assert_memory_equal(metadata.xmp, cases[i].xmp, metadata.xmp_nbytes);
        gi_metadata_free(&metadata);
    }
    /* A zero byte among the digits is not a digit. */
    static const char zero[] = "\nexif\n 8\n4578\0"
                               "69660000\0"
                               "4949\n";
    struct gi_metadata metadata = {0};
    struct gi_err warning = {0};
    assert_true(add(&metadata, &warning, "Raw profile type exif", zero, sizeof zero - 1));
    assert_int_equal(metadata.exif_nbytes, 2);
    assert_memory_equal(metadata.exif, "II", 2);
    gi_metadata_free(&metadata);
}

/* A file may hold any number of texts of any length. Texts beyond the limit are dropped with a
 * single warning. */
TEST(too_much)
{
    struct gi_metadata metadata = {0};
    struct gi_err warning = {0};
    char *text = calloc(1, GI_TEXTS_NBYTES_MAX + 1);
    assert_non_null(text);
    assert_true(add(&metadata, &warning, "Title", text, GI_TEXTS_NBYTES_MAX + 1));
    assert_int_equal(metadata.parts.n, 1);
    assert_true(add(&metadata, &warning, "Title", text, GI_TEXTS_NBYTES_MAX - 100));
    assert_int_equal(metadata.parts.n, 1);
    assert_true(add(&metadata, &warning, "Title", text, 100));
    assert_int_equal(metadata.parts.n, 2);
    assert_int_equal(metadata.ntexts, 1);
    gi_metadata_free(&metadata);
    for (int i = 0; i < GI_TEXTS_MAX + 1; i++)
        assert_true(add(&metadata, &warning, "Title", text, 1));
    assert_int_equal(metadata.ntexts, GI_TEXTS_MAX);
    assert_int_equal(metadata.parts.n, 1);
    assert_int_equal(metadata.parts.list[0].fate, GI_PART_LOST);
    assert_string_equal(metadata.parts.list[0].name, "text Title");
    assert_string_equal(metadata.parts.list[0].why, "more text than is kept");
    gi_metadata_free(&metadata);
    free(text);
}

/* --strip gps removes all metadata that may name a place. */
TEST(places)
{
    static const struct {
        const char *xmp;
        size_t n;
        bool stays;
    } packets[] = {
        {"<a dc:title='GPU'/>", 19, true},
        {"<a exif:GPSAltitude='1'/>", 25, false},
        {"<a photoshop:City='x'/>", 23, false},
        {"<a geo:lat='1'/>", 16, false},
        {"<\0a\0/\0>\0", 8, false}, /* UTF-16 */
    };
    static const char *const texts[][2] = {{"Title", "a picture"},
                                           {"Title", "GPS 1 2"},
                                           {"Location", "here"},
                                           {"Raw profile type iptc", "00"}};
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        struct gi_metadata metadata = {0};
        struct gi_err warning = {0};
        gi_metadata_keep(&metadata, &metadata.xmp, &metadata.xmp_nbytes, packets[i].xmp,
                         packets[i].n);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            assert_true(add(&metadata, &warning, texts[t][0], texts[t][1], strlen(texts[t][1])));
        gi_metadata_strip(&metadata, GI_STRIP_GPS);
        if (!metadata.xmp == packets[i].stays)
            fail_msg("case %zu", i);
        assert_int_equal(metadata.ntexts, 1);
        assert_string_equal(metadata.texts[0].text, "a picture");
        gi_metadata_free(&metadata);
    }
    struct gi_metadata none = {0};
    gi_metadata_strip(&none, GI_STRIP_GPS);
    gi_metadata_strip(&none, GI_STRIP_EXIF);
    gi_metadata_strip(&none, GI_STRIP_ALL);
    assert_null(none.xmp);
}
